# Written by tools/stubs.py from norch/tensor.py: do not edit.

from norch import _C
from norch._C import CTensor
from norch.autograd.in_place import Views
from norch.methods.activations import ActivationMethods
from norch.methods.composed import ComposedMethods
from norch.methods.conversion import ConversionMethods
from norch.methods.dlpack import DLPackMethods
from norch.methods.elementary import ElementaryMethods
from norch.methods.gradient import GradientMethods
from norch.methods.in_place_views import InPlaceViewMethods
from norch.methods.interop import InteropMethods
from norch.methods.legacy import LegacyMethods
from norch.methods.linalg import LinalgMethods
from norch.methods.masking import MaskingMethods
from norch.methods.new_tensors import NewTensorMethods
from norch.methods.products import ProductMethods
from norch.methods.random_draws import RandomDrawMethods
from norch.methods.random_fill import RandomFillMethods
from norch.methods.rearranging import RearrangingMethods
from norch.methods.reductions import ReductionMethods
from norch.methods.scattering import ScatteringMethods
from norch.methods.selection import SelectionMethods
from norch.methods.sorting import SortingMethods
from norch.methods.sparse_forms import SparseFormMethods
from norch.methods.special_values import SpecialValueMethods
from norch.methods.splitting import SplittingMethods
from norch.methods.statistics import StatisticsMethods
from norch.methods.storage import StorageMethods
from norch.methods.subclasses import SubclassMethods
from norch.methods.values import ValueMethods
from norch.methods.view_writes import ViewWriteMethods
from norch.methods.views import ViewMethods
from norch.types import Count, DType, Operand, Size, dtype
from typing import overload
from typing_extensions import Self
import ctypes

__all__ = [
    "CTensor",
    "Tensor",
]

