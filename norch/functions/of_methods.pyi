# Written by tools/stubs.py from norch/functions/of_methods.py: do not edit.

from norch.functions.generator import Generator
from norch.functions.out import Out
from norch.linalg.factorizations import LUFactor, LUFactorEx, QR
from norch.linalg.solving import Slogdet
from norch.methods.elementary import Frexp
from norch.methods.linalg import Geqrf, SvdV, TriangularSolve
from norch.methods.statistics import Extremes, Histogram
from norch.precision import in_float32
from norch.return_types import Picked
from norch.tensor import Tensor
from norch.types import DType, Dims, Operand, Sizes, memory_format
from typing import Any, Literal, Sequence, overload

__all__ = [
    "neg",
    "abs",
    "sign",
    "relu",
    "floor",
    "ceil",
    "round",
    "trunc",
    "frac",
    "exp",
    "log",
    "sqrt",
    "sin",
    "cos",
    "tanh",
    "tan",
    "asinh",
    "acosh",
    "atanh",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "exp2",
    "expm1",
    "log1p",
    "log2",
    "log10",
    "rsqrt",
    "reciprocal",
    "erf",
    "erfc",
    "erfinv",
    "lgamma",
    "digamma",
    "i0",
    "sigmoid",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "logical_not",
    "bitwise_not",
    "add",
    "sub",
    "div",
    "pow",
    "floor_divide",
    "remainder",
    "fmod",
    "atan2",
    "hypot",
    "minimum",
    "maximum",
    "fmin",
    "fmax",
    "copysign",
    "nextafter",
    "heaviside",
    "logaddexp",
    "logaddexp2",
    "xlogy",
    "igamma",
    "igammac",
    "gcd",
    "lcm",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "absolute",
    "negative",
    "square",
    "subtract",
    "mul",
    "multiply",
    "divide",
    "true_divide",
    "clamp",
    "clip",
    "addcmul",
    "addcdiv",
    "lerp",
    "isclose",
    "allclose",
    "equal",
    "gather",
    "take_along_dim",
    "scatter",
    "scatter_add",
    "index_select",
    "index_fill",
    "index_add",
    "index_put",
    "take",
    "masked_fill",
    "masked_select",
    "nonzero",
    "tril",
    "triu",
    "diag",
    "sort",
    "argsort",
    "topk",
    "cumsum",
    "cumprod",
    "sum",
    "mean",
    "prod",
    "max",
    "min",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "var",
    "std",
    "any",
    "all",
    "softmax",
    "log_softmax",
    "logsumexp",
    "norm",
    "count_nonzero",
    "nansum",
    "nanmean",
    "matmul",
    "mm",
    "dot",
    "mv",
    "bmm",
    "outer",
    "addmm",
    "reshape",
    "ravel",
    "flatten",
    "unflatten",
    "transpose",
    "swapaxes",
    "swapdims",
    "t",
    "permute",
    "movedim",
    "moveaxis",
    "squeeze",
    "unsqueeze",
    "select",
    "narrow",
    "split",
    "chunk",
    "unbind",
    "diagonal",
    "as_strided",
    "broadcast_to",
    "flip",
    "fliplr",
    "flipud",
    "roll",
    "tile",
    "repeat_interleave",
    "clone",
    "scatter_reduce",
    "index_reduce",
    "index_copy",
    "put",
    "masked_scatter",
    "msort",
    "kthvalue",
    "median",
    "nanmedian",
    "mode",
    "quantile",
    "nanquantile",
    "unique",
    "unique_consecutive",
    "nonzero_static",
    "argwhere",
    "aminmax",
    "cummax",
    "cummin",
    "logcumsumexp",
    "diff",
    "bincount",
    "histc",
    "histogram",
    "cov",
    "corrcoef",
    "renorm",
    "dist",
    "bernoulli",
    "multinomial",
    "vdot",
    "inner",
    "ger",
    "kron",
    "cross",
    "addmv",
    "addr",
    "baddbmm",
    "addbmm",
    "unsafe_split",
    "unsafe_chunk",
    "unsafe_split_with_sizes",
    "split_with_sizes",
    "tensor_split",
    "hsplit",
    "vsplit",
    "dsplit",
    "rot90",
    "adjoint",
    "diagonal_scatter",
    "select_scatter",
    "slice_scatter",
    "as_strided_scatter",
    "diag_embed",
    "diagflat",
    "trace",
    "prelu",
    "hardshrink",
    "threshold",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "not_equal",
    "fix",
    "sgn",
    "float_power",
    "ldexp",
    "clamp_min",
    "clamp_max",
    "nan_to_num",
    "isposinf",
    "isneginf",
    "sinc",
    "logit",
    "deg2rad",
    "rad2deg",
    "positive",
    "frexp",
    "mvlgamma",
    "angle",
    "conj",
    "conj_physical",
    "resolve_conj",
    "resolve_neg",
    "isreal",
    "inverse",
    "pinverse",
    "det",
    "logdet",
    "slogdet",
    "cholesky",
    "cholesky_solve",
    "cholesky_inverse",
    "qr",
    "svd",
    "lu",
    "lu_solve",
    "triangular_solve",
    "matrix_power",
    "matrix_exp",
    "geqrf",
    "orgqr",
    "ormqr",
    "abs_",
    "acos_",
    "acosh_",
    "addmv_",
    "arccos_",
    "arccosh_",
    "arcsin_",
    "arcsinh_",
    "arctan_",
    "arctanh_",
    "as_strided_",
    "asin_",
    "asinh_",
    "atan_",
    "atanh_",
    "ceil_",
    "clamp_",
    "clamp_max_",
    "clamp_min_",
    "clip_",
    "conj_physical_",
    "cos_",
    "cosh_",
    "deg2rad_",
    "detach",
    "detach_",
    "erf_",
    "erfc_",
    "exp2_",
    "exp_",
    "expm1_",
    "fill_",
    "fix_",
    "floor_",
    "frac_",
    "gcd_",
    "i0_",
    "index_put_",
    "lcm_",
    "ldexp_",
    "log10_",
    "log1p_",
    "log2_",
    "log_",
    "logit_",
    "nan_to_num_",
    "neg_",
    "negative_",
    "rad2deg_",
    "reciprocal_",
    "resize_as_",
    "round_",
    "rsqrt_",
    "sigmoid_",
    "sin_",
    "sinc_",
    "sinh_",
    "sqrt_",
    "square_",
    "tan_",
    "tanh_",
    "trunc_",
    "xlogy_",
    "zero_",
]

def neg(input: Tensor, *, out: Out=None) -> Tensor:
    """-x."""
def abs(input: Tensor, *, out: Out=None) -> Tensor:
    """The absolute value |x|."""
def sign(input: Tensor, *, out: Out=None) -> Tensor:
    """-1, 0 or 1 by the sign of x."""
def relu(input: Tensor) -> Tensor:
    """max(x, 0)."""
def floor(input: Tensor, *, out: Out=None) -> Tensor:
    """The largest integer not above x."""
def ceil(input: Tensor, *, out: Out=None) -> Tensor:
    """The smallest integer not below x."""
def round(input: Tensor, *, decimals: int=0, out: Out=None) -> Tensor:
    """The nearest number with so many decimals, in the shape and dtype of x; halves go to the even one."""
def trunc(input: Tensor, *, out: Out=None) -> Tensor:
    """The integer part of x: rounded towards zero."""
def frac(input: Tensor, *, out: Out=None) -> Tensor:
    """The fraction x - trunc(x), with the sign of x."""
