"""PyTorch's inner path of the collate functions, which scripts import from."""

from . import collate

__all__ = ["collate"]
