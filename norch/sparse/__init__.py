"""Sparse tensors: `norch.sparse.mm`, `sum`, `softmax`; `norch.sparse_coo_tensor` makes one (coo.py has the class)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._C import ShapeError
from ..arguments import axis_of, flags, sizes_of
from ..autograd.derivatives.joining import stack
from ..functions.saved_kinds import saved_in_parts
from ..operation import check_kind, check_tensor
from ..packing import counting, tensor_of
from ..types import DType, Sizes, check_dtype, float32, float64, int64, shown, sparse_coo
from .coo import SparseTensor, added_product, with_dims

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = ["SparseTensor", "addmm", "log_softmax", "mm", "softmax", "spdiags", "sum"]


@flags
def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Sizes | None = None,
    *,
    dtype: DType | None = None,
    device: str | int | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool = False,
) -> SparseTensor:
    """A sparse tensor with `values` [n, ...] at `indices` [sparse dimensions, n], and 0 elsewhere.

    Without `size` it is as small as the indices allow. The dtype is that of the values, which gradients reach.
    `sparse_coo_tensor(size)` and `sparse_coo_tensor(size=size)` have no values. Raises ShapeError if shapes do not fit,
    RuntimeError for an index out of range.

    >>> norch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    if values is None:
        size = indices if indices is not None else size
        indices, values = tensor_of([[]] * len(sizes_of((size,), "sparse_coo_tensor")), int64), tensor_of([], float32)
    elements: Tensor = values if hasattr(values, "_ptr") else tensor_of(values, None, device)
    elements = elements.to(elements.device if device is None else device, None if dtype is None else check_dtype(dtype))
    places: Tensor = indices if hasattr(indices, "_ptr") else tensor_of(indices, None)
    if places.is_floating_point() and places.numel:
        raise RuntimeError(f"sparse_coo_tensor: expected indices of an integer dtype, got {places.dtype}")
    places = places.detach().to(elements.device, int64)
    if places.ndim != 2 or elements.ndim < 1 or places.shape[1] != elements.shape[0]:
        given = f"{list(places.shape)} and {list(elements.shape)}"
        raise ShapeError(f"sparse_coo_tensor: indices [dimensions, n] and values [n, ...] expected, got shapes {given}")
    largest = places.amax(1).tolist() if places.shape[1] else [-1] * places.shape[0]
    if size is None:
        shape = [index + 1 for index in largest] + list(elements.shape[1:])
    else:
        shape = sizes_of((list(size) if not isinstance(size, int) else [size],), "sparse_coo_tensor")
    rank = places.shape[0]
    if len(shape) != rank + elements.ndim - 1 or shape[rank:] != list(elements.shape[1:]):
        raise ShapeError(
            f"sparse_coo_tensor: size {shape} does not fit {rank} sparse dimensions and values of "
            f"shape {list(elements.shape)}"
        )
    if (places.numel and places.min() < 0) or any(index >= limit for index, limit in zip(largest, shape)):
        raise RuntimeError(f"sparse_coo_tensor: an index does not lie within size {shape}")
    if requires_grad:
        return SparseTensor(places, elements.detach().clone(), shape, is_coalesced).requires_grad_()
    return SparseTensor(places, elements, shape, is_coalesced)


def _parts(x: SparseTensor) -> list[Any]:
    return [x._places, x._elements.detach(), list(x.shape), x._is_coalesced, x.requires_grad]


def _restored(places: Any, values: Any, size: Any, is_coalesced: bool, requires_grad: bool) -> SparseTensor:
    """The sparse tensor of a file."""
    return sparse_coo_tensor(places, values, size, is_coalesced=is_coalesced, requires_grad=requires_grad)


saved_in_parts(SparseTensor, _parts, _restored)


