"""Methods that change the shape or the memory of a tensor itself: `unsqueeze_`, `resize_`, `set_`."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Sequence

from .. import _C
from ..arguments import packed, sizes_in, sizes_of
from ..autograd.derivatives import views as d
from ..autograd.in_place import become, check_writable, rebase
from ..operation import check_tensor, mode
from ..packing import uninitialized
from ..types import Dims, Sizes, channels_last, channels_last_3d, order_of, preserve_format
from .storage import Storage
from .views import second_axis, strided_view

if TYPE_CHECKING:
    from ..autograd.node import Edge, Node
    from ..forward_declarations import Tensor
    from ..types import memory_format


class InPlaceViewMethods:
    """The methods of Tensor that make it a view of itself, or give it other memory."""

    def _written(self: Tensor, node: Node, edges: Sequence[Edge]) -> None:
        """This tensor was written to by an operation, which is its new grad_fn."""
        check_writable(self)
        rebase(self, node, edges, _C.write_clock.value)

    def unsqueeze_(self: Tensor, dim: int) -> Tensor:
        """In place: a dimension of size 1 at `dim`; otherwise as `unsqueeze`.

        >>> norch.ones(2).unsqueeze_(0)
        tensor([[1., 1.]])
        """
        return become(self, _C.lib.unsqueeze_tensor(self._ptr, dim), d.ReshapeBackward)

    def squeeze_(self: Tensor, dim: Dims = None) -> Tensor:
        """In place: without the dimensions of size 1, or those that `dim` names; otherwise as `squeeze`.

        >>> norch.ones(1, 2, 1).squeeze_()
        tensor([1., 1.])
        """
        axes, count = (b"", -1) if dim is None else packed((dim,), "squeeze_")
        return become(self, _C.lib.squeeze_tensor(self._ptr, axes, count), d.ReshapeBackward)

    def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
        """In place: two dimensions exchanged; otherwise as `transpose`.

        >>> norch.ones(2, 3).transpose_(0, 1).shape
        norch.Size([3, 2])
        """
        return become(self, _C.lib.transpose_tensor(self._ptr, dim0, dim1), d.TransposeBackward, dim0, dim1)

    swapdims_ = transpose_

    def swapaxes_(self: Tensor, axis0: int, axis1: int) -> Tensor:
        """In place: two dimensions exchanged; otherwise as `transpose`.

        >>> norch.ones(2, 3).swapaxes_(0, 1).shape
        norch.Size([3, 2])
        """
        return self.transpose_(axis0, axis1)

    def t_(self: Tensor) -> Tensor:
        """In place: a matrix [m, n] becomes [n, m]; otherwise as `t`.

        >>> norch.ones(2, 3).t_().shape
        norch.Size([3, 2])
        """
        second = second_axis(self)
        return become(self, _C.lib.transpose_tensor(self._ptr, 0, second), d.TransposeBackward, 0, second)

    def as_strided_(
        self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
    ) -> Tensor:
        """In place: the elements of the memory at this shape, strides and offset; otherwise as `as_strided`.

        >>> norch.arange(4).as_strided_([2], [2])
        tensor([0, 2])
        """
        return become(self, *strided_view(self, size, stride, storage_offset))

    def resize_(self: Tensor, *sizes: Sizes, memory_format: memory_format | None = None) -> Tensor:
        """In place: another shape over the same memory, in row order; more elements than there were are not set.

        Or in the order of a memory format, which then holds for the same shape too. The dtype stays. If the memory is
        too small the tensor gets new memory, with its elements first. Raises RuntimeError for a tensor that requires
        gradients, ShapeError for a negative size.

        >>> norch.tensor([[1, 2], [3, 4]]).resize_(3)
        tensor([1, 2, 3])
        """
        shape = sizes_of(sizes, "resize_")
        if self.requires_grad:
            raise RuntimeError("resize_: cannot resize a tensor that requires gradients")
        order = order_of(memory_format, len(shape), "resize_")
        if self.shape == shape and memory_format is None:
            return self
        strides, count = _strides_of(shape, order), math.prod(shape)
        if min(shape, default=0) < 0:
            raise _C.ShapeError(f"resize_: sizes cannot be negative: got {shape}")
        place = _C.lib.offset_of(self._ptr)
        if (place + count) * self.element_size() > len(self.untyped_storage()):
            wider = uninitialized([place + count], self.dtype, self.device)
            old = self.storage()._elements()
            wider.narrow(0, 0, old.shape[0]).copy_(old)
            self.data = wider
        return become(self, *strided_view(self, shape, strides, place))

    def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
        """In place: the shape of another tensor, and with `norch.preserve_format` its order; otherwise as `resize_`.

        >>> norch.arange(4).resize_as_(norch.ones(2))
        tensor([0, 1])
        """
        template, order = check_tensor(the_template, "resize_as_"), memory_format
        if order is preserve_format:
            last = {4: channels_last, 5: channels_last_3d}.get(template.ndim)
            is_last = last is not None and not template.is_contiguous() and template.is_contiguous(memory_format=last)
            order = last if is_last else None
        return self.resize_(template.shape, memory_format=order)

    def set_(
        self: Tensor,
        source: Tensor | Storage | None = None,
        storage_offset: int = 0,
        size: Sequence[int] | None = None,
        stride: Sequence[int] | None = None,
    ) -> Tensor:
        """In place: the memory of another tensor or storage, at an offset, in a shape and with strides; none without.

        Raises RuntimeError for another dtype, ShapeError if the shape reaches outside the memory.

        >>> norch.zeros(3).set_(norch.ones(2))
        tensor([1., 1.])
        """
        if source is None:
            elements = uninitialized([0], self.dtype, self.device)
        else:
            elements = source._elements() if isinstance(source, Storage) else check_tensor(source, "set_")
        if elements.dtype is not self.dtype:
            raise RuntimeError(f"set_: expected a source of {self.dtype}, got {elements.dtype}")
        if self.requires_grad and mode.enabled:
            raise RuntimeError("set_: cannot change the memory of a tensor that requires gradients")
        self.data = elements
        _C.lib.mark_as_written(self._ptr)  # a graph that saved the old elements must not use these
        if size is not None:
            shape = sizes_in(size, "set_")
            strides = _strides_of(shape) if stride is None else list(stride)
            become(self, *strided_view(self, shape, strides, storage_offset))
        return self


def _strides_of(shape: Sequence[int], order: Sequence[int] | None = None) -> list[int]:
    """The strides of dimensions that lie in memory without gaps, in an order or as they come."""
    strides, step = [0] * len(shape), 1
    for axis in reversed(range(len(shape)) if order is None else order):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return strides
