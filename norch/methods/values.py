"""The elements as Python's: numbers, lists, text, and what `t[...]` reads and writes."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from ctypes import c_void_p
from typing import TYPE_CHECKING, Any, Iterator, NoReturn

from .. import operation
from .._C import lib
from ..display import formatting
from ..display.notebook import tensor_html
from ..operation import operand, refuse_recording
from ..types import DTYPES, HALVES, Index, Operand, Scalar, Size, float32, shown
from . import indexing

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class ValueMethods:
    """The methods of Tensor that give its values to Python."""

    def tolist(self: Tensor) -> Any:
        """The elements as nested lists of Python numbers (a number for a tensor of 0 dimensions).

        >>> norch.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        refuse_recording("a value is read")
        values = lib.values_of(self._ptr, False)
        if values is not None:
            return values
        source = self.detach().cpu().contiguous()
        kind = source.dtype
        if kind in HALVES:
            source, kind = source.detach().float(), float32
        count: int = lib.count_of(source._ptr)
        flat: list[Any] = (kind.ctype * count).from_address(source.data_ptr())[:] if count else []
        for size in reversed(self.shape[1:]):
            flat = [flat[i : i + size] for i in range(0, len(flat), size)] if size else [[]] * 0
        if count == 0:
            return _empty_lists(self.shape)
        return flat[0] if self.ndim == 0 else flat

    def item(self: Tensor) -> Scalar:
        """The value of a tensor of one element, of any shape and dtype, as a Python number.

        Raises RuntimeError for a tensor of no element or several.

        >>> norch.tensor([2.5]).item()
        2.5
        """
        refuse_recording("a value is read")
        value = lib.values_of(self._ptr, True)
        if value is not None:
            return value
        struct = self._struct
        if struct.size != 1:
            raise RuntimeError(f"item: expected a tensor of one element, got shape {list(self.shape)}")
        kind = DTYPES[struct.dtype]
        if struct.device or kind in HALVES:
            return self.detach().to("cpu", float32 if kind in HALVES else kind).item()
        return kind.ctype.from_address(c_void_p.from_address(int(self._ptr)).value).value  # type: ignore[arg-type]

    def __float__(self: Tensor) -> float:
        return float(_only(self).item())

    def __int__(self: Tensor) -> int:
        return int(_only(self).item())

    def __index__(self: Tensor) -> int:
        if self.is_floating_point() or self.numel != 1:
            raise TypeError(
                f"only an integer tensor of one element can be an index, got {self.dtype} of shape {list(self.shape)}"
            )
        return int(self.item())

    def __bool__(self: Tensor) -> bool:
        if self.numel != 1:
            raise RuntimeError(f"the truth of a tensor of shape {list(self.shape)} is ambiguous; use any() or all()")
        return bool(self.item())

    def __round__(self: Tensor, ndigits: int | None = None) -> Scalar:
        if self.numel != 1:
            raise TypeError(
                f"round: expected a tensor of one element, got shape {list(self.shape)}; x.round() rounds each"
            )
        return round(self.item(), ndigits)

    def __format__(self: Tensor, spec: str) -> str:
        if not spec:
            return str(self)
        if self.numel != 1 and spec[-1] in "eEfFgG%":
            raise TypeError(f"format {shown(spec)} is for one number, got a tensor of shape {list(self.shape)}")
        return format(self.item() if self.numel == 1 else str(self), spec)

    def __contains__(self: Tensor, value: Operand) -> bool:
        if not isinstance(value, (operation.Tensor, int, float)) and operand(value) is NotImplemented:
            raise RuntimeError(f"`in`: expected a Tensor or a number, got {type(value).__name__}")
        return bool((self == value).any())

    def __repr__(self: Tensor) -> str:
        return formatting.tensor_repr(self)

    def __str__(self: Tensor) -> str:
        return formatting.number_text(self) if self.ndim == 0 else repr(self)

    def _repr_html_(self: Tensor) -> str:
        return tensor_html(self)

    def __getitem__(self: Tensor, index: Index) -> Tensor:
        return indexing.get(self, index)

    def __setitem__(self: Tensor, index: Index, value: object) -> None:
        indexing.set(self, index, value)

    def __delitem__(self: Tensor, index: Index) -> NoReturn:
        raise TypeError("Tensor does not support deleting items")

    def __iter__(self: Tensor) -> Iterator[Tensor]:
        if self.ndim == 0:
            raise TypeError("a tensor of 0 dimensions cannot be iterated over")
        return iter(self.unbind())

    def __reversed__(self: Tensor) -> Tensor:
        return self.flip(0) if self.ndim else self


def _only(x: Tensor) -> Tensor:
    """A tensor of one element as it is."""
    if lib.count_of(x._ptr) != 1:
        raise ValueError(f"only a tensor of one element is a number, got shape {list(x.shape)}")
    return x


def _empty_lists(shape: Size) -> list[Any]:
    return [] if shape[0] == 0 else [_empty_lists(shape[1:]) for _ in range(shape[0])]
