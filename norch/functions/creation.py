"""New tensors from data or filled with a value. (ranges.py: sequences; joining.py: from tensors; random.py: random.)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from .. import operation
from .._C import ShapeError, device_number, lib, number
from ..arguments import chosen, flag, place_of, sizes_of
from ..operation import check_tensor, wrap
from ..packing import inferred, tensor_of, uninitialized
from ..sparse.coo import SparseTensor, dense_to_sparse
from ..types import (
    DType,
    Operand,
    Sizes,
    bool_,
    check_dtype,
    default,
    dtype,
    int64,
    layout,
    memory_format,
    order_of,
    preserve_format,
    shown,
    sparse_coo,
    strided,
)
from .out import into

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = [
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "tensor",
    "where",
    "zeros",
    "zeros_like",
]

# ---- What all of them take --------------------------------------------------------------------------------------
#
# `dtype`, `device` and `requires_grad` say what the new tensor is, and `out` is a tensor to write it into. `layout`
# must be norch.strided. `pin_memory` changes nothing: memory is pinned when a copy to a GPU needs it.


def leaf(result: Tensor, requires_grad: bool, pin_memory: bool = False) -> Tensor:
    """The tensor, which requires gradients if `requires_grad` is True. Raises TypeError for flags that are no bools."""
    if pin_memory is not False and pin_memory is not None:
        flag(pin_memory, "pin_memory")
    return result if requires_grad is False or requires_grad is None else result.requires_grad_(requires_grad)


def made(
    result: Tensor,
    name: str,
    requires_grad: bool,
    pin_memory: bool = False,
    layout: layout | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The result of the function `name`, with what its options ask for."""
    if out is layout is None and requires_grad is pin_memory is False:  # most often
        return result
    if layout is sparse_coo and name in ("zeros", "empty") and out is None:
        nothing: Any = dense_to_sparse(zeros(result.shape, dtype=result.dtype, device=result.device))
        return leaf(nothing, requires_grad)
    if layout is not None and layout is not strided:
        raise TypeError(f"{name}: expected the layout norch.strided, got {shown(layout)}")
    return leaf(into(out, result, name), requires_grad, pin_memory)


def sequence(result: Tensor, name: str, *options: Any) -> Tensor:
    """`made` of a vector, written into any `out` of as many elements, which keeps its shape, in row order."""
    out = options[-1]
    if isinstance(out, operation.Tensor) and out.numel == result.numel:
        result = result.view(out.shape)
    return made(result, name, *options)


def floating(kind: DType | None, out: Tensor | None = None) -> dtype:
    """The dtype that is asked for; else that of `out`, or the default dtype."""
    if kind is None and out is not None:
        return check_tensor(out, "out").dtype
    return default.dtype if kind is None else check_dtype(kind)


# ---- From data --------------------------------------------------------------------------------------------------


