"""Several tensors joined into one, or broadcast to one shape."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Iterable, Sequence, Union, cast

from .. import operation
from .._C import ShapeError, int64_array, lib
from ..arguments import broadcast_shapes as _broadcast_shapes
from ..arguments import flags, one_size, sizes_of
from ..autograd.derivatives import joining as derivatives
from ..autograd.in_place import wrap_view
from ..operation import check_tensor, mode, own
from ..packing import tensor_of
from ..sparse.coo import SparseTensor
from ..sparse.parts import joined as joined_sparse
from ..types import Size, default, int64, promoted, shown
from .out import into
from .promotion import common_type
from .ranges import arange

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "cat",
    "column_stack",
    "combinations",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "meshgrid",
    "row_stack",
    "stack",
    "vander",
    "vstack",
]

Tensors = Union["Tensor", Iterable["Tensor"]]  # one, or several at once


_SPARSE = ("cat", "stack", "hstack", "vstack")  # what joins sparse tensors, too


def _sequence(tensors: Any, name: str) -> tuple[Tensor, ...]:
    """At least one tensor, out of an iterable."""
    if type(tensors) not in (list, tuple) and (hasattr(tensors, "_ptr") or not isinstance(tensors, Iterable)):
        raise TypeError(f"{name}: expected a list or tuple of tensors, got {type(tensors).__name__}")
    found = tuple(tensors)
    for t in found:
        if not isinstance(t, operation.Tensor) and not (isinstance(t, SparseTensor) and name in _SPARSE):
            check_tensor(t, name)
    if not found:
        raise ShapeError(f"{name}: expected at least one tensor, got an empty list")
    return found


def cat(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None, out: Tensor | None = None) -> Tensor:
    """Tensors joined along a dimension they have, [2, 3] and [4, 3] to [6, 3]. The dtype is the largest of theirs.

    An empty vector, of shape [0], joins anything. Raises ShapeError if other sizes differ or there are no tensors,
    IndexError for a dim out of range.

    >>> norch.cat([norch.ones(1, 2), norch.zeros(2, 2)])
    tensor([[1., 1.],
            [0., 0.],
            [0., 0.]])
    """
    return _joined(_sequence(tensors, "cat"), one_size(dim if axis is None else axis, "cat"), out)


def _joined(parts: Sequence[Tensor], place: int, out: Tensor | None) -> Tensor:
    try:
        result = derivatives.cat(parts, place)
        return result if out is None else into(out, result, "cat")
    except AttributeError:
        if not any(isinstance(part, SparseTensor) for part in parts):
            raise
        return cast("Tensor", joined_sparse(parts, place))
    except (ShapeError, IndexError):
        joined = [part for part in parts if part.shape != (0,)] or parts
        if len(joined) == len(parts) or joined[0].ndim == 1:
            raise
    kind = functools.reduce(promoted, (part.dtype for part in parts))
    return into(out, derivatives.cat([part.to(kind) for part in joined], place), "cat")


concat = concatenate = cat


def stack(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None, out: Tensor | None = None) -> Tensor:
    """Tensors of one shape joined along a new dimension, k of [3] to [k, 3]. The dtype is the largest of theirs.

    Raises ShapeError if the shapes differ or there are no tensors, IndexError for a dim out of range.

    >>> norch.stack([norch.tensor([1, 2]), norch.tensor([3, 4])], dim=1)
    tensor([[1, 3],
            [2, 4]])
    """
    return _stacked(_sequence(tensors, "stack"), one_size(dim if axis is None else axis, "stack"), out)


def _stacked(parts: Sequence[Tensor], place: int, out: Tensor | None) -> Tensor:
    try:
        result = derivatives.stack(parts, place)
    except AttributeError:
        if not any(isinstance(part, SparseTensor) for part in parts):
            raise
        return cast("Tensor", joined_sparse([part.unsqueeze(place) for part in parts], place))
    return result if out is None else into(out, result, "stack")


def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors side by side: joined along the second dimension, vectors along their only one; otherwise as `cat`.

    [2, 3] and [2, 1] give [2, 4], [2] and [1] give [3].

    >>> norch.hstack([norch.tensor([1, 2]), norch.tensor([3])])
    tensor([1, 2, 3])
    """
    parts = _sequence(tensors, "hstack")
    if parts[0].ndim > 1:
        return _joined(parts, 1, out)
    return _joined(_padded_all(parts, 1), 0, out)


