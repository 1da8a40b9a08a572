"""New tensors in a layout of memory that is given, of places in matrices, and over what others hold."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Sequence

from .._C import ShapeError, device_name, device_number, lib
from ..arguments import one_size, packed_list, plain_number, sizes_of
from ..operation import wrap
from ..packing import filled, uninitialized
from ..types import DType, check_dtype, int64, layout
from .creation import floating, made, permuted_empty

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = [
    "empty_permuted",
    "empty_strided",
    "scalar_tensor",
    "tril_indices",
    "triu_indices",
]


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of a shape with these strides, in elements; its values are not set. Dtypes as for `zeros`.

    Raises ShapeError for negative sizes or strides, or if there are not as many of both.

    >>> norch.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    shape, rank = packed_list(size, "empty_strided: size")
    strides, count = packed_list(stride, "empty_strided: stride")
    extent = _extent(tuple(size), tuple(stride))
    if rank != count or extent < 0:
        given = f"{list(size)} and {list(stride)}"
        raise ShapeError(f"empty_strided: expected a stride for each size, not negative, got {given}")
    memory = uninitialized([extent], floating(dtype), device)
    result = wrap(lib.as_strided_tensor(memory._ptr, shape, strides, rank, 0))
    return made(result, "empty_strided", requires_grad, pin_memory, layout)


@functools.lru_cache(256)
def _extent(size: tuple[Any, ...], stride: tuple[Any, ...]) -> int:
    """From the first element to behind the last one; -1 for negative sizes or strides."""
    if min((*size, *stride), default=0) < 0:
        return -1
    return 0 if 0 in size else 1 + sum((int(count) - 1) * int(step) for count, step in zip(size, stride))


def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: DType | None = None,
    layout: layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of a shape whose dimensions lie in memory in an order; its values are not set. Dtypes as for `zeros`.

    Raises RuntimeError if `physical_layout` does not have each dimension once.

    >>> norch.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    packed_list(size, "empty_permuted: size"), packed_list(physical_layout, "empty_permuted: physical_layout")
    shape, order = sizes_of((size,), "empty_permuted"), sizes_of((physical_layout,), "empty_permuted")
    if sorted(order) != list(range(len(shape))):
        raise RuntimeError(f"empty_permuted: expected each dimension of size {shape} once, got {order}")
    result = permuted_empty(shape, order, floating(dtype), device)
    return made(result, "empty_permuted", requires_grad, pin_memory, layout)


def scalar_tensor(
    s: Any,
    *,
    dtype: DType | None = None,
    layout: layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A number as a tensor of shape []; of the default dtype without `dtype`.

    Raises TypeError for what is not a number.

    >>> norch.scalar_tensor(3)
    tensor(3.)
    """
    result = filled((), plain_number(s, "scalar_tensor"), floating(dtype), device)
    return made(result, "scalar_tensor", requires_grad, pin_memory, layout)


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType | None = None,
    device: str | int | None = None,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """The rows and columns [2, n] of the elements of a matrix [row, col] on and below a diagonal; int64.

    Raises RuntimeError for a negative size.

    >>> norch.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return _places("tril_indices", row, col, offset, False, dtype, device, layout, pin_memory)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType | None = None,
    device: str | int | None = None,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """The rows and columns [2, n] of the elements of a matrix [row, col] on and above a diagonal; int64.

    Raises RuntimeError for a negative size.

    >>> norch.triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    return _places("triu_indices", row, col, offset, True, dtype, device, layout, pin_memory)


def _places(
    name: str,
    row: int,
    col: int,
    offset: int,
    upper: bool,
    dtype: DType | None,
    device: str | int | None,
    layout: layout | None,
    pin_memory: bool,
) -> Tensor:
    """Where a triangle of a matrix is."""
    rows, columns, diagonal = (one_size(size, name) for size in (row, col, offset))
    if rows < 0 or columns < 0:
        raise RuntimeError(f"{name}: sizes cannot be negative: got {row} and {col}")
    kind = int64 if dtype is None else check_dtype(dtype)
    found = wrap(lib.triangle_places_tensor(rows, columns, diagonal, upper))
    number = device_number(device)
    if kind is not int64 or number:
        found = found.to(kind).to(device_name(number))
    return made(found, name, False, pin_memory, layout)
