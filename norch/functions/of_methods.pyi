# Written by tools/stubs.py from norch/functions/of_methods.py: do not edit.

from norch.methods.reductions import Picked
from norch.tensor import Tensor
from norch.types import DType, Dims, Operand, Sizes
from typing import Literal, Sequence, overload

__all__ = [
    "neg",
    "abs",
    "sign",
    "relu",
    "floor",
    "ceil",
    "round",
    "trunc",
    "exp",
    "log",
    "sqrt",
    "sin",
    "cos",
    "tanh",
    "tan",
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
    "sigmoid",
    "isnan",
    "isinf",
    "isfinite",
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
    "absolute",
    "negative",
    "square",
    "frac",
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
]

def neg(input: Tensor) -> Tensor:
    """-x."""
def abs(input: Tensor) -> Tensor:
    """The absolute value |x|."""
def sign(input: Tensor) -> Tensor:
    """-1, 0 or 1 by the sign of x."""
def relu(input: Tensor) -> Tensor:
    """max(x, 0)."""
def floor(input: Tensor) -> Tensor:
    """The largest integer not above x."""
def ceil(input: Tensor) -> Tensor:
    """The smallest integer not below x."""
def round(input: Tensor) -> Tensor:
    """The nearest integer; halves go to the even one."""
def trunc(input: Tensor) -> Tensor:
    """The integer part of x: rounded towards zero."""
def exp(input: Tensor) -> Tensor:
    """e to the power of x."""
def log(input: Tensor) -> Tensor:
    """The natural logarithm of x."""
def sqrt(input: Tensor) -> Tensor:
    """The square root of x."""
def sin(input: Tensor) -> Tensor:
    """The sine of x, in radians."""
def cos(input: Tensor) -> Tensor:
    """The cosine of x, in radians."""
def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent of x."""
def tan(input: Tensor) -> Tensor:
    """The tangent of x, in radians."""
def asin(input: Tensor) -> Tensor:
    """The angle, in radians, whose sine is x."""
def acos(input: Tensor) -> Tensor:
    """The angle, in radians, whose cosine is x."""
def atan(input: Tensor) -> Tensor:
    """The angle, in radians, whose tangent is x."""
def sinh(input: Tensor) -> Tensor:
    """The hyperbolic sine of x."""
def cosh(input: Tensor) -> Tensor:
    """The hyperbolic cosine of x."""
def exp2(input: Tensor) -> Tensor:
    """2 to the power of x."""
def expm1(input: Tensor) -> Tensor:
    """exp(x) - 1, exact near 0 too."""
def log1p(input: Tensor) -> Tensor:
    """log(1 + x), exact near 0 too."""
def log2(input: Tensor) -> Tensor:
    """The logarithm of x to base 2."""
def log10(input: Tensor) -> Tensor:
    """The logarithm of x to base 10."""
def rsqrt(input: Tensor) -> Tensor:
    """1 / sqrt(x)."""
def reciprocal(input: Tensor) -> Tensor:
    """1 / x."""
def erf(input: Tensor) -> Tensor:
    """The error function of x."""
def erfc(input: Tensor) -> Tensor:
    """1 - erf(x), exact for large x too."""
def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
def isnan(input: Tensor) -> Tensor:
    """Whether x is NaN."""
def isinf(input: Tensor) -> Tensor:
    """Whether x is infinite."""
def isfinite(input: Tensor) -> Tensor:
    """Whether x is neither infinite nor NaN."""
def logical_not(input: Tensor) -> Tensor:
    """Whether x is zero."""
def bitwise_not(input: Tensor) -> Tensor:
    """~x of integers or bools."""
def add(input: Tensor, other: Operand) -> Tensor:
    """x + y."""
def sub(input: Tensor, other: Operand) -> Tensor:
    """x - y."""
def div(input: Tensor, other: Operand) -> Tensor:
    """x / y."""
def pow(input: Tensor, other: Operand) -> Tensor:
    """x to the power of y."""
def floor_divide(input: Tensor, other: Operand) -> Tensor:
    """x // y: rounded towards minus infinity. No gradient."""
