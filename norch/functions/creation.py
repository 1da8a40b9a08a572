"""Making tensors: from data, or filled with a value. (joining.py makes them of other tensors, random.py of nothing.)"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from .. import _C
from .._C import ShapeError, lib
from ..arguments import sizes_of
from ..operation import check_tensor, wrap
from ..packing import counting, filled, inferred, tensor_of, uninitialized

if TYPE_CHECKING:
    from ..tensor import Tensor
from ..types import check_dtype, float32, int64

# ---- From data --------------------------------------------------------------------------------------------------


def tensor(data: Any, dtype: Any = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """A tensor with a copy of `data`: a number, nested lists or tuples, a tensor or an array.

    Without `dtype` it is inferred: float32 for floats, int64 for integers, bool for bools, an array's own for arrays.
    A number has shape [1]. Raises ValueError for ragged lists, TypeError for what holds no numbers, RuntimeError for a
    device that is not there.

    >>> norch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> norch.tensor([1.5, 2]).dtype
    norch.float32
    """
    result = tensor_of(data, None if dtype is None else check_dtype(dtype), device)
    return result.requires_grad_() if requires_grad else result


# ---- Filled -----------------------------------------------------------------------------------------------------


def empty(*size: Any, dtype: Any = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """A tensor of a shape whose values are not set. Sizes, dtypes and errors as for `zeros`.

    >>> norch.empty(2, 3).shape
    norch.Size([2, 3])
    """
    shape = sizes_of(size, "empty")
    result = uninitialized(shape, float32 if dtype is None else check_dtype(dtype), device)
    return result.requires_grad_() if requires_grad else result


def full(size: Any, fill_value: Any, dtype: Any = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """A tensor of a shape and one value, whose type gives the dtype unless `dtype` does. Errors as for `zeros`.

    >>> norch.full([2], 7)
    tensor([7, 7])
    """
    shape = (size,) if isinstance(size, int) else size
    kind = inferred([fill_value]) if dtype is None else check_dtype(dtype)
    result = filled(sizes_of(shape, "full"), fill_value, kind, device)
    return result.requires_grad_() if requires_grad else result


def zeros(*size: Any, dtype: Any = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """Zeros of a shape: sizes one by one or as a list; float32 unless `dtype` says otherwise.

    Raises ShapeError for a negative size, TypeError for sizes that are no integers.

    >>> norch.zeros(2, 2)
    tensor([[0., 0.],
            [0., 0.]])
    """
    return full(sizes_of(size, "zeros"), 0, float32 if dtype is None else dtype, device, requires_grad)


def ones(*size: Any, dtype: Any = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """Ones of a shape. Sizes, dtypes and errors as for `zeros`.

    >>> norch.ones(2, 2)
    tensor([[1., 1.],
            [1., 1.]])
    """
    return full(sizes_of(size, "ones"), 1, float32 if dtype is None else dtype, device, requires_grad)


def _like(input: Tensor, dtype: Any, device: Any, name: str) -> dict[str, Any]:
    check_tensor(input, name)
    return {"dtype": dtype or input.dtype, "device": device or input.device}


def empty_like(input: Tensor, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of another's shape, dtype and device, whose values are not set. Raises TypeError for no tensor.

    >>> norch.empty_like(norch.ones(2, 3)).shape
    norch.Size([2, 3])
    """
    options = _like(input, dtype, device, "empty_like")
    return empty(input.shape, **options, requires_grad=requires_grad)


def zeros_like(input: Tensor, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros of another tensor's shape, dtype and device. Raises TypeError for no tensor.

    >>> norch.zeros_like(norch.tensor([5, 6]))
    tensor([0, 0])
    """
    options = _like(input, dtype, device, "zeros_like")
    return zeros(input.shape, **options, requires_grad=requires_grad)


def ones_like(input: Tensor, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones of another tensor's shape, dtype and device. Raises TypeError for no tensor.

    >>> norch.ones_like(norch.tensor([5, 6]))
    tensor([1, 1])
    """
    options = _like(input, dtype, device, "ones_like")
    return ones(input.shape, **options, requires_grad=requires_grad)


def full_like(
    input: Tensor, fill_value: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """One value in another tensor's shape, dtype and device. Raises TypeError for no tensor.

    >>> norch.full_like(norch.ones(2), 7)
    tensor([7., 7.])
    """
    options = _like(input, dtype, device, "full_like")
    return full(input.shape, fill_value, **options, requires_grad=requires_grad)


def arange(
    start: Any, end: Any = None, step: Any = 1, dtype: Any = None, device: str = "cpu", requires_grad: bool = False
) -> Tensor:
    """start, start + step, ... before `end`: a vector [n]. int64 for integers, else float32.

    start is 0 where one number is given. Each element is start + i * step, rounded once to the dtype. Raises ValueError
    for a step of 0, one of the wrong sign or bounds that are not finite, TypeError for what is no number, MemoryError
    for too many.

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
    place = count, kind.number, _C.device_number(device)
    if whole and -(2**63) <= start < 2**63 and -(2**63) <= step < 2**63:
        ptr = lib.integer_arange_tensor(start, step, *place)
    else:
        ptr = lib.arange_tensor(start, step, *place)
    result = wrap(ptr)
    return result.requires_grad_() if requires_grad else result


def linspace(
    start: Any, end: Any, steps: int, dtype: Any = None, device: str = "cpu", requires_grad: bool = False
) -> Tensor:
    """`steps` numbers at equal distances, the first `start`, the last `end`; computed in double, rounded once.

    A vector [steps], float32 unless `dtype` says otherwise. Raises ValueError for a negative number of steps, TypeError
    for what is no number.

    >>> norch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    if steps < 0:
        raise ValueError(f"linspace: expected a number of steps that is not negative, got {steps}")
    first, last = float(_plain_number(start, "linspace")), float(_plain_number(end, "linspace"))
    kind = float32 if dtype is None else check_dtype(dtype)
    ptr = lib.linspace_tensor(first, last, operator.index(steps), kind.number, _C.device_number(device))
    result = wrap(ptr)
    return result.requires_grad_() if requires_grad else result


def _plain_number(value: Any, name: str) -> Any:
    """A Python number, out of a tensor or a NumPy scalar too."""
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, (int, float)):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}")
    return value


def eye(n: int, m: Any = None, dtype: Any = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """A matrix [n, m] (square without m) of zeros with ones on its diagonal; float32 unless `dtype` says otherwise.

    Raises ShapeError for a negative size, TypeError for sizes that are no integers.

    >>> norch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    n, columns = sizes_of((n, n if m is None else m), "eye")
    if min(n, columns) < 0:
        raise ShapeError(f"eye: sizes cannot be negative: got {n} and {columns}")
    ones_at = counting(n, device).unsqueeze(1) == counting(columns, device)
    result = ones_at.to(check_dtype(dtype or float32))
    return result.requires_grad_() if requires_grad else result


def where(condition: Tensor, input: Any, other: Any) -> Tensor:
    """The elements of `input` where the bool `condition` holds, those of `other` elsewhere.

    All broadcast to one shape, and `input` and `other` are promoted to one dtype. Raises ShapeError where the shapes do
    not fit, RuntimeError for a condition of another dtype.

    >>> norch.where(norch.tensor([True, False]), norch.tensor([1, 2]), 0)
    tensor([1, 0])
    """
    return check_tensor(condition, "where")._choose(input, other)
