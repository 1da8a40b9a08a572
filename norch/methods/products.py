"""Products of vectors and matrices, and what adds them to a tensor: methods in terms of `*` and `@`."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING

from .._C import ShapeError
from ..arguments import axis_of
from ..operation import check_tensor, own
from ..types import bool_

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class ProductMethods:
    """The methods of Tensor that multiply vectors and matrices."""

    def dot(self: Tensor, tensor: Tensor) -> Tensor:
        """The sum of the products of two vectors [n], of one dtype: a scalar.

        Raises ShapeError for other shapes, RuntimeError for two dtypes.

        >>> norch.tensor([1, 2]).dot(norch.tensor([10, 100]))
        tensor(210)
        """
        _check_ranks("dot", self, 1, tensor, 1)
        if self.shape != tensor.shape:
            raise ShapeError(f"dot: lengths {self.shape[0]} and {tensor.shape[0]} are not the same")
        return self @ tensor

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
        x, y = (t.reshape([-1, self.shape[-1]] if t.numel else [_rows(t), t.shape[-1]]) for t in (self, other))
        return (x @ y.t()).reshape(self.shape[:-1] + other.shape[:-1])

    def outer(self: Tensor, vec2: Tensor) -> Tensor:
        """The matrix [m, n] of the products of each element of a vector [m] with each of another [n].

        Dtypes are promoted. Raises ShapeError if either is not a vector.

        >>> norch.tensor([1, 2]).outer(norch.tensor([1, 10]))
        tensor([[ 1, 10],
                [ 2, 20]])
        """
        _check_ranks("outer", self, 1, vec2, 1)
        return self.unsqueeze(1) * vec2

    ger = outer

    def kron(self: Tensor, other: Tensor) -> Tensor:
        """Kronecker's product: each element of x times the whole of `other`, in place of it.

        [2, 3] and [4, 5] give [8, 15]. Dimensions of size 1 in front of the one with fewer; dtypes are promoted. Raises
        TypeError if `other` is not a tensor.

        >>> norch.eye(2).kron(norch.tensor([[1, 2]]))
        tensor([[1., 2., 0., 0.],
                [0., 0., 1., 2.]])
        """
        rank = max(self.ndim, check_tensor(other, "kron").ndim)
        x, y = ([1] * (rank - t.ndim) + list(t.shape) for t in (self, other))
        wide = self.reshape([size for axis in range(rank) for size in (x[axis], 1)])
        fine = other.reshape([size for axis in range(rank) for size in (1, y[axis])])
        return own((wide * fine).reshape([a * b for a, b in zip(x, y)]))

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

        return self.roll(-1, axis) * other.roll(-2, axis) - self.roll(-2, axis) * other.roll(-1, axis)

    def mv(self: Tensor, vec: Tensor) -> Tensor:
        """A matrix [m, k] times a vector [k]: [m], all of one dtype.

        Raises ShapeError for other shapes, RuntimeError for two dtypes.

        >>> norch.tensor([[1, 2], [3, 4]]).mv(norch.tensor([1, 10]))
        tensor([21, 43])
        """
        _check_ranks("mv", self, 2, vec, 1)
        return self @ vec

    def bmm(self: Tensor, mat2: Tensor) -> Tensor:
        """The products [b, m, n] of two batches of matrices, [b, m, k] and [b, k, n]; nothing broadcasts.

        All are of one dtype. Raises ShapeError for other shapes, RuntimeError for two dtypes.

        >>> norch.ones(5, 2, 3).bmm(norch.ones(5, 3, 4)).shape
        norch.Size([5, 2, 4])
        """
        _check_ranks("bmm", self, 3, mat2, 3)
        if self.shape[0] != mat2.shape[0]:
            raise ShapeError(f"bmm: batches of {self.shape[0]} and {mat2.shape[0]} matrices are not the same")
        return self @ mat2

    # ---- beta * x + alpha * a product

    def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        """beta * x + alpha * (mat1 @ mat2): [m, n] for matrices [m, k] and [k, n] of one dtype.

        x broadcasts, and is left out if beta is 0. Raises ShapeError if shapes do not fit, RuntimeError for two dtypes.

        >>> norch.ones(2).addmm(norch.eye(2), norch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([[2., 3.],
                [4., 5.]])
        """
        return _added(self, check_tensor(mat1, "addmm").mm(mat2), beta, alpha, "addmm")

    def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        """beta * x + alpha * (mat @ vec): [m] for a matrix [m, k] and a vector [k]. Otherwise as `addmm`.

        >>> norch.ones(2).addmv(norch.eye(2), norch.tensor([1.0, 2.0]))
        tensor([2., 3.])
        """
        return _added(self, check_tensor(mat, "addmv").mv(vec), beta, alpha, "addmv")

    def addr(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        """beta * x + alpha * the outer product of two vectors: [m, n] for [m] and [n]. Otherwise as `addmm`.

        >>> norch.ones(2).addr(norch.tensor([1.0, 2.0]), norch.tensor([1.0, 10.0]))
        tensor([[ 2., 11.],
                [ 3., 21.]])
        """
        return _added(self, check_tensor(vec1, "addr").outer(vec2), beta, alpha, "addr")

    def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        """beta * x + alpha * the products of two batches of matrices: [b, m, n]. Otherwise as `addmm`.

        >>> norch.zeros(1).baddbmm(norch.ones(5, 2, 3), norch.ones(5, 3, 4)).shape
        norch.Size([5, 2, 4])
        """
        return _added(self, check_tensor(batch1, "baddbmm").bmm(batch2), beta, alpha, "baddbmm")

    def addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        """beta * x + alpha * the sum of the products of two batches of matrices: [m, n]. Otherwise as `addmm`.

        >>> norch.zeros(1).addbmm(norch.ones(5, 2, 3), norch.ones(5, 3, 4))
        tensor([[15., 15., 15., 15.],
                [15., 15., 15., 15.]])
        """
        product = check_tensor(batch1, "addbmm").bmm(batch2)
        return _added(self, product.sum(0, dtype=product.dtype), beta, alpha, "addbmm")

    def addmm_(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        """In place: beta * x + alpha * (mat1 @ mat2), as `addmm`; shape and dtype stay.

        >>> norch.ones(1, 2).addmm_(norch.tensor([[1.0]]), norch.tensor([[1.0, 2.0]]))
        tensor([[2., 3.]])
        """
        return self.copy_(_same_shape(self, self.addmm(mat1, mat2, beta=beta, alpha=alpha), "addmm_"))

    def addmv_(self: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        """In place: beta * x + alpha * (mat @ vec), as `addmv`; shape and dtype stay.

        >>> norch.ones(1).addmv_(norch.tensor([[1.0, 2.0]]), norch.tensor([1.0, 2.0]))
        tensor([6.])
        """
        return self.copy_(_same_shape(self, self.addmv(mat, vec, beta=beta, alpha=alpha), "addmv_"))

    def addr_(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        """In place: beta * x + alpha * the outer product of two vectors, as `addr`; shape and dtype stay.

        >>> norch.ones(1, 2).addr_(norch.tensor([2.0]), norch.tensor([1.0, 10.0]))
        tensor([[ 3., 21.]])
        """
        return self.copy_(_same_shape(self, self.addr(vec1, vec2, beta=beta, alpha=alpha), "addr_"))

    def baddbmm_(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        """In place: beta * x + alpha * the products of two batches, as `baddbmm`; shape and dtype stay.

        >>> norch.ones(1, 1, 1).baddbmm_(norch.ones(1, 1, 3), norch.ones(1, 3, 1))
        tensor([[[4.]]])
        """
        return self.copy_(_same_shape(self, self.baddbmm(batch1, batch2, beta=beta, alpha=alpha), "baddbmm_"))

    def addbmm_(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        """In place: beta * x + alpha * the sum of the products of two batches, as `addbmm`; shape and dtype stay.

        >>> norch.ones(1, 1).addbmm_(norch.ones(2, 1, 3), norch.ones(2, 3, 1))
        tensor([[7.]])
        """
        return self.copy_(_same_shape(self, self.addbmm(batch1, batch2, beta=beta, alpha=alpha), "addbmm_"))


def _rows(x: Tensor) -> int:
    """How many vectors there are along the last dimension of a tensor that may be empty."""
    count = 1
    for size in x.shape[:-1]:
        count *= size
    return count


def _added(x: Tensor, product: Tensor, beta: float, alpha: float, name: str) -> Tensor:
    """beta * x + alpha * product, of the product's shape; NaNs in x do not count if beta is 0."""
    if x.ndim > product.ndim:
        raise ShapeError(f"{name}: shape {list(x.shape)} does not broadcast to {list(product.shape)}")
    if not product.is_floating_point():  # the numbers take the dtype of the tensors
        number = bool if product.dtype is bool_ else int
        beta, alpha = number(beta), number(alpha)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    return x.expand(product.shape) * beta + product if beta != 1 else x.expand(product.shape) + product


def _same_shape(x: Tensor, result: Tensor, name: str) -> Tensor:
    if x.shape != result.shape:
        raise ShapeError(f"{name}: expected a tensor of shape {list(result.shape)}, got {list(x.shape)}")
    return result


def _check_ranks(name: str, x: Tensor, x_rank: int, y: Tensor, y_rank: int) -> None:
    """Raise ShapeError if two tensors do not have these numbers of dimensions."""
    if check_tensor(y, name).ndim != y_rank or x.ndim != x_rank:
        shapes = f"shapes {list(x.shape)} and {list(y.shape)}"
        raise ShapeError(f"{name}: expected tensors of {x_rank} and {y_rank} dimensions, got {shapes}")
