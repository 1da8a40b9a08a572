"""Tensors joined into one, and one cut into parts: each is the derivative of the other."""

from __future__ import annotations

from ctypes import c_void_p
from itertools import accumulate
from typing import Any, Sequence

from ..._C import lib
from ...operation import mode, record, recorded, wrap
from ..function import Function
from ..joint import Joint, Part

# ---- Joining ----------------------------------------------------------------------------------------------------


def cat(tensors: Sequence[Any], axis: int = 0) -> Any:
    """Tensors joined along an axis. (functions/joining.py has the public function, which checks what it is given.)"""
    result = wrap(lib.cat_tensors((c_void_p * len(tensors))(*[t._ptr for t in tensors]), len(tensors), axis))
    axis %= result.ndim
    return recorded(result, lambda *inputs: CatBackward(*inputs, axis=axis), tensors)


class CatBackward(Function):
    """Each part gets its slice of the gradient."""

    keeps_input = False

    def __init__(self, *tensors: Any, axis: int) -> None:
        super().__init__(*tensors)
        self.axis, self.sizes = axis, [(t.shape[axis], t.dtype) for t in tensors]

    def backward(self, gradient: Any) -> list[Any]:
        parts, start = [], 0
        for size, dtype in self.sizes:
            parts.append(gradient._slice(self.axis, start, size, 1).to(dtype))
            start += size
        return parts


# ---- Cutting ----------------------------------------------------------------------------------------------------


class CutBackward(Joint):
    """x cut along an axis into parts: their gradients side by side, zeros where a part was not used.

    (Each view of `unbind` or `split` has a gradient of x's whole size; for n parts that is n times the work.)
    """

    def __init__(self, x: Any, axis: int, parts: Sequence[Any]) -> None:
        super().__init__((x._edge,))
        self.shape, self.axis, self.shapes = x.shape, axis, [part.shape for part in parts]

    def backward(self, pieces: Any) -> list[Any]:
        if len(pieces) < len(self.shapes):
            known = next(iter(pieces.values()))
            for i, shape in enumerate(self.shapes):
                if i not in pieces:
                    pieces[i] = known.new_zeros(shape)
        return [cat([pieces[i] for i in range(len(self.shapes))], self.axis).reshape(self.shape)]


def unbind(x: Any) -> Sequence[Any]:
    """The rows x[0], x[1], ... of a tensor, as `x.unbind()` gives them, not to be written to."""
    return _cut(x, [lib.select_tensor(x._ptr, 0, i) for i in range(x.shape[0])], 0)


def split(x: Any, sizes: Sequence[int]) -> Sequence[Any]:
    """Parts of these sizes of a tensor along its last dimension, as `x.split(sizes, -1)`, not to be written to."""
    starts = accumulate(sizes, initial=0)
    return _cut(x, [lib.slice_tensor(x._ptr, -1, start, size, 1) for start, size in zip(starts, sizes)], -1)


def _cut(x: Any, addresses: Sequence[Any], axis: int) -> Sequence[Any]:
    parts = [wrap(ptr) for ptr in addresses]
    if x._edge is not None and mode.enabled:
        joint = CutBackward(x, axis, parts)
        for key, part in enumerate(parts):
            record(part, Part(key), (joint,))
    return parts