def exp(input: Tensor, *, out: Out=None) -> Tensor:
    """e to the power of x."""
def log(input: Tensor, *, out: Out=None) -> Tensor:
    """The natural logarithm of x."""
def sqrt(input: Tensor, *, out: Out=None) -> Tensor:
    """The square root of x."""
def sin(input: Tensor, *, out: Out=None) -> Tensor:
    """The sine of x, in radians."""
def cos(input: Tensor, *, out: Out=None) -> Tensor:
    """The cosine of x, in radians."""
def tanh(input: Tensor, *, out: Out=None) -> Tensor:
    """The hyperbolic tangent of x."""
def tan(input: Tensor, *, out: Out=None) -> Tensor:
    """The tangent of x, in radians."""
def asinh(input: Tensor, *, out: Out=None) -> Tensor:
    """The number whose hyperbolic sine is x."""
def acosh(input: Tensor, *, out: Out=None) -> Tensor:
    """The number at least 0 whose hyperbolic cosine is x."""
def atanh(input: Tensor, *, out: Out=None) -> Tensor:
    """The number whose hyperbolic tangent is x."""
def asin(input: Tensor, *, out: Out=None) -> Tensor:
    """The angle, in radians, whose sine is x."""
def acos(input: Tensor, *, out: Out=None) -> Tensor:
    """The angle, in radians, whose cosine is x."""
def atan(input: Tensor, *, out: Out=None) -> Tensor:
    """The angle, in radians, whose tangent is x."""
def sinh(input: Tensor, *, out: Out=None) -> Tensor:
    """The hyperbolic sine of x."""
def cosh(input: Tensor, *, out: Out=None) -> Tensor:
    """The hyperbolic cosine of x."""
def exp2(input: Tensor, *, out: Out=None) -> Tensor:
    """2 to the power of x."""
def expm1(input: Tensor, *, out: Out=None) -> Tensor:
    """exp(x) - 1, exact near 0 too."""
def log1p(input: Tensor, *, out: Out=None) -> Tensor:
    """log(1 + x), exact near 0 too."""
def log2(input: Tensor, *, out: Out=None) -> Tensor:
    """The logarithm of x to base 2."""
def log10(input: Tensor, *, out: Out=None) -> Tensor:
    """The logarithm of x to base 10."""
def rsqrt(input: Tensor, *, out: Out=None) -> Tensor:
    """1 / sqrt(x)."""
def reciprocal(input: Tensor, *, out: Out=None) -> Tensor:
    """1 / x."""
def erf(input: Tensor, *, out: Out=None) -> Tensor:
    """The error function of x."""
def erfc(input: Tensor, *, out: Out=None) -> Tensor:
    """1 - erf(x), exact for large x too."""
def erfinv(input: Tensor, *, out: Out=None) -> Tensor:
    """The number whose error function is x."""
def lgamma(input: Tensor, *, out: Out=None) -> Tensor:
    """The logarithm of the absolute value of gamma(x)."""
def digamma(input: Tensor, *, out: Out=None) -> Tensor:
    """The derivative of the logarithm of gamma(x)."""
