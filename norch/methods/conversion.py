"""Copies of a tensor, and its conversion to other dtypes and devices."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from .. import _C, operation
from .._C import lib, number
from ..arguments import cuda_place, destination
from ..autograd.derivatives.views import CloneBackward, CopyBackward, ToBackward
from ..autograd.in_place import overwrite, write
from ..functions.promotion import fitting
from ..operation import check_operand, check_tensor, mode, record, recorded, wrap
from ..types import (
    DType,
    Operand,
    bfloat16,
    bool_,
    contiguous_format,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    order_of,
    preserve_format,
    uint8,
)
from ..types import dtype as _dtype

if TYPE_CHECKING:
    from ..forward_declarations import Tensor
    from ..types import memory_format


_int, _float = int, float  # whose names are methods below


class ConversionMethods:
    """The methods of Tensor that copy it, overwrite it or convert it."""

    def clone(self: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
        """A copy, through which gradients flow; of the same shape, dtype and device.

        Its dimensions lie in memory in the same order, or as `memory_format` says: norch.contiguous_format is row
        order. Raises RuntimeError for `channels_last` and another rank.

        >>> x = norch.ones(2)
        >>> x.clone().zero_(), x
        (tensor([0., 0.]), tensor([1., 1.]))
        """
        order = None if memory_format is None else order_of(memory_format, self.ndim, "clone")
        if order is not None:
            rows = self.permute(order).clone(memory_format=contiguous_format)
            return rows.permute([order.index(axis) for axis in range(self.ndim)])
        if memory_format is contiguous_format and not self.is_contiguous():
            return self.contiguous()
        result = wrap(lib.clone_tensor(self._ptr))
        result._shape = self._shape
        return recorded(result, CloneBackward, (self,))

    def to(
        self: Tensor,
        *args: str | int | DType | Tensor | None,
        device: str | int | None = None,
        dtype: DType | None = None,
        non_blocking: bool = False,
        copy: bool = False,
        other: Tensor | None = None,
        memory_format: memory_format | None = None,
    ) -> Tensor:
        """This tensor in another dtype or on another device: `to(device)`, `to(dtype)`, `to(device, dtype)`, `to(t)`.

        A new tensor of the same shape, differentiable; this tensor itself if nothing changes, unless `copy`. (Copies to
        other devices are `non_blocking` as it is.) Raises RuntimeError for an unknown device, TypeError for an argument
        that is not a device, a dtype or a tensor.

        >>> norch.tensor([1, 2]).to(norch.float64)
        tensor([1., 2.], dtype=norch.float64)
        """
        if len(args) == 1 and device is dtype is other is memory_format is None and not copy:  # most often
            (given,) = args
            if type(given) is _dtype:
                return _converted(self, given, None)
            if isinstance(given, str) and _C.device_number(given) == lib.device_of(self._ptr):
                return self
            if isinstance(given, operation.Tensor) and given.dtype is self.dtype and given.device == self.device:
                return self
        elif not args and device is dtype is other is memory_format is None and not copy:
            return self
        if bool in map(type, args):  # non_blocking and copy, one by one
            copy = copy or [value for value in args if isinstance(value, bool)][1:2] == [True]
            args = tuple(value for value in args if not isinstance(value, bool))
        order = None if memory_format is preserve_format else memory_format
        device, kind = destination(*args, other, device=device, dtype=dtype)
        result = self
        if kind is not None and kind is not self.dtype:
            result = wrap(lib.cast_tensor(result._ptr, kind.number))
        if device is not None and _C.device_number(device) != lib.device_of(self._ptr):
            result = wrap(lib.to_device(result._ptr, _C.device_number(device)))
        if result is self:
            result = self.clone() if copy else self
        elif result.is_floating_point():
            recorded(result, ToBackward, (self,))
        return result if order is None else result.contiguous(memory_format=order)

    def cpu(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        """This tensor on the CPU, in its shape and dtype; itself if it is there already.

        >>> norch.ones(2).cpu().device
        device(type='cpu')
        """
        return self.to("cpu", memory_format=memory_format)

    def cuda(
        self: Tensor,
        device: str | int | None = None,
        non_blocking: bool = False,
        memory_format: memory_format | None = None,
    ) -> Tensor:
        """This tensor on a CUDA device, given as an index or a name, in its shape and dtype.

        Raises RuntimeError if there is no such device.

        >>> norch.ones(2).cuda().device if norch.cuda.is_available() else norch.device("cuda:0")
        device(type='cuda', index=0)
        """
        return self.to(device=cuda_place(device), memory_format=memory_format)

    def type_as(self: Tensor, other: Tensor) -> Tensor:
        """This tensor, in its shape, in the dtype of another. Raises TypeError if that is not a tensor.

        >>> norch.tensor([1, 2]).type_as(norch.ones(1))
        tensor([1., 2.])
        """
        return self.to(check_tensor(other, "type_as").dtype)

    def copy_(self: Tensor, src: Operand, non_blocking: builtins.bool = False) -> Tensor:
        """Overwrite the elements with those of a tensor or number, broadcast to this shape, converted to this dtype.

        The tensor may be on another device. Raises ShapeError if it does not fit, RuntimeError for a leaf that requires
        gradients.

        >>> norch.zeros(2, 2).copy_(norch.tensor([1, 2]))
        tensor([[1., 2.],
                [1., 2.]])
        """
        value = src if isinstance(src, operation.Tensor) else check_operand(src, "copy_")
        if value._edge is None:
            return overwrite(self, lib.assign_tensor, value._ptr)
        if value.device != self.device:
            src = value = value.to(self.device)  # so that its gradient comes back; C moves others
        return write(self, CopyBackward, (src,), lib.assign_tensor, self._ptr, value._ptr)

    def fill_(self: Tensor, value: Operand) -> Tensor:
        """Set every element to one number, converted to this dtype; the shape stays.

        Raises RuntimeError for a leaf that requires gradients and for a tensor with dimensions, TypeError if `value` is
        neither a number nor a tensor.

        >>> norch.zeros(2).fill_(7)
        tensor([7., 7.])
        """
        if type(value) is _int or type(value) is _float:
            ptr = number(fitting(value, self.dtype, "fill_") if abs(value) > 65504 else value)._ptr  # 16 bits
            return overwrite(self, lib.assign_tensor, ptr)
        shape = getattr(value, "shape", ())
        if len(shape):
            raise RuntimeError(f"fill_: expected a number or a tensor of no dimensions, got shape {list(shape)}")
        return self.copy_(value)

    def zero_(self: Tensor) -> Tensor:
        """Set every element to 0; shape and dtype stay. Raises RuntimeError for a leaf that requires gradients.

        >>> norch.ones(2).zero_()
        tensor([0., 0.])
        """
        return overwrite(self, lib.assign_tensor, None)

    def ones_like(self: Tensor) -> Tensor:
        """Ones of this shape, dtype and device.

        >>> norch.tensor([5, 6]).ones_like()
        tensor([1, 1])
        """
        return wrap(lib.full_like_tensor(self._ptr, number(1)._ptr))

    def zeros_like(self: Tensor) -> Tensor:
        """Zeros of this shape, dtype and device.

        >>> norch.tensor([5, 6]).zeros_like()
        tensor([0, 0])
        """
        return wrap(lib.full_like_tensor(self._ptr, number(0)._ptr))

    def half(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        """This tensor in the dtype float16 and its shape; itself if it is that already.

        >>> norch.tensor([0.1]).half()
        tensor([0.1000], dtype=norch.float16)
        """
        return _converted(self, float16, memory_format)

    def bfloat16(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        """This tensor in the dtype bfloat16 and its shape; itself if it is that already.

        >>> norch.tensor([0.1]).bfloat16()
        tensor([0.1001], dtype=norch.bfloat16)
        """
        return _converted(self, bfloat16, memory_format)

    def byte(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        """This tensor in the dtype uint8 and its shape, rounded towards 0, modulo 256; itself if it is that already.

        >>> norch.tensor([1.9, 257]).byte()
        tensor([1, 1], dtype=norch.uint8)
        """
        return _converted(self, uint8, memory_format)

    def char(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        """This tensor in the dtype int8 and its shape, rounded towards 0, modulo 256; itself if it is that already.

        >>> norch.tensor([1.9, 255]).char()
        tensor([ 1, -1], dtype=norch.int8)
        """
        return _converted(self, int8, memory_format)

    def short(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        """This tensor in the dtype int16 and its shape, rounded towards 0; itself if it is that already.

        >>> norch.tensor([1.9, -1.9]).short()
        tensor([ 1, -1], dtype=norch.int16)
        """
        return _converted(self, int16, memory_format)

    # Last, because the names of dtypes hide Python's own.

    def float(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as float32, in its shape; itself if it is that already.

        >>> norch.tensor([1, 2]).float()
        tensor([1., 2.])
        """
        return _converted(self, float32, memory_format)

    def double(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as float64, in its shape; itself if it is that already.

        >>> norch.ones(2).double().dtype
        norch.float64
        """
        return _converted(self, float64, memory_format)

    def long(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as int64, in its shape, rounded towards 0; itself if it is that already.

        >>> norch.tensor([1.9, -1.9]).long()
        tensor([ 1, -1])
        """
        return _converted(self, int64, memory_format)

    def int(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as int32, in its shape, rounded towards 0; itself if it is that already.

        >>> norch.tensor([1.9, -1.9]).int()
        tensor([ 1, -1], dtype=norch.int32)
        """
        return _converted(self, int32, memory_format)

    def bool(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        """This tensor as bool, in its shape: whether each element is nonzero.

        >>> norch.tensor([0, 2]).bool()
        tensor([False,  True])
        """
        return _converted(self, bool_, memory_format)


def _converted(x: Tensor, kind: _dtype, format: memory_format | None) -> Tensor:
    """The tensor in a dtype; itself if that is its own."""
    if format is not None:
        return x.to(kind, memory_format=format)
    if lib.dtype_of(x._ptr) == kind.number:
        return x
    result = wrap(lib.cast_tensor(x._ptr, kind.number))
    if x._edge and mode.enabled and kind.is_floating_point:
        record(result, ToBackward(x), (x._edge,))
    return result
