"""Operations composed of a few others: methods of Tensor in terms of its other methods."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import operation
from .._C import int64_array, lib, number, raise_error
from ..arguments import axes_of, flags, plain_number, sizes_of
from ..autograd.derivatives import elementary as d
from ..autograd.derivatives.statistics import NormBackward
from ..autograd.functions import LogSumExpBackward
from ..autograd.in_place import write
from ..functions.promotion import common_type, fitting
from ..operation import check_floating, check_operand, check_tensor, recorded, wrap
from ..precision import in_float32
from ..types import Dims, DType, Operand, bool_, dtype, shown
from .elementwise import ternary
from .places import is_recorded

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class ComposedMethods:
    """The methods of Tensor that need no kernel and no derivative of their own."""

    # ---- Elementwise

    def square(self: Tensor) -> Tensor:
        """x * x, element by element, in the shape and dtype of x; bool becomes int64.

        >>> norch.tensor([2, -3]).square()
        tensor([4, 9])
        """
        return self**2 if self.dtype is bool_ else self * self

    def square_(self: Tensor) -> Tensor:
        """In place: x * x, element by element; shape and dtype stay.

        Raises RuntimeError for a leaf that requires gradients.

        >>> norch.tensor([2, -3]).square_()
        tensor([4, 9])
        """
        return self.pow_(2)

    def addcmul(self: Tensor, tensor1: Operand, tensor2: Tensor, *legacy: Tensor, value: float = 1) -> Tensor:
        """x + value * tensor1 * tensor2, element by element; shapes broadcast, dtypes are promoted.

        (`addcmul(value, tensor1, tensor2)` is an older order of the same.) Raises ShapeError if the shapes do not fit,
        RuntimeError for a value of a higher kind than the dtypes.

        >>> norch.ones(2).addcmul(norch.tensor([1.0, 2.0]), norch.tensor([3.0, 4.0]), value=10)
        tensor([31., 81.])
        """
        if type(value) is int and value == 1 and not legacy:
            return _addcmul(self, check_tensor(tensor1, "addcmul"), check_tensor(tensor2, "addcmul"))
        return _add_term(self, "addcmul", tensor1, tensor2, legacy, value)

    def addcmul_(self: Tensor, tensor1: Operand, tensor2: Tensor, *legacy: Tensor, value: float = 1) -> Tensor:
        """In place: x + value * tensor1 * tensor2; the tensors broadcast to this shape, and the dtype stays.

        Raises ShapeError if they do not, RuntimeError for a leaf that requires gradients.

        >>> norch.ones(2).addcmul_(norch.tensor([1.0, 2.0]), norch.tensor([3.0, 4.0]))
        tensor([4., 9.])
        """
        if not legacy and are_floats(self, tensor1, tensor2):
            if type(value) in (float, int) and not is_recorded(self, tensor1, tensor2):
                return _add_scaled(self, lib.add_scaled_product_into, tensor1, tensor2, value, "addcmul_")
            y, z = scaled("addcmul_", tensor1, value), tensor2
            return write(self, d.AddcmulBackward, (y, z), lib.addcmul_into, self._ptr, self._ptr, y._ptr, z._ptr)
        return self.add_(_term(self, "addcmul_", tensor1, tensor2, legacy, value))

    def addcdiv(self: Tensor, tensor1: Operand, tensor2: Tensor, *legacy: Tensor, value: float = 1) -> Tensor:
        """x + value * tensor1 / tensor2, element by element; shapes broadcast, dtypes are promoted.

        (`addcdiv(value, tensor1, tensor2)` is an older order of the same.) Raises ShapeError if the shapes do not fit,
        RuntimeError if both tensors are of integers.

        >>> norch.ones(2).addcdiv(norch.tensor([1.0, 2.0]), norch.tensor([2.0, 4.0]), value=10)
        tensor([6., 6.])
        """
        if type(value) is int and value == 1 and not legacy:
            return _addcdiv(self, check_tensor(tensor1, "addcdiv"), check_tensor(tensor2, "addcdiv"))
        return _add_term(self, "addcdiv", tensor1, tensor2, legacy, value)

    def addcdiv_(self: Tensor, tensor1: Operand, tensor2: Tensor, *legacy: Tensor, value: float = 1) -> Tensor:
        """In place: x + value * tensor1 / tensor2; the tensors broadcast to this shape, and the dtype stays.

        Raises ShapeError if they do not, RuntimeError for integers and for a leaf that requires gradients.

        >>> norch.ones(2).addcdiv_(norch.tensor([1.0, 2.0]), norch.tensor([2.0, 4.0]))
        tensor([1.5000, 1.5000])
        """
        if not legacy and are_floats(self, tensor1, tensor2):
            if type(value) in (float, int) and not is_recorded(self, tensor1, tensor2):
                return _add_scaled(self, lib.add_scaled_quotient_into, tensor1, tensor2, value, "addcdiv_")
            y, z = scaled("addcdiv_", tensor1, value), tensor2
            return write(self, d.AddcdivBackward, (y, z), lib.addcdiv_into, self._ptr, self._ptr, y._ptr, z._ptr)
        return self.add_(_term(self, "addcdiv_", tensor1, tensor2, legacy, value))

    def lerp(self: Tensor, end: Tensor, weight: Operand) -> Tensor:
        """x + weight * (end - x): x at weight 0, end at weight 1; shapes broadcast, and the floating dtype is one.

        A weight of no dimensions may have another dtype. Raises ShapeError if the shapes do not fit, RuntimeError for
        other dtypes.

        >>> norch.tensor([0.0, 10.0]).lerp(norch.tensor([1.0, 20.0]), 0.5)
        tensor([ 0.5000, 15.0000])
        """
        return _lerp(self, check_tensor(end, "lerp"), weight)

    def lerp_(self: Tensor, end: Tensor, weight: Operand) -> Tensor:
        """In place: x + weight * (end - x); `end` and `weight` broadcast to this shape, and the dtype stays.

        Raises ShapeError if they do not, RuntimeError if the dtypes are not one, or not floating.

        >>> norch.tensor([0.0, 10.0]).lerp_(norch.tensor([1.0, 20.0]), 0.5)
        tensor([ 0.5000, 15.0000])
        """
        z = check_operand(_same_floats(self, end, weight, "lerp_"), "lerp")
        return write(self, d.LerpBackward, (end, z), lib.lerp_into, self._ptr, self._ptr, end._ptr, z._ptr)

    # ---- Comparing

    @flags
    def isclose(self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
        """Whether |x - other| <= atol + rtol * |other|, as bool; infinities are close to themselves only.

        The shapes broadcast. Raises ShapeError if they do not fit, RuntimeError for two dtypes or a negative tolerance.

        >>> norch.tensor([1.0, 1.0]).isclose(norch.tensor([1.000001, 1.1]))
        tensor([ True, False])
        """
        check_tensor(other, "isclose")
        if not (rtol >= 0 and atol >= 0):
            raise RuntimeError(f"isclose: rtol and atol must not be negative, got {rtol} and {atol}")
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

    @flags
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
        same = lib.equal_tensors(self._ptr, check_tensor(other, "equal")._ptr)
        return same == 1 if same >= 0 else raise_error()

    # ---- Reductions

    @flags
    def logsumexp(self: Tensor, dim: Dims, keepdim: bool = False, *, keepdims: bool = False) -> Tensor:
        """log(sum(exp(x))) over `dim`; the maximum is subtracted first, so that nothing overflows.

        Shapes as for `sum`; of a floating dtype, and integers become float32. Raises IndexError for a dim out of range.

        >>> norch.tensor([[1000.0, 1000.0]]).logsumexp(1)
        tensor([1000.6932])
        """
        x = self if self.is_floating_point() else self.float()
        if x.numel == 0:
            return x.exp().sum(dim, keepdim or keepdims).log()
        axes, kept = axes_of("logsumexp", dim, None), keepdim or keepdims
        count = -1 if axes is None else len(axes)
        result = wrap(lib.logsumexp_tensor(x._ptr, int64_array(axes or ()), count, kept))
        return recorded(result, LogSumExpBackward, (x,), axes, kept)

    @flags
    def norm(
        self: Tensor,
        p: float | str | None = "fro",
        dim: Dims = None,
        keepdim: bool = False,
        dtype: DType | None = None,
        *,
        keepdims: bool = False,
    ) -> Tensor:
        """The vector norm (sum |x|^p)^(1/p); also p = inf, -inf, 0 (how many are not 0) and "fro", which is 2.

        Shapes as for `sum`; with `dtype` the elements are converted first. Its derivative at a norm of 0 is 0. Raises
        RuntimeError if the dtype is not floating, or for no elements and an infinite or negative p, IndexError for a
        dim out of range.

        >>> norch.tensor([3.0, 4.0]).norm()
        tensor(5.)
        """
        keepdim = keepdim or keepdims
        x = check_floating(self if dtype is None else self.to(dtype=dtype), "norm")
        if p == "nuc":
            values = x.movedim(sizes_of((dim or (-2, -1),), "norm"), (-2, -1))._svd().S.sum(-1)
            return values.reshape(x.detach().sum(dim or (-2, -1), keepdim).shape)
        if isinstance(p, str) and p != "fro":
            raise RuntimeError(f'norm: expected a number or "fro" as p, got {shown(p)}')
        p = 2.0 if p is None or p == "fro" else float(plain_number(p, "norm"))
        if 0 < p < math.inf:
            return norm_over(x, p, axes_of("norm", dim, None), keepdim)
        if (p < 0 or math.isinf(p)) and not x.numel and x.detach().sum(dim, keepdim).numel:
            raise RuntimeError(f"norm: no elements have a norm of order {p:g}; shape {list(x.shape)}, dim={dim}")
        if p == 0:
            count = (x.detach() != 0).sum(dim, keepdim, dtype=x.dtype)
            return recorded(count, NormBackward, (x,), None, keepdim, p)
        size = x.abs()
        if math.isinf(p):
            return size.amax(dim, keepdim) if p > 0 else size.amin(dim, keepdim)
        return _safe_power(_safe_power(size, p).sum(dim, keepdim), 1 / p)

    def count_nonzero(self: Tensor, dim: Dims = None, *, axis: Dims = None) -> Tensor:
        """How many elements are not zero, int64: of all, or over `dim`, one or several. Shapes as for `sum`.

        Raises IndexError for a dim out of range.

        >>> norch.tensor([[1, 0], [2, 3]]).count_nonzero(0)
        tensor([2, 1])
        """
        return (self if self.dtype is bool_ else self != 0).sum(dim, axis=axis)

    @flags
    def nansum(
        self: Tensor, dim: Dims = None, keepdim: bool = False, *, keepdims: bool = False, dtype: DType | None = None
    ) -> Tensor:
        """The sum of the elements that are not NaN; shapes, dtypes and errors as for `sum`.

        >>> norch.tensor([1.0, float("nan"), 3.0]).nansum()
        tensor(4.)
        """
        if self._edge is not None or dtype is not None:
            return self.isnan()._choose(0.0, self).sum(dim, keepdim or keepdims, dtype=dtype)
        axes = axes_of("nansum", dim, None)
        count = -1 if axes is None else len(axes)
        return wrap(lib.nansum_tensor(self._ptr, int64_array(axes or ()), count, keepdim or keepdims))

    @flags
    def nanmean(
        self: Tensor, dim: Dims = None, keepdim: bool = False, *, keepdims: bool = False, dtype: DType | None = None
    ) -> Tensor:
        """The mean of the elements that are not NaN; shapes and dtypes as for `mean`.

        Raises RuntimeError for integers, IndexError for a dim out of range.

        >>> norch.tensor([1.0, float("nan"), 3.0]).nanmean()
        tensor(2.)
        """
        total = check_floating(self, "nanmean").nansum(dim, keepdim or keepdims, dtype=dtype)
        return total / self.isnan().logical_not().sum(dim, keepdim or keepdims)


_addcmul = ternary("addcmul", d.AddcmulBackward)
_addcdiv = ternary("addcdiv", d.AddcdivBackward)
_lerp = ternary("lerp", d.LerpBackward)


def norm_over(x: Tensor, p: float, axes: list[int] | None, keepdim: bool) -> Tensor:
    """(sum |x|^p)^(1/p) over axes, or over all elements, for 0 < p < inf."""
    count = -1 if axes is None else len(axes)
    result = wrap(lib.norm_tensor(x._ptr, int64_array(axes or ()), count, keepdim, p))
    return recorded(result, NormBackward, (x,), axes, keepdim, p)


def are_floats(x: Tensor, *others: object) -> bool:
    """Whether all are tensors of x's dtype, which is floating: a kernel of three operands takes them together."""
    kind = x.dtype
    for y in others:
        if not isinstance(y, operation.Tensor) or y.dtype is not kind:
            return False
    return kind.is_floating_point