def mm(sparse: Any, dense: Any) -> Any:
    """The product of two matrices, of which at least one is sparse; dense unless both are.

    Raises ShapeError if the shapes do not chain or are no matrices, RuntimeError for two dtypes.

    >>> norch.sparse.mm(norch.eye(2).to_sparse(), norch.tensor([[1.0], [2.0]]))
    tensor([[1.],
            [2.]])
    """
    return with_dims(sparse, 2, "sparse.mm") @ with_dims(dense, 2, "sparse.mm")


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta * input + alpha * (mat1 @ mat2), with a sparse mat1. Errors as for `mm`.

    >>> norch.sparse.addmm(norch.ones(2, 1), norch.eye(2).to_sparse(), norch.tensor([[1.0], [2.0]]))
    tensor([[2.],
            [3.]])
    """
    return added_product(input, mat1, mat2, beta, alpha)


def sum(input: SparseTensor, dim: Any = None, dtype: DType | None = None) -> Any:
    """The sum of a sparse tensor over dimensions: dense if over all sparse ones, else sparse.

    Raises IndexError for a dim out of range.

    >>> norch.sparse.sum(norch.eye(2).to_sparse(), dim=1).to_dense()
    tensor([1., 1.])
    """
    return check_kind(input, SparseTensor, "sparse.sum").sum(dim, dtype=dtype)


def softmax(input: SparseTensor, dim: int, *, dtype: DType | None = None) -> SparseTensor:
    """exp(x) divided by its sum along a sparse dimension, over the elements that are held: the others are -infinity.

    Raises IndexError for a dim out of range, RuntimeError for a dense one.

    >>> norch.sparse.softmax(norch.tensor([[2.0, 2.0, 0.0]]).to_sparse(), 1).to_dense()
    tensor([[0.5000, 0.5000, 0.0000]])
    """
    return _softmax(input, dim, dtype, logarithm=False)


def log_softmax(input: SparseTensor, dim: int, *, dtype: DType | None = None) -> SparseTensor:
    """The logarithm of `softmax`; errors as there.

    >>> norch.sparse.log_softmax(norch.tensor([[2.0, 2.0, 0.0]]).to_sparse(), 1).values()
    tensor([-0.6931, -0.6931])
    """
    return _softmax(input, dim, dtype, logarithm=True)


def _softmax(input: SparseTensor, dim: int, dtype: DType | None, logarithm: bool) -> SparseTensor:
    check_kind(input, SparseTensor, "sparse.softmax")
    x = (input if dtype is None else input.to(dtype=dtype)).coalesce()
    axis = axis_of(x, dim, "sparse.softmax")
    if axis >= x.sparse_dim():
        raise RuntimeError(f"sparse.softmax: dimension {dim} is not sparse")
    places, values = x.indices().clone(), x.values()
    places[axis] = 0  # elements of one line have one key
    lines, line = SparseTensor(places, values, x.shape)._keys().unique(return_inverse=True)
    shape = [len(lines), *values.shape[1:]]
    index = line.reshape([-1] + [1] * (values.ndim - 1)).expand(values.shape)
    peak = values.detach().new_full(shape, -float("inf")).scatter_reduce(0, index, values.detach(), "amax")
    shifted = values - peak.index_select(0, line)
    total = values.new_zeros(shape).index_add(0, line, shifted.exp()).index_select(0, line)
    return x._with(shifted - total.log() if logarithm else shifted.exp() / total)


# ---- The constructors of old scripts -----------------------------------------------------------------------------


def FloatTensor(indices: Any, values: Any, size: Sizes | None = None) -> SparseTensor:
    """`norch.sparse_coo_tensor` of float32; errors as there.

    >>> norch.sparse.FloatTensor(norch.tensor([[0], [1]]), norch.tensor([3.0]), (2, 2)).to_dense()
    tensor([[0., 3.],
            [0., 0.]])
    """
    return sparse_coo_tensor(indices, values, size, dtype=float32)


def DoubleTensor(indices: Any, values: Any, size: Sizes | None = None) -> SparseTensor:
    """`norch.sparse_coo_tensor` of float64; errors as there.

    >>> norch.sparse.DoubleTensor(norch.tensor([[0]]), norch.tensor([3.0]), (1,)).dtype
    norch.float64
    """
    return sparse_coo_tensor(indices, values, size, dtype=float64)


def LongTensor(indices: Any, values: Any, size: Sizes | None = None) -> SparseTensor:
    """`norch.sparse_coo_tensor` of int64; errors as there.

    >>> norch.sparse.LongTensor(norch.tensor([[0]]), norch.tensor([3]), (1,)).dtype
    norch.int64
    """
    return sparse_coo_tensor(indices, values, size, dtype=int64)


def spmm(input: Any, mat2: Any) -> Any:
    """The product [m, n] of a sparse matrix [m, k] and [k, n], of one dtype; as `norch.sparse.mm`.

    Raises ShapeError if the shapes do not chain, RuntimeError for two dtypes.

    >>> norch.spmm(norch.eye(2).to_sparse(), norch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    return mm(input, mat2)


def smm(input: SparseTensor, mat2: Tensor) -> SparseTensor:
    """The product [m, n] of a sparse matrix [m, k] and a dense one [k, n], of one dtype, as a sparse tensor.

    Raises ShapeError if the shapes do not chain, RuntimeError for two dtypes, TypeError for an input that is dense.

    >>> norch.smm(norch.eye(2).to_sparse(), norch.tensor([[0.0], [2.0]])).values()
    tensor([2.])
    """
    return check_kind(input, SparseTensor, "smm").smm(mat2)


def hspmm(mat1: SparseTensor, mat2: Tensor) -> SparseTensor:
    """The product [m, n] of a sparse matrix [m, k] and a dense one [k, n], of one dtype: its rows that are not 0.

    They are the values [rows, n] of a tensor with one sparse dimension. Raises TypeError for a mat1 that is not sparse,
    and otherwise as `norch.smm`.

    >>> norch.hspmm(norch.eye(2).to_sparse(), norch.tensor([[0.0], [2.0]])).values()
    tensor([[2.]])
    """
    return (check_kind(mat1, SparseTensor, "hspmm") @ with_dims(mat2, 2, "hspmm")).to_sparse(1)


def sspaddmm(
    input: SparseTensor, mat1: SparseTensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1
) -> SparseTensor:
    """beta * input + alpha * (mat1 @ mat2): [m, n] of [m, k] and [k, n], of one dtype; mat1 and the result are sparse.

    Errors as for `norch.smm`.

    >>> norch.sspaddmm(norch.eye(2).to_sparse(), norch.eye(2).to_sparse(), norch.eye(2)).to_dense()
    tensor([[2., 0.],
            [0., 2.]])
    """
    return check_kind(input, SparseTensor, "sspaddmm").sspaddmm(mat1, mat2, beta=beta, alpha=alpha)


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Sizes, layout: Any = None) -> SparseTensor:
    """A sparse matrix of this shape whose diagonals are rows [n]: column j of a row stands in column j.

    `offsets` [k], of an integer dtype, says which diagonals the rows [k, n] are: 0 is the main one, 1 the one above.
    Raises ShapeError for other shapes, RuntimeError for an offset that comes twice.

    >>> norch.sparse.spdiags(norch.tensor([[1, 2], [3, 4]]), norch.tensor([0, 1]), (2, 2)).to_dense()
    tensor([[1, 4],
            [0, 2]])
    """
    if layout is not None and layout is not sparse_coo:
        raise TypeError(f"spdiags: expected the layout norch.sparse_coo, got {shown(layout)}")
    rows, which = check_tensor(diagonals, "spdiags"), check_tensor(offsets, "spdiags")
    rows, which = rows.reshape(-1, rows.shape[-1] if rows.ndim else 1), which.reshape(-1)
    size = sizes_of((shape,), "spdiags")
    if len(size) != 2 or len(rows) != len(which):
        raise ShapeError(
            f"spdiags: diagonals of shape {list(diagonals.shape)}, offsets of {list(offsets.shape)} and shape {size}"
        )
    if len(set(which.tolist())) != len(which):
        raise RuntimeError(f"spdiags: expected offsets of which none comes twice, got {which.tolist()}")
    columns = counting(rows.shape[1], rows.device).expand(rows.shape)
    lines = columns - which.to(int64).unsqueeze(1)
    kept = ((lines >= 0) & (lines < size[0]) & (columns < size[1])).reshape(-1).nonzero().reshape(-1)
    places = stack([lines.reshape(-1).index_select(0, kept), columns.reshape(-1).index_select(0, kept)], 0)
    return SparseTensor(places, rows.reshape(-1).index_select(0, kept), size).coalesce()
