"""Several tensors joined into one, or broadcast to one shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Sequence, Union

from .._C import ShapeError
from ..arguments import broadcast_shapes, one_size
from ..autograd.derivatives import joining as derivatives
from ..operation import check_tensor

if TYPE_CHECKING:
    from ..tensor import Tensor

Tensors = Union["Tensor", Iterable["Tensor"]]  # one, or several at once


def _sequence(tensors: object, name: str) -> list[Tensor]:
    """A list of at least one tensor, out of an iterable."""
    if hasattr(tensors, "_ptr") or not isinstance(tensors, Iterable):
        raise TypeError(f"{name}: expected a list or tuple of tensors, got {type(tensors).__name__}")
    found = [check_tensor(t, name) for t in tensors]
    if not found:
        raise ValueError(f"{name}: expected at least one tensor, got an empty list")
    return found


def cat(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors joined along a dimension they have, [2, 3] and [4, 3] to [6, 3]. The dtype is the largest of theirs.

    Raises ShapeError if their other sizes differ, ValueError for an empty list, IndexError for a dim out of range.

    >>> norch.cat([norch.ones(1, 2), norch.zeros(2, 2)])
    tensor([[1., 1.],
            [0., 0.],
            [0., 0.]])
    """
    return derivatives.cat(_sequence(tensors, "cat"), one_size(dim if axis is None else axis, "cat"))


concat = concatenate = cat


def stack(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors of one shape joined along a new dimension, k of [3] to [k, 3]. The dtype is the largest of theirs.

    Raises ShapeError if the shapes differ, ValueError for an empty list, IndexError for a dim out of range.

    >>> norch.stack([norch.tensor([1, 2]), norch.tensor([3, 4])], dim=1)
    tensor([[1, 3],
            [2, 4]])
    """
    parts = _sequence(tensors, "stack")
    place = one_size(dim if axis is None else axis, "stack")
    for part in parts:
        if part.shape != parts[0].shape:
            raise ShapeError(f"stack: shapes {list(parts[0].shape)} and {list(part.shape)} are not the same")
    return cat([part.unsqueeze(place) for part in parts], dim=place)


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors side by side: joined along the second dimension, vectors along their only one; otherwise as `cat`.

    [2, 3] and [2, 1] give [2, 4], [2] and [1] give [3].

    >>> norch.hstack([norch.tensor([1, 2]), norch.tensor([3])])
    tensor([1, 2, 3])
    """
    parts = [_padded(part, 1) for part in _sequence(tensors, "hstack")]
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors one below the other: joined along the first dimension, vectors as rows; otherwise as `cat`.

    [2, 3] and [3] give [3, 3].

    >>> norch.vstack([norch.tensor([1, 2]), norch.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    return cat([_padded(part, 2) for part in _sequence(tensors, "vstack")], 0)


row_stack = vstack


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors one behind the other: joined along the third dimension, two of [2, 3] to [2, 3, 2]; otherwise as `cat`.

    >>> norch.dstack([norch.ones(2, 3), norch.ones(2, 3)]).shape
    norch.Size([2, 3, 2])
    """
    return cat([_padded(part, 3) for part in _sequence(tensors, "dstack")], 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Vectors as the columns of a matrix, two of [3] to [3, 2]; matrices side by side. Otherwise as `cat`.

    >>> norch.column_stack([norch.tensor([1, 2]), norch.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    """
    parts = _sequence(tensors, "column_stack")
    return hstack([part if part.ndim > 1 else part.reshape(-1, 1) for part in parts])


# ---- Shapes that fit --------------------------------------------------------------------------------------------


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of all tensors in the shape that they broadcast to; dtypes stay. Raises ShapeError if they do not fit.

    >>> x, y = norch.broadcast_tensors(norch.ones(2, 1), norch.ones(3))
    >>> x.shape, y.shape
    (norch.Size([2, 3]), norch.Size([2, 3]))
    """
    shape = broadcast_shapes(*(check_tensor(t, "broadcast_tensors").shape for t in tensors), name="broadcast_tensors")
    return tuple(t.expand(shape) for t in tensors)


def meshgrid(*tensors: Tensors, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Grids of coordinates from vectors: grid k holds the elements of vector k along dimension k, repeated elsewhere.

    Vectors [m] and [n] give two grids [m, n], each of its vector's dtype. With indexing="xy" the first two dimensions
    are swapped. Raises RuntimeError for another indexing, or if a tensor is not a vector.

    >>> rows, columns = norch.meshgrid(norch.arange(2), norch.arange(3))
    >>> rows
    tensor([[0, 0, 0],
            [1, 1, 1]])
    >>> columns
    tensor([[0, 1, 2],
            [0, 1, 2]])
    """
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'meshgrid: expected indexing "ij" or "xy", got {indexing!r}')
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    lines = [_padded(part, 1) for part in _sequence(given, "meshgrid")]
    if any(line.ndim != 1 for line in lines):
        raise RuntimeError(f"meshgrid: expected vectors, got shapes {[list(line.shape) for line in lines]}")
    swaps = indexing == "xy" and len(lines) > 1
    lines = [lines[1], lines[0], *lines[2:]] if swaps else lines
    grids = broadcast_tensors(*(_along(line, axis, len(lines)) for axis, line in enumerate(lines)))
    return (grids[1], grids[0], *grids[2:]) if swaps else grids


def _along(line: Tensor, axis: int, rank: int) -> Tensor:
    return line.view([-1 if d == axis else 1 for d in range(rank)])


def _padded(x: Tensor, rank: int) -> Tensor:
    """A tensor with dimensions of size 1 in front, up to a rank; the third of three goes last, as in NumPy."""
    if rank == 3 and x.ndim in (1, 2):
        return x.unsqueeze(-1) if x.ndim == 2 else x.reshape(1, -1, 1)
    return x if x.ndim >= rank else x.reshape([1] * (rank - x.ndim) + list(x.shape))


def _all_padded(tensors: tuple[Tensors, ...], rank: int, name: str) -> Any:
    given = tensors[0] if len(tensors) == 1 else tensors
    if hasattr(given, "_ptr"):
        return _padded(check_tensor(given, name), rank)
    return tuple(_padded(x, rank) for x in _sequence(given, name))


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
