"""Tensors joined into one, and one split into parts: each is the derivative of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from ..._C import addresses, lib
from ...operation import mode, recorded, several, wrap
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
        kind, parts = gradient.dtype, unbind(gradient, self.axis)
        return [part if dtype is kind else part.to(dtype) for part, dtype in zip(parts, self.dtypes)]


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

# As Splitting in csrc/api.h
BY_SIZES, BY_INDEX, IN_CHUNKS, BY_LENGTH, IN_SECTIONS = range(5)


def unbind(x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts that `x.unbind(axis)` gives, not to be written to: as views they would be known to x."""
    handles = lib.split_tensor(x._ptr, axis, None, 0, BY_INDEX)
    return with_split(x, axis, several(handles)) if x.shape[axis] else ()


def split(x: Tensor, sizes: Sequence[int]) -> tuple[Tensor, ...]:
    """Parts of these sizes of a tensor along its last dimension, as `x.split(sizes, -1)`, not to be written to."""
    return with_split(x, -1, several(lib.split_tensor(x._ptr, -1, addresses(sizes), len(sizes), BY_SIZES)))


def with_split(x: Tensor, axis: int, parts: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Parts of x along an axis, with the node that joins their gradients."""
    if x._edge is not None and mode.enabled:
        SplitBackward(x, axis, parts).record_outputs(parts)
    return parts


class SplitBackward(MultiOutput):
    """x split along an axis, which `unbind`'s parts lack: their gradients joined, zeros for a part that was not used.

    (As views of their own, n parts would each have a gradient of x's whole size: n times the work.)
    """

    def __init__(self, x: Tensor, axis: int, parts: Sequence[Tensor]) -> None:
        super().__init__((x._edge,))
        self.axis, self.join, self.shapes = axis, stack, [parts[0].shape] * len(parts)
        if parts[0].ndim == x.ndim:
            self.join, self.shapes = cat, [part.shape for part in parts]

    def backward(self, gradients: OutputGradients) -> Gradients:
        known = next(iter(gradients.values()))
        unused = {*self.shapes} if len(gradients) < len(self.shapes) else ()
        zeros = {shape: known.new_zeros(shape) for shape in unused}
        parts = [gradients[i] if i in gradients else zeros[shape] for i, shape in enumerate(self.shapes)]
        return [self.join(parts, self.axis)]
