"""Where PyTorch had `vmap` before it had `torch.func`, and where programs still import it from."""

from .func import vmap

__all__ = ["vmap"]

_vmap = vmap