def remainder(input: Tensor, other: Operand) -> Tensor:
    """x % y: with the sign of y, as in Python."""
def fmod(input: Tensor, other: Operand) -> Tensor:
    """The remainder of x / y rounded towards zero: with the sign of x."""
def atan2(input: Tensor, other: Operand) -> Tensor:
    """The angle, in radians, of the point (y, x)."""
def hypot(input: Tensor, other: Operand) -> Tensor:
    """sqrt(x^2 + y^2), whose squares cannot overflow."""
def minimum(input: Tensor, other: Operand) -> Tensor:
    """The smaller of x and y; NaN if either is."""
def maximum(input: Tensor, other: Operand) -> Tensor:
    """The larger of x and y; NaN if either is."""
def eq(input: Tensor, other: Operand) -> Tensor:
    """x == y."""
def ne(input: Tensor, other: Operand) -> Tensor:
    """x != y."""
def lt(input: Tensor, other: Operand) -> Tensor:
    """x < y."""
def le(input: Tensor, other: Operand) -> Tensor:
    """x <= y."""
def gt(input: Tensor, other: Operand) -> Tensor:
    """x > y."""
def ge(input: Tensor, other: Operand) -> Tensor:
    """x >= y."""
def logical_and(input: Tensor, other: Operand) -> Tensor:
    """Whether x and y are both nonzero."""
def logical_or(input: Tensor, other: Operand) -> Tensor:
    """Whether x or y is nonzero."""
def logical_xor(input: Tensor, other: Operand) -> Tensor:
    """Whether exactly one of x and y is nonzero."""
def bitwise_and(input: Tensor, other: Operand) -> Tensor:
    """x & y of integers or bools."""
def bitwise_or(input: Tensor, other: Operand) -> Tensor:
    """x | y of integers or bools."""
def bitwise_xor(input: Tensor, other: Operand) -> Tensor:
    """x ^ y of integers or bools."""
def absolute(input: Tensor) -> Tensor:
    """The absolute value |x|."""
def negative(input: Tensor) -> Tensor:
    """-x."""
def square(input: Tensor) -> Tensor:
    """x * x, element by element, in the shape and dtype of x."""
def frac(input: Tensor) -> Tensor:
    """x - trunc(x): the fraction, with the sign of x; in its shape and dtype."""
def subtract(input: Tensor, other: Operand) -> Tensor:
    """x - y."""
def mul(input: Tensor, other: Operand) -> Tensor:
    """x * y."""
def multiply(input: Tensor, other: Operand) -> Tensor:
    """x * y."""
def divide(input: Tensor, other: Operand) -> Tensor:
    """x / y."""
def true_divide(input: Tensor, other: Operand) -> Tensor:
    """x / y."""
def clamp(input: Tensor, min: Operand | None=None, max: Operand | None=None) -> Tensor:
    """Each element moved into [min, max]: numbers or tensors that broadcast; one of them may be None."""
def clip(input: Tensor, min: Operand | None=None, max: Operand | None=None) -> Tensor:
    """Each element moved into [min, max]: numbers or tensors that broadcast; one of them may be None."""
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float=1) -> Tensor:
    """x + value * tensor1 * tensor2, element by element; shapes broadcast, dtypes are promoted."""
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float=1) -> Tensor:
    """x + value * tensor1 / tensor2, element by element; shapes broadcast, dtypes are promoted."""
def lerp(input: Tensor, end: Tensor, weight: Operand) -> Tensor:
    """x + weight * (end - x): x at weight 0, end at weight 1; shapes broadcast, dtypes are promoted."""
def isclose(input: Tensor, other: Tensor, rtol: float=1e-05, atol: float=1e-08, equal_nan: bool=False) -> Tensor:
    """Whether |x - other| <= atol + rtol * |other|, as bool; infinities are close to themselves only."""
