"""Operations that are a few others in a row: methods of Tensor in terms of its other methods."""

from __future__ import annotations

import math
from typing import Any

from .._C import ShapeError
from ..arguments import sizes_of
from ..functions.creation import empty, full, tensor
from ..operation import check_tensor


class Composed:
    """The methods of Tensor that need no kernel and no derivative of their own."""

    # ---- Elementwise

    def square(self: Any) -> Any:
        """x * x, element by element, in the shape and dtype of x.

        >>> norch.tensor([2, -3]).square()
        tensor([4, 9])
        """
        return self * self

    def square_(self: Any) -> Any:
        """In place: x * x, element by element; shape and dtype stay.

        Raises RuntimeError for a leaf that requires gradients.

        >>> norch.tensor([2, -3]).square_()
        tensor([4, 9])
        """
        return self.pow_(2)

    def frac(self: Any) -> Any:
        """x - trunc(x): what follows the decimal point, with the sign of x; in its shape and dtype.

        Raises RuntimeError for bool.

        >>> norch.tensor([1.5, -1.25]).frac()
        tensor([ 0.5000, -0.2500])
        """
        return self - self.trunc()

    def frac_(self: Any) -> Any:
        """In place: x - trunc(x), element by element; shape and dtype stay.

        Raises RuntimeError for a leaf that requires gradients, and for bool.

        >>> norch.tensor([1.5, -1.25]).frac_()
        tensor([ 0.5000, -0.2500])
        """
        return self.sub_(self.trunc())

    def addcmul(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
        """x + value * tensor1 * tensor2, element by element; shapes broadcast, dtypes are promoted.

        Raises ShapeError where the shapes do not fit.

        >>> norch.ones(2).addcmul(norch.tensor([1.0, 2.0]), norch.tensor([3.0, 4.0]), value=10)
        tensor([31., 81.])
        """
        return self + _times(tensor1 * tensor2, value)

    def addcmul_(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
        """In place: x + value * tensor1 * tensor2; the tensors broadcast to this shape, and the dtype stays.

        Raises ShapeError where they do not, RuntimeError for a leaf that requires gradients.

        >>> norch.ones(2).addcmul_(norch.tensor([1.0, 2.0]), norch.tensor([3.0, 4.0]))
        tensor([4., 9.])
        """
        return self.add_(_times(tensor1 * tensor2, value))

    def addcdiv(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
        """x + value * tensor1 / tensor2, element by element; shapes broadcast, dtypes are promoted.

        Integers become float32. Raises ShapeError where the shapes do not fit.

        >>> norch.ones(2).addcdiv(norch.tensor([1.0, 2.0]), norch.tensor([2.0, 4.0]), value=10)
        tensor([6., 6.])
        """
        return self + _times(tensor1 / tensor2, value)

    def addcdiv_(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
        """In place: x + value * tensor1 / tensor2; the tensors broadcast to this shape, and the dtype stays.

        Raises ShapeError where they do not, RuntimeError for integers and for a leaf that requires gradients.

        >>> norch.ones(2).addcdiv_(norch.tensor([1.0, 2.0]), norch.tensor([2.0, 4.0]))
        tensor([1.5000, 1.5000])
        """
        return self.add_(_times(tensor1 / tensor2, value))

    def lerp(self: Any, end: Any, weight: Any) -> Any:
        """x + weight * (end - x): x at weight 0, end at weight 1; shapes broadcast, dtypes are promoted.

        Raises ShapeError where the shapes do not fit.

        >>> norch.tensor([0.0, 10.0]).lerp(norch.tensor([1.0, 20.0]), 0.5)
        tensor([ 0.5000, 15.0000])
        """
        return self + (check_tensor(end, "lerp") - self) * weight

    def lerp_(self: Any, end: Any, weight: Any) -> Any:
        """In place: x + weight * (end - x); `end` and `weight` broadcast to this shape, and the dtype stays.

        Raises ShapeError where they do not, RuntimeError for a result of a higher kind (float into integer).

        >>> norch.tensor([0.0, 10.0]).lerp_(norch.tensor([1.0, 20.0]), 0.5)
        tensor([ 0.5000, 15.0000])
        """
        return self.add_((check_tensor(end, "lerp_") - self) * weight)

    # ---- Comparing

    def isclose(self: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
        """Whether |x - other| <= atol + rtol * |other|, as bool; infinities are close to themselves only.

        The shapes broadcast. Raises ShapeError where they do not fit, RuntimeError for two dtypes.

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

    def allclose(self: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
        """Whether all elements are close, as a Python bool; shapes and dtypes as for `isclose`.

        >>> norch.tensor([1.0]).allclose(norch.tensor([1.000001]))
        True
        """
        return bool(self.isclose(other, rtol, atol, equal_nan).all())

    def equal(self: Any, other: Any) -> bool:
        """Whether two tensors have one shape and the same elements, of whatever dtypes, as a Python bool.

        Raises TypeError for what is no tensor.

        >>> norch.ones(2).equal(norch.ones(1, 2))
        False
        """
        check_tensor(other, "equal")
        return self.shape == other.shape and bool((self == other).all())

    # ---- Reductions

    def logsumexp(self: Any, dim: Any, keepdim: bool = False) -> Any:
        """log(sum(exp(x))) over `dim`; the maximum is subtracted first, so that nothing overflows.

        Shapes as for `sum`; of a floating dtype, and integers become float32. Raises IndexError for a dim out of range.

        >>> norch.tensor([[1000.0, 1000.0]]).logsumexp(1)
        tensor([1000.6932])
        """
        x = self if self.is_floating_point() else self.float()
        peak = x.detach().amax(dim, keepdim=True)
        peak = peak.isfinite()._choose(peak, 0.0)  # infinities of one sign: exp() finds them itself
        total = (x - peak).exp().sum(dim, keepdim=True).log() + peak
        return total if keepdim else total.reshape(x.detach().amax(dim).shape)

    def norm(self: Any, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
        """The vector norm (sum |x|^p)^(1/p); also p = inf, -inf, 0 (how many are not 0) and "fro", which is 2.

        The shape is that of `sum`. Raises RuntimeError for a dtype that is not floating, IndexError for a dim out of
        range.

        >>> norch.tensor([3.0, 4.0]).norm()
        tensor([5.])
        """
        if not self.is_floating_point():
            raise RuntimeError(f"norm: expected a floating dtype, got {self.dtype}")
        p = 2.0 if p is None or p == "fro" else float(p)
        size = self.abs()
        if math.isinf(p):
            return size.amax(dim, keepdim) if p > 0 else size.amin(dim, keepdim)
        if p == 0:
            return (size != 0).sum(dim, keepdim).to(self.dtype)
        if p == 1:
            return size.sum(dim, keepdim)
        if p == 2:
            return root((self * self).sum(dim, keepdim))
        return (size**p).sum(dim, keepdim) ** (1 / p)

    def count_nonzero(self: Any, dim: Any = None) -> Any:
        """How many elements are not zero, int64: all, of shape [1], or over `dim`, one or several, without them.

        Raises IndexError for a dim out of range.

        >>> norch.tensor([[1, 0], [2, 3]]).count_nonzero(0)
        tensor([2, 1])
        """
        return (self != 0).sum(dim)

    def nansum(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        """The sum of the elements that are not NaN; shapes, dtypes and errors as for `sum`.

        >>> norch.tensor([1.0, float("nan"), 3.0]).nansum()
        tensor([4.])
        """
        return self.isnan()._choose(0.0, self).sum(dim, keepdim) if self.is_floating_point() else self.sum(dim, keepdim)

    def nanmean(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        """The mean of the elements that are not NaN; shapes as for `sum`, dtype floating: integers give float32.

        Raises IndexError for a dim out of range.

        >>> norch.tensor([1.0, float("nan"), 3.0]).nanmean()
        tensor([2.])
        """
        return self.nansum(dim, keepdim) / self.isnan().logical_not().sum(dim, keepdim)

    # ---- Products

    def dot(self: Any, other: Any) -> Any:
        """The sum of the products of two vectors [n], of one dtype; of shape [1], as all scalars.

        Raises ShapeError for other shapes, RuntimeError for two dtypes.

        >>> norch.tensor([1, 2]).dot(norch.tensor([10, 100]))
        tensor([210])
        """
        _check_ranks("dot", self, 1, other, 1)
        if self.shape != other.shape:
            raise ShapeError(f"dot: lengths {self.shape[0]} and {other.shape[0]} are not the same")
        return self @ other

    def mv(self: Any, vec: Any) -> Any:
        """A matrix [m, k] times a vector [k]: [m], all of one dtype.

        Raises ShapeError for other shapes, RuntimeError for two dtypes.

        >>> norch.tensor([[1, 2], [3, 4]]).mv(norch.tensor([1, 10]))
        tensor([21, 43])
        """
        _check_ranks("mv", self, 2, vec, 1)
        return self @ vec

    def bmm(self: Any, mat2: Any) -> Any:
        """The products [b, m, n] of two batches of matrices, [b, m, k] and [b, k, n]; nothing broadcasts.

        All are of one dtype. Raises ShapeError for other shapes, RuntimeError for two dtypes.

        >>> norch.ones(5, 2, 3).bmm(norch.ones(5, 3, 4)).shape
        norch.Size([5, 2, 4])
        """
        _check_ranks("bmm", self, 3, mat2, 3)
        if self.shape[0] != mat2.shape[0]:
            raise ShapeError(f"bmm: batches of {self.shape[0]} and {mat2.shape[0]} matrices are not the same")
        return self @ mat2

    def outer(self: Any, vec2: Any) -> Any:
        """The matrix [m, n] of the products of each element of a vector [m] with each of another [n].

        Dtypes are promoted. Raises ShapeError for what is no vector.

        >>> norch.tensor([1, 2]).outer(norch.tensor([1, 10]))
        tensor([[ 1, 10],
                [ 2, 20]])
        """
        _check_ranks("outer", self, 1, vec2, 1)
        return self.unsqueeze(1) * vec2

    def addmm(self: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        """beta * x + alpha * (mat1 @ mat2): [m, n] for matrices [m, k] and [k, n] of one dtype.

        x broadcasts, and counts for nothing where beta is 0. Raises ShapeError where shapes do not fit, RuntimeError
        for two dtypes.

        >>> norch.ones(2).addmm(norch.eye(2), norch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([[2., 3.],
                [4., 5.]])
        """
        product = _times(check_tensor(mat1, "addmm").mm(mat2), alpha)
        return product if beta == 0 else _times(self, beta) + product

    # ---- Tensors of the same dtype and device

    def new_zeros(self: Any, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
        """Zeros of a shape, in this tensor's dtype and on its device. Errors as for `norch.zeros`.

        >>> norch.tensor([5]).new_zeros(2)
        tensor([0, 0])
        """
        return self.new_full(sizes_of(size, "new_zeros"), 0, dtype, device, requires_grad)

    def new_ones(self: Any, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
        """Ones of a shape, in this tensor's dtype and on its device. Errors as for `norch.zeros`.

        >>> norch.tensor([5]).new_ones(2)
        tensor([1, 1])
        """
        return self.new_full(sizes_of(size, "new_ones"), 1, dtype, device, requires_grad)

    def new_full(
        self: Any, size: Any, fill_value: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Any:
        """One value in a shape, in this tensor's dtype and on its device. Errors as for `norch.zeros`.

        >>> norch.ones(1, dtype=norch.int64).new_full([2], 7)
        tensor([7, 7])
        """
        return full(size, fill_value, dtype or self.dtype, device or self.device, requires_grad)

    def new_empty(self: Any, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
        """A shape whose values are not set, in this tensor's dtype and on its device. Errors as for `norch.zeros`.

        >>> norch.ones(1, dtype=norch.float64).new_empty(2, 3).shape
        norch.Size([2, 3])
        """
        return empty(*size, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)

    def new_tensor(self: Any, data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
        """A copy of `data` in its shape, in this tensor's dtype and on its device.

        Raises ValueError for ragged lists, TypeError for what holds no numbers.

        >>> norch.tensor([5]).new_tensor([1.9, 2.0])
        tensor([1, 2])
        """
        return tensor(data, dtype or self.dtype, device or self.device, requires_grad)


def _times(x: Any, factor: Any) -> Any:
    return x if isinstance(factor, (int, float)) and factor == 1 else x * factor


def root(squares: Any) -> Any:
    """The square root, whose derivative at 0 is taken to be 0."""
    if not squares.requires_grad:
        return squares.sqrt()
    zero = squares.detach() == 0
    return zero._choose(0.0, zero._choose(1.0, squares).sqrt())


def _check_ranks(name: str, x: Any, x_rank: int, y: Any, y_rank: int) -> None:
    if x.ndim != x_rank or check_tensor(y, name).ndim != y_rank:
        shapes = f"{list(x.shape)} and {list(y.shape)}"
        raise ShapeError(f"{name}: expected tensors of {x_rank} and {y_rank} dimensions, got shapes {shapes}")
