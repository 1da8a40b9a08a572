"""New tensors from data, or filled with a value or a sequence. (joining.py: from tensors; random.py: random ones.)"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING

from .._C import ShapeError, device_number, lib
from ..arguments import sizes_of
from ..operation import check_tensor, wrap
from ..packing import counting, filled, inferred, tensor_of, uninitialized
from ..types import DType, Operand, Size, Sizes, check_dtype, float32, int64

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

# ---- From data --------------------------------------------------------------------------------------------------


def tensor(data: object, dtype: DType | None = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """A tensor with a copy of `data`: a number, nested lists or tuples, a tensor or an array.

    Without `dtype` it is inferred: float32 for floats, int64 for integers, bool for bools, an array's own for arrays.
    A number has shape [1]. Raises ValueError for ragged lists, TypeError if an element is not a number, RuntimeError if
    the device is not available.

    >>> norch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> norch.tensor([1.5, 2]).dtype
    norch.float32
    """
    return leaf(tensor_of(data, None if dtype is None else check_dtype(dtype), device), requires_grad)


def leaf(result: Tensor, requires_grad: bool) -> Tensor:
    """The tensor, which requires gradients if `requires_grad` is True."""
    return result.requires_grad_() if requires_grad else result


# ---- Filled -----------------------------------------------------------------------------------------------------


def empty(*size: Sizes, dtype: DType | None = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """A tensor of a shape, with its values not set. Sizes, dtypes and errors as for `zeros`.

    >>> norch.empty(2, 3).shape
    norch.Size([2, 3])
    """
    shape = sizes_of(size, "empty")
    return leaf(uninitialized(shape, float32 if dtype is None else check_dtype(dtype), device), requires_grad)


def full(
    size: Sizes, fill_value: Operand, dtype: DType | None = None, device: str = "cpu", requires_grad: bool = False
) -> Tensor:
    """A tensor of a shape with one value everywhere. Without `dtype` the value's type decides. Errors as for `zeros`.

    >>> norch.full([2], 7)
    tensor([7, 7])
    """
    shape = (size,) if isinstance(size, int) else size
    kind = inferred([fill_value]) if dtype is None else check_dtype(dtype)
    return leaf(filled(sizes_of(shape, "full"), fill_value, kind, device), requires_grad)


def zeros(*size: Sizes, dtype: DType | None = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """Zeros of a shape: sizes one by one or as a list; float32 unless `dtype` says otherwise.

    Raises ShapeError for a negative size, TypeError if a size is not an integer.

    >>> norch.zeros(2, 2)
    tensor([[0., 0.],
            [0., 0.]])
    """
    return full(sizes_of(size, "zeros"), 0, float32 if dtype is None else dtype, device, requires_grad)


def ones(*size: Sizes, dtype: DType | None = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """Ones of a shape. Sizes, dtypes and errors as for `zeros`.

    >>> norch.ones(2, 2)
    tensor([[1., 1.],
            [1., 1.]])
    """
    return full(sizes_of(size, "ones"), 1, float32 if dtype is None else dtype, device, requires_grad)


def _like(input: Tensor, dtype: DType | None, device: str | None, name: str) -> tuple[Size, DType, str]:
    """The shape, dtype and device of another tensor, unless dtype or device are given."""
    check_tensor(input, name)
    return input.shape, dtype or input.dtype, device or input.device


def empty_like(
    input: Tensor, dtype: DType | None = None, device: str | None = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of another's shape, dtype and device, with its values not set. Raises TypeError for anything else.

    >>> norch.empty_like(norch.ones(2, 3)).shape
    norch.Size([2, 3])
    """
    shape, kind, place = _like(input, dtype, device, "empty_like")
    return empty(shape, dtype=kind, device=place, requires_grad=requires_grad)


def zeros_like(
    input: Tensor, dtype: DType | None = None, device: str | None = None, requires_grad: bool = False
) -> Tensor:
    """Zeros of another tensor's shape, dtype and device. Raises TypeError if `input` is not a tensor.

    >>> norch.zeros_like(norch.tensor([5, 6]))
    tensor([0, 0])
    """
    shape, kind, place = _like(input, dtype, device, "zeros_like")
    return full(shape, 0, kind, place, requires_grad)


def ones_like(
    input: Tensor, dtype: DType | None = None, device: str | None = None, requires_grad: bool = False
) -> Tensor:
    """Ones of another tensor's shape, dtype and device. Raises TypeError if `input` is not a tensor.

    >>> norch.ones_like(norch.tensor([5, 6]))
    tensor([1, 1])
    """
    shape, kind, place = _like(input, dtype, device, "ones_like")
    return full(shape, 1, kind, place, requires_grad)


