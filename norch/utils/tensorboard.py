"""The files that TensorBoard shows, by the package tensorboardX, whose writer here takes norch's tensors too."""

from __future__ import annotations

import functools
from typing import Any

from ..tensor import Tensor
from ..types import bfloat16

try:
    from tensorboardX import SummaryWriter as _SummaryWriter
except ImportError:
    raise ImportError("norch.utils.tensorboard needs tensorboardX: pip install tensorboardX") from None

__all__ = ["SummaryWriter"]


def _array(value: Any) -> Any:
    """A Tensor as an array; the same in lists and dicts."""
    if isinstance(value, Tensor):
        x = value.detach().cpu()
        return (x.float() if x.dtype is bfloat16 else x).numpy()
    if isinstance(value, dict):
        return {key: _array(x) for key, x in value.items()}
    return list(map(_array, value)) if isinstance(value, list) else value


def _of_tensors(method: Any) -> Any:
    @functools.wraps(method)
    def add(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(self, *map(_array, args), **_array(kwargs))

    return add


class SummaryWriter(_SummaryWriter):
    """tensorboardX's SummaryWriter; its `add_scalar`, `add_histogram`, `add_image` and others take Tensors as well.

    Its signatures begin as those of PyTorch's writer. `add_graph` is for models of torch.
    """


for _name in dir(_SummaryWriter):
    if _name.startswith("add_"):
        setattr(SummaryWriter, _name, _of_tensors(getattr(_SummaryWriter, _name)))