class Tensor(GradientMethods, ViewMethods, SplittingMethods, SparseFormMethods, InPlaceViewMethods, ViewWriteMethods, RearrangingMethods, ReductionMethods, SelectionMethods, MaskingMethods, ScatteringMethods, SortingMethods, StatisticsMethods, ComposedMethods, NewTensorMethods, ElementaryMethods, SpecialValueMethods, LinalgMethods, ProductMethods, ConversionMethods, ValueMethods, RandomFillMethods, RandomDrawMethods, StorageMethods, InteropMethods, DLPackMethods, LegacyMethods, ActivationMethods, SubclassMethods):
    """An n-dimensional array of numbers of one dtype on one device, that can record its gradient."""
    __module__ = 'norch'
    __slots__ = ('_edge', '_ptr')
    _ptr: _C.Handle
    _base: Tensor | None
    _shape: Size | None
    _untracked = False
    _views: Views | None
    __array_priority__ = 1000
    @overload
    def __init__(self, data: object=(), device: str | int | None=None, requires_grad: bool=False) -> None: ...
    @overload
    def __init__(self, *size: int, device: str | int | None=None, requires_grad: bool=False) -> None: ...
    @property
    def tensor(self) -> ctypes._Pointer[CTensor]:
        """A ctypes pointer to the C struct, as in the article: `x.tensor.contents.data[0]`."""
    @property
    def _struct(self) -> CTensor: ...
    @property
    def shape(self) -> Size:
        """The size of each dimension: a tuple that also equals the same list."""
    @overload
    def size(self) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    @property
    def ndim(self) -> int:
        """The number of dimensions."""
    def dim(self) -> int:
        """The number of dimensions."""
    @property
    def numel(self) -> Count:
        """The number of elements: the article's attribute, and PyTorch's method `numel()`, at once."""
    @property
    def dtype(self) -> dtype:
        """The type of the elements, such as `norch.float32`."""
    def is_floating_point(self) -> bool:
        """Whether the dtype is float16, bfloat16, float32 or float64."""
    def __len__(self) -> int: ...
    def __add__(self, other: Operand) -> Tensor:
        """x + y."""
    def __radd__(self, other: Operand) -> Tensor:
        """x + y."""
    def __iadd__(self, other: Operand) -> Self:
        """x + y."""
    def __sub__(self, other: Operand) -> Tensor:
        """x - y."""
    def __rsub__(self, other: Operand) -> Tensor:
        """x - y."""
    def __isub__(self, other: Operand) -> Self:
        """x - y."""
    def __mul__(self, other: Operand) -> Tensor:
        """x * y."""
    def __rmul__(self, other: Operand) -> Tensor:
        """x * y."""
    def __imul__(self, other: Operand) -> Self:
        """x * y."""
    def mul(self, other: Operand) -> Tensor:
        """x * y."""
    def mul_(self, other: Operand) -> Self:
        """x * y."""
    def __truediv__(self, other: Operand) -> Tensor:
        """x / y."""
    def __rtruediv__(self, other: Operand) -> Tensor:
        """x / y."""
    def __itruediv__(self, other: Operand) -> Self:
        """x / y."""
    def __pow__(self, other: Operand) -> Tensor:
        """x to the power of y."""
    def __rpow__(self, other: Operand) -> Tensor:
        """x to the power of y."""
    def __ipow__(self, other: Operand) -> Self:
        """x to the power of y."""
    def __floordiv__(self, other: Operand) -> Tensor:
        """x // y: rounded towards minus infinity. No gradient."""
    def __rfloordiv__(self, other: Operand) -> Tensor:
        """x // y: rounded towards minus infinity. No gradient."""
    def __ifloordiv__(self, other: Operand) -> Self:
        """x // y: rounded towards minus infinity. No gradient."""
    def floor_divide(self, other: Operand) -> Tensor:
        """x // y: rounded towards minus infinity. No gradient."""
    def floor_divide_(self, other: Operand) -> Self:
        """x // y: rounded towards minus infinity. No gradient."""
    def __mod__(self, other: Operand) -> Tensor:
        """x % y: with the sign of y, as in Python."""
    def __rmod__(self, other: Operand) -> Tensor:
        """x % y: with the sign of y, as in Python."""
    def __imod__(self, other: Operand) -> Self:
        """x % y: with the sign of y, as in Python."""
    def remainder(self, other: Operand) -> Tensor:
        """x % y: with the sign of y, as in Python."""
    def remainder_(self, other: Operand) -> Self:
        """x % y: with the sign of y, as in Python."""
    def __and__(self, other: Operand) -> Tensor:
        """x & y of integers or bools."""
    def __rand__(self, other: Operand) -> Tensor:
        """x & y of integers or bools."""
    def __iand__(self, other: Operand) -> Self:
        """x & y of integers or bools."""
    def bitwise_and(self, other: Operand) -> Tensor:
        """x & y of integers or bools."""
    def bitwise_and_(self, other: Operand) -> Self:
        """x & y of integers or bools."""
    def __or__(self, other: Operand) -> Tensor:
        """x | y of integers or bools."""
    def __ror__(self, other: Operand) -> Tensor:
        """x | y of integers or bools."""
    def __ior__(self, other: Operand) -> Self:
        """x | y of integers or bools."""
    def bitwise_or(self, other: Operand) -> Tensor:
        """x | y of integers or bools."""
    def bitwise_or_(self, other: Operand) -> Self:
        """x | y of integers or bools."""
    def __xor__(self, other: Operand) -> Tensor:
        """x ^ y of integers or bools."""
    def __rxor__(self, other: Operand) -> Tensor:
        """x ^ y of integers or bools."""
    def __ixor__(self, other: Operand) -> Self:
        """x ^ y of integers or bools."""
    def bitwise_xor(self, other: Operand) -> Tensor:
        """x ^ y of integers or bools."""
    def bitwise_xor_(self, other: Operand) -> Self:
        """x ^ y of integers or bools."""
    def __eq__(self, other: Operand) -> Tensor:  # type: ignore[override]  # an object's == returns a bool
        """x == y."""
    def eq(self, other: Operand) -> Tensor:
        """x == y."""
    def eq_(self, other: Operand) -> Self:
        """x == y."""
    def __ne__(self, other: Operand) -> Tensor:  # type: ignore[override]  # an object's == returns a bool
        """x != y."""
    def ne(self, other: Operand) -> Tensor:
        """x != y."""
    def ne_(self, other: Operand) -> Self:
        """x != y."""
    def __lt__(self, other: Operand) -> Tensor:
        """x < y."""
    def lt(self, other: Operand) -> Tensor:
        """x < y."""
    def lt_(self, other: Operand) -> Self:
        """x < y."""
    def __le__(self, other: Operand) -> Tensor:
        """x <= y."""
    def le(self, other: Operand) -> Tensor:
        """x <= y."""
    def le_(self, other: Operand) -> Self:
        """x <= y."""
    def __gt__(self, other: Operand) -> Tensor:
        """x > y."""
    def gt(self, other: Operand) -> Tensor:
        """x > y."""
    def gt_(self, other: Operand) -> Self:
        """x > y."""
    def __ge__(self, other: Operand) -> Tensor:
        """x >= y."""
    def ge(self, other: Operand) -> Tensor:
        """x >= y."""
    def ge_(self, other: Operand) -> Self:
        """x >= y."""
    def fmod(self, other: Operand) -> Tensor:
        """The remainder of x / y rounded towards zero: with the sign of x."""
    def fmod_(self, other: Operand) -> Self:
        """The remainder of x / y rounded towards zero: with the sign of x."""
    def atan2(self, other: Operand) -> Tensor:
        """The angle, in radians, of the point (y, x)."""
    def atan2_(self, other: Operand) -> Self:
        """The angle, in radians, of the point (y, x)."""
    def hypot(self, other: Operand) -> Tensor:
        """sqrt(x^2 + y^2), whose squares cannot overflow."""
    def hypot_(self, other: Operand) -> Self:
        """sqrt(x^2 + y^2), whose squares cannot overflow."""
    def _minimum(self, other: Operand) -> Tensor:
        """The smaller of x and y; NaN if either is."""
    def _minimum_(self, other: Operand) -> Self:
        """The smaller of x and y; NaN if either is."""
    def minimum(self, other: Operand) -> Tensor:
        """The smaller of x and y; NaN if either is."""
    def minimum_(self, other: Operand) -> Self:
        """The smaller of x and y; NaN if either is."""
    def _maximum(self, other: Operand) -> Tensor:
        """The larger of x and y; NaN if either is."""
    def _maximum_(self, other: Operand) -> Self:
        """The larger of x and y; NaN if either is."""
    def maximum(self, other: Operand) -> Tensor:
        """The larger of x and y; NaN if either is."""
    def maximum_(self, other: Operand) -> Self:
        """The larger of x and y; NaN if either is."""
    def logical_and(self, other: Operand) -> Tensor:
        """Whether x and y are both nonzero."""
    def logical_and_(self, other: Operand) -> Self:
        """Whether x and y are both nonzero."""
    def logical_or(self, other: Operand) -> Tensor:
        """Whether x or y is nonzero."""
    def logical_or_(self, other: Operand) -> Self:
        """Whether x or y is nonzero."""
    def logical_xor(self, other: Operand) -> Tensor:
        """Whether exactly one of x and y is nonzero."""
    def logical_xor_(self, other: Operand) -> Self:
        """Whether exactly one of x and y is nonzero."""
    def fmin(self, other: Operand) -> Tensor:
        """The smaller of x and y; the other one if either is NaN."""
    def fmin_(self, other: Operand) -> Self:
        """The smaller of x and y; the other one if either is NaN."""
    def fmax(self, other: Operand) -> Tensor:
        """The larger of x and y; the other one if either is NaN."""
    def fmax_(self, other: Operand) -> Self:
        """The larger of x and y; the other one if either is NaN."""
    def copysign(self, other: Operand) -> Tensor:
        """|x| with the sign of y."""
    def copysign_(self, other: Operand) -> Self:
        """|x| with the sign of y."""
    def _nextafter(self, other: Operand) -> Tensor:
        """The number next to x in y's direction."""
    def _nextafter_(self, other: Operand) -> Self:
        """The number next to x in y's direction."""
    def heaviside(self, other: Operand) -> Tensor:
        """0 where x < 0, y where x is 0, 1 where x > 0."""
    def heaviside_(self, other: Operand) -> Self:
        """0 where x < 0, y where x is 0, 1 where x > 0."""
    def logaddexp(self, other: Operand) -> Tensor:
        """log(exp(x) + exp(y)), without overflow."""
    def logaddexp_(self, other: Operand) -> Self:
        """log(exp(x) + exp(y)), without overflow."""
    def logaddexp2(self, other: Operand) -> Tensor:
        """log2(2^x + 2^y), without overflow."""
    def logaddexp2_(self, other: Operand) -> Self:
        """log2(2^x + 2^y), without overflow."""
    def xlogy(self, other: Operand) -> Tensor:
        """x log(y), 0 if x is 0."""
    def xlogy_(self, other: Operand) -> Self:
        """x log(y), 0 if x is 0."""
    def igamma(self, other: Operand) -> Tensor:
        """The incomplete gamma function P(x, y), regularized."""
    def igamma_(self, other: Operand) -> Self:
        """The incomplete gamma function P(x, y), regularized."""
    def igammac(self, other: Operand) -> Tensor:
        """1 - igamma(x, y), exact if that is small too."""
    def igammac_(self, other: Operand) -> Self:
        """1 - igamma(x, y), exact if that is small too."""
    def gcd(self, other: Operand) -> Tensor:
        """The greatest common divisor of integers."""
    def gcd_(self, other: Operand) -> Self:
        """The greatest common divisor of integers."""
    def lcm(self, other: Operand) -> Tensor:
        """The least common multiple of integers."""
    def lcm_(self, other: Operand) -> Self:
        """The least common multiple of integers."""
    def __lshift__(self, other: Operand) -> Tensor:
        """x << y of integers: x times 2 to the power of y."""
    def __rlshift__(self, other: Operand) -> Tensor:
        """x << y of integers: x times 2 to the power of y."""
    def __ilshift__(self, other: Operand) -> Self:
        """x << y of integers: x times 2 to the power of y."""
    def bitwise_left_shift(self, other: Operand) -> Tensor:
        """x << y of integers: x times 2 to the power of y."""
    def bitwise_left_shift_(self, other: Operand) -> Self:
        """x << y of integers: x times 2 to the power of y."""
    def __rshift__(self, other: Operand) -> Tensor:
        """x >> y of integers: x divided by 2 to the power of y, rounded down."""
    def __rrshift__(self, other: Operand) -> Tensor:
        """x >> y of integers: x divided by 2 to the power of y, rounded down."""
    def __irshift__(self, other: Operand) -> Self:
        """x >> y of integers: x divided by 2 to the power of y, rounded down."""
    def bitwise_right_shift(self, other: Operand) -> Tensor:
        """x >> y of integers: x divided by 2 to the power of y, rounded down."""
    def bitwise_right_shift_(self, other: Operand) -> Self:
        """x >> y of integers: x divided by 2 to the power of y, rounded down."""
    multiply = mul
    multiply_ = mul_
    not_equal = ne
    not_equal_ = ne_
    greater = gt
    greater_ = gt_
    less = lt
    less_ = lt_
    greater_equal = ge
    greater_equal_ = ge_
    less_equal = le
    less_equal_ = le_
    arctan2 = atan2
    arctan2_ = atan2_
    __hash__ = object.__hash__
    def neg(self) -> Tensor:
        """-x."""
    def neg_(self) -> Self:
        """-x."""
    def abs(self) -> Tensor:
        """The absolute value |x|."""
    def abs_(self) -> Self:
        """The absolute value |x|."""
    def sign(self) -> Tensor:
        """-1, 0 or 1 by the sign of x."""
    def sign_(self) -> Self:
        """-1, 0 or 1 by the sign of x."""
    def relu(self) -> Tensor:
        """max(x, 0)."""
    def relu_(self) -> Self:
        """max(x, 0)."""
    def floor(self) -> Tensor:
        """The largest integer not above x."""
    def floor_(self) -> Self:
        """The largest integer not above x."""
    def ceil(self) -> Tensor:
        """The smallest integer not below x."""
    def ceil_(self) -> Self:
        """The smallest integer not below x."""
    def _round(self) -> Tensor:
        """The nearest integer; halves go to the even one."""
    def _round_(self) -> Self:
        """The nearest integer; halves go to the even one."""
    def trunc(self) -> Tensor:
        """The integer part of x: rounded towards zero."""
    def trunc_(self) -> Self:
        """The integer part of x: rounded towards zero."""
    def frac(self) -> Tensor:
        """The fraction x - trunc(x), with the sign of x."""
    def frac_(self) -> Self:
        """The fraction x - trunc(x), with the sign of x."""
    def exp(self) -> Tensor:
        """e to the power of x."""
    def exp_(self) -> Self:
        """e to the power of x."""
    def log(self) -> Tensor:
        """The natural logarithm of x."""
    def log_(self) -> Self:
        """The natural logarithm of x."""
    def sqrt(self) -> Tensor:
        """The square root of x."""
    def sqrt_(self) -> Self:
        """The square root of x."""
    def sin(self) -> Tensor:
        """The sine of x, in radians."""
    def sin_(self) -> Self:
        """The sine of x, in radians."""
    def cos(self) -> Tensor:
        """The cosine of x, in radians."""
    def cos_(self) -> Self:
        """The cosine of x, in radians."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent of x."""
    def tanh_(self) -> Self:
        """The hyperbolic tangent of x."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x))."""
    def sigmoid_(self) -> Self:
        """1 / (1 + exp(-x))."""
    def tan(self) -> Tensor:
        """The tangent of x, in radians."""
    def tan_(self) -> Self:
        """The tangent of x, in radians."""
    def asin(self) -> Tensor:
        """The angle, in radians, whose sine is x."""
    def asin_(self) -> Self:
        """The angle, in radians, whose sine is x."""
    def acos(self) -> Tensor:
        """The angle, in radians, whose cosine is x."""
    def acos_(self) -> Self:
        """The angle, in radians, whose cosine is x."""
    def atan(self) -> Tensor:
        """The angle, in radians, whose tangent is x."""
    def atan_(self) -> Self:
        """The angle, in radians, whose tangent is x."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine of x."""
    def sinh_(self) -> Self:
        """The hyperbolic sine of x."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine of x."""
    def cosh_(self) -> Self:
        """The hyperbolic cosine of x."""
    def asinh(self) -> Tensor:
        """The number whose hyperbolic sine is x."""
    def asinh_(self) -> Self:
        """The number whose hyperbolic sine is x."""
    def acosh(self) -> Tensor:
        """The number at least 0 whose hyperbolic cosine is x."""
    def acosh_(self) -> Self:
        """The number at least 0 whose hyperbolic cosine is x."""
    def atanh(self) -> Tensor:
        """The number whose hyperbolic tangent is x."""
    def atanh_(self) -> Self:
        """The number whose hyperbolic tangent is x."""
    def exp2(self) -> Tensor:
        """2 to the power of x."""
    def exp2_(self) -> Self:
        """2 to the power of x."""
    def expm1(self) -> Tensor:
        """exp(x) - 1, exact near 0 too."""
    def expm1_(self) -> Self:
        """exp(x) - 1, exact near 0 too."""
    def log1p(self) -> Tensor:
        """log(1 + x), exact near 0 too."""
    def log1p_(self) -> Self:
        """log(1 + x), exact near 0 too."""
    def log2(self) -> Tensor:
        """The logarithm of x to base 2."""
    def log2_(self) -> Self:
        """The logarithm of x to base 2."""
    def log10(self) -> Tensor:
        """The logarithm of x to base 10."""
    def log10_(self) -> Self:
        """The logarithm of x to base 10."""
    def rsqrt(self) -> Tensor:
        """1 / sqrt(x)."""
    def rsqrt_(self) -> Self:
        """1 / sqrt(x)."""
    def reciprocal(self) -> Tensor:
        """1 / x."""
    def reciprocal_(self) -> Self:
        """1 / x."""
    def erf(self) -> Tensor:
        """The error function of x."""
    def erf_(self) -> Self:
        """The error function of x."""
    def erfc(self) -> Tensor:
        """1 - erf(x), exact for large x too."""
    def erfc_(self) -> Self:
        """1 - erf(x), exact for large x too."""
    def erfinv(self) -> Tensor:
        """The number whose error function is x."""
    def erfinv_(self) -> Self:
        """The number whose error function is x."""
    def lgamma(self) -> Tensor:
        """The logarithm of the absolute value of gamma(x)."""
    def lgamma_(self) -> Self:
        """The logarithm of the absolute value of gamma(x)."""
    def digamma(self) -> Tensor:
        """The derivative of the logarithm of gamma(x)."""
    def digamma_(self) -> Self:
        """The derivative of the logarithm of gamma(x)."""
    def sinc(self) -> Tensor:
        """sin(pi x) / (pi x), 1 at 0."""
    def sinc_(self) -> Self:
        """sin(pi x) / (pi x), 1 at 0."""
    def _logit(self) -> Tensor:
        """log(x / (1 - x))."""
    def _logit_(self) -> Self:
        """log(x / (1 - x))."""
    def i0(self) -> Tensor:
        """The modified Bessel function of the first kind, of order 0."""
    def i0_(self) -> Self:
        """The modified Bessel function of the first kind, of order 0."""
    def isnan(self) -> Tensor:
        """Whether x is NaN."""
    def isinf(self) -> Tensor:
        """Whether x is infinite."""
    def isfinite(self) -> Tensor:
        """Whether x is neither infinite nor NaN."""
    def signbit(self) -> Tensor:
        """Whether the sign of x is minus, of zeros and NaN too."""
    def logical_not(self) -> Tensor:
        """Whether x is zero."""
    def logical_not_(self) -> Self:
        """Whether x is zero."""
    def bitwise_not(self) -> Tensor:
        """~x of integers or bools."""
    def bitwise_not_(self) -> Self:
        """~x of integers or bools."""
    __neg__ = neg
    __abs__ = abs
    def __invert__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def clamp(self, min: Operand | None=None, max: Operand | None=None) -> Tensor:
        """Each element moved into [min, max]: numbers or tensors that broadcast; one of them may be None."""
    def clamp_(self, min: Operand | None=None, max: Operand | None=None) -> Tensor:
        """In place: each element moved into [min, max], which broadcast to this shape; the dtype stays."""
    clip = clamp
    clip_ = clamp_
    absolute = abs
    absolute_ = abs_
    negative = neg
    negative_ = neg_
    fix = trunc
    fix_ = trunc_
    sgn = sign
    sgn_ = sign_
    arcsin = asin
    arcsin_ = asin_
    arccos = acos
    arccos_ = acos_
    arctan = atan
    arctan_ = atan_
    arcsinh = asinh
    arcsinh_ = asinh_
    arccosh = acosh
    arccosh_ = acosh_
    arctanh = atanh
    arctanh_ = atanh_
    def where(self, condition: Tensor, other: Operand) -> Tensor:
        """This tensor's elements where the bool `condition` is True, those of `other` elsewhere; as `norch.where`."""
    def _choose(self, x: Operand, y: Operand) -> Tensor: ...
    @overload
    def softmax(self, dim: int, dtype: DType | None=None) -> Tensor: ...
    @overload
    def softmax(self, *, axis: int, dtype: DType | None=None) -> Tensor: ...
    @overload
    def log_softmax(self, dim: int, dtype: DType | None=None) -> Tensor: ...
    @overload
    def log_softmax(self, *, axis: int, dtype: DType | None=None) -> Tensor: ...
    def __matmul__(self, other: Operand) -> Tensor: ...
    def __rmatmul__(self, other: Operand) -> Tensor: ...
    def matmul(self, other: Tensor) -> Tensor:
        """The matrix product over the last two dimensions; the leading ones broadcast, and vectors have one dimension."""
    def __dir__(self) -> list[str]: ...