def i0(input: Tensor, *, out: Out=None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
def sigmoid(input: Tensor, *, out: Out=None) -> Tensor:
    """1 / (1 + exp(-x))."""
def isnan(input: Tensor, *, out: Out=None) -> Tensor:
    """Whether x is NaN."""
def isinf(input: Tensor, *, out: Out=None) -> Tensor:
    """Whether x is infinite."""
def isfinite(input: Tensor, *, out: Out=None) -> Tensor:
    """Whether x is neither infinite nor NaN."""
def signbit(input: Tensor, *, out: Out=None) -> Tensor:
    """Whether the sign of x is minus, of zeros and NaN too."""
def logical_not(input: Tensor, *, out: Out=None) -> Tensor:
    """Whether x is zero."""
def bitwise_not(input: Tensor, *, out: Out=None) -> Tensor:
    """~x of integers or bools."""
def add(input: Operand, other: Operand, *legacy: Operand, alpha: float=1, out: Out=None) -> Tensor:
    """x + alpha * other, element by element. (`add(alpha, other)` is an older order of the same.)"""
def sub(input: Operand, other: Operand, *legacy: Operand, alpha: float=1, out: Out=None) -> Tensor:
    """x - alpha * other, element by element. (`sub(alpha, other)` is an older order of the same.)"""
def div(input: Operand, other: Operand, *, rounding_mode: str | None=None, out: Out=None) -> Tensor:
    """x / other, element by element; rounded towards zero with "trunc", down with "floor", in the promoted dtype."""
def pow(input: Operand, exponent: Operand, *, out: Out=None) -> Tensor:
    """x to the power of `exponent`, element by element. Shapes, dtypes and errors as for `add`; not for bool."""
def floor_divide(input: Operand, other: Operand, *, out: Out=None) -> Tensor:
    """x // y: rounded towards minus infinity. No gradient."""
def remainder(input: Operand, other: Operand, *, out: Out=None) -> Tensor:
    """x % y: with the sign of y, as in Python."""
def fmod(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """The remainder of x / y rounded towards zero: with the sign of x."""
def atan2(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """The angle, in radians, of the point (y, x)."""
def hypot(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """sqrt(x^2 + y^2), whose squares cannot overflow."""
def minimum(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """The smaller of x and y; NaN if either is."""
def maximum(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """The larger of x and y; NaN if either is."""
def fmin(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """The smaller of x and y; the other one if either is NaN."""
def fmax(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """The larger of x and y; the other one if either is NaN."""
def copysign(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """|x| with the sign of y."""
def nextafter(input: Tensor, other: Tensor, *, out: Out=None) -> Tensor:
    """The number next to x in the direction of `other`, element by element. Shapes, dtypes and errors as for `add`."""
def heaviside(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """0 where x < 0, y where x is 0, 1 where x > 0."""
def logaddexp(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """log(exp(x) + exp(y)), without overflow."""
def logaddexp2(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """log2(2^x + 2^y), without overflow."""
def xlogy(input: Operand, other: Operand, *, out: Out=None) -> Tensor:
    """x log(y), 0 if x is 0."""
def igamma(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """The incomplete gamma function P(x, y), regularized."""
def igammac(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """1 - igamma(x, y), exact if that is small too."""
def gcd(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """The greatest common divisor of integers."""
def lcm(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """The least common multiple of integers."""
def eq(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """x == y."""
def ne(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """x != y."""
def lt(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """x < y."""
def le(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """x <= y."""
def gt(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """x > y."""
def ge(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """x >= y."""
def logical_and(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """Whether x and y are both nonzero."""
def logical_or(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """Whether x or y is nonzero."""
def logical_xor(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """Whether exactly one of x and y is nonzero."""
def bitwise_and(input: Operand, other: Operand, *, out: Out=None) -> Tensor:
    """x & y of integers or bools."""
def bitwise_or(input: Operand, other: Operand, *, out: Out=None) -> Tensor:
    """x | y of integers or bools."""
def bitwise_xor(input: Operand, other: Operand, *, out: Out=None) -> Tensor:
    """x ^ y of integers or bools."""
def bitwise_left_shift(input: Operand, other: Operand, *, out: Out=None) -> Tensor:
    """x << y of integers: x times 2 to the power of y."""
def bitwise_right_shift(input: Operand, other: Operand, *, out: Out=None) -> Tensor:
    """x >> y of integers: x divided by 2 to the power of y, rounded down."""
def absolute(input: Tensor, *, out: Out=None) -> Tensor:
    """The absolute value |x|."""
def negative(input: Tensor, *, out: Out=None) -> Tensor:
    """-x."""
def square(input: Tensor, *, out: Out=None) -> Tensor:
    """x * x, element by element, in the shape and dtype of x; bool becomes int64."""
def subtract(input: Operand, other: Operand, *legacy: Operand, alpha: float=1, out: Out=None) -> Tensor:
    """x - alpha * other, element by element. (`sub(alpha, other)` is an older order of the same.)"""
def mul(input: Operand, other: Operand, *, out: Out=None) -> Tensor:
    """x * y."""
def multiply(input: Operand, other: Operand, *, out: Out=None) -> Tensor:
    """x * y."""
def divide(input: Operand, other: Operand, *, rounding_mode: str | None=None, out: Out=None) -> Tensor:
    """x / other, element by element; rounded towards zero with "trunc", down with "floor", in the promoted dtype."""
def true_divide(input: Operand, other: Operand, *, rounding_mode: str | None=None, out: Out=None) -> Tensor:
    """x / other, element by element; rounded towards zero with "trunc", down with "floor", in the promoted dtype."""
def clamp(input: Tensor, min: Operand | None=None, max: Operand | None=None, *, out: Out=None) -> Tensor:
    """Each element moved into [min, max]: numbers or tensors that broadcast; one of them may be None."""
def clip(input: Tensor, min: Operand | None=None, max: Operand | None=None, *, out: Out=None) -> Tensor:
    """Each element moved into [min, max]: numbers or tensors that broadcast; one of them may be None."""
def addcmul(input: Tensor, tensor1: Operand, tensor2: Tensor, *legacy: Tensor, value: float=1, out: Out=None) -> Tensor:
    """x + value * tensor1 * tensor2, element by element; shapes broadcast, dtypes are promoted."""
def addcdiv(input: Tensor, tensor1: Operand, tensor2: Tensor, *legacy: Tensor, value: float=1, out: Out=None) -> Tensor:
    """x + value * tensor1 / tensor2, element by element; shapes broadcast, dtypes are promoted."""
def lerp(input: Tensor, end: Tensor, weight: Operand, *, out: Out=None) -> Tensor:
    """x + weight * (end - x): x at weight 0, end at weight 1; shapes broadcast, and the floating dtype is one."""
def isclose(input: Tensor, other: Tensor, rtol: float=1e-05, atol: float=1e-08, equal_nan: bool=False) -> Tensor:
    """Whether |x - other| <= atol + rtol * |other|, as bool; infinities are close to themselves only."""
def allclose(input: Tensor, other: Tensor, rtol: float=1e-05, atol: float=1e-08, equal_nan: bool=False) -> bool:
    """Whether all elements are close, as a Python bool; shapes and dtypes as for `isclose`."""
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape and the same elements, of any dtypes, as a Python bool."""
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool=False, out: Out=None) -> Tensor:
    """`out[i][j] = self[i][index[i][j]]` for dim=1: the elements that `index` names along `dim`, in its shape."""
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None=None, *, out: Out=None) -> Tensor:
    """As `gather`, but the other dimensions broadcast; without `dim`, from the flattened tensor."""
def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor | float | None=None, *, value: float | None=None, reduce: str | None=None, out: Out=None) -> Tensor:
    """`scatter_` into a copy."""
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Out=None) -> Tensor:
    """`scatter_add_` into a copy."""
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Out=None) -> Tensor:
    """The slices along `dim` that a vector of indices [n] names, as a copy: `self[:, index]` for dim=1."""
def index_fill(input: Tensor, dim: int, index: Tensor, value: Operand) -> Tensor:
    """`index_fill_` into a copy."""
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float=1, out: Out=None) -> Tensor:
    """`index_add_` into a copy."""
def index_put(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool=False) -> Tensor:
    """`index_put_` into a copy."""
def take(input: Tensor, index: Tensor, *, out: Out=None) -> Tensor:
    """The elements that `index` names in the flattened tensor, in the shape of `index` and the dtype of x."""
def masked_fill(input: Tensor, mask: Tensor, value: Operand) -> Tensor:
    """`masked_fill_` into a copy, which takes the shape that this tensor and the mask broadcast to."""
def masked_select(input: Tensor, mask: Tensor, *, out: Out=None) -> Tensor:
    """The elements where a bool mask is True, as a vector [n] in row order and of the dtype of x; both broadcast."""
@overload
def nonzero(input: Tensor, as_tuple: Literal[False]=False, *, out: Out=None) -> Tensor: ...
@overload
def nonzero(input: Tensor, as_tuple: Literal[True], *, out: Out=None) -> tuple[Tensor, ...]: ...
def tril(input: Tensor, diagonal: int=0, *, out: Out=None) -> Tensor:
    """The lower triangle of matrices [..., m, n]: zeros above the diagonal; the same shape and dtype."""
def triu(input: Tensor, diagonal: int=0, *, out: Out=None) -> Tensor:
    """The upper triangle of matrices [..., m, n]: zeros below the diagonal; the same shape and dtype."""
def diag(input: Tensor, diagonal: int=0, *, out: Out=None) -> Tensor:
    """The diagonal of a matrix as a vector [n], or a matrix [n, n] of zeros with a vector on its diagonal."""
def sort(input: Tensor, dim: int=-1, descending: bool=False, stable: bool | None=None, *, axis: int | None=None, out: Out=None) -> Picked:
    """The pair (values, indices) of the elements in order along `dim`, in the shape of x; the indices are int64."""
def argsort(input: Tensor, dim: int=-1, descending: bool=False, stable: bool=False, *, out: Out=None) -> Tensor:
    """The indices, int64 and in the shape of x, that put the elements in order along `dim`."""
def topk(input: Tensor, k: int, dim: int=-1, largest: bool=True, sorted: bool=True, *, out: Out=None) -> Picked:
    """The pair (values, indices) of the `k` largest, or smallest, elements along `dim`, in order."""
def cumsum(input: Tensor, dim: int | None=None, *, axis: int | None=None, dtype: DType | None=None, out: Out=None) -> Tensor:
    """Along a dimension the sum of each element and all before it, in the shape of x."""
def cumprod(input: Tensor, dim: int | None=None, *, axis: int | None=None, dtype: DType | None=None, out: Out=None) -> Tensor:
    """Along a dimension the product of each element and all before it, in the shape of x."""
def sum(input: Tensor, dim: Dims=None, keepdim: bool=False, *, keepdims: bool=False, axis: Dims=None, dtype: DType | None=None, out: Out=None) -> Tensor:
    """The sum; integers and bools sum to int64. Accurate to a few units in the last place at any length."""
def mean(input: Tensor, dim: Dims=None, keepdim: bool=False, *, keepdims: bool=False, axis: Dims=None, dtype: DType | None=None, out: Out=None) -> Tensor:
    """The mean; NaN over no elements. Shapes and errors as for `sum`; raises RuntimeError for integers."""
def prod(input: Tensor, dim: Dims=None, keepdim: bool=False, *, keepdims: bool=False, axis: Dims=None, dtype: DType | None=None, out: Out=None) -> Tensor:
    """The product; integers and bools multiply to int64. Shapes and errors as for `sum`."""
@overload
def max(input: Tensor, dim: Tensor | None=None, keepdim: bool=False, *, keepdims: bool=False, axis: Dims=None, other: Tensor | None=None, out: Out=None) -> Tensor: ...
@overload
def max(input: Tensor, dim: int, keepdim: bool=False, *, keepdims: bool=False, out: Out=None) -> Picked: ...
@overload
def min(input: Tensor, dim: Tensor | None=None, keepdim: bool=False, *, keepdims: bool=False, axis: Dims=None, other: Tensor | None=None, out: Out=None) -> Tensor: ...
@overload
def min(input: Tensor, dim: int, keepdim: bool=False, *, keepdims: bool=False, out: Out=None) -> Picked: ...
def amax(input: Tensor, dim: Dims=None, keepdim: bool=False, *, keepdims: bool=False, axis: Dims=None, out: Out=None) -> Tensor:
    """The largest element over `dim`, one or several; equal ones share the gradient. Shapes as for `sum`."""
def amin(input: Tensor, dim: Dims=None, keepdim: bool=False, *, keepdims: bool=False, axis: Dims=None, out: Out=None) -> Tensor:
    """The smallest element over `dim`, one or several; equal ones share the gradient. Shapes as for `sum`."""
def argmax(input: Tensor, dim: int | None=None, keepdim: bool=False, *, keepdims: bool=False, axis: int | None=None, out: Out=None) -> Tensor:
    """The index, int64, of the first largest element along `dim`, or in the flattened tensor (of shape [])."""
def argmin(input: Tensor, dim: int | None=None, keepdim: bool=False, *, keepdims: bool=False, axis: int | None=None, out: Out=None) -> Tensor:
    """The index, int64, of the first smallest element along `dim`, or in the flattened tensor (of shape [])."""
def var(input: Tensor, dim: Dims | bool=None, unbiased: bool | None=None, keepdim: bool=False, *, keepdims: bool=False, correction: float | None=None, axis: Dims=None, out: Out=None) -> Tensor:
    """The variance: squared distances from the mean, summed and divided by n - correction (1 if it is None)."""
def std(input: Tensor, dim: Dims | bool=None, unbiased: bool | None=None, keepdim: bool=False, *, keepdims: bool=False, correction: float | None=None, axis: Dims=None, out: Out=None) -> Tensor:
    """The standard deviation: the square root of the variance; arguments, shapes and errors as for `var`."""
def any(input: Tensor, dim: Dims=None, keepdim: bool=False, *, keepdims: bool=False, axis: Dims=None, out: Out=None) -> Tensor:
    """Whether any element is nonzero, as bool (of uint8 as uint8). Shapes and errors as for `sum`."""
def all(input: Tensor, dim: Dims=None, keepdim: bool=False, *, keepdims: bool=False, axis: Dims=None, out: Out=None) -> Tensor:
    """Whether all elements are nonzero, as bool (of uint8 as uint8). Shapes and errors as for `sum`."""
@overload
def softmax(input: Tensor, dim: int, dtype: DType | None=None, *, out: Out=None) -> Tensor: ...
@overload
def softmax(input: Tensor, *, axis: int, dtype: DType | None=None, out: Out=None) -> Tensor: ...
@overload
def log_softmax(input: Tensor, dim: int, dtype: DType | None=None, *, out: Out=None) -> Tensor: ...
@overload
def log_softmax(input: Tensor, *, axis: int, dtype: DType | None=None, out: Out=None) -> Tensor: ...
def logsumexp(input: Tensor, dim: Dims, keepdim: bool=False, *, keepdims: bool=False, out: Out=None) -> Tensor:
    """log(sum(exp(x))) over `dim`; the maximum is subtracted first, so that nothing overflows."""
def norm(input: Tensor, p: float | str | None='fro', dim: Dims=None, keepdim: bool=False, dtype: DType | None=None, *, keepdims: bool=False, out: Out=None) -> Tensor:
    """The vector norm (sum |x|^p)^(1/p); also p = inf, -inf, 0 (how many are not 0) and "fro", which is 2."""
def count_nonzero(input: Tensor, dim: Dims=None, *, axis: Dims=None, out: Out=None) -> Tensor:
    """How many elements are not zero, int64: of all, or over `dim`, one or several. Shapes as for `sum`."""
def nansum(input: Tensor, dim: Dims=None, keepdim: bool=False, *, keepdims: bool=False, dtype: DType | None=None, out: Out=None) -> Tensor:
    """The sum of the elements that are not NaN; shapes, dtypes and errors as for `sum`."""
def nanmean(input: Tensor, dim: Dims=None, keepdim: bool=False, *, keepdims: bool=False, dtype: DType | None=None, out: Out=None) -> Tensor:
    """The mean of the elements that are not NaN; shapes and dtypes as for `mean`."""
def matmul(input: Tensor, other: Tensor, *, out: Out=None) -> Tensor:
    """The matrix product over the last two dimensions; the leading ones broadcast, and vectors have one dimension."""
def mm(input: Tensor, mat2: Tensor, *, out: Out=None) -> Tensor:
    """The product [m, n] of two matrices of one dtype. Raises ShapeError for anything but [m, k] and [k, n]."""
def dot(input: Tensor, tensor: Tensor, *, out: Out=None) -> Tensor:
    """The sum of the products of two vectors [n], of one dtype: a scalar."""
def mv(input: Tensor, vec: Tensor, *, out: Out=None) -> Tensor:
    """A matrix [m, k] times a vector [k]: [m], all of one dtype."""
def bmm(input: Tensor, mat2: Tensor, *, out: Out=None) -> Tensor:
    """The products [b, m, n] of two batches of matrices, [b, m, k] and [b, k, n]; nothing broadcasts."""
def outer(input: Tensor, vec2: Tensor, *, out: Out=None) -> Tensor:
    """The matrix [m, n] of the products of each element of a vector [m] with each of another [n]."""
def addmm(input: Tensor, mat1: Operand, mat2: Operand, *legacy: Operand, beta: float=1, alpha: float=1, out: Out=None) -> Tensor:
    """beta * x + alpha * (mat1 @ mat2): [m, n] for matrices [m, k] and [k, n] of one dtype."""
def reshape(input: Tensor, *sizes: Sizes, shape: Sizes | None=None) -> Tensor:
    """The same elements in another shape; one size may be -1, and the dtype stays."""
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension [n], in row order without gaps; the dtype stays. A view if they lie so."""
def flatten(input: Tensor, start_dim: int=0, end_dim: int=-1) -> Tensor:
    """The dimensions from start_dim to end_dim as one: [2, 3, 4] from 1 on gives [2, 12]. The dtype stays."""
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dimension as several, of which one may be -1: [2, 12] as [2, 3, 4]. The dtype stays."""
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged: [a, b, c] with 0 and 2 gives a view [c, b, a] of the same dtype."""
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """The same as `transpose`."""
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged: [a, b, c] with 0 and 2 gives a view [c, b, a] of the same dtype."""
def t(input: Tensor) -> Tensor:
    """A matrix [m, n] as a view [n, m] of the same dtype; fewer dimensions stay as they are."""
def permute(input: Tensor, *axes: Sizes, dims: Sizes | None=None) -> Tensor:
    """The dimensions in another order: [a, b, c] by 2, 0, 1 gives a view [c, a, b] of the same dtype."""
def movedim(input: Tensor, source: Sizes, destination: Sizes) -> Tensor:
    """Dimensions moved to other places; the others keep their order: [a, b, c] with 0, 2 gives [b, c, a]."""
def moveaxis(input: Tensor, source: Sizes, destination: Sizes) -> Tensor:
    """Dimensions moved to other places; the others keep their order: [a, b, c] with 0, 2 gives [b, c, a]."""
def squeeze(input: Tensor, dim: Dims=None, *, axis: Dims=None) -> Tensor:
    """Without the dimensions of size 1, or without those of them that `dim` names: [1, 3, 1] to [3]."""
@overload
def unsqueeze(input: Tensor, dim: int) -> Tensor: ...
@overload
def unsqueeze(input: Tensor, *, axis: int) -> Tensor: ...
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One index of a dimension, which goes away: [2, 3] with dim 1 gives a view [2] of the same dtype."""
def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """`length` indices of a dimension from `start` on: a view of the same dtype, its shape except for that size."""
def split(input: Tensor, split_size: Sizes | None=None, dim: int=0, *, split_size_or_sections: Sizes | None=None) -> tuple[Tensor, ...]:
    """A tuple of views along a dimension: of one size each (the last may be smaller), or of the sizes in a list."""
def chunk(input: Tensor, chunks: int, dim: int=0) -> tuple[Tensor, ...]:
    """A tuple of at most `chunks` views of one size along a dimension; the last may be smaller."""
def unbind(input: Tensor, dim: int=0, *, axis: int | None=None) -> tuple[Tensor, ...]:
    """A tuple of the views that `select` gives for each index of a dimension: [3, 2] gives three of shape [2]."""
def diagonal(input: Tensor, offset: int=0, dim1: int=0, dim2: int=1) -> Tensor:
    """The diagonals of the matrices in two dimensions, as the last one; an offset > 0 lies above the main one."""
def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None=None) -> Tensor:
    """A view of the storage by shape, strides and offset in elements; the dtype stays."""
def broadcast_to(input: Tensor, *shape: Sizes, size: Sizes | None=None) -> Tensor:
    """The same as `expand`, to a shape."""
def flip(input: Tensor, *axes: Sizes, dims: Sizes | None=None) -> Tensor:
    """A copy, of the same shape and dtype, in which the given dimensions run backwards."""
def fliplr(input: Tensor) -> Tensor:
    """A copy, of the same shape and dtype, in which the second dimension runs backwards."""
def flipud(input: Tensor) -> Tensor:
    """A copy, of the same shape and dtype, in which the first dimension runs backwards."""
def roll(input: Tensor, shifts: Sizes, dims: Dims=None) -> Tensor:
    """A copy shifted along dimensions; elements that leave at one end enter at the other. Without dims: as if flat."""
def tile(input: Tensor, *numbers: Sizes, dims: Sizes | None=None) -> Tensor:
    """Copies side by side as for `repeat`, but fewer numbers than dimensions stand for the last ones."""
def repeat_interleave(input: Tensor, repeats: int | Tensor | None=None, dim: int | None=None, *, output_size: int | None=None, axis: int | None=None) -> Tensor:
    """A copy in which each element along a dimension comes `repeats` times in a row. Without dim: as if flat."""
def clone(input: Tensor, *, memory_format: memory_format | None=None) -> Tensor:
    """A copy, through which gradients flow; of the same shape, dtype and device."""
def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool=True, out: Out=None) -> Tensor:
    """`scatter_reduce_` into a copy."""
def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool=True, out: Out=None) -> Tensor:
    """`index_reduce_` into a copy."""
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Out=None) -> Tensor:
    """`index_copy_` into a copy."""
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool=False) -> Tensor:
    """`put_` into a copy."""
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`masked_scatter_` into a copy, which takes the shape that this tensor and the mask broadcast to."""
def msort(input: Tensor, *, out: Out=None) -> Tensor:
    """The elements in order along the first dimension, in the shape and dtype of x."""
def kthvalue(input: Tensor, k: int, dim: int=-1, keepdim: bool=False, *, out: Out=None) -> Picked:
    """The pair (values, indices) of the k-th smallest element along `dim`, counted from 1, which goes away."""
def median(input: Tensor, dim: int | None=None, keepdim: bool=False, *, out: Out=None) -> Any:
    """The element in the middle, the lower of two; along `dim` the pair (values, indices). NaN if there is one."""
def nanmedian(input: Tensor, dim: int | None=None, keepdim: bool=False, *, out: Out=None) -> Any:
    """The median of the elements that are not NaN; otherwise as `median`."""
def mode(input: Tensor, dim: int=-1, keepdim: bool=False, *, out: Out=None) -> Picked:
    """The pair (values, indices) of the most frequent element along `dim`, the smallest of several such."""
def quantile(input: Tensor, q: float | Tensor, dim: int | None=None, keepdim: bool=False, *, interpolation: str='linear', out: Out=None) -> Tensor:
    """What a share `q` of the elements lies below: of all, or along `dim`; a vector of shares comes first."""
def nanquantile(input: Tensor, q: float | Tensor, dim: int | None=None, keepdim: bool=False, *, interpolation: str='linear', out: Out=None) -> Tensor:
    """The quantile of the elements that are not NaN; otherwise as `quantile`."""
def unique(input: Tensor, sorted: bool=True, return_inverse: bool=False, return_counts: bool=False, dim: int | None=None) -> Any:
    """The different elements in order, a vector [n], or the different slices along `dim`, of the dtype of x."""
def unique_consecutive(input: Tensor, return_inverse: bool=False, return_counts: bool=False, dim: int | None=None) -> Any:
    """The first of each run of equal elements, or of equal slices along `dim`; shapes and options as for `unique`."""
def nonzero_static(input: Tensor, *, size: int, fill_value: int=-1, out: Out=None) -> Tensor:
    """The first `size` rows of `nonzero`, and rows of `fill_value` after them: int64 [size, ndim]."""
def argwhere(input: Tensor) -> Tensor:
    """The index of each element that is not zero, in row order: int64 [count, ndim]; the same as `nonzero`."""
def aminmax(input: Tensor, *, dim: int | None=None, keepdim: bool=False, out: Out=None) -> Extremes:
    """The pair (min, max) of all elements or along `dim`: what `amin` and `amax` give."""
def cummax(input: Tensor, dim: int | None=None, *, axis: int | None=None, out: Out=None) -> Picked:
    """The pair (values, indices): along `dim` the largest of each element and all before it, and its last place."""
def cummin(input: Tensor, dim: int | None=None, *, axis: int | None=None, out: Out=None) -> Picked:
    """The pair (values, indices): along `dim` the smallest of each element and all before it, and its last place."""
def logcumsumexp(input: Tensor, dim: int, *, out: Out=None) -> Tensor:
    """log(cumsum(exp(x))) along `dim`, in which nothing overflows; in the shape and dtype of x."""
def diff(input: Tensor, n: int=1, dim: int=-1, prepend: Tensor | None=None, append: Tensor | None=None, *, axis: int | None=None, out: Out=None) -> Tensor:
    """Along `dim` each element less the one before it, n times; of bools whether they differ."""
def bincount(input: Tensor, weights: Tensor | None=None, minlength: int=0) -> Tensor:
    """How often each of 0, 1, ... occurs in a vector of integers; with `weights` the sum of theirs."""
def histc(input: Tensor, bins: int=100, min: float=0, max: float=0, *, out: Out=None) -> Tensor:
    """How many elements fall into each of `bins` ranges of one width from `min` to `max`: [bins], the dtype of x."""
def histogram(input: Tensor, bins: int | Tensor=100, *, range: Sequence[float] | None=None, weight: Tensor | None=None, density: bool=False, out: Out=None) -> Histogram:
    """The pair (hist, bin_edges): how many elements, or how much of their `weight`, fall into each bin."""
def cov(input: Tensor, *, correction: int=1, fweights: Tensor | None=None, aweights: Tensor | None=None) -> Tensor:
    """The covariances [rows, rows] of variables, the rows of x, over observations, its columns."""
def corrcoef(input: Tensor) -> Tensor:
    """The correlation coefficients [rows, rows] of variables, the rows of x: covariances over both deviations."""
@in_float32
def renorm(input: Tensor, p: float, dim: int, maxnorm: float, *, out: Out=None) -> Tensor:
    """A copy in which each slice along `dim` whose p-norm is larger than `maxnorm` is scaled down to it."""
def dist(input: Tensor, other: Tensor, p: float=2) -> Tensor:
    """The p-norm of x - other, whose shapes broadcast: a scalar of their dtype."""
def bernoulli(input: Tensor, p: Tensor | float | None=None, *, generator: Generator | None=None, out: Out=None) -> Tensor:
    """1 with the probability that x gives for each element, else 0; in its shape and dtype."""
def multinomial(input: Tensor, num_samples: int, replacement: bool=False, *, generator: Generator | None=None, out: Out=None) -> Tensor:
    """Indices, int64, drawn in proportion to the weights of a vector [n], or of each row of a matrix [rows, n]."""
def vdot(input: Tensor, other: Tensor, *, out: Out=None) -> Tensor:
    """The same as `dot`, for the dtypes that norch has."""
def inner(input: Tensor, other: Tensor, *, out: Out=None) -> Tensor:
    """The products summed over the last dimension of both: [a, n] and [b, n] give [a, b]; x * y for a scalar."""
def ger(input: Tensor, vec2: Tensor, *, out: Out=None) -> Tensor:
    """The matrix [m, n] of the products of each element of a vector [m] with each of another [n]."""
def kron(input: Tensor, other: Tensor, *, out: Out=None) -> Tensor:
    """Kronecker's product: each element of x times the whole of `other`, in place of it."""
def cross(input: Tensor, other: Tensor, dim: int | None=None, *, out: Out=None) -> Tensor:
    """The cross product of the vectors of 3 elements along `dim`, without which the first of size 3 is it."""
def addmv(input: Tensor, mat: Operand, vec: Operand, *legacy: Operand, beta: float=1, alpha: float=1, out: Out=None) -> Tensor:
    """beta * x + alpha * (mat @ vec): [m] for a matrix [m, k] and a vector [k]. Otherwise as `addmm`."""
def addr(input: Tensor, vec1: Operand, vec2: Operand, *legacy: Operand, beta: float=1, alpha: float=1, out: Out=None) -> Tensor:
    """beta * x + alpha * the outer product of two vectors: [m, n] for [m] and [n]. Otherwise as `addmm`."""
def baddbmm(input: Tensor, batch1: Operand, batch2: Operand, *legacy: Operand, beta: float=1, alpha: float=1, out: Out=None) -> Tensor:
    """beta * x + alpha * the products of two batches of matrices: [b, m, n]. Otherwise as `addmm`."""
def addbmm(input: Tensor, batch1: Operand, batch2: Operand, *legacy: Operand, beta: float=1, alpha: float=1, out: Out=None) -> Tensor:
    """beta * x + alpha * the sum of the products of two batches of matrices: [m, n]. Otherwise as `addmm`."""
def unsafe_split(input: Tensor, split_size: Sizes | None=None, dim: int=0, *, split_size_or_sections: Sizes | None=None) -> tuple[Tensor, ...]:
    """A tuple of views along a dimension: of one size each (the last may be smaller), or of the sizes in a list."""
def unsafe_chunk(input: Tensor, chunks: int, dim: int=0) -> tuple[Tensor, ...]:
    """A tuple of at most `chunks` views of one size along a dimension; the last may be smaller."""
def unsafe_split_with_sizes(input: Tensor, split_sizes: Sizes, dim: int=0) -> tuple[Tensor, ...]:
    """The same as `split` with a list of sizes. Raises RuntimeError for a tensor without dimensions, too."""
def split_with_sizes(input: Tensor, split_sizes: Sizes, dim: int=0) -> tuple[Tensor, ...]:
    """The same as `split` with a list of sizes. Raises RuntimeError for a tensor without dimensions, too."""
def tensor_split(input: Tensor, indices_or_sections: Sizes | Tensor | None=None, dim: int=0, *, indices: Sizes | None=None, sections: int | None=None) -> tuple[Tensor, ...]:
    """A tuple of that many views along a dimension, of sizes that differ by at most 1, or views between indices."""
def hsplit(input: Tensor, indices_or_sections: Sizes) -> tuple[Tensor, ...]:
    """Parts along the second dimension, or the only one: equal ones, or those between indices, as `tensor_split`."""
def vsplit(input: Tensor, indices_or_sections: Sizes) -> tuple[Tensor, ...]:
    """Parts along the first of at least two dimensions; otherwise as `hsplit`."""
def dsplit(input: Tensor, indices_or_sections: Sizes) -> tuple[Tensor, ...]:
    """Parts along the third of at least three dimensions; otherwise as `hsplit`."""
def rot90(input: Tensor, k: int=1, dims: Sizes=(0, 1)) -> Tensor:
    """A copy turned by k times 90 degrees in the plane of two dimensions, from the first towards the second."""
def adjoint(input: Tensor) -> Tensor:
    """The same as `mT`, for the dtypes that norch has. Raises RuntimeError for fewer than two dimensions."""
def diagonal_scatter(input: Tensor, src: Tensor, offset: int=0, dim1: int=0, dim2: int=1) -> Tensor:
    """A copy whose diagonals, as `diagonal` shows them, are `src`; of the same shape and dtype."""
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy in which one index of a dimension is `src`; of the same shape and dtype."""
def slice_scatter(input: Tensor, src: Tensor, dim: int=0, start: int | None=None, end: int | None=None, step: int=1, *, out: Out=None) -> Tensor:
    """A copy in which the slice start:end:step of a dimension is `src`; of the same shape and dtype."""
def as_strided_scatter(input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None=None) -> Tensor:
    """A copy in which the elements that `as_strided` shows are `src`; of the same shape and dtype."""
def diag_embed(input: Tensor, offset: int=0, dim1: int=-2, dim2: int=-1) -> Tensor:
    """Zeros with the vectors along the last dimension on the diagonals of matrices in dim1 and dim2."""
def diagflat(input: Tensor, offset: int=0) -> Tensor:
    """A matrix [n, n] of zeros with all n elements, in row order, on a diagonal; of the same dtype."""
def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix [n, m]; integers give int64."""
def prelu(input: Operand, weight: Tensor) -> Tensor:
    """x where x > 0, weight * x elsewhere; a weight [1], or [C] for each channel of x [N, C, ...]."""
def hardshrink(input: Operand, lambd: float=0.5) -> Tensor:
    """x where |x| > lambd, 0 elsewhere; in the shape and dtype of x. Raises RuntimeError if it is not floating."""
def threshold(input: Operand, threshold: float, value: float) -> Tensor:
    """x where x > threshold, `value` elsewhere; in the shape and dtype of x. Raises RuntimeError for bool."""
def arccos(input: Tensor, *, out: Out=None) -> Tensor:
    """The angle, in radians, whose cosine is x."""
def arccosh(input: Tensor, *, out: Out=None) -> Tensor:
    """The number at least 0 whose hyperbolic cosine is x."""
def arcsin(input: Tensor, *, out: Out=None) -> Tensor:
    """The angle, in radians, whose sine is x."""
def arcsinh(input: Tensor, *, out: Out=None) -> Tensor:
    """The number whose hyperbolic sine is x."""
def arctan(input: Tensor, *, out: Out=None) -> Tensor:
    """The angle, in radians, whose tangent is x."""
def arctan2(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """The angle, in radians, of the point (y, x)."""
def arctanh(input: Tensor, *, out: Out=None) -> Tensor:
    """The number whose hyperbolic tangent is x."""
def greater(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """x > y."""
def greater_equal(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """x >= y."""
def less(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """x < y."""
def less_equal(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """x <= y."""
def not_equal(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """x != y."""
def fix(input: Tensor, *, out: Out=None) -> Tensor:
    """The integer part of x: rounded towards zero."""
def sgn(input: Tensor, *, out: Out=None) -> Tensor:
    """-1, 0 or 1 by the sign of x."""
def float_power(input: Operand, exponent: Operand, *, out: Out=None) -> Tensor:
    """x to the power of `exponent`, in float64. Shapes and errors as for `add`."""
def ldexp(input: Tensor, other: Operand, *, out: Out=None) -> Tensor:
    """x * 2^other, element by element. Shapes and errors as for `add`. A floating x keeps its dtype beside"""
def clamp_min(input: Tensor, min: Operand, *, out: Out=None) -> Tensor:
    """max(x, min), element by element: `clamp` with one bound. Shapes, dtypes and errors as for `add`."""
def clamp_max(input: Tensor, max: Operand, *, out: Out=None) -> Tensor:
    """min(x, max), element by element: `clamp` with one bound. Shapes, dtypes and errors as for `add`."""
def nan_to_num(input: Tensor, nan: float | None=None, posinf: float | None=None, neginf: float | None=None, *, out: Out=None) -> Tensor:
    """x with NaN replaced by `nan` (0), infinities by `posinf` and `neginf` (the limits of the dtype)."""
def isposinf(input: Tensor, *, out: Out=None) -> Tensor:
    """Whether x is plus infinity, element by element, in the shape of x, as bool."""
def isneginf(input: Tensor, *, out: Out=None) -> Tensor:
    """Whether x is minus infinity, element by element, in the shape of x, as bool."""
def sinc(input: Tensor, *, out: Out=None) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0."""
def logit(input: Tensor, eps: float | None=None, *, out: Out=None) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; with `eps` >= 0 x is moved into [eps, 1 - eps] first."""
def deg2rad(input: Tensor, *, out: Out=None) -> Tensor:
    """Degrees in radians, element by element, in the shape of x; integers and bool become float32."""
def rad2deg(input: Tensor, *, out: Out=None) -> Tensor:
    """Radians in degrees, element by element, in the shape of x; integers and bool become float32."""
def positive(input: Tensor) -> Tensor:
    """x itself, of the same shape and dtype, as +x. Raises RuntimeError for bool."""
def frexp(input: Tensor, *, out: Out=None) -> Frexp:
    """The pair (mantissa, exponent) with x = mantissa * 2^exponent and |mantissa| in [0.5, 1), or 0."""
def mvlgamma(input: Tensor, p: int, *, out: Out=None) -> Tensor:
    """The logarithm of the gamma function of dimension p: p (p - 1) / 4 log(pi) + sum of lgamma(x - i / 2), i < p."""
def angle(input: Tensor, *, out: Out=None) -> Tensor:
    """The angle of a number in the complex plane: 0, or pi for a negative one; NaN stays."""
def conj(input: Tensor) -> Tensor:
    """The complex conjugate of real numbers: this tensor itself, of its shape and dtype."""
def conj_physical(input: Tensor, *, out: Out=None) -> Tensor:
    """The complex conjugate of real numbers: this tensor itself, of its shape and dtype."""
def resolve_conj(input: Tensor) -> Tensor:
    """The complex conjugate of real numbers: this tensor itself, of its shape and dtype."""
def resolve_neg(input: Tensor) -> Tensor:
    """The complex conjugate of real numbers: this tensor itself, of its shape and dtype."""
def isreal(input: Tensor) -> Tensor:
    """Whether each element is a real number: always, in the shape of x, as bool."""
def inverse(input: Tensor, *, out: Out=None) -> Tensor:
    """The inverses of square matrices: `norch.linalg.inv`, in shapes, dtypes and errors too."""
def pinverse(input: Tensor, rcond: float=1e-15, *, out: Out=None) -> Tensor:
    """The pseudo-inverses by singular values above rcond times the largest; otherwise as `norch.linalg.pinv`."""
def det(input: Tensor, *, out: Out=None) -> Tensor:
    """The determinants of square matrices: `norch.linalg.det`, in shapes, dtypes and errors too."""
def logdet(input: Tensor, *, out: Out=None) -> Tensor:
    """The logarithm of the determinants: minus infinity for 0, NaN below. Otherwise as `norch.linalg.slogdet`."""
def slogdet(input: Tensor, *, out: Out=None) -> Slogdet:
    """The pair (sign, logabsdet) of the determinants: `norch.linalg.slogdet`, in shapes, dtypes and errors too."""
def cholesky(input: Tensor, upper: bool=False, *, out: Out=None) -> Tensor:
    """The triangular L with x = L L^T: `norch.linalg.cholesky`, in shapes, dtypes and errors too."""
def cholesky_solve(input: Tensor, L: Tensor, upper: bool=False, *, out: Out=None) -> Tensor:
    """The X with L L^T X = x, for the Cholesky factor L [..., n, n]; L^T L if it is `upper`."""
def cholesky_inverse(input: Tensor, upper: bool=False, *, out: Out=None) -> Tensor:
    """The inverse of L L^T, for the Cholesky factor x = L [..., n, n]; of L^T L if it is upper triangular."""
def qr(input: Tensor, some: bool=True, *, out: Out=None) -> QR:
    """The pair (Q, R) with x = Q R: `norch.linalg.qr` in mode "reduced", or "complete" if not `some`."""
def svd(input: Tensor, some: bool=True, compute_uv: bool=True, *, out: Out=None) -> SvdV:
    """The triple (U, S, V) with x = U diag(S) V^T: `norch.linalg.svd`, whose full matrices come if not `some`."""
def lu(input: Tensor, pivot: bool=True, get_infos: bool=False, *, out: Out=None) -> LUFactor | LUFactorEx:
    """The pair (LU, pivots) of `norch.linalg.lu_factor`, and its info with `get_infos`."""
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Out=None) -> Tensor:
    """The X with A X = x, for (LU_data, LU_pivots) of A. Shapes, dtypes and errors as for `norch.linalg.lu_solve`."""
def triangular_solve(input: Tensor, A: Tensor, upper: bool=True, transpose: bool=False, unitriangular: bool=False, *, out: Out=None) -> TriangularSolve:
    """The pair (X, A) with A X = x, or A^T X = x with `transpose`, for triangular matrices A."""
def matrix_power(input: Tensor, n: int, *, out: Out=None) -> Tensor:
    """The n-th power of square matrices: `norch.linalg.matrix_power`, in shapes, dtypes and errors too."""
def matrix_exp(input: Tensor, *, out: Out=None) -> Tensor:
    """The exponential of square matrices: `norch.linalg.matrix_exp`, in shapes, dtypes and errors too."""
def geqrf(input: Tensor, *, out: Out=None) -> Geqrf:
    """LAPACK's form of `qr`: R in the upper triangle [..., m, n], Householder's vectors below it, and tau [..., k]."""
def orgqr(input: Tensor, tau: Tensor, *, out: Out=None) -> Tensor:
    """The first columns of Q, for (x, tau) as `geqrf` returns them: `norch.linalg.householder_product`."""
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool=True, transpose: bool=False, *, out: Out=None) -> Tensor:
    """Q other, for the Q of (x, tau) as `geqrf` returns them; other Q if not `left`."""
def abs_(input: Tensor) -> Tensor:
    """The absolute value |x|."""
def acos_(input: Tensor) -> Tensor:
    """The angle, in radians, whose cosine is x."""
def acosh_(input: Tensor) -> Tensor:
    """The number at least 0 whose hyperbolic cosine is x."""
def addmv_(input: Tensor, mat: Operand, vec: Operand, *legacy: Operand, beta: float=1, alpha: float=1) -> Tensor:
    """In place: beta * x + alpha * (mat @ vec), as `addmv`; shape and dtype stay."""
def arccos_(input: Tensor) -> Tensor:
    """The angle, in radians, whose cosine is x."""
def arccosh_(input: Tensor) -> Tensor:
    """The number at least 0 whose hyperbolic cosine is x."""
def arcsin_(input: Tensor) -> Tensor:
    """The angle, in radians, whose sine is x."""
def arcsinh_(input: Tensor) -> Tensor:
    """The number whose hyperbolic sine is x."""
def arctan_(input: Tensor) -> Tensor:
    """The angle, in radians, whose tangent is x."""
def arctanh_(input: Tensor) -> Tensor:
    """The number whose hyperbolic tangent is x."""
def as_strided_(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None=None) -> Tensor:
    """In place: the elements of the memory at this shape, strides and offset; otherwise as `as_strided`."""
def asin_(input: Tensor) -> Tensor:
    """The angle, in radians, whose sine is x."""
def asinh_(input: Tensor) -> Tensor:
    """The number whose hyperbolic sine is x."""
def atan_(input: Tensor) -> Tensor:
    """The angle, in radians, whose tangent is x."""
def atanh_(input: Tensor) -> Tensor:
    """The number whose hyperbolic tangent is x."""
def ceil_(input: Tensor) -> Tensor:
    """The smallest integer not below x."""
def clamp_(input: Tensor, min: Operand | None=None, max: Operand | None=None) -> Tensor:
    """In place: each element moved into [min, max], which broadcast to this shape; the dtype stays."""
def clamp_max_(input: Tensor, max: Operand) -> Tensor:
    """In place: min(x, max), as `clamp_` with one bound. Shapes, dtypes and errors as for `add_`."""
def clamp_min_(input: Tensor, min: Operand) -> Tensor:
    """In place: max(x, min), as `clamp_` with one bound. Shapes, dtypes and errors as for `add_`."""
def clip_(input: Tensor, min: Operand | None=None, max: Operand | None=None) -> Tensor:
    """In place: each element moved into [min, max], which broadcast to this shape; the dtype stays."""
def conj_physical_(input: Tensor) -> Tensor:
    """In place: the complex conjugate of real numbers, this tensor itself, of its shape and dtype."""
def cos_(input: Tensor) -> Tensor:
    """The cosine of x, in radians."""
def cosh_(input: Tensor) -> Tensor:
    """The hyperbolic cosine of x."""
def deg2rad_(input: Tensor) -> Tensor:
    """Degrees in radians, element by element, in the shape of x; integers and bool become float32."""
def detach(input: Tensor) -> Tensor:
    """A tensor of the same shape and dtype over the same storage, outside of any graph."""
def detach_(input: Tensor) -> Tensor:
    """Leave the graph: this tensor becomes a leaf that requires no gradient (the article's `detach`)."""
def erf_(input: Tensor) -> Tensor:
    """The error function of x."""
def erfc_(input: Tensor) -> Tensor:
    """1 - erf(x), exact for large x too."""
def exp2_(input: Tensor) -> Tensor:
    """2 to the power of x."""
def exp_(input: Tensor) -> Tensor:
    """e to the power of x."""
def expm1_(input: Tensor) -> Tensor:
    """exp(x) - 1, exact near 0 too."""
def fill_(input: Tensor, value: Operand) -> Tensor:
    """Set every element to one number, converted to this dtype; the shape stays."""
def fix_(input: Tensor) -> Tensor:
    """The integer part of x: rounded towards zero."""
def floor_(input: Tensor) -> Tensor:
    """The largest integer not above x."""
def frac_(input: Tensor) -> Tensor:
    """The fraction x - trunc(x), with the sign of x."""
def gcd_(input: Tensor, other: Operand) -> Tensor:
    """The greatest common divisor of integers."""
def i0_(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
def index_put_(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool=False) -> Tensor:
    """`self[indices] = values`, or += with `accumulate`, which adds every value if places repeat."""
def lcm_(input: Tensor, other: Operand) -> Tensor:
    """The least common multiple of integers."""
def ldexp_(input: Tensor, other: Operand) -> Tensor:
    """x * 2^other, element by element. Shapes and errors as for `add`. A floating x keeps its dtype beside"""
def log10_(input: Tensor) -> Tensor:
    """The logarithm of x to base 10."""
def log1p_(input: Tensor) -> Tensor:
    """log(1 + x), exact near 0 too."""
def log2_(input: Tensor) -> Tensor:
    """The logarithm of x to base 2."""
def log_(input: Tensor) -> Tensor:
    """The natural logarithm of x."""
def logit_(input: Tensor, eps: float | None=None) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; with `eps` >= 0 x is moved into [eps, 1 - eps] first."""
def nan_to_num_(input: Tensor, nan: float | None=None, posinf: float | None=None, neginf: float | None=None) -> Tensor:
    """x with NaN replaced by `nan` (0), infinities by `posinf` and `neginf` (the limits of the dtype)."""
def neg_(input: Tensor) -> Tensor:
    """-x."""
def negative_(input: Tensor) -> Tensor:
    """-x."""
def rad2deg_(input: Tensor) -> Tensor:
    """Radians in degrees, element by element, in the shape of x; integers and bool become float32."""
def reciprocal_(input: Tensor) -> Tensor:
    """1 / x."""
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: memory_format | None=None) -> Tensor:
    """In place: the shape of another tensor, and with `norch.preserve_format` its order; otherwise as `resize_`."""
def round_(input: Tensor, *, decimals: int=0) -> Tensor:
    """The nearest number with so many decimals, in the shape and dtype of x; halves go to the even one."""
def rsqrt_(input: Tensor) -> Tensor:
    """1 / sqrt(x)."""
def sigmoid_(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
def sin_(input: Tensor) -> Tensor:
    """The sine of x, in radians."""
def sinc_(input: Tensor) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0."""
def sinh_(input: Tensor) -> Tensor:
    """The hyperbolic sine of x."""
def sqrt_(input: Tensor) -> Tensor:
    """The square root of x."""
def square_(input: Tensor) -> Tensor:
    """In place: x * x, element by element; shape and dtype stay."""
def tan_(input: Tensor) -> Tensor:
    """The tangent of x, in radians."""
def tanh_(input: Tensor) -> Tensor:
    """The hyperbolic tangent of x."""
def trunc_(input: Tensor) -> Tensor:
    """The integer part of x: rounded towards zero."""
def xlogy_(input: Tensor, other: Operand) -> Tensor:
    """x log(y), 0 if x is 0."""
def zero_(input: Tensor) -> Tensor:
    """Set every element to 0; shape and dtype stay. Raises RuntimeError for a leaf that requires gradients."""