def _add_scaled(x: Tensor, into: Any, y: Any, z: Any, value: float, name: str) -> Tensor:
    """x + value * y * z, or y / z, in one pass over x, which no graph records."""
    factor = number(fitting(plain_number(value, name), x.dtype, name))
    return write(x, None, (), into, x._ptr, x._ptr, y._ptr, z._ptr, factor._ptr)


@in_float32
def _add_term(x: Tensor, name: str, tensor1: Any, tensor2: Any, legacy: tuple[Tensor, ...], value: float) -> Tensor:
    if not legacy and are_floats(x, tensor1, tensor2):
        multiplies = name == "addcmul"
        if type(value) in (float, int) and not is_recorded(x, tensor1, tensor2):
            kernel = lib.add_scaled_product_tensor if multiplies else lib.add_scaled_quotient_tensor
            factor = number(fitting(value, x.dtype, name))
            return wrap(kernel(x._ptr, tensor1._ptr, tensor2._ptr, factor._ptr))
        return (_addcmul if multiplies else _addcdiv)(x, scaled(name, tensor1, value), tensor2)
    return x + _term(x, name, tensor1, tensor2, legacy, value)


def _term(x: Tensor, name: str, tensor1: Any, tensor2: Any, legacy: tuple[Tensor, ...], value: float) -> Tensor:
    """value * tensor1 * tensor2, or for addcdiv value * tensor1 / tensor2."""
    if len(legacy) > 1:
        raise TypeError(f"{name}: expected two tensors, or a value and two, got {2 + len(legacy)} operands")
    if legacy:
        value, tensor1, tensor2 = tensor1, tensor2, *legacy
    check_tensor(tensor1, name)
    check_tensor(tensor2, name)
    divides = name.startswith("addcdiv")
    if divides and not tensor1.is_floating_point() and not tensor2.is_floating_point():
        raise RuntimeError(f"{name}: integers are not divided here; convert them, or use div(rounding_mode='trunc')")
    kind = x.dtype
    if kind is not tensor1.dtype or kind is not tensor2.dtype:  # a product in a narrower one would be rounded
        kind = common_type(x, tensor1, tensor2)
        tensor1, tensor2 = tensor1.to(kind), tensor2.to(kind)
    return scaled(name, tensor1 / tensor2 if divides else tensor1 * tensor2, value, kind)


