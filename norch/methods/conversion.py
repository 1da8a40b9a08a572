"""Copies of a tensor, and its conversion to other dtypes and devices."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _C
from .._C import lib, number
from ..arguments import destination
from ..autograd.derivatives.views import CloneBackward, CopyBackward, ToBackward
from ..autograd.in_place import write
from ..operation import check_operand, check_tensor, recorded, wrap
from ..types import DType, Operand, bool_, float32, float64, int32, int64

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class ConversionMethods:
    """The methods of Tensor that copy it, overwrite it or convert it."""

    def clone(self: Tensor) -> Tensor:
        """A contiguous copy, through which gradients flow; of the same shape, dtype and device.

        >>> x = norch.ones(2)
        >>> x.clone().zero_(), x
        (tensor([0., 0.]), tensor([1., 1.]))
        """
        return recorded(wrap(lib.clone_tensor(self._ptr)), CloneBackward, (self,))

    def to(
        self: Tensor, *args: str | DType | Tensor | None, device: str | None = None, dtype: DType | None = None
    ) -> Tensor:
        """This tensor in another dtype or on another device: `to(device)`, `to(dtype)`, `to(device, dtype)`, `to(t)`.

        A new tensor of the same shape, differentiable; this tensor itself if nothing changes. Raises RuntimeError for
        an unknown device, TypeError for an argument that is not a device, a dtype or a tensor.

        >>> norch.tensor([1, 2]).to(norch.float64)
        tensor([1., 2.], dtype=norch.float64)
        """
        device, kind = destination(*args, device=device, dtype=dtype)
        result = self
        if kind is not None and kind is not result.dtype:
            result = wrap(lib.cast_tensor(result._ptr, kind.number))
        if device is not None and _C.device_number(device) != result._struct.device:
            result = wrap(lib.to_device(result._ptr, _C.device_number(device)))
        if result is self or not result.is_floating_point():
            return result
        return recorded(result, ToBackward, (self,))

    def cpu(self: Tensor) -> Tensor:
        """This tensor on the CPU, in its shape and dtype; itself if it is there already.

        >>> norch.ones(2).cpu().device
        'cpu'
        """
        return self.to("cpu")

    def cuda(self: Tensor, device: str | int | None = None) -> Tensor:
        """This tensor on a CUDA device, given as an index or a name, in its shape and dtype.

        Raises RuntimeError if there is no such device.

        >>> norch.ones(2).cuda().device if norch.cuda.is_available() else "cuda:0"
        'cuda:0'
        """
        return self.to("cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device)

    def type_as(self: Tensor, other: Tensor) -> Tensor:
        """This tensor, in its shape, in the dtype of another. Raises TypeError if that is not a tensor.

        >>> norch.tensor([1, 2]).type_as(norch.ones(1))
        tensor([1., 2.])
        """
        return self.to(check_tensor(other, "type_as").dtype)

    def copy_(self: Tensor, source: Operand) -> Tensor:
        """Overwrite the elements with those of a tensor or number, broadcast to this shape, converted to this dtype.

        Raises ShapeError if it does not fit, RuntimeError for a leaf that requires gradients.

        >>> norch.zeros(2, 2).copy_(norch.tensor([1, 2]))
        tensor([[1., 2.],
                [1., 2.]])
        """
        value = check_operand(source, "copy_")
        return write(self, CopyBackward, (source,), lambda: lib.assign_tensor(self._ptr, value._ptr))

    def fill_(self: Tensor, value: Operand) -> Tensor:
        """Set every element to one number, converted to this dtype; the shape stays.

        Raises RuntimeError for a leaf that requires gradients, TypeError if `value` is not a number.

        >>> norch.zeros(2).fill_(7)
        tensor([7., 7.])
        """
        return self.copy_(value)

    def zero_(self: Tensor) -> Tensor:
        """Set every element to 0; shape and dtype stay. Raises RuntimeError for a leaf that requires gradients.

        >>> norch.ones(2).zero_()
        tensor([0., 0.])
        """
        return self.copy_(0)

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

    # Last, because the names of dtypes hide Python's own.

    def float(self: Tensor) -> Tensor:
        """This tensor as float32, in its shape; itself if it is that already.

        >>> norch.tensor([1, 2]).float()
        tensor([1., 2.])
        """
        return self.to(float32)

    def double(self: Tensor) -> Tensor:
        """This tensor as float64, in its shape; itself if it is that already.

        >>> norch.ones(2).double().dtype
        norch.float64
        """
        return self.to(float64)

    def long(self: Tensor) -> Tensor:
        """This tensor as int64, in its shape, rounded towards 0; itself if it is that already.

        >>> norch.tensor([1.9, -1.9]).long()
        tensor([ 1, -1])
        """
        return self.to(int64)

    def int(self: Tensor) -> Tensor:
        """This tensor as int32, in its shape, rounded towards 0; itself if it is that already.

        >>> norch.tensor([1.9, -1.9]).int()
        tensor([ 1, -1], dtype=norch.int32)
        """
        return self.to(int32)

    def bool(self: Tensor) -> Tensor:
        """This tensor as bool, in its shape: whether each element is nonzero.

        >>> norch.tensor([0, 2]).bool()
        tensor([False,  True])
        """
        return self.to(bool_)
