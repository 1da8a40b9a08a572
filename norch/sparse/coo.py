"""SparseTensor: a tensor that holds only some of its elements, by their coordinates; the others are 0.

It is made of two ordinary tensors: `indices` [sparse dimensions, n] says where the elements are, `values` [n, ...] what
they are. Everything here is written in operations on the two, so gradients reach the values, and CUDA works too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Sequence

from .. import operation
from .._C import ShapeError
from ..arguments import axes_of, axis_of, destination, flags, one_size
from ..autocasting import lowered
from ..autograd.derivatives.joining import cat, stack
from ..display.formatting import tensor_repr
from ..given import given
from ..operation import check_kind, check_tensor
from ..packing import counting
from ..types import Size, dtype, float32, int64, shown, sparse_coo
from .parts import Parts

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class SparseTensor(Parts):
    """A sparse tensor in coordinates: `norch.sparse_coo_tensor` and `x.to_sparse()` make one.

    An index may come twice: the values add up (`coalesce` does it). `@` multiplies it with dense and sparse matrices;
    numbers multiply and divide it, sparse tensors are added to it. Gradients flow to the values. What a sparse tensor
    does not have, `to_dense()` does.

    >>> x = norch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse()
    >>> x @ norch.tensor([[1.0], [10.0]])
    tensor([[20.],
            [ 3.]])
    """

    is_sparse, layout, grad_fn = True, sparse_coo, None
    _is_own_leaf = False  # whether it was asked to require gradients, and not made of values that do

    def __init__(self, indices: Tensor, values: Tensor, size: Sequence[int], is_coalesced: bool = False) -> None:
        self._places, self._elements, self.shape, self._is_coalesced = indices, values, Size(size), is_coalesced

    # ---- What it is

    @property
    def dtype(self) -> dtype:
        """The type of the elements."""
        return self._elements.dtype

    @property
    def device(self) -> str:
        """Where the elements live."""
        return self._elements.device

    @property
    def is_cuda(self) -> bool:
        """Whether the elements live on a CUDA device."""
        return self._elements.is_cuda

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def requires_grad(self) -> bool:
        """Whether the values are part of a graph."""
        return self._elements.requires_grad

    @property
    def is_leaf(self) -> bool:
        """Whether the values were not computed in a graph."""
        return self._elements.is_leaf

    @property
    def grad(self) -> SparseTensor | None:
        """The gradient of the values, at their places."""
        gradient = self._elements.grad
        return None if gradient is None else SparseTensor(self._places, gradient, self.shape, self._is_coalesced)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension."""
        return self.shape if dim is None else self.shape[axis_of(self, dim, "size")]

    def dim(self) -> int:
        """The number of dimensions."""
        return self.ndim

    def sparse_dim(self) -> int:
        """How many dimensions the indices stand for: the first ones."""
        return self._places.shape[0]

    def dense_dim(self) -> int:
        """How many dimensions each value has: the last ones."""
        return self.ndim - self.sparse_dim()

    def numel(self) -> int:
        """The number of elements, also of those that are not held."""
        return self.shape.numel()

    def is_floating_point(self) -> bool:
        """Whether the dtype is floating."""
        return self.dtype.is_floating_point

    def is_coalesced(self) -> bool:
        """Whether it is known that each index comes once, in order."""
        return self._is_coalesced

    def _nnz(self) -> int:
        return self._places.shape[1]

    def _indices(self) -> Tensor:
        return self._places

    def _values(self) -> Tensor:
        return self._elements

    def indices(self) -> Tensor:
        """Where the values are: [sparse dimensions, n], int64. Raises RuntimeError for a tensor not coalesced."""
        return self._checked("indices")._places

    def values(self) -> Tensor:
        """The values [n, ...]. Raises RuntimeError for a tensor that is not coalesced."""
        return self._checked("values")._elements

    def _checked(self, name: str) -> SparseTensor:
        if not self._is_coalesced:
            raise RuntimeError(f"{name}: this sparse tensor may have an index twice; call coalesce() first")
        return self

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        parts = {"indices=": self._places, "values=": self._elements.detach()}
        lines = [f"{name}{tensor_repr(part, len('tensor(') + len(name))}," for name, part in parts.items()]
        end = f"size={tuple(self.shape)}, nnz={self._nnz()}, "
        end += "" if self.device == "cpu" else f"device='{self.device}', "
        end += "" if self.dtype in (float32, int64) else f"dtype={self.dtype!r}, "
        end += f"layout={self.layout!r}" + (", requires_grad=True" if self.requires_grad else "")
        return "tensor(" + "\n       ".join([*lines, end]) + ")"

    # ---- Other forms

    def _keys(self) -> Tensor:
        """The index of each value in the sparse dimensions, as if they were flat."""
        keys = counting(0, self.device).new_zeros(self._nnz())
        for places, size in zip(self._places.unbind(), self.shape):
            keys = keys * size + places
        return keys

    def coalesce(self) -> SparseTensor:
        """The same tensor with each index once, in order: values of one index are added."""
        if self._is_coalesced:
            return self
        keys, order = self._keys().sort()
        first = cat([keys.new_ones(min(len(keys), 1)).bool(), keys[1:] != keys[:-1]])
        group = first.cumsum(0) - 1
        values = self._elements.index_select(0, order)
        total = values.new_zeros([int(first.sum()), *values.shape[1:]]).index_add(0, group, values)
        return SparseTensor(self._places.index_select(1, order[first]), total, self.shape, True)

    def to_dense(self, dtype: Any = None) -> Tensor:
        """The tensor with all elements, in its shape and dtype."""
        values = self._elements if dtype is None else self._elements.to(dtype=dtype)
        inner = self.shape[: self.sparse_dim()]
        zeros = values.new_zeros([math.prod(inner), *values.shape[1:]])
        return operation.own(zeros.index_add(0, self._keys(), values).reshape(self.shape))

    def to_sparse(self, *_: Any, **__: Any) -> SparseTensor:
        """This tensor."""
        return self

    def to(self, *args: Any, device: str | int | None = None, dtype: Any = None, **_: Any) -> SparseTensor:
        """This tensor in another dtype or on another device."""
        flags = [value for value in args if not isinstance(value, bool)]
        place, kind = destination(*flags, device=device, dtype=dtype)
        values = self._elements.to(place or self.device, kind or self.dtype)
        return self if values is self._elements else self._with(values, self._places.to(place or self.device))

    def type(self, dtype: Any) -> SparseTensor:
        """This tensor in another dtype."""
        return self._with(self._elements.type(dtype))

    def cpu(self) -> SparseTensor:
        """This tensor on the CPU."""
        return self.to("cpu")

    def cuda(self, device: str | int | None = None) -> SparseTensor:
        """This tensor on a CUDA device."""
        return self._with(self._elements.cuda(device), self._places.cuda(device))

    def clone(self) -> SparseTensor:
        """A copy, through which gradients flow."""
        return self._with(self._elements.clone(), self._places.clone())

    def detach(self) -> SparseTensor:
        """The same tensor outside of any graph."""
        return self._with(self._elements.detach())

    @property
    def data(self) -> SparseTensor:
        """The same as `detach()`; assigning takes over what another holds."""
        return self.detach()

    @data.setter
    def data(self, other: SparseTensor) -> None:
        self._places, self._elements, self.shape = other._places, other._elements, other.shape
        self._is_coalesced = other._is_coalesced

    def copy_(self, source: SparseTensor) -> SparseTensor:
        """Take over a copy of what another sparse tensor of this shape holds. Raises ShapeError for another shape."""
        if check_kind(source, SparseTensor, "copy_").shape != self.shape:
            raise ShapeError(f"copy_: expected shape {list(self.shape)}, got {list(source.shape)}")
        self.data = source.detach().clone().to(self.device, self.dtype)
        return self

    @flags
    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """Let the values require gradients, or not."""
        self._elements.requires_grad_(requires_grad)
        self._is_own_leaf = requires_grad
        return self

    def _with(self, values: Tensor, places: Tensor | None = None) -> SparseTensor:
        return SparseTensor(self._places if places is None else places, values, self.shape, self._is_coalesced)

    def _mapped(self, function: Callable[[Tensor], Tensor]) -> SparseTensor:
        """A function of each element that leaves 0 at 0."""
        whole = self.coalesce()
        return whole._with(function(whole._elements))

    # ---- Other orders and parts

    def transpose(self, dim0: int, dim1: int) -> SparseTensor:
        """Two sparse dimensions exchanged. Raises RuntimeError for a dense one."""
        a, b = axis_of(self, dim0, "transpose"), axis_of(self, dim1, "transpose")
        if max(a, b) >= self.sparse_dim():
            raise RuntimeError(f"transpose: dimensions {dim0} and {dim1} of a sparse tensor are not both sparse")
        order = list(range(self.ndim))
        order[a], order[b] = b, a
        places = self._places.index_select(0, self._places.new_tensor(order[: self.sparse_dim()]))
        return SparseTensor(places, self._elements, [self.shape[axis] for axis in order])

    def t(self) -> SparseTensor:
        """A matrix [m, n] as [n, m]; fewer dimensions stay. Raises RuntimeError for more, or for dense ones."""
        if self.ndim > 2 or self.dense_dim():
            raise RuntimeError(f"t: expected at most 2 dimensions, all sparse, got shape {list(self.shape)}")
        return self.transpose(0, 1) if self.ndim == 2 else self

    @property
    def T(self) -> SparseTensor:
        """A matrix [m, n] as [n, m]."""
        return self.t()

    def _over(self, axes: Sequence[int], chosen: Tensor | None = None) -> Any:
        """The sum over sparse dimensions, of the values at chosen places alone; dense if no sparse one remains."""
        places, values = self._places, self._elements
        if chosen is not None:
            places, values = places.index_select(1, chosen), values.index_select(0, chosen)
        kept = [axis for axis in range(self.sparse_dim()) if axis not in axes]
        shape = [size for axis, size in enumerate(self.shape) if axis not in axes]
        if not kept:
            return values.sum(0)
        return SparseTensor(places.index_select(0, places.new_tensor(kept)), values, shape).coalesce()

    def sum(self, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        """The sum over dimensions, which stay as 1 with `keepdim`: dense if it is over all sparse ones, else sparse."""
        whole = self if dtype is None else self.to(dtype=dtype)
        axes = [axis_of(self, axis, "sum") for axis in axes_of("sum", dim, None) or range(self.ndim)]
        dense = [axis - self.sparse_dim() + 1 for axis in axes if axis >= self.sparse_dim()]
        if dense:
            sizes = [size for axis, size in enumerate(self.shape) if axis not in axes or axis < self.sparse_dim()]
            whole = SparseTensor(whole._places, whole._elements.sum(dense), sizes, whole._is_coalesced)
        sparse = [axis for axis in axes if axis < self.sparse_dim()]
        result = whole._over(sparse) if sparse else whole
        for axis in sorted(axes) if keepdim else ():
            result = result.unsqueeze(axis)
        return result

    # ---- Arithmetic

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, SparseTensor):
            return _sparse_product(self, other)
        return _product(self, other) if isinstance(other, operation.Tensor) else NotImplemented

    def __rmatmul__(self, other: Any) -> Any:
        if not isinstance(other, operation.Tensor):
            return NotImplemented
        return _product(self.t(), other.t()).t() if other.ndim > 1 else _product(self.t(), other)

    def matmul(self, other: Any) -> Any:
        """The product with a matrix or a vector, dense or sparse: `x @ other`."""
        return self @ other

    def mm(self, other: Any) -> Any:
        """The product with a matrix, dense or sparse. Raises ShapeError for a vector."""
        return self @ with_dims(other, 2, "mm")

    spmm = mm

    def smm(self, mat: Any) -> SparseTensor:
        """The product with a matrix, as a sparse tensor. Raises ShapeError for a vector."""
        return (self @ with_dims(mat, 2, "smm")).to_sparse()

    def bmm(self, mat2: Any) -> Tensor:
        """The products of a batch of sparse matrices with a batch of dense ones. Raises ShapeError for other shapes."""
        check_tensor(mat2, "bmm")
        if self.ndim != 3 or self.dense_dim() or mat2.ndim != 3 or len(self) != len(mat2):
            raise ShapeError(
                f"bmm: a sparse tensor of shape {list(self.shape)} and one of {list(mat2.shape)} do not fit"
            )
        return stack([part @ other for part, other in zip(self.unbind(), mat2)], 0)

    def sspaddmm(self, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> SparseTensor:
        """beta * x + alpha * (mat1 @ mat2) for a sparse mat1, as a sparse tensor."""
        return self * beta + check_kind(mat1, SparseTensor, "sspaddmm").smm(mat2) * alpha

    def mv(self, other: Any) -> Any:
        """The product with a dense vector. Raises ShapeError for a matrix."""
        return self @ with_dims(other, 1, "mv")

    def addmm(self, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        """beta * x + alpha * (mat1 @ mat2)."""
        return self * beta + (mat1 @ mat2) * alpha

    def __mul__(self, other: Any) -> Any:
        """x * other, element by element, for a number, a dense or a sparse tensor: sparse."""
        if isinstance(other, SparseTensor):
            return self._times_sparse(other)
        if isinstance(other, operation.Tensor) and other.ndim > 0:
            wide = other.expand(self.shape).reshape([-1, *self._elements.shape[1:]])
            whole = self.coalesce()
            return whole._with(whole._elements * wide.index_select(0, whole._keys()))
        if not isinstance(other, (int, float, operation.Tensor)):
            return NotImplemented
        return self._with(self._elements * other)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("a sparse tensor is not compared; to_dense() is")

    __hash__ = object.__hash__

    __rmul__ = mul = multiply = __mul__

    def _times_sparse(self, other: SparseTensor) -> SparseTensor:
        """The products at the places that both have."""
        _check_same(self, other, "mul")
        x, y = self.coalesce(), other.coalesce()
        keys, order = cat([x._keys(), y._keys()]).sort(stable=True)
        twice = (keys[1:] == keys[:-1]).nonzero().reshape(-1)
        left, right = order.index_select(0, twice), order.index_select(0, twice + 1) - x._nnz()
        values = x._elements.index_select(0, left) * y._elements.index_select(0, right)
        return SparseTensor(x._places.index_select(1, left), values, self.shape, True)

    def __truediv__(self, other: Any) -> Any:
        return self.div(other)

    def __floordiv__(self, other: Any) -> Any:
        """x / other, rounded down, for a number."""
        return self.div(other, rounding_mode="floor")

    def div(self, other: Any, *, rounding_mode: str | None = None) -> Any:
        """x / other, for a number, rounded if asked for. Raises RuntimeError for tensors with dimensions."""
        if isinstance(other, SparseTensor) or (isinstance(other, operation.Tensor) and other.ndim > 0):
            raise RuntimeError("div: a sparse tensor is divided by numbers and scalars only")
        if rounding_mode is None:
            return self._with(self._elements / other)
        return self._mapped(lambda values: values.div(other, rounding_mode=rounding_mode))

    divide, floor_divide = div, __floordiv__

    def __pow__(self, exponent: Any) -> SparseTensor:
        """x to the power of a positive number. Raises RuntimeError for other exponents."""
        if not isinstance(exponent, (int, float)) or exponent <= 0:
            raise RuntimeError(f"pow: expected a positive number as exponent of a sparse tensor, got {shown(exponent)}")
        return self._mapped(lambda values: values**exponent)

    pow = __pow__

    def __neg__(self) -> SparseTensor:
        return self._with(-self._elements)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, SparseTensor):
            _check_same(self, other, "add")
            places = cat([self._places, other._places], 1)
            return SparseTensor(places, cat([self._elements, other._elements]), self.shape).coalesce()
        return self.to_dense() + other if isinstance(other, operation.Tensor) else NotImplemented

    __radd__ = __add__

    def add(self, other: Any, *, alpha: Any = 1) -> Any:
        """x + alpha * other: sparse for a sparse tensor, dense for a dense one."""
        return self + _tensor(other, "add") * alpha

    def __sub__(self, other: Any) -> Any:
        """x - other: sparse for a sparse tensor, dense for a dense one."""
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def sub(self, other: Any, *, alpha: Any = 1) -> Any:
        """x - alpha * other: sparse for a sparse tensor, dense for a dense one."""
        return self - _tensor(other, "sub") * alpha

    subtract = sub


def with_dims(x: Any, rank: int, name: str) -> Any:
    """A dense or sparse tensor, which has so many dimensions: 2 or 1."""
    if not isinstance(x, (SparseTensor, operation.Tensor)):
        raise TypeError(f"{name}: expected a Tensor, got {given(x)}")
    if x.ndim != rank:
        raise ShapeError(f"{name}: expected a {'matrix' if rank == 2 else 'vector'}, got shape {list(x.shape)}")
    return x


def _tensor(x: Any, name: str) -> Any:
    return x if isinstance(x, SparseTensor) else check_tensor(x, name)


def added_product(x: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * (mat1 @ mat2), of which one is sparse; NaNs in x do not count if beta is 0."""
    product = with_dims(mat1, 2, "addmm") @ with_dims(mat2, 2, "addmm") * alpha
    return product if beta == 0 else lowered(x)[0] * beta + product


def _check_same(x: SparseTensor, y: SparseTensor, name: str) -> None:
    if x.shape != y.shape or x.sparse_dim() != y.sparse_dim():
        raise ShapeError(f"{name}: sparse tensors of shapes {list(x.shape)} and {list(y.shape)} do not fit")


def _product(x: SparseTensor, y: Tensor) -> Tensor:
    """A sparse matrix times a dense matrix or vector: each value times a row, added to the row of the result."""
    if x.ndim != 2 or x.dense_dim() or y.ndim not in (1, 2) or x.shape[1] != y.shape[0]:
        raise ShapeError(f"matmul: a sparse tensor of shape {list(x.shape)} and one of {list(y.shape)} do not fit")
    elements, y = lowered(x._elements, y)
    if elements.dtype is not y.dtype:
        raise RuntimeError(f"matmul: expected one dtype, got {x.dtype} and {y.dtype}")
    rows, columns = x._places.unbind()
    terms = y.index_select(0, columns) * (elements.unsqueeze(1) if y.ndim == 2 else elements)
    return y.new_zeros([x.shape[0], *y.shape[1:]]).index_add(0, rows, terms)


def _sparse_product(x: SparseTensor, y: SparseTensor) -> SparseTensor:
    """A sparse matrix times a sparse one: each value of x meets all values in a row of y."""
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[0] or x.dense_dim() or y.dense_dim():
        raise ShapeError(f"matmul: sparse tensors of shapes {list(x.shape)} and {list(y.shape)} do not fit")
    y = y.coalesce()  # so that its rows come in order
    (rows, inner), (y_rows, columns) = x._places.unbind(), y._places.unbind()
    in_row = inner.new_zeros(y.shape[0]).index_add(0, y_rows, y_rows.ones_like())
    row_starts = in_row.cumsum(0) - in_row
    meets = in_row.index_select(0, inner)
    left = meets.repeat_interleave()
    before = (meets.cumsum(0) - meets).index_select(0, left)
    right = row_starts.index_select(0, inner).index_select(0, left) + counting(len(left), x.device) - before
    values = x._elements.index_select(0, left) * y._elements.index_select(0, right)
    places = cat([rows.index_select(0, left).unsqueeze(0), columns.index_select(0, right).unsqueeze(0)])
    return SparseTensor(places, values, [x.shape[0], y.shape[1]]).coalesce()


def sparse_mask(x: Tensor, mask: SparseTensor) -> SparseTensor:
    """The elements of a dense tensor at the places of a sparse one of its shape."""
    check_kind(mask, SparseTensor, "sparse_mask")
    if mask.shape != x.shape:
        raise ShapeError(f"sparse_mask: shapes {list(x.shape)} and {list(mask.shape)} differ")
    values = x.reshape([-1, *x.shape[mask.sparse_dim() :]]).index_select(0, mask._keys())
    return SparseTensor(mask._places, values, x.shape, mask._is_coalesced)


def dense_to_sparse(x: Tensor, sparse_dim: int | None = None) -> SparseTensor:
    """The elements of a dense tensor that are not 0; with fewer sparse dimensions, the parts that are not all 0."""
    rank = check_tensor(x, "to_sparse").ndim if sparse_dim is None else one_size(sparse_dim, "to_sparse")
    if not 0 <= rank <= x.ndim or (rank == 0 and x.ndim):
        raise RuntimeError(f"to_sparse: expected from 1 to {x.ndim} sparse dimensions, got {sparse_dim}")
    held = x.detach() != 0
    if rank < x.ndim:
        held = held.flatten(rank).any(-1)
    places = held.nonzero().t().contiguous()
    values = x.reshape([-1, *x.shape[rank:]]).index_select(0, held.reshape(-1).nonzero().reshape(-1))
    return SparseTensor(places, values, x.shape, True)