def allclose(input: Tensor, other: Tensor, rtol: float=1e-05, atol: float=1e-08, equal_nan: bool=False) -> bool:
    """Whether all elements are close, as a Python bool; shapes and dtypes as for `isclose`."""
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape and the same elements, of any dtypes, as a Python bool."""
def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """`out[i][j] = self[i][index[i][j]]` for dim=1: the elements that `index` names along `dim`, in its shape."""
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None=None) -> Tensor:
    """As `gather`, but the other dimensions broadcast; without `dim`, from the flattened tensor."""
def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor | float | None=None, *, value: float | None=None) -> Tensor:
    """`scatter_` into a copy."""
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """`scatter_add_` into a copy."""
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices along `dim` that a vector of indices [n] names, as a copy: `self[:, index]` for dim=1."""
def index_fill(input: Tensor, dim: int, index: Tensor, value: Operand) -> Tensor:
    """`index_fill_` into a copy."""
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float=1) -> Tensor:
    """`index_add_` into a copy."""
def index_put(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool=False) -> Tensor:
    """`index_put_` into a copy."""
def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements that `index` names in the flattened tensor, in the shape of `index` and the dtype of x."""
def masked_fill(input: Tensor, mask: Tensor, value: Operand) -> Tensor:
    """`masked_fill_` into a copy, which takes the shape that this tensor and the mask broadcast to."""
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where a bool mask is True, as a vector [n] in row order and of the dtype of x; both broadcast."""
@overload
def nonzero(input: Tensor, as_tuple: Literal[False]=False) -> Tensor: ...
@overload
def nonzero(input: Tensor, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
def tril(input: Tensor, diagonal: int=0) -> Tensor:
    """The lower triangle of matrices [..., m, n]: zeros above the diagonal; the same shape and dtype."""
def triu(input: Tensor, diagonal: int=0) -> Tensor:
    """The upper triangle of matrices [..., m, n]: zeros below the diagonal; the same shape and dtype."""
def diag(input: Tensor, diagonal: int=0) -> Tensor:
    """The diagonal of a matrix as a vector [n], or a matrix [n, n] of zeros with a vector on its diagonal."""
def sort(input: Tensor, dim: int=-1, descending: bool=False, *, stable: bool=True) -> Picked:
    """The pair (values, indices) of the elements in order along `dim`, in the shape of x; the indices are int64."""
def argsort(input: Tensor, dim: int=-1, descending: bool=False, *, stable: bool=True) -> Tensor:
    """The indices, int64 and in the shape of x, that put the elements in order along `dim`."""
def topk(input: Tensor, k: int, dim: int=-1, largest: bool=True, sorted: bool=True) -> Picked:
    """The pair (values, indices) of the `k` largest, or smallest, elements along `dim`, in order."""
def cumsum(input: Tensor, dim: int | None=None, *, axis: int | None=None, dtype: DType | None=None) -> Tensor:
    """Along a dimension the sum of each element and all before it, in the shape of x."""
def cumprod(input: Tensor, dim: int | None=None, *, axis: int | None=None, dtype: DType | None=None) -> Tensor:
    """Along a dimension the product of each element and all before it, in the shape of x."""
def sum(input: Tensor, dim: Dims=None, keepdim: bool=False, *, axis: Dims=None, dtype: DType | None=None) -> Tensor:
    """The sum; integers and bools sum to int64. Accurate to a few units in the last place at any length."""
def mean(input: Tensor, dim: Dims=None, keepdim: bool=False, *, axis: Dims=None, dtype: DType | None=None) -> Tensor:
    """The mean; NaN over no elements. Shapes and errors as for `sum`; raises RuntimeError for integers."""
def prod(input: Tensor, dim: Dims=None, keepdim: bool=False, *, axis: Dims=None, dtype: DType | None=None) -> Tensor:
    """The product; integers and bools multiply to int64. Shapes and errors as for `sum`."""
@overload
def max(input: Tensor, dim: Tensor | None=None, keepdim: bool=False, *, axis: Dims=None) -> Tensor: ...
@overload
def max(input: Tensor, dim: int, keepdim: bool=False) -> Picked: ...
@overload
def min(input: Tensor, dim: Tensor | None=None, keepdim: bool=False, *, axis: Dims=None) -> Tensor: ...
@overload
def min(input: Tensor, dim: int, keepdim: bool=False) -> Picked: ...
def amax(input: Tensor, dim: Dims=None, keepdim: bool=False) -> Tensor:
    """The largest element over `dim`, one or several; equal ones share the gradient. Shapes as for `sum`."""
def amin(input: Tensor, dim: Dims=None, keepdim: bool=False) -> Tensor:
    """The smallest element over `dim`, one or several; equal ones share the gradient. Shapes as for `sum`."""
def argmax(input: Tensor, dim: int | None=None, keepdim: bool=False, *, axis: int | None=None) -> Tensor:
    """The index, int64, of the first largest element along `dim`, or in the flattened tensor (shape [1])."""
def argmin(input: Tensor, dim: int | None=None, keepdim: bool=False, *, axis: int | None=None) -> Tensor:
    """The index, int64, of the first smallest element along `dim`, or in the flattened tensor (shape [1])."""
def var(input: Tensor, dim: Dims=None, keepdim: bool=False, *, correction: int=1, unbiased: bool | None=None, axis: Dims=None) -> Tensor:
    """The variance: squared distances from the mean, summed and divided by n - correction (1: unbiased)."""
def std(input: Tensor, dim: Dims=None, keepdim: bool=False, *, correction: int=1, unbiased: bool | None=None, axis: Dims=None) -> Tensor:
    """The standard deviation: the square root of the variance; shapes, dtypes and errors as for `var`."""
def any(input: Tensor, dim: Dims=None, keepdim: bool=False, *, axis: Dims=None) -> Tensor:
    """Whether any element is nonzero, as bool. Shapes and errors as for `sum`."""
def all(input: Tensor, dim: Dims=None, keepdim: bool=False, *, axis: Dims=None) -> Tensor:
    """Whether all elements are nonzero, as bool. Shapes and errors as for `sum`."""
def softmax(input: Tensor, dim: int) -> Tensor:
    """exp(x) divided by its sum along `dim`; the maximum is subtracted first, so that nothing overflows."""
def log_softmax(input: Tensor, dim: int) -> Tensor:
    """log(softmax(x)) along `dim`, computed as x - max - log(sum(exp(x - max))). Otherwise as `softmax`."""
def logsumexp(input: Tensor, dim: Dims, keepdim: bool=False) -> Tensor:
    """log(sum(exp(x))) over `dim`; the maximum is subtracted first, so that nothing overflows."""
def norm(input: Tensor, p: float | str | None=2, dim: Dims=None, keepdim: bool=False) -> Tensor:
    """The vector norm (sum |x|^p)^(1/p); also p = inf, -inf, 0 (how many are not 0) and "fro", which is 2."""
def count_nonzero(input: Tensor, dim: Dims=None) -> Tensor:
    """How many elements are not zero, int64: of all, in shape [1], or over `dim`, one or several."""
def nansum(input: Tensor, dim: Dims=None, keepdim: bool=False) -> Tensor:
    """The sum of the elements that are not NaN; shapes, dtypes and errors as for `sum`."""
def nanmean(input: Tensor, dim: Dims=None, keepdim: bool=False) -> Tensor:
    """The mean of the elements that are not NaN; shapes as for `sum`, dtype floating: integers give float32."""
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product over the last two dimensions; the leading ones broadcast, and vectors have one dimension."""
def mm(input: Tensor, other: Tensor) -> Tensor:
    """The product [m, n] of two matrices of one dtype. Raises ShapeError for anything but [m, k] and [k, n]."""
def dot(input: Tensor, other: Tensor) -> Tensor:
    """The sum of the products of two vectors [n], of one dtype; of shape [1], as all scalars."""
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """A matrix [m, k] times a vector [k]: [m], all of one dtype."""
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products [b, m, n] of two batches of matrices, [b, m, k] and [b, k, n]; nothing broadcasts."""
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """The matrix [m, n] of the products of each element of a vector [m] with each of another [n]."""
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float=1, alpha: float=1) -> Tensor:
    """beta * x + alpha * (mat1 @ mat2): [m, n] for matrices [m, k] and [k, n] of one dtype."""
