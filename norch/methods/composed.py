"""Operations composed of a few others: methods of Tensor in terms of its other methods."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._C import ShapeError
from ..arguments import sizes_of
from ..functions.creation import empty, full, tensor
from ..operation import check_tensor
from ..types import Dims, DType, Operand, Sizes

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class ComposedMethods:
    """The methods of Tensor that need no kernel and no derivative of their own."""

    # ---- Elementwise

    def square(self: Tensor) -> Tensor:
        """x * x, element by element, in the shape and dtype of x.

        >>> norch.tensor([2, -3]).square()
        tensor([4, 9])
        """
        return self * self

    def square_(self: Tensor) -> Tensor:
        """In place: x * x, element by element; shape and dtype stay.

        Raises RuntimeError for a leaf that requires gradients.

        >>> norch.tensor([2, -3]).square_()
        tensor([4, 9])
        """
        return self.pow_(2)

    def frac(self: Tensor) -> Tensor:
        """x - trunc(x): the fraction, with the sign of x; in its shape and dtype.

        Raises RuntimeError for bool.

        >>> norch.tensor([1.5, -1.25]).frac()
        tensor([ 0.5000, -0.2500])
        """
        return self - self.trunc()

    def frac_(self: Tensor) -> Tensor:
        """In place: x - trunc(x), element by element; shape and dtype stay.

        Raises RuntimeError for a leaf that requires gradients, and for bool.

        >>> norch.tensor([1.5, -1.25]).frac_()
        tensor([ 0.5000, -0.2500])
        """
        return self.sub_(self.trunc())

    def addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
        """x + value * tensor1 * tensor2, element by element; shapes broadcast, dtypes are promoted.

        Raises ShapeError if the shapes do not fit.

        >>> norch.ones(2).addcmul(norch.tensor([1.0, 2.0]), norch.tensor([3.0, 4.0]), value=10)
        tensor([31., 81.])
        """
        return self + _times(tensor1 * tensor2, value)

    def addcmul_(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
        """In place: x + value * tensor1 * tensor2; the tensors broadcast to this shape, and the dtype stays.

        Raises ShapeError if they do not, RuntimeError for a leaf that requires gradients.

        >>> norch.ones(2).addcmul_(norch.tensor([1.0, 2.0]), norch.tensor([3.0, 4.0]))
        tensor([4., 9.])
        """
        return self.add_(_times(tensor1 * tensor2, value))

    def addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
        """x + value * tensor1 / tensor2, element by element; shapes broadcast, dtypes are promoted.

        Integers become float32. Raises ShapeError if the shapes do not fit.

        >>> norch.ones(2).addcdiv(norch.tensor([1.0, 2.0]), norch.tensor([2.0, 4.0]), value=10)
        tensor([6., 6.])
        """
        return self + _times(tensor1 / tensor2, value)

    def addcdiv_(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
        """In place: x + value * tensor1 / tensor2; the tensors broadcast to this shape, and the dtype stays.

        Raises ShapeError if they do not, RuntimeError for integers and for a leaf that requires gradients.

        >>> norch.ones(2).addcdiv_(norch.tensor([1.0, 2.0]), norch.tensor([2.0, 4.0]))
        tensor([1.5000, 1.5000])
        """
        return self.add_(_times(tensor1 / tensor2, value))

    def lerp(self: Tensor, end: Tensor, weight: Operand) -> Tensor:
        """x + weight * (end - x): x at weight 0, end at weight 1; shapes broadcast, dtypes are promoted.

        Raises ShapeError if the shapes do not fit.

        >>> norch.tensor([0.0, 10.0]).lerp(norch.tensor([1.0, 20.0]), 0.5)
        tensor([ 0.5000, 15.0000])
        """
        return self + (check_tensor(end, "lerp") - self) * weight

    def lerp_(self: Tensor, end: Tensor, weight: Operand) -> Tensor:
        """In place: x + weight * (end - x); `end` and `weight` broadcast to this shape, and the dtype stays.

        Raises ShapeError if they do not, RuntimeError for a result of a higher kind (float into integer).

        >>> norch.tensor([0.0, 10.0]).lerp_(norch.tensor([1.0, 20.0]), 0.5)
        tensor([ 0.5000, 15.0000])
        """
        return self.add_((check_tensor(end, "lerp_") - self) * weight)

    # ---- Comparing

    def isclose(self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
        """Whether |x - other| <= atol + rtol * |other|, as bool; infinities are close to themselves only.

        The shapes broadcast. Raises ShapeError if they do not fit, RuntimeError for two dtypes.

        >>> norch.tensor([1.0, 1.0]).isclose(norch.tensor([1.000001, 1.1]))
        tensor([ True, False])
        """
        check_tensor(other, "isclose")
        if self.dtype is not other.dtype:
            raise RuntimeError(f"isclose: expected one dtype, got {self.dtype} and {other.dtype}")
        close = self == other
        if equal_nan:
            close = close.logical_or(self.isnan().logical_and(other.isnan()))
        if rtol == 0 and atol == 0:
            return close
        x, y = (t.detach() if t.is_floating_point() else t.detach().double() for t in (self, other))
        distance = (x - y).abs()
        return close.logical_or(distance.isfinite().logical_and(distance <= atol + (y * rtol).abs()))

    def allclose(self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
        """Whether all elements are close, as a Python bool; shapes and dtypes as for `isclose`.

        >>> norch.tensor([1.0]).allclose(norch.tensor([1.000001]))
        True
        """
        return bool(self.isclose(other, rtol, atol, equal_nan).all())

    def equal(self: Tensor, other: Tensor) -> bool:
        """Whether two tensors have one shape and the same elements, of any dtypes, as a Python bool.

        Raises TypeError if `other` is not a tensor.

        >>> norch.ones(2).equal(norch.ones(1, 2))
        False
        """
        check_tensor(other, "equal")
        return self.shape == other.shape and bool((self == other).all())

    # ---- Reductions

    def logsumexp(self: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
        """log(sum(exp(x))) over `dim`; the maximum is subtracted first, so that nothing overflows.

        Shapes as for `sum`; of a floating dtype, and integers become float32. Raises IndexError for a dim out of range.

        >>> norch.tensor([[1000.0, 1000.0]]).logsumexp(1)
        tensor([1000.6932])
        """
        x = self if self.is_floating_point() else self.float()
        peak = x.detach().amax(dim, keepdim=True)
        peak = peak.isfinite()._choose(peak, 0.0)  # inf - inf would be NaN; exp() handles infinities
        total = (x - peak).exp().sum(dim, keepdim=True).log() + peak
        return total if keepdim else total.reshape(x.detach().amax(dim).shape)

    def norm(self: Tensor, p: float | str | None = 2, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """The vector norm (sum |x|^p)^(1/p); also p = inf, -inf, 0 (how many are not 0) and "fro", which is 2.

        Shapes as for `sum`. Raises RuntimeError if the dtype is not floating, IndexError for a dim out of range.

        >>> norch.tensor([3.0, 4.0]).norm()
        tensor([5.])
        """
        p = 2.0 if p is None or p == "fro" else float(p)
        size = check_floating(self, "norm").abs()
        if math.isinf(p):
            return size.amax(dim, keepdim) if p > 0 else size.amin(dim, keepdim)
        if p == 0:
            return (size != 0).sum(dim, keepdim).to(self.dtype)
        if p == 1:
            return size.sum(dim, keepdim)
        if p == 2:
            return root((self * self).sum(dim, keepdim))
        return (size**p).sum(dim, keepdim) ** (1 / p)

    def count_nonzero(self: Tensor, dim: Dims = None) -> Tensor:
        """How many elements are not zero, int64: of all, in shape [1], or over `dim`, one or several.

        Raises IndexError for a dim out of range.

        >>> norch.tensor([[1, 0], [2, 3]]).count_nonzero(0)
        tensor([2, 1])
        """
        return (self != 0).sum(dim)

    def nansum(self: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """The sum of the elements that are not NaN; shapes, dtypes and errors as for `sum`.

        >>> norch.tensor([1.0, float("nan"), 3.0]).nansum()
        tensor([4.])
        """
        return self.isnan()._choose(0.0, self).sum(dim, keepdim) if self.is_floating_point() else self.sum(dim, keepdim)

    def nanmean(self: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
        """The mean of the elements that are not NaN; shapes as for `sum`, dtype floating: integers give float32.

        Raises IndexError for a dim out of range.

        >>> norch.tensor([1.0, float("nan"), 3.0]).nanmean()
        tensor([2.])
        """
        return self.nansum(dim, keepdim) / self.isnan().logical_not().sum(dim, keepdim)

    # ---- Products

    def dot(self: Tensor, other: Tensor) -> Tensor:
        """The sum of the products of two vectors [n], of one dtype; of shape [1], as all scalars.

        Raises ShapeError for other shapes, RuntimeError for two dtypes.

        >>> norch.tensor([1, 2]).dot(norch.tensor([10, 100]))
        tensor([210])
        """
        _check_ranks("dot", self, 1, other, 1)
        if self.shape != other.shape:
            raise ShapeError(f"dot: lengths {self.shape[0]} and {other.shape[0]} are not the same")
        return self @ other

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

    def outer(self: Tensor, vec2: Tensor) -> Tensor:
        """The matrix [m, n] of the products of each element of a vector [m] with each of another [n].

        Dtypes are promoted. Raises ShapeError if either is not a vector.

        >>> norch.tensor([1, 2]).outer(norch.tensor([1, 10]))
        tensor([[ 1, 10],
                [ 2, 20]])
        """
        _check_ranks("outer", self, 1, vec2, 1)
        return self.unsqueeze(1) * vec2

    def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
        """beta * x + alpha * (mat1 @ mat2): [m, n] for matrices [m, k] and [k, n] of one dtype.

        x broadcasts, and is left out if beta is 0. Raises ShapeError if shapes do not fit, RuntimeError for two dtypes.

        >>> norch.ones(2).addmm(norch.eye(2), norch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([[2., 3.],
                [4., 5.]])
        """
        product = _times(check_tensor(mat1, "addmm").mm(mat2), alpha)
        return product if beta == 0 else _times(self, beta) + product

    # ---- Tensors of the same dtype and device

    def new_zeros(
        self: Tensor, *size: Sizes, dtype: DType | None = None, device: str | None = None, requires_grad: bool = False
    ) -> Tensor:
        """Zeros of a shape, in this tensor's dtype and on its device. Errors as for `norch.zeros`.

        >>> norch.tensor([5]).new_zeros(2)
        tensor([0, 0])
        """
        return self.new_full(sizes_of(size, "new_zeros"), 0, dtype, device, requires_grad)

    def new_ones(
        self: Tensor, *size: Sizes, dtype: DType | None = None, device: str | None = None, requires_grad: bool = False
    ) -> Tensor:
        """Ones of a shape, in this tensor's dtype and on its device. Errors as for `norch.zeros`.

        >>> norch.tensor([5]).new_ones(2)
        tensor([1, 1])
        """
        return self.new_full(sizes_of(size, "new_ones"), 1, dtype, device, requires_grad)

    def new_full(
        self: Tensor,
        size: Sizes,
        fill_value: Operand,
        dtype: DType | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Tensor:
        """One value in a shape, in this tensor's dtype and on its device. Errors as for `norch.zeros`.

        >>> norch.ones(1, dtype=norch.int64).new_full([2], 7)
        tensor([7, 7])
        """
        return full(size, fill_value, dtype or self.dtype, device or self.device, requires_grad)

    def new_empty(
        self: Tensor, *size: Sizes, dtype: DType | None = None, device: str | None = None, requires_grad: bool = False
    ) -> Tensor:
        """A shape whose values are not set, in this tensor's dtype and on its device. Errors as for `norch.zeros`.

        >>> norch.ones(1, dtype=norch.float64).new_empty(2, 3).shape
        norch.Size([2, 3])
        """
        return empty(*size, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)

    def new_tensor(
        self: Tensor, data: object, dtype: DType | None = None, device: str | None = None, requires_grad: bool = False
    ) -> Tensor:
        """A copy of `data` in its shape, in this tensor's dtype and on its device.

        Raises ValueError for ragged lists, TypeError if an element is not a number.

        >>> norch.tensor([5]).new_tensor([1.9, 2.0])
        tensor([1, 2])
        """
        return tensor(data, dtype or self.dtype, device or self.device, requires_grad)


def _times(x: Tensor, factor: float) -> Tensor:
    return x if isinstance(factor, (int, float)) and factor == 1 else x * factor


def check_floating(x: Tensor, name: str) -> Tensor:
    """Return x; raise RuntimeError if its dtype is not floating."""
    if not x.is_floating_point():
        raise RuntimeError(f"{name}: expected a floating dtype, got {x.dtype}")
    return x


def root(squares: Tensor) -> Tensor:
    """The square root, whose derivative at 0 is taken to be 0."""
    if not squares.requires_grad:
        return squares.sqrt()
    zero = squares.detach() == 0
    return zero._choose(0.0, zero._choose(1.0, squares).sqrt())


def _check_ranks(name: str, x: Tensor, x_rank: int, y: Tensor, y_rank: int) -> None:
    if x.ndim != x_rank or check_tensor(y, name).ndim != y_rank:
        shapes = f"{list(x.shape)} and {list(y.shape)}"
        raise ShapeError(f"{name}: expected tensors of {x_rank} and {y_rank} dimensions, got shapes {shapes}")
