"""What a sparse tensor has beside arithmetic: other dtypes, orders and sizes, its parts, and writes into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from .. import operation
from .._C import ShapeError
from ..arguments import axis_of, one_size, sizes_in, sizes_of
from ..autograd.derivatives.joining import cat
from ..operation import check_kind, check_tensor
from ..types import bfloat16, bool_, float16, float32, float64, int8, int16, int32, int64, shown, sparse_coo, uint8

if TYPE_CHECKING:
    from ..forward_declarations import SparseTensor, Tensor
    from ..types import dtype

# What leaves 0 at 0 can be done to the values alone.
OF_VALUES = """
abs absolute neg negative sign sgn relu sqrt square sin sinh asin arcsin asinh arcsinh tan tanh atan arctan atanh
arctanh erf erfinv expm1 log1p floor ceil round trunc frac rad2deg deg2rad isnan isinf isposinf isneginf signbit
positive nan_to_num conj conj_physical resolve_conj resolve_neg
""".split()
CASTS = {
    "half": float16, "bfloat16": bfloat16, "float": float32, "double": float64, "bool": bool_, "byte": uint8,
    "char": int8, "short": int16, "int": int32, "long": int64,
}  # fmt: skip
_IN_PLACE = {"add_", "sub_", "mul_", "div_", "pow_", "floor_divide_", "multiply_", "subtract_", "divide_", "addmm_"}


class Parts:
    """The methods of SparseTensor that need no arithmetic."""

    def _made(self, places: Tensor, values: Tensor, size: Sequence[int], is_coalesced: Any = False) -> SparseTensor:
        return type(self)(places, values, size, is_coalesced)  # type: ignore[call-arg,return-value]

    def __getattr__(self, name: str) -> Any:
        if name in CASTS:
            return lambda: self.to(CASTS[name])
        if name in ("new_tensor", "new_ones", "new_full", "new_empty"):
            return getattr(self._elements.detach(), name)
        if name in OF_VALUES:
            return lambda *args, **kwargs: self._mapped(lambda values: getattr(values, name)(*args, **kwargs))
        if name in _IN_PLACE or (name[-1:] == "_" and name[:-1] in OF_VALUES):
            return lambda *args, **kwargs: self._taken_over(name, getattr(self, name[:-1])(*args, **kwargs))
        raise AttributeError(f"a sparse tensor has no {shown(name)}; to_dense() has what tensors have")

    def _taken_over(self, name: str, result: Any) -> Any:
        """What an operation in place gives: this tensor, which holds the result. Raises RuntimeError for a leaf."""
        if self._is_own_leaf and self.is_leaf and operation.mode.enabled:
            raise RuntimeError(f"{name}: a leaf that requires gradients cannot be written to; use no_grad()")
        if getattr(result, "layout", None) is not sparse_coo or result.shape != self.shape:
            raise ShapeError(f"{name}: the result does not fit a sparse tensor of shape {list(self.shape)}")
        if result.dtype.is_floating_point and not self.dtype.is_floating_point:
            raise RuntimeError(f"{name}: the result is {result.dtype}, which {self.dtype} cannot hold")
        self.data = result if result.dtype is self.dtype else result.to(self.dtype)
        return self

    def zero_(self) -> Any:
        """Forget all values, in place. Raises RuntimeError for a leaf that requires gradients."""
        nothing = self._elements.detach()[:0]
        return self._taken_over("zero_", self._made(self._places[:, :0], nothing, self.shape, True))

    # ---- Questions, and numbers of it

    def is_same_size(self, other: Any) -> Any:
        """Whether another tensor has this shape."""
        return self.shape == other.shape

    def item(self) -> Any:
        """The only element as a number. Raises RuntimeError for more or none."""
        if self.shape.numel() != 1:
            raise RuntimeError(f"item: a sparse tensor of shape {list(self.shape)} has not one element")
        return self._elements.sum().item()

    def __bool__(self) -> Any:
        if self.shape.numel() != 1:
            raise RuntimeError(f"the truth of a sparse tensor of shape {list(self.shape)} is ambiguous")
        return self.item() != 0

    def any(self, dim: None = None, keepdim: bool = False) -> Tensor:
        """Whether any element is not 0: a scalar. Raises TypeError for a dim."""
        if dim is not None:
            raise TypeError(f"any: sparse tensors have this over all dimensions alone, got dim={shown(dim)}")
        return self.coalesce()._elements.any()

    def norm(self, p: Any = 2) -> Tensor:
        """The norm of all elements, p > 0: a scalar."""
        if not isinstance(p, (int, float)) or p <= 0:
            raise RuntimeError(f"norm: expected a positive number for the norm of a sparse tensor, got {shown(p)}")
        return self.coalesce()._elements.norm(p)

    # ---- Other orders, sizes and parts

    def permute(self, *dims: Any) -> SparseTensor:
        """The dimensions in another order, in which the sparse ones stay in front. Raises RuntimeError for others."""
        order = [axis_of(self, axis, "permute") for axis in sizes_of(dims, "permute")]
        rank = self.sparse_dim()
        if sorted(order) != list(range(self.ndim)) or any(axis >= rank for axis in order[:rank]):
            raise RuntimeError(f"permute: {order} is no order of {rank} sparse and {self.dense_dim()} dense dimensions")
        places = self._places.index_select(0, self._places.new_tensor(order[:rank]))
        values = self._elements.permute(0, *(axis - rank + 1 for axis in order[rank:]))
        return self._made(places, values, [self.shape[axis] for axis in order])

    def unsqueeze(self, dim: int) -> SparseTensor:
        """A new dimension of size 1: sparse if it stands before a dense one. Raises IndexError if out of range."""
        axis = one_size(dim, "unsqueeze")
        axis += self.ndim + 1 if axis < 0 else 0
        if not 0 <= axis <= self.ndim:
            raise IndexError(f"unsqueeze: dim {dim} is out of range for {self.ndim} dimensions")
        size, places, values, rank = list(self.shape), self._places, self._elements, self.sparse_dim()
        size.insert(axis, 1)
        if axis > rank:
            values = values.unsqueeze(axis - rank + 1)
        else:
            places = cat([places[:axis], places.new_zeros(1, places.shape[1]), places[axis:]])
        return self._made(places, values, size, self._is_coalesced)

    def index_select(self, dim: int, index: Tensor) -> SparseTensor:
        """The parts with these indices along a dimension, in their order. Raises IndexError for one out of range."""
        axis, whole = axis_of(self, dim, "index_select"), self.coalesce()
        chosen = check_tensor(index, "index_select").long().reshape(-1)
        size = [*self.shape[:axis], len(chosen), *self.shape[axis + 1 :]]
        if axis >= self.sparse_dim():
            values = whole._elements.index_select(axis - self.sparse_dim() + 1, chosen)
            return self._made(whole._places, values, size, True)
        if len(chosen) and not 0 <= int(chosen.min()) <= int(chosen.max()) < self.shape[axis]:
            raise IndexError(f"index_select: an index is out of range for axis {axis} of size {self.shape[axis]}")
        # Each value meets each place of `index` that names its own.
        order, own = chosen.sort().indices, whole._places[axis]
        named = chosen.new_zeros(self.shape[axis]).index_add(0, chosen, chosen.new_ones(len(chosen)))
        first, count = (named.cumsum(0) - named).index_select(0, own), named.index_select(0, own)
        source = count.repeat_interleave()
        steps = source.new_ones(len(source)).cumsum(0) - 1 - (count.cumsum(0) - count).index_select(0, source)
        places = whole._places.index_select(1, source)
        places[axis] = order.index_select(0, first.index_select(0, source) + steps)
        return self._made(places, whole._elements.index_select(0, source), size).coalesce()

    def narrow_copy(self, dim: int, start: int, length: int) -> SparseTensor:
        """A part of a dimension, copied. Raises IndexError or RuntimeError if it does not lie within it."""
        axis = axis_of(self, dim, "narrow_copy")
        begin = start + self.shape[axis] if start < 0 else start
        if not 0 <= begin <= begin + length <= self.shape[axis]:
            raise RuntimeError(f"narrow_copy: {start} and {length} do not lie within an axis of {self.shape[axis]}")
        size = [*self.shape[:axis], length, *self.shape[axis + 1 :]]
        if axis >= self.sparse_dim():
            values = self._elements.narrow(axis - self.sparse_dim() + 1, begin, length).clone()
            return self._made(self._places, values, size, self._is_coalesced)
        kept = ((self._places[axis] >= begin) & (self._places[axis] < begin + length)).nonzero().reshape(-1)
        places = self._places.index_select(1, kept)
        places[axis] -= begin
        return self._made(places, self._elements.index_select(0, kept), size, self._is_coalesced)

    def unbind(self, dim: int = 0) -> tuple[Any, ...]:
        """The parts of each index of a sparse dimension."""
        return tuple(self.select(dim, k) for k in range(self.shape[axis_of(self, dim, "unbind")]))

    def select(self, dim: int, index: int) -> Any:
        """One index of a sparse dimension, which goes away. Raises IndexError for one out of range."""
        axis = axis_of(self, dim, "select")
        index = one_size(index, "select")
        if not -self.shape[axis] <= index < self.shape[axis]:
            raise IndexError(f"index {index} is out of range for axis {axis} of size {self.shape[axis]}")
        if axis >= self.sparse_dim():
            raise RuntimeError(f"select: dimension {dim} of a sparse tensor is dense")
        found = (self._places[axis] == index % self.shape[axis]).nonzero().reshape(-1)
        return self._over([axis], found)

    def __getitem__(self, index: Any) -> Any:
        part: Any = self
        for each in index if isinstance(index, tuple) else (index,):
            part = part.select(0, each) if isinstance(part, Parts) else part[each]
        return part

    # ---- New ones like it

    def new_zeros(self, *size: Any, dtype: dtype | None = None, device: Any = None) -> SparseTensor:
        """A sparse tensor without values, in this dtype and on this device."""
        shape = sizes_of(size, "new_zeros")
        values = self._elements.detach().new_zeros([0], dtype=dtype, device=device)
        return self._made(self._places.new_zeros([len(shape), 0], device=values.device), values, shape, True)

    def sparse_resize_(self, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Any:
        """In place: another size, which holds all values. Raises RuntimeError for a smaller one, other dimensions."""
        shape = sizes_in(size, "sparse_resize_")
        if (sparse_dim, dense_dim) != (self.sparse_dim(), self.dense_dim()) or sparse_dim + dense_dim != len(shape):
            if self._nnz():
                raise RuntimeError(f"sparse_resize_: {sparse_dim} and {dense_dim} dimensions, and there are values")
            return self.sparse_resize_and_clear_(size, sparse_dim, dense_dim)
        if self._nnz() and any(new < old for new, old in zip(shape, self.shape)):
            raise RuntimeError(f"sparse_resize_: {shape} is smaller than {list(self.shape)}, and there are values")
        if shape[sparse_dim:] != list(self.shape[sparse_dim:]):
            raise RuntimeError(f"sparse_resize_: the dense dimensions {list(self.shape[sparse_dim:])} stay")
        self.data = self._made(self._places, self._elements, shape, self._is_coalesced)
        return self

    def sparse_resize_and_clear_(self, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Any:
        """In place: another size, without values. Raises RuntimeError if it has another number of dimensions."""
        shape = sizes_in(size, "sparse_resize_and_clear_")
        if sparse_dim + dense_dim != len(shape) or min(sparse_dim, dense_dim) < 0:
            raise RuntimeError(f"sparse_resize_and_clear_: {sparse_dim} and {dense_dim} dimensions of {len(shape)}")
        values = self._elements.detach().new_zeros([0, *shape[sparse_dim:]])
        self.data = self._made(self._places.new_zeros([sparse_dim, 0]), values, shape, True)
        return self

    def resize_as_sparse_(self, other: SparseTensor) -> Any:
        """In place: the size of another sparse tensor, without values."""
        check_kind(other, Parts, "resize_as_sparse_")
        return self.sparse_resize_and_clear_(other.shape, other.sparse_dim(), other.dense_dim())


def joined(parts: Sequence[Any], dim: int) -> SparseTensor:
    """Sparse tensors joined along a sparse dimension. Raises ShapeError if shapes differ, TypeError for a dense one."""
    first = parts[0]
    for part in parts:
        check_kind(part, Parts, "cat")
        if part.sparse_dim() != first.sparse_dim() or part.ndim != first.ndim:
            raise ShapeError("cat: sparse tensors with other dimensions, or others of them dense, do not fit")
    axis, places, end = axis_of(first, dim, "cat"), [], 0
    if axis >= first.sparse_dim():
        raise RuntimeError(f"cat: dimension {dim} of a sparse tensor is dense")
    rest = [*first.shape[:axis], *first.shape[axis + 1 :]]
    for part in parts:
        if [*part.shape[:axis], *part.shape[axis + 1 :]] != rest:
            raise ShapeError(f"cat: sparse tensors of shapes {list(first.shape)} and {list(part.shape)} do not fit")
        own = part._places.clone()
        own[axis] += end
        places.append(own)
        end += part.shape[axis]
    size = [*first.shape[:axis], end, *first.shape[axis + 1 :]]
    values = cat([part._elements for part in parts])
    return first._made(cat(places, 1), values, size, axis == 0 and all(part._is_coalesced for part in parts))
