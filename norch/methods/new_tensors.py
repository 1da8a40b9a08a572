"""New tensors of a tensor's dtype and device: `new_zeros`, `new_tensor` and the others."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from ..arguments import chosen, packed
from ..functions.creation import full, made, tensor
from ..functions.layouts import empty_strided
from ..packing import empty_of, full_of
from ..types import DType, Operand, Sizes, check_dtype, dtype, layout

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class NewTensorMethods:
    """The methods of Tensor that make others of its dtype and device."""

    def new_zeros(
        self: Tensor,
        *sizes: Sizes,
        size: Sizes | None = None,
        dtype: DType | None = None,
        device: str | int | None = None,
        requires_grad: bool = False,
        layout: layout | None = None,
        pin_memory: bool = False,
    ) -> Tensor:
        """Zeros of a shape, in this tensor's dtype and on its device. Errors as for `norch.zeros`.

        >>> norch.tensor([5]).new_zeros(2)
        tensor([0, 0])
        """
        shape = packed(sizes if size is None else chosen(sizes, size, "new_zeros", "size"), "new_zeros")
        result = full_of(shape, 0, self._kind(dtype), self.device if device is None else device)
        return made(result, "new_zeros", requires_grad, pin_memory, layout)

    def new_ones(
        self: Tensor,
        *sizes: Sizes,
        size: Sizes | None = None,
        dtype: DType | None = None,
        device: str | int | None = None,
        requires_grad: bool = False,
        layout: layout | None = None,
        pin_memory: bool = False,
    ) -> Tensor:
        """Ones of a shape, in this tensor's dtype and on its device. Errors as for `norch.zeros`.

        >>> norch.tensor([5]).new_ones(2)
        tensor([1, 1])
        """
        shape = packed(sizes if size is None else chosen(sizes, size, "new_ones", "size"), "new_ones")
        result = full_of(shape, 1, self._kind(dtype), self.device if device is None else device)
        return made(result, "new_ones", requires_grad, pin_memory, layout)

    def new_empty(
        self: Tensor,
        *sizes: Sizes,
        size: Sizes | None = None,
        dtype: DType | None = None,
        device: str | int | None = None,
        requires_grad: bool = False,
        layout: layout | None = None,
        pin_memory: bool = False,
    ) -> Tensor:
        """A shape whose values are not set, in this tensor's dtype and on its device. Errors as for `norch.zeros`.

        >>> norch.ones(1, dtype=norch.float64).new_empty(2, 3).shape
        norch.Size([2, 3])
        """
        shape = packed(sizes if size is None else chosen(sizes, size, "new_empty", "size"), "new_empty")
        result = empty_of(shape, self._kind(dtype), self.device if device is None else device)
        return made(result, "new_empty", requires_grad, pin_memory, layout)

    def new_full(
        self: Tensor,
        size: Sizes,
        fill_value: Operand,
        dtype: DType | None = None,
        device: str | int | None = None,
        requires_grad: bool = False,
        layout: layout | None = None,
        pin_memory: bool = False,
    ) -> Tensor:
        """One value in a shape, in this tensor's dtype and on its device. Errors as for `norch.zeros`.

        >>> norch.ones(1, dtype=norch.int64).new_full([2], 7)
        tensor([7, 7])
        """
        return full(
            size, fill_value, self._kind(dtype), self.device if device is None else device, requires_grad, layout=layout
        )

    def new_empty_strided(
        self: Tensor,
        size: Sequence[int],
        stride: Sequence[int],
        dtype: DType | None = None,
        device: str | int | None = None,
        requires_grad: bool = False,
        layout: layout | None = None,
        pin_memory: bool = False,
    ) -> Tensor:
        """A shape with these strides, values not set, in this dtype and on this device; as `norch.empty_strided`.

        >>> norch.ones(1).new_empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
        """
        kind, place = self._kind(dtype), self.device if device is None else device
        return empty_strided(size, stride, dtype=kind, device=place, requires_grad=requires_grad, layout=layout)

    def new_tensor(
        self: Tensor,
        data: object,
        dtype: DType | None = None,
        device: str | int | None = None,
        requires_grad: bool = False,
        layout: layout | None = None,
        pin_memory: bool = False,
    ) -> Tensor:
        """A copy of `data` in its shape, in this tensor's dtype and on its device.

        Raises ValueError for ragged lists, TypeError if an element is not a number.

        >>> norch.tensor([5]).new_tensor([1.9, 2.0])
        tensor([1, 2])
        """
        return tensor(data, self._kind(dtype), self.device if device is None else device, requires_grad)

    def _kind(self: Tensor, kind: DType | None) -> dtype:
        return self.dtype if kind is None else check_dtype(kind)