def tensor(
    data: object,
    dtype: DType | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    *,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with a copy of `data`: a number, nested lists or tuples, a tensor or an array, or a list of those.

    Without `dtype` it is inferred: the default dtype for floats, int64 for integers, bool for bools, an array's own.
    A number has shape []. Raises ValueError for ragged lists, TypeError if an element is not a number, RuntimeError if
    the device is not available.

    >>> norch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> norch.tensor([1.5, 2]).dtype
    norch.float32
    """
    return leaf(tensor_of(data, None if dtype is None else check_dtype(dtype), device), requires_grad, pin_memory)


# ---- Filled -----------------------------------------------------------------------------------------------------


def empty(
    *sizes: Sizes,
    size: Sizes | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """A tensor of a shape, with its values not set. Sizes, dtypes and errors as for `zeros`.

    >>> norch.empty(2, 3).shape
    norch.Size([2, 3])
    """
    if memory_format is None:
        result = wrap(lib.empty_tensor(*place_of("empty", sizes, size, dtype, device, out)))
    else:
        shape = sizes_of(chosen(sizes, size, "empty", "size"), "empty")
        result = in_format(shape, floating(dtype, out), device, memory_format, "empty")
    return made(result, "empty", requires_grad, pin_memory, layout, out)


def in_format(
    shape: Sequence[int], kind: dtype, device: str | int | None, order: memory_format | None, name: str
) -> Tensor:
    """A tensor whose values are not set, that lies in memory as the memory format says."""
    axes = order_of(order, len(shape), name)
    if axes is None:
        return uninitialized(shape, kind, device)
    return permuted_empty(shape, axes, kind, device)


def permuted_empty(shape: Sequence[int], order: Sequence[int], kind: dtype, device: str | int | None) -> Tensor:
    """A tensor whose values are not set, and whose dimensions lie in memory in an order, the last one without gaps."""
    result = uninitialized([shape[axis] for axis in order], kind, device)
    return result.permute([list(order).index(axis) for axis in range(len(shape))]).detach()


def full(
    size: Sizes,
    fill_value: Operand,
    dtype: DType | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    *,
    out: Tensor | None = None,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of a shape with one value everywhere. Without `dtype` the value's type decides. Errors as for `zeros`.

    >>> norch.full([2], 7)
    tensor([7, 7])
    """
    kind = dtype
    if dtype is out is None and not isinstance(fill_value, float):
        kind = inferred([fill_value])  # of a tensor too it is the kind of number that counts
        kind = None if kind.is_floating_point else kind if kind is bool_ else int64
    place = place_of("full", (size,), None, kind, device, out)
    if isinstance(fill_value, (int, float)):
        result = wrap(lib.full_tensor(*place, number(fill_value)._ptr))
    else:
        result = wrap(lib.empty_tensor(*place)).fill_(fill_value)
    return made(result, "full", requires_grad, pin_memory, layout, out)


def zeros(
    *sizes: Sizes,
    size: Sizes | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros of a shape: sizes one by one or as a list; the default dtype unless `dtype` says otherwise.

    Raises ShapeError for a negative size, TypeError if a size is not an integer.

    >>> norch.zeros(2, 2)
    tensor([[0., 0.],
            [0., 0.]])
    """
    result = wrap(lib.full_tensor(*place_of("zeros", sizes, size, dtype, device, out), None))
    return made(result, "zeros", requires_grad, pin_memory, layout, out)


def ones(
    *sizes: Sizes,
    size: Sizes | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Ones of a shape. Sizes, dtypes and errors as for `zeros`.

    >>> norch.ones(2, 2)
    tensor([[1., 1.],
            [1., 1.]])
    """
    result = wrap(lib.full_tensor(*place_of("ones", sizes, size, dtype, device, out), number(1)._ptr))
    return made(result, "ones", requires_grad, pin_memory, layout, out)


def _like(
    input: Tensor, dtype: DType | None, device: str | int | None, order: memory_format | None, name: str
) -> Tensor:
    """A tensor whose values are not set, like another, unless dtype, device or memory format are given."""
    if isinstance(input, SparseTensor) and name in ("zeros_like", "empty_like"):
        return input.new_zeros(input.shape, dtype=dtype, device=device)
    kind = check_tensor(input, name).dtype if dtype is None else check_dtype(dtype)
    if order is None or order is preserve_format:
        place = lib.device_of(input._ptr) if device is None else device_number(device)
        return wrap(lib.empty_like_tensor(input._ptr, kind.number, place))
    return in_format(input.shape, kind, input.device if device is None else device, order, name)


def _filled_like(
    input: Tensor, value: Operand, dtype: DType | None, device: str | int | None, order: memory_format | None, name: str
) -> Tensor:
    if dtype is device is order is None and isinstance(value, (int, float)):
        if not isinstance(input, operation.Tensor):
            return _like(input, dtype, device, order, name)
        return wrap(lib.full_like_tensor(input._ptr, number(value)._ptr))
    return _like(input, dtype, device, order, name).fill_(value)


def empty_like(
    input: Tensor,
    dtype: DType | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    *,
    layout: layout | None = None,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of another's shape, dtype and device, with its values not set. Raises TypeError for anything else.

    Its dimensions lie in memory in the same order, unless `memory_format` asks for another.

    >>> norch.empty_like(norch.ones(2, 3)).shape
    norch.Size([2, 3])
    """
    result = _like(input, dtype, device, memory_format, "empty_like")
    return made(result, "empty_like", requires_grad, pin_memory, layout)


def zeros_like(
    input: Tensor,
    dtype: DType | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    *,
    layout: layout | None = None,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros of another tensor's shape, dtype and device. Raises TypeError if `input` is not a tensor.

    >>> norch.zeros_like(norch.tensor([5, 6]))
    tensor([0, 0])
    """
    result = _filled_like(input, 0, dtype, device, memory_format, "zeros_like")
    return made(result, "zeros_like", requires_grad, pin_memory, layout)


def ones_like(
    input: Tensor,
    dtype: DType | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    *,
    layout: layout | None = None,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """Ones of another tensor's shape, dtype and device. Raises TypeError if `input` is not a tensor.

    >>> norch.ones_like(norch.tensor([5, 6]))
    tensor([1, 1])
    """
    result = _filled_like(input, 1, dtype, device, memory_format, "ones_like")
    return made(result, "ones_like", requires_grad, pin_memory, layout)


def full_like(
    input: Tensor,
    fill_value: Operand,
    dtype: DType | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    *,
    layout: layout | None = None,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """One value in another tensor's shape, dtype and device. Raises TypeError if `input` is not a tensor.

    >>> norch.full_like(norch.ones(2), 7)
    tensor([7., 7.])
    """
    result = _filled_like(input, fill_value, dtype, device, memory_format, "full_like")
    return made(result, "full_like", requires_grad, pin_memory, layout)


# ---- Matrices and choices ---------------------------------------------------------------------------------------


def eye(
    n: int,
    m: int | None = None,
    dtype: DType | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    *,
    out: Tensor | None = None,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """A matrix [n, m] (square without m) of zeros with ones on its diagonal; of the default dtype without `dtype`.

    Raises ShapeError for a negative size, TypeError if a size is not an integer.

    >>> norch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    rows, columns = sizes_of((n, n if m is None else m), "eye")
    if min(rows, columns) < 0:
        raise ShapeError(f"eye: sizes cannot be negative: got {rows} and {columns}")
    result = wrap(lib.eye_tensor(rows, columns, floating(dtype, out).number, device_number(device)))
    return made(result, "eye", requires_grad, pin_memory, layout, out)


def where(
    condition: Tensor, input: Operand | None = None, other: Operand | None = None, *, out: Tensor | None = None
) -> Any:
    """The elements of `input` where the bool `condition` holds, those of `other` elsewhere.

    All broadcast to one shape, and `input` and `other` are promoted to one dtype. `where(condition)` alone is
    `condition.nonzero(as_tuple=True)`. A condition of uint8, the masks of old programs, holds where it is not 0. Raises
    ShapeError if the shapes do not fit, RuntimeError for a condition of another dtype, TypeError for one of `input` and
    `other` alone.

    >>> norch.where(norch.tensor([True, False]), norch.tensor([1, 2]), 0)
    tensor([1, 0])
    """
    check_tensor(condition, "where")
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if input is None or other is None:
        raise TypeError("where: expected both input and other, or none of them")
    return into(out, condition._choose(input, other), "where")