def scaled(name: str, x: Any, factor: float, kind: dtype | None = None) -> Any:
    """factor * x, in `kind`, by default the dtype of x. Raises RuntimeError for a factor of a higher kind."""
    own: Any = getattr(x, "dtype", None)
    kind = own if kind is None else kind
    factor = plain_number(factor, name)
    if type(factor) is float and kind is own and kind.is_floating_point and -65504 <= factor <= 65504:
        return x * factor if factor != 1 else x  # most often
    if isinstance(factor, bool) and kind is not bool_:
        raise RuntimeError(f"{name}: a bool factor is for bool results, got {factor} for {kind}")
    if isinstance(factor, float) and not kind.is_floating_point:
        raise RuntimeError(f"{name}: for integers alpha, beta and value must not be floating point, got {factor}")
    if factor == 1:
        return x
    fitting(factor, kind, name)
    if kind is bool_:
        return x if factor else x & False
    return (x.to(kind) if isinstance(x, operation.Tensor) else x) * factor  # a narrow x would round the product


def _same_floats(x: Tensor, end: Tensor, weight: Any, name: str) -> Any:
    """Return `weight`; raise RuntimeError unless it and `end` have the floating dtype of x.

    Numbers have any dtype, and so have weights of no dimensions, which are promoted.
    """
    for other in (check_tensor(end, name), weight):
        if not isinstance(other, operation.Tensor) or (other is weight and other.ndim == 0):
            continue
        if other.dtype is not check_floating(x, name).dtype:
            raise RuntimeError(f"{name}: expected tensors of one dtype, got {x.dtype} and {other.dtype}")
    is_scalar = isinstance(weight, operation.Tensor) and weight.ndim == 0
    return weight.to(common_type(x, weight)) if is_scalar else weight


def _safe_power(x: Tensor, p: float) -> Tensor:
    """x to the power of p for x >= 0, whose derivative at 0 is taken to be 0 where it is infinite."""
    if not x.requires_grad or p >= 1:
        return x**p
    zero = x.detach() == 0
    return zero._choose(0.0 if p > 0 else math.inf, zero._choose(1.0, x) ** p)