def full_like(
    input: Tensor,
    fill_value: Operand,
    dtype: DType | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """One value in another tensor's shape, dtype and device. Raises TypeError if `input` is not a tensor.

    >>> norch.full_like(norch.ones(2), 7)
    tensor([7., 7.])
    """
    shape, kind, place = _like(input, dtype, device, "full_like")
    return full(shape, fill_value, kind, place, requires_grad)


def arange(
    start: float,
    end: float | None = None,
    step: float = 1,
    dtype: DType | None = None,
    device: str = "cpu",
    requires_grad: bool = False,
) -> Tensor:
    """start, start + step, ... before `end`: a vector [n]. int64 for integers, else float32.

    A single number is `end`, and start is 0. Each element is start + i * step, rounded once to the dtype. Raises
    ValueError for a step of 0 or of the wrong sign and for bounds that are not finite, TypeError if an argument is not
    a number, MemoryError for too many elements.

    >>> norch.arange(2, 10, 3)
    tensor([2, 5, 8])
    """
    if end is None:
        start, end = 0, start
    start, end, step = (_plain_number(value, "arange") for value in (start, end, step))
    whole = all(isinstance(value, int) for value in (start, end, step))
    kind = (int64 if whole else float32) if dtype is None else check_dtype(dtype)
    if step == 0:
        raise ValueError("arange: expected a nonzero step, got 0")
    if (end - start) * step < 0:
        raise ValueError(f"arange: bounds {start} and {end} do not fit the sign of step {step}")
    if not math.isfinite((end - start) / step):
        raise ValueError(f"arange: expected finite bounds, got {start} to {end} by {step}")
    count = -((end - start) // -step) if whole else math.ceil((end - start) / step)
    if count >= 2**63:
        raise MemoryError(f"arange: {count} elements are too many")
    place = count, kind.number, device_number(device)
    in_int64 = whole and all(-(2**63) <= value < 2**63 for value in (start, step))
    fill = lib.integer_arange_tensor if in_int64 else lib.arange_tensor
    return leaf(wrap(fill(start, step, *place)), requires_grad)


def linspace(
    start: float, end: float, steps: int, dtype: DType | None = None, device: str = "cpu", requires_grad: bool = False
) -> Tensor:
    """`steps` evenly spaced numbers, the first `start`, the last `end`; computed in double, rounded once.

    A vector [steps], float32 unless `dtype` says otherwise. Raises ValueError for a negative number of steps, TypeError
    if an argument is not a number.

    >>> norch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    if steps < 0:
        raise ValueError(f"linspace: expected a number of steps that is not negative, got {steps}")
    first, last = float(_plain_number(start, "linspace")), float(_plain_number(end, "linspace"))
    kind = float32 if dtype is None else check_dtype(dtype)
    ptr = lib.linspace_tensor(first, last, operator.index(steps), kind.number, device_number(device))
    return leaf(wrap(ptr), requires_grad)


def _plain_number(value: object, name: str) -> float:
    """A Python number; also out of a tensor or a NumPy scalar."""
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, (int, float)):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}")
    return value


def eye(
    n: int, m: int | None = None, dtype: DType | None = None, device: str = "cpu", requires_grad: bool = False
) -> Tensor:
    """A matrix [n, m] (square without m) of zeros with ones on its diagonal; float32 unless `dtype` says otherwise.

    Raises ShapeError for a negative size, TypeError if a size is not an integer.

    >>> norch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    rows, columns = sizes_of((n, n if m is None else m), "eye")
    if min(rows, columns) < 0:
        raise ShapeError(f"eye: sizes cannot be negative: got {rows} and {columns}")
    ones_at = counting(rows, device).unsqueeze(1) == counting(columns, device)
    return leaf(ones_at.to(check_dtype(dtype or float32)), requires_grad)


def where(condition: Tensor, input: Operand, other: Operand) -> Tensor:
    """The elements of `input` where the bool `condition` holds, those of `other` elsewhere.

    All broadcast to one shape, and `input` and `other` are promoted to one dtype. Raises ShapeError if the shapes do
    not fit, RuntimeError for a condition of another dtype.

    >>> norch.where(norch.tensor([True, False]), norch.tensor([1, 2]), 0)
    tensor([1, 0])
    """
    return check_tensor(condition, "where")._choose(input, other)
