"""Products of vectors and matrices, and what adds them to a tensor: methods in terms of `*` and `@`."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence, cast

from .. import operation
from .._C import Handle, ShapeError, lib, number
from ..arguments import axis_of, flags, plain_number
from ..autograd import functions as f
from ..autograd.derivatives.products import AddedProductBackward, CrossBackward, KronBackward, OuterBackward
from ..autograd.in_place import write
from ..functions.promotion import fitting
from ..operation import check_tensor, mode, record, recorded, wrap
from ..sparse.coo import SparseTensor, added_product, with_dims
from ..types import Operand, bool_, dtype, float32

if TYPE_CHECKING:
    from ..forward_declarations import Node, Tensor


class ProductMethods:
    """The methods of Tensor that multiply vectors and matrices."""

    def dot(self: Tensor, tensor: Tensor) -> Tensor:
        """The sum of the products of two vectors [n], of one dtype: a scalar.

        Raises ShapeError for other shapes, RuntimeError for two dtypes.

        >>> norch.tensor([1, 2]).dot(norch.tensor([10, 100]))
        tensor(210)
        """
        return _product(self, tensor, DOT, f.MatmulBackward)

    def vdot(self: Tensor, other: Tensor) -> Tensor:
        """The same as `dot`, for the dtypes that norch has.

        >>> norch.tensor([1, 2]).vdot(norch.tensor([10, 100]))
        tensor(210)
        """
        return self.dot(other)

    def inner(self: Tensor, other: Tensor) -> Tensor:
        """The products summed over the last dimension of both: [a, n] and [b, n] give [a, b]; x * y for a scalar.

        Both have one dtype. Raises ShapeError if the last sizes differ.

        >>> norch.tensor([[1, 2], [3, 4]]).inner(norch.tensor([1, 10]))
        tensor([21, 43])
        """
        if self.ndim == 0 or check_tensor(other, "inner").ndim == 0:
            return self * other
        if self.shape[-1] != other.shape[-1]:
            raise ShapeError(f"inner: the last sizes of shapes {list(self.shape)} and {list(other.shape)} differ")
        if self.ndim == other.ndim == 1:
            return self.dot(other)
        if self.ndim == other.ndim == 2:
            return self.mm(other.t())
        x, y = (t.reshape([-1, self.shape[-1]] if t.numel else [_rows(t), t.shape[-1]]) for t in (self, other))
        return (x @ y.t()).reshape(self.shape[:-1] + other.shape[:-1])

    def outer(self: Tensor, vec2: Tensor) -> Tensor:
        """The matrix [m, n] of the products of each element of a vector [m] with each of another [n].

        Dtypes are promoted. Raises ShapeError if either is not a vector.

        >>> norch.tensor([1, 2]).outer(norch.tensor([1, 10]))
        tensor([[ 1, 10],
                [ 2, 20]])
        """
        return _product(self, vec2, OUTER, OuterBackward)

    ger = outer

    def kron(self: Tensor, other: Tensor) -> Tensor:
        """Kronecker's product: each element of x times the whole of `other`, in place of it.

        [2, 3] and [4, 5] give [8, 15]. Dimensions of size 1 in front of the one with fewer; dtypes are promoted. Raises
        TypeError if `other` is not a tensor.

        >>> norch.eye(2).kron(norch.tensor([[1, 2]]))
        tensor([[1., 2., 0., 0.],
                [0., 0., 1., 2.]])
        """
        result = wrap(lib.kron_tensor(self._ptr, check_tensor(other, "kron")._ptr))
        return recorded(result, KronBackward, (self, other))

    @flags
    def cross(self: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
        """The cross product of the vectors of 3 elements along `dim`, without which the first of size 3 is it.

        Shapes broadcast, dtypes are promoted. Raises RuntimeError if the dimension does not have size 3.

        >>> norch.tensor([1, 0, 0]).cross(norch.tensor([0, 1, 0]))
        tensor([0, 0, 1])
        """
        if self.ndim != check_tensor(other, "cross").ndim:
            raise RuntimeError(f"cross: expected as many dimensions, got {list(self.shape)} and {list(other.shape)}")
        if dim is None:
            dim = next((axis for axis, size in enumerate(self.shape) if size == 3), -1)
            if dim < 0:
                raise RuntimeError(f"cross: no dimension of shape {list(self.shape)} has size 3")
        axis = axis_of(self, dim, "linalg.cross")
        if self.shape[axis] != 3 or other.shape[axis] != 3:
            given = f"{list(self.shape)} and {list(other.shape)}"
            raise RuntimeError(f"linalg.cross: expected dimension {dim} of size 3 in both, got shapes {given}")
        return recorded(wrap(lib.cross_tensor(self._ptr, other._ptr, axis)), CrossBackward, (self, other), axis)

    def mv(self: Tensor, vec: Tensor) -> Tensor:
        """A matrix [m, k] times a vector [k]: [m], all of one dtype.

        Raises ShapeError for other shapes, RuntimeError for two dtypes.

        >>> norch.tensor([[1, 2], [3, 4]]).mv(norch.tensor([1, 10]))
        tensor([21, 43])
        """
        return _product(self, vec, MV, f.MatmulBackward)

    def mm(self: Tensor, mat2: Tensor) -> Tensor:
        """The product [m, n] of two matrices of one dtype. Raises ShapeError for anything but [m, k] and [k, n].

        >>> norch.tensor([[1, 2]]).mm(norch.tensor([[3], [4]]))
        tensor([[11]])
        """
        return _product(self, mat2, MM, f.MatmulBackward)

    def bmm(self: Tensor, mat2: Tensor) -> Tensor:
        """The products [b, m, n] of two batches of matrices, [b, m, k] and [b, k, n]; nothing broadcasts.

        All are of one dtype. Raises ShapeError for other shapes, RuntimeError for two dtypes.

        >>> norch.ones(5, 2, 3).bmm(norch.ones(5, 3, 4)).shape
        norch.Size([5, 2, 4])
        """
        return _product(self, mat2, BMM, f.MatmulBackward)

    # ---- beta * x + alpha * a product

    def addmm(
        self: Tensor, mat1: Operand, mat2: Operand, *legacy: Operand, beta: float = 1, alpha: float = 1
    ) -> Tensor:
        """beta * x + alpha * (mat1 @ mat2): [m, n] for matrices [m, k] and [k, n] of one dtype.

        x broadcasts, and is left out if beta is 0. (`addmm(beta, alpha, mat1, mat2)` is an older order of the same.)
        Raises ShapeError if shapes do not fit, RuntimeError for two dtypes.

        >>> norch.ones(2).addmm(norch.eye(2), norch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([[2., 3.],
                [4., 5.]])
        """
        return _added(self, mat1, mat2, beta, alpha, MM, legacy)

    def addmv(self: Tensor, mat: Operand, vec: Operand, *legacy: Operand, beta: float = 1, alpha: float = 1) -> Tensor:
        """beta * x + alpha * (mat @ vec): [m] for a matrix [m, k] and a vector [k]. Otherwise as `addmm`.

        >>> norch.ones(2).addmv(norch.eye(2), norch.tensor([1.0, 2.0]))
        tensor([2., 3.])
        """
        return _added(self, mat, vec, beta, alpha, MV, legacy)

    def addr(self: Tensor, vec1: Operand, vec2: Operand, *legacy: Operand, beta: float = 1, alpha: float = 1) -> Tensor:
        """beta * x + alpha * the outer product of two vectors: [m, n] for [m] and [n]. Otherwise as `addmm`.

        >>> norch.ones(2).addr(norch.tensor([1.0, 2.0]), norch.tensor([1.0, 10.0]))
        tensor([[ 2., 11.],
                [ 3., 21.]])
        """
        return _added(self, vec1, vec2, beta, alpha, OUTER, legacy)

    def baddbmm(
        self: Tensor, batch1: Operand, batch2: Operand, *legacy: Operand, beta: float = 1, alpha: float = 1
    ) -> Tensor:
        """beta * x + alpha * the products of two batches of matrices: [b, m, n]. Otherwise as `addmm`.

        >>> norch.zeros(1).baddbmm(norch.ones(5, 2, 3), norch.ones(5, 3, 4)).shape
        norch.Size([5, 2, 4])
        """
        return _added(self, batch1, batch2, beta, alpha, BMM, legacy)

    def addbmm(
        self: Tensor, batch1: Operand, batch2: Operand, *legacy: Operand, beta: float = 1, alpha: float = 1
    ) -> Tensor:
        """beta * x + alpha * the sum of the products of two batches of matrices: [m, n]. Otherwise as `addmm`.

        Raises ShapeError for an x of more than two dimensions.

        >>> norch.zeros(1).addbmm(norch.ones(5, 2, 3), norch.ones(5, 3, 4))
        tensor([[15., 15., 15., 15.],
                [15., 15., 15., 15.]])
        """
        return _added(self, batch1, batch2, beta, alpha, SUMMED, legacy)

    def addmm_(
        self: Tensor, mat1: Operand, mat2: Operand, *legacy: Operand, beta: float = 1, alpha: float = 1
    ) -> Tensor:
        """In place: beta * x + alpha * (mat1 @ mat2), as `addmm`; shape and dtype stay.

        >>> norch.ones(1, 2).addmm_(norch.tensor([[1.0]]), norch.tensor([[1.0, 2.0]]))
        tensor([[2., 3.]])
        """
        return _add_into(self, mat1, mat2, beta, alpha, MM, legacy)

    def addmv_(self: Tensor, mat: Operand, vec: Operand, *legacy: Operand, beta: float = 1, alpha: float = 1) -> Tensor:
        """In place: beta * x + alpha * (mat @ vec), as `addmv`; shape and dtype stay.

        >>> norch.ones(1).addmv_(norch.tensor([[1.0, 2.0]]), norch.tensor([1.0, 2.0]))
        tensor([6.])
        """
        return _add_into(self, mat, vec, beta, alpha, MV, legacy)

    def addr_(
        self: Tensor, vec1: Operand, vec2: Operand, *legacy: Operand, beta: float = 1, alpha: float = 1
    ) -> Tensor:
        """In place: beta * x + alpha * the outer product of two vectors, as `addr`; shape and dtype stay.

        >>> norch.ones(1, 2).addr_(norch.tensor([2.0]), norch.tensor([1.0, 10.0]))
        tensor([[ 3., 21.]])
        """
        return _add_into(self, vec1, vec2, beta, alpha, OUTER, legacy)

    def baddbmm_(
        self: Tensor, batch1: Operand, batch2: Operand, *legacy: Operand, beta: float = 1, alpha: float = 1
    ) -> Tensor:
        """In place: beta * x + alpha * the products of two batches, as `baddbmm`; shape and dtype stay.

        >>> norch.ones(1, 1, 1).baddbmm_(norch.ones(1, 1, 3), norch.ones(1, 3, 1))
        tensor([[[4.]]])
        """
        return _add_into(self, batch1, batch2, beta, alpha, BMM, legacy)

    def addbmm_(
        self: Tensor, batch1: Operand, batch2: Operand, *legacy: Operand, beta: float = 1, alpha: float = 1
    ) -> Tensor:
        """In place: beta * x + alpha * the sum of the products of two batches, as `addbmm`; shape and dtype stay.

        >>> norch.ones(1, 1).addbmm_(norch.ones(2, 1, 3), norch.ones(2, 3, 1))
        tensor([[7.]])
        """
        return _add_into(self, batch1, batch2, beta, alpha, SUMMED, legacy)


def _rows(x: Tensor) -> int:
    """How many vectors there are along the last dimension of a tensor that may be empty."""
    count = 1
    for size in x.shape[:-1]:
        count *= size
    return count


_NUMBERS = int, float  # others stand for them, such as scalars of tensors

# In the order of PRODUCTS in csrc/api/matmul.cpp, with the names of what they are added to
DOT, MV, MM, BMM, OUTER, SUMMED = range(6)
_NAMES = ("dot", "mv", "mm", "bmm", "outer"), ("", "addmv", "addmm", "baddbmm", "addr", "addbmm")


def _product(x: Tensor, y: Tensor, kind: int, backward: type[Node]) -> Tensor:
    """A product of tensors of the ranks that its kind takes."""
    if not isinstance(y, operation.Tensor):
        if isinstance(y, SparseTensor) and kind == MM:
            return cast("Tensor", with_dims(x, 2, "mm") @ with_dims(y, 2, "mm"))
        check_tensor(y, _NAMES[0][kind])
    result = wrap(lib.product_tensor(x._ptr, y._ptr, kind))
    if (x._edge or y._edge) and mode.enabled:
        record(result, backward(x, y), (x._edge, y._edge))
    return result


def _ordered(y: Any, z: Any, beta: Any, alpha: Any, legacy: tuple[Any, ...]) -> tuple[Any, Any, float, float]:
    """The operands and plain factors, also from the older orders (beta, y, z) and (beta, alpha, y, z)."""
    if len(legacy) > 2:
        raise TypeError(f"expected two factors and two tensors at most, got {2 + len(legacy)} arguments")
    *factors, y, z = y, z, *legacy
    beta, alpha = (*factors, alpha)[:2] if factors else (beta, alpha)
    return y, z, plain_number(beta, "beta"), plain_number(alpha, "alpha")


def _added(x: Tensor, y: Any, z: Any, beta: float, alpha: float, kind: int, legacy: tuple[Any, ...] = ()) -> Tensor:
    """beta * x + alpha * the product of y and z, of the product's shape; NaNs in x do not count if beta is 0."""
    if legacy or type(beta) not in _NUMBERS or type(alpha) not in _NUMBERS:
        y, z, beta, alpha = _ordered(y, z, beta, alpha, legacy)
    if not (isinstance(y, operation.Tensor) and isinstance(z, operation.Tensor)):
        return _with_sparse(x, y, z, beta, alpha, kind)
    numbers = _numbers(y, beta, alpha)
    result = wrap(lib.added_product_tensor(x._ptr, y._ptr, z._ptr, *numbers, kind))
    if (x._edge or y._edge or z._edge) and mode.enabled:
        record(result, _backward(x, y, z, beta, alpha, kind), (x._edge, y._edge, z._edge))
    return result


def _add_into(x: Tensor, y: Any, z: Any, beta: float, alpha: float, kind: int, legacy: tuple[Any, ...] = ()) -> Tensor:
    """The same in place."""
    if legacy or type(beta) not in _NUMBERS or type(alpha) not in _NUMBERS:
        y, z, beta, alpha = _ordered(y, z, beta, alpha, legacy)
    if not (isinstance(y, operation.Tensor) and isinstance(z, operation.Tensor)):
        return x.copy_(_with_sparse(x, y, z, beta, alpha, kind))
    beta_, alpha_ = _numbers(y, beta, alpha)
    return write(
        x,
        lambda old, left, right: _backward(old, left, right, beta, alpha, kind),
        (y, z),
        lib.added_product_into,
        *(x._ptr, y._ptr, z._ptr, beta_, alpha_, kind),
    )


def _backward(x: Tensor, y: Tensor, z: Tensor, beta: float, alpha: float, kind: int) -> Node:
    beta, alpha = (1, 1) if beta == 1 and alpha == 1 else _factors(beta, alpha, y.dtype)
    return AddedProductBackward(x, y, z, beta, alpha, OuterBackward if kind == OUTER else f.MatmulBackward)


def _with_sparse(x: Tensor, y: Any, z: Any, beta: float, alpha: float, kind: int) -> Tensor:
    """The same with a sparse matrix. Raises TypeError if y or z is no tensor, or sparse elsewhere."""
    if kind != MM or not any(isinstance(matrix, SparseTensor) for matrix in (y, z)):
        check_tensor(y, _NAMES[1][kind]), check_tensor(z, _NAMES[1][kind])
    return cast("Tensor", added_product(x, y, z, beta, alpha))


def _numbers(y: Tensor, beta: float, alpha: float) -> Sequence[Handle | None]:
    """The factors as C takes them: null for 1."""
    if beta == 1 and alpha == 1:
        return None, None
    dtype = y.dtype
    if not (dtype.is_floating_point and -65504 <= beta <= 65504 and -65504 <= alpha <= 65504):  # as 16 bits hold
        beta, alpha = _factors(beta, alpha, dtype)
    return None if beta == 1 else number(beta)._ptr, None if alpha == 1 else number(alpha)._ptr


def _factors(beta: float, alpha: float, kind: dtype) -> tuple[float, float]:
    """The factors of a sum of tensors of one dtype, whole for integers.

    Raises RuntimeError for one beyond the limits of the dtype, of 16 bits those of float32, in which products are made.
    """
    if kind.is_floating_point:
        limits = float32 if kind.itemsize == 2 else kind
        return fitting(beta, limits, "beta"), fitting(alpha, limits, "alpha")
    if kind is bool_:
        return bool(beta), bool(alpha)
    return int(fitting(beta, kind, "beta")), int(fitting(alpha, kind, "alpha"))
