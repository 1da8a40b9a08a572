"""Tensors joined into one, and one split into parts: each is the derivative of the other."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Sequence

from ..._C import lib
from ...operation import mode, recorded, wrap
from ..multi_output import MultiOutput, OutputGradients
from ..node import Gradients, Node

if TYPE_CHECKING:
    from ...forward_declarations import Tensor
    from ...types import dtype

# ---- Joining ----------------------------------------------------------------------------------------------------


def cat(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors joined along an axis. (functions/joining.py has the public function, which checks its arguments.)"""
    handles = [t._ptr for t in tensors]
    result = wrap(lib.cat_tensors(handles, len(handles), axis))
    for t in tensors:
        if t._edge:
            return recorded(result, lambda *inputs: CatBackward(*inputs, axis=axis % result.ndim), tensors)
    return result


def stack(tensors: Sequence[Tensor], axis: int) -> Tensor:
    """Tensors of one shape joined along a new axis."""
    handles = [t._ptr for t in tensors]
    result = wrap(lib.stack_tensors(handles, len(handles), axis))
    for t in tensors:
        if t._edge:
            return recorded(result, lambda *inputs: StackBackward(*inputs, axis=axis), tensors)
    return result


def block_diag(tensors: Sequence[Tensor], kind: dtype) -> Tensor:
    """Matrices, or vectors as rows, on the diagonal of a matrix of zeros."""
    handles = [t._ptr for t in tensors]
    return recorded(wrap(lib.block_diag_tensors(handles, len(handles), kind.number)), BlockDiagBackward, tensors)


class BlockDiagBackward(Node):
    """Each block gets its part of the gradient."""

    keeps_input = False

    def __init__(self, *tensors: Tensor) -> None:
        super().__init__(*tensors)
        self.blocks = [(t.shape, t.dtype) for t in tensors]

    def backward(self, gradient: Tensor) -> Gradients:
        found, top, left = [], 0, 0
        for shape, kind in self.blocks:
            height, width = [1] * (2 - len(shape)) + list(shape)
            block = gradient.narrow(0, top, height).narrow(1, left, width)
            found.append(block.reshape(shape).to(kind))
            top, left = top + height, left + width
        return found


class StackBackward(Node):
    """Each part gets its place of the gradient."""

    keeps_input = False

    def __init__(self, *tensors: Tensor, axis: int) -> None:
        super().__init__(*tensors)
        self.axis, self.dtypes = axis, [t.dtype for t in tensors]

    def backward(self, gradient: Tensor) -> Gradients:
        return [part.to(dtype) for part, dtype in zip(gradient.unbind(self.axis), self.dtypes)]


class CatBackward(Node):
    """Each part gets its slice of the gradient."""

    keeps_input = False

    def __init__(self, *tensors: Tensor, axis: int) -> None:
        super().__init__(*tensors)
        self.axis, self.sizes = axis, [(t.shape[axis], t.dtype) for t in tensors]

    def backward(self, gradient: Tensor) -> Gradients:
        parts, start = [], 0
        for size, dtype in self.sizes:
            parts.append(gradient._slice(self.axis, start, size, 1).to(dtype))
            start += size
        return parts


# ---- Splitting --------------------------------------------------------------------------------------------------


def unbind(x: Tensor) -> list[Tensor]:
    """The rows x[0], x[1], ... of a tensor, as `x.unbind()` gives them, not to be written to."""
    return _split(x, [wrap(lib.select_tensor(x._ptr, 0, i)) for i in range(x.shape[0])], 0)


def split(x: Tensor, sizes: Sequence[int]) -> list[Tensor]:
    """Parts of these sizes of a tensor along its last dimension, as `x.split(sizes, -1)`, not to be written to."""
    starts = accumulate(sizes, initial=0)
    return _split(x, [wrap(lib.slice_tensor(x._ptr, -1, start, size, 1)) for start, size in zip(starts, sizes)], -1)


def _split(x: Tensor, parts: list[Tensor], axis: int) -> list[Tensor]:
    if x._edge is not None and mode.enabled:
        SplitBackward(x, axis, parts).record_outputs(parts)
    return parts


class SplitBackward(MultiOutput):
    """x split along an axis: the gradients of the parts joined, zeros for a part that was not used.

    (As views of their own, n parts would each have a gradient of x's whole size: n times the work.)
    """

    def __init__(self, x: Tensor, axis: int, parts: Sequence[Tensor]) -> None:
        super().__init__((x._edge,))
        self.shape, self.axis, self.shapes = x.shape, axis, [part.shape for part in parts]

    def backward(self, gradients: OutputGradients) -> Gradients:
        known = next(iter(gradients.values()))
        parts = [gradients[i] if i in gradients else known.new_zeros(shape) for i, shape in enumerate(self.shapes)]
        return [cat(parts, self.axis).reshape(self.shape)]