def reshape(input: Tensor, *shape: Sizes) -> Tensor:
    """The same elements in another shape; one size may be -1, and the dtype stays."""
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension [n], in row order; the dtype stays. A view if the strides allow one."""
def flatten(input: Tensor, start_dim: int=0, end_dim: int=-1) -> Tensor:
    """The dimensions from start_dim to end_dim as one: [2, 3, 4] from 1 on gives [2, 12]. The dtype stays."""
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dimension as several, of which one may be -1: [2, 12] as [2, 3, 4]. The dtype stays."""
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged: [a, b, c] with 0 and 2 gives a view [c, b, a] of the same dtype."""
def swapaxes(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged: [a, b, c] with 0 and 2 gives a view [c, b, a] of the same dtype."""
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged: [a, b, c] with 0 and 2 gives a view [c, b, a] of the same dtype."""
def t(input: Tensor) -> Tensor:
    """A matrix [m, n] as a view [n, m] of the same dtype; fewer dimensions stay as they are."""
def permute(input: Tensor, *dims: Sizes) -> Tensor:
    """The dimensions in another order: [a, b, c] by 2, 0, 1 gives a view [c, a, b] of the same dtype."""
def movedim(input: Tensor, source: Sizes, destination: Sizes) -> Tensor:
    """Dimensions moved to other places; the others keep their order: [a, b, c] with 0, 2 gives [b, c, a]."""
def moveaxis(input: Tensor, source: Sizes, destination: Sizes) -> Tensor:
    """Dimensions moved to other places; the others keep their order: [a, b, c] with 0, 2 gives [b, c, a]."""
def squeeze(input: Tensor, dim: Dims=None) -> Tensor:
    """Without the dimensions of size 1, or without those of them that `dim` names: [1, 3, 1] to [3]."""
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """With a dimension of size 1 at `dim`: [2, 3] at 1 gives a view [2, 1, 3] of the same dtype."""
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One index of a dimension, which goes away: [2, 3] with dim 1 gives a view [2] of the same dtype."""
def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` indices of a dimension from `start` on: a view of the same dtype, its shape except for that size."""
def split(input: Tensor, split_size_or_sections: Sizes, dim: int=0) -> tuple[Tensor, ...]:
    """A tuple of views along a dimension: of one size each (the last may be smaller), or of the sizes in a list."""
def chunk(input: Tensor, chunks: int, dim: int=0) -> tuple[Tensor, ...]:
    """A tuple of at most `chunks` views of one size along a dimension; the last may be smaller."""
def unbind(input: Tensor, dim: int=0) -> tuple[Tensor, ...]:
    """A tuple of the views that `select` gives for each index of a dimension: [3, 2] gives three of shape [2]."""
def diagonal(input: Tensor, offset: int=0, dim1: int=0, dim2: int=1) -> Tensor:
    """The diagonals of the matrices in two dimensions, as the last one; an offset > 0 lies above the main one."""
def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None=None) -> Tensor:
    """A view of the storage by shape, strides and offset in elements; the dtype stays."""
def broadcast_to(input: Tensor, *shape: Sizes) -> Tensor:
    """The same as `expand`, to a shape."""
def flip(input: Tensor, *dims: Sizes) -> Tensor:
    """A copy, of the same shape and dtype, in which the given dimensions run backwards."""
def fliplr(input: Tensor) -> Tensor:
    """A copy, of the same shape and dtype, in which the second dimension runs backwards."""
def flipud(input: Tensor) -> Tensor:
    """A copy, of the same shape and dtype, in which the first dimension runs backwards."""
def roll(input: Tensor, shifts: Sizes, dims: Dims=None) -> Tensor:
    """A copy shifted along dimensions; elements that leave at one end enter at the other. Without dims: as if flat."""
def tile(input: Tensor, *dims: Sizes) -> Tensor:
    """Copies side by side as for `repeat`, but fewer numbers than dimensions stand for the last ones."""
def repeat_interleave(input: Tensor, repeats: int, dim: int | None=None) -> Tensor:
    """A copy in which each element along a dimension comes `repeats` times in a row. Without dim: as if flat."""
def clone(input: Tensor) -> Tensor:
    """A contiguous copy, through which gradients flow; of the same shape, dtype and device."""