def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors one below the other: joined along the first dimension, vectors as rows; otherwise as `cat`.

    [2, 3] and [3] give [3, 3].

    >>> norch.vstack([norch.tensor([1, 2]), norch.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    parts = _sequence(tensors, "vstack")
    return _stacked(parts, 0, out) if _have_rank(parts, 1) else _joined(_padded_all(parts, 2), 0, out)


row_stack = vstack


def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors one behind the other: joined along the third dimension, two of [2, 3] to [2, 3, 2]; otherwise as `cat`.

    >>> norch.dstack([norch.ones(2, 3), norch.ones(2, 3)]).shape
    norch.Size([2, 3, 2])
    """
    parts = _sequence(tensors, "dstack")
    return _stacked(parts, 2, out) if _have_rank(parts, 2) else _joined(_padded_all(parts, 3), 2, out)


def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Vectors as the columns of a matrix, two of [3] to [3, 2]; matrices side by side. Otherwise as `cat`.

    >>> norch.column_stack([norch.tensor([1, 2]), norch.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    """
    parts = _sequence(tensors, "column_stack")
    if _have_rank(parts, 1):
        return _stacked(parts, 1, out)
    return _joined([part if part.ndim > 1 else part.reshape(-1, 1) for part in parts], 1, out)


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix of zeros with matrices on its diagonal, one after the other; vectors are rows. Dtypes are promoted.

    [a, b] and [c, d] give [a + c, b + d]. Raises ShapeError for more than two dimensions.

    >>> norch.block_diag(norch.tensor([[1, 2]]), norch.tensor([3]))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    blocks = [check_tensor(part, "block_diag") for part in tensors] or [tensor_of([[]], default.dtype)]
    return derivatives.block_diag(blocks, common_type(*blocks))


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All ways to take one element of each vector, as the rows of a matrix: [a] and [b] give [a * b, 2].

    One vector is returned as it is; all have one dtype. Raises ShapeError for anything but vectors, or without any.

    >>> norch.cartesian_prod(norch.tensor([1, 2]), norch.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    lines = _sequence(tensors, "cartesian_prod")
    for line in lines:
        if line.ndim != 1:
            raise ShapeError(f"cartesian_prod: expected vectors, got shape {list(line.shape)}")
    return lines[0] if len(lines) == 1 else stack([grid.reshape(-1) for grid in meshgrid(*lines)], 1)


@flags
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All ways to take `r` elements of a vector [n], as the rows of a matrix [m, r] of its dtype, in order.

    `with_replacement` takes an element as often as it likes. Raises RuntimeError for anything but a vector, or r < 0.

    >>> norch.combinations(norch.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    if check_tensor(input, "combinations").ndim != 1:
        raise RuntimeError(f"combinations: expected a vector, got shape {list(input.shape)}")
    if one_size(r, "combinations") < 0:
        raise RuntimeError(f"combinations: expected a number of elements that is not negative, got {r}")
    if r == 0:
        return input.new_empty(0)
    size, step = input.shape[0], 0 if with_replacement else 1
    rows = math.comb(size + r - 1, r) if with_replacement and size else math.comb(size, r)
    if not rows:
        return input[:0].reshape(0, 1).expand(0, r).clone()  # in the graph of `input`
    places = input.new_empty(rows, r, dtype=int64)  # MemoryError for too many
    last = arange(size, device=input.device)  # of each row so far
    columns = [(last, last)]  # with the row that each continues
    for _ in range(r - 1):
        following = last + step
        counts = size - following
        begun = arange(last.shape[0], device=input.device).repeat_interleave(counts)
        number = arange(begun.shape[0], device=input.device)
        last = number + (following - counts.cumsum(0) + counts).index_select(0, begun)
        columns.append((last, begun))
    row = arange(rows, device=input.device)
    for axis, (last, begun) in reversed(list(enumerate(columns))):
        places.select(1, axis).copy_(last.index_select(0, row))
        row = begun.index_select(0, row)
    return own(input.index_select(0, places.reshape(-1)).reshape(-1, r))


@flags
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers n - 1, ..., 1, 0 of each element of a vector [m], as a matrix [m, n]; n is m if not given.

    Integers give int64. Raises RuntimeError for anything but a vector, or a negative N.

    >>> norch.vander(norch.tensor([2, 3]), 3)
    tensor([[4, 2, 1],
            [9, 3, 1]])
    """
    if check_tensor(x, "vander").ndim != 1:
        raise RuntimeError(f"vander: expected a vector, got shape {list(x.shape)}")
    size = x.shape[0] if N is None else one_size(N, "vander")
    if size < 0:
        raise RuntimeError(f"vander: expected a number of columns that is not negative, got {N}")
    x = x if x.is_floating_point() else x.long()
    powers = powers_of(x, size)
    return powers if increasing else powers.flip(1)


def powers_of(x: Tensor, count: int) -> Tensor:
    """The powers 0, 1, ..., count - 1 of each element, in a new last dimension."""
    first = x.new_ones([*x.shape, 1])
    if count < 2:
        return own(first[..., :count])
    return cat([first, x.unsqueeze(-1).expand(*x.shape, count - 1).cumprod(-1)], -1)


# ---- Shapes that fit --------------------------------------------------------------------------------------------


def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The shape that shapes broadcast to; a number is a shape of one size. (Dtypes are no matter.)

    Raises ShapeError if they do not fit.

    >>> norch.broadcast_shapes((2, 1), (3,))
    norch.Size([2, 3])
    """
    given = [sizes_of((shape,), "broadcast_shapes") for shape in shapes]
    for shape in given:
        if min(shape, default=0) < 0:
            raise ShapeError(f"broadcast_shapes: sizes cannot be negative: got {shape}")
    return Size(_broadcast_shapes(*given))


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of all tensors in the shape that they broadcast to; dtypes stay. Raises ShapeError if they do not fit.

    >>> x, y = norch.broadcast_tensors(norch.ones(2, 1), norch.ones(3))
    >>> x.shape, y.shape
    (norch.Size([2, 3]), norch.Size([2, 3]))
    """
    shapes = [check_tensor(t, "broadcast_tensors").shape for t in tensors]
    shape = _common_shape(*shapes)
    return tuple([t if own == shape else t.expand(shape) for t, own in zip(tensors, shapes)])


@functools.lru_cache(256)
def _common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(_broadcast_shapes(*shapes, name="broadcast_tensors"))


def meshgrid(*tensors: Tensors, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Grids of coordinates from vectors: grid k holds the elements of vector k along dimension k, repeated elsewhere.

    Vectors [m] and [n] give two grids [m, n], each of its vector's dtype. With indexing="xy" the first two dimensions
    are swapped. Raises RuntimeError for another indexing, and for others than vectors of one dtype.

    >>> rows, columns = norch.meshgrid(norch.arange(2), norch.arange(3))
    >>> rows
    tensor([[0, 0, 0],
            [1, 1, 1]])
    >>> columns
    tensor([[0, 1, 2],
            [0, 1, 2]])
    """
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'meshgrid: expected indexing "ij" or "xy", got {shown(indexing)}')
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    lines = [*_sequence(given, "meshgrid")]
    shapes, kind = [line.shape for line in lines], lines[0].dtype
    for shape, line in zip(shapes, lines):
        if len(shape) > 1:
            raise RuntimeError(f"meshgrid: expected vectors, got shapes {[list(shape) for shape in shapes]}")
        if line.dtype is not kind:
            kinds = sorted(str(line.dtype) for line in lines)
            raise RuntimeError(f"meshgrid: expected vectors of one dtype, got {kinds}")
    swaps = indexing == "xy" and len(lines) > 1
    order = [1, 0, *range(2, len(lines))] if swaps else [*range(len(lines))]
    sizes = tuple([shapes[k][0] if shapes[k] else 1 for k in order])
    grids = [_grid(lines[k], place, sizes) for place, k in enumerate(order)]
    return (grids[1], grids[0], *grids[2:]) if swaps else tuple(grids)


def _grid(line: Tensor, axis: int, sizes: tuple[int, ...]) -> Tensor:
    """A vector, or a scalar, along one axis of these sizes."""
    after = (-1, *(1,) * (len(sizes) - 1 - axis))
    if line._edge is not None:
        return line.view(after).expand(sizes)
    upright = lib.view_tensor(line._ptr, int64_array(after), len(after)) if len(after) > 1 else line._ptr
    return wrap_view(lib.expand_tensor(upright, int64_array(sizes), len(sizes)), line, mode.enabled)


def _have_rank(parts: Sequence[Tensor], rank: int) -> bool:
    """Whether all have this many dimensions: to join them along a new one is to stack them."""
    for part in parts:
        if part.ndim != rank:
            return False
    return True


def _padded(x: Tensor, rank: int) -> Tensor:
    """A tensor with dimensions of size 1 in front, up to a rank; the third of three goes last, as in NumPy."""
    if rank == 3 and x.ndim in (1, 2):
        return x.unsqueeze(-1) if x.ndim == 2 else x.reshape(1, -1, 1)
    return x if x.ndim >= rank else x.reshape([1] * (rank - x.ndim) + list(x.shape))


def _padded_all(parts: Sequence[Tensor], rank: int) -> Sequence[Tensor]:
    return [part if part.ndim >= rank else _padded(part, rank) for part in parts]


def _all_padded(tensors: tuple[Tensors, ...], rank: int, name: str) -> Any:
    if not tensors:
        return ()
    given = tensors[0] if len(tensors) == 1 else tensors
    if hasattr(given, "_ptr"):
        return _padded(check_tensor(given, name), rank)
    return tuple(_padded_all(_sequence(given, name), rank))


def atleast_1d(*tensors: Tensors) -> Any:
    """Tensors of no dimensions get one, [1]; others stay. Several tensors, or a list of them, give a tuple.

    Dtypes stay. Raises TypeError if an argument is not a tensor.

    >>> norch.atleast_1d(norch.tensor(5).reshape(()))
    tensor([5])
    """
    return _all_padded(tensors, 1, "atleast_1d")


def atleast_2d(*tensors: Tensors) -> Any:
    """Dimensions of size 1 in front if there are fewer than two: [n] to [1, n]; otherwise as `atleast_1d`.

    >>> norch.atleast_2d(norch.tensor([1, 2]))
    tensor([[1, 2]])
    """
    return _all_padded(tensors, 2, "atleast_2d")


def atleast_3d(*tensors: Tensors) -> Any:
    """Dimensions of size 1 if there are fewer than three: [m, n] to [m, n, 1], [n] to [1, n, 1].

    Otherwise as `atleast_1d`.

    >>> norch.atleast_3d(norch.ones(2, 3)).shape
    norch.Size([2, 3, 1])
    """
    return _all_padded(tensors, 3, "atleast_3d")
