"""A function for each method of Tensor: `norch.exp(x)` is `x.exp()`, `norch.add(x, y)` is `x.add(y)`.

Beside the method's own arguments it takes `out`, a tensor for the result (out.py). Some take a number in place of the
first tensor: `norch.pow(2, x)`.

Type checkers read of_methods.pyi, which tools/stubs.py writes: there each function is spelled out.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, cast

from .. import operation
from .._C import lib, number
from ..autocasting import VARIABLE
from ..operation import check_tensor
from ..prototypes import operations
from ..sparse.coo import SparseTensor
from ..tensor import Tensor
from ..types import float64
from .creation import tensor
from .out import Out, into, written
from .promotion import result_type

# The rows of csrc/ops/operations.h with one or two operands, and the other methods that are functions too.
_ROWS = [name for kind in ("unary", "binary") for name in operations()[kind] if name != "elementwise_mul"]
_NAMES = """
absolute negative square subtract mul multiply divide true_divide clamp clip
addcmul addcdiv lerp isclose allclose equal
gather take_along_dim scatter scatter_add index_select index_fill index_add index_put take
masked_fill masked_select nonzero tril triu diag sort argsort topk cumsum cumprod
sum mean prod max min amax amin argmax argmin var std any all softmax log_softmax
logsumexp norm count_nonzero nansum nanmean
matmul mm dot mv bmm outer addmm
reshape ravel flatten unflatten transpose swapaxes swapdims t permute movedim moveaxis squeeze unsqueeze
select narrow split chunk unbind diagonal as_strided broadcast_to
flip fliplr flipud roll tile repeat_interleave clone
scatter_reduce index_reduce index_copy put masked_scatter
msort kthvalue median nanmedian mode quantile nanquantile unique unique_consecutive nonzero_static argwhere
aminmax cummax cummin logcumsumexp diff bincount histc histogram cov corrcoef renorm dist bernoulli multinomial
vdot inner ger kron cross addmv addr baddbmm addbmm
unsafe_split unsafe_chunk unsafe_split_with_sizes split_with_sizes
tensor_split hsplit vsplit dsplit rot90 adjoint
diagonal_scatter select_scatter slice_scatter as_strided_scatter diag_embed diagflat trace
prelu hardshrink threshold
arccos arccosh arcsin arcsinh arctan arctan2 arctanh greater greater_equal less less_equal not_equal fix sgn
float_power ldexp clamp_min clamp_max nan_to_num isposinf isneginf sinc logit deg2rad rad2deg positive frexp mvlgamma
angle conj conj_physical resolve_conj resolve_neg isreal
inverse pinverse det logdet slogdet cholesky cholesky_solve cholesky_inverse qr svd lu lu_solve triangular_solve
matrix_power matrix_exp geqrf orgqr ormqr
""".split()

# The methods in place that are functions in PyTorch too, and those that only detach.
_IN_PLACE = """
abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ as_strided_ asin_ asinh_ atan_ atanh_
ceil_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ detach detach_ erf_ erfc_ exp2_ exp_
expm1_ fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_
negative_ rad2deg_ reciprocal_ resize_as_ round_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_
xlogy_ zero_
""".split()

# These make views, write into x or return no tensors: they have no `out`.
WITHOUT_OUT = set(
    """
relu isclose allclose equal index_fill index_put masked_fill
positive conj resolve_conj resolve_neg isreal
reshape ravel flatten unflatten transpose swapaxes swapdims t permute movedim moveaxis squeeze unsqueeze
select narrow split chunk unbind diagonal as_strided broadcast_to
flip fliplr flipud roll tile repeat_interleave clone
put masked_scatter
argwhere unique unique_consecutive bincount cov corrcoef dist
unsafe_split unsafe_chunk unsafe_split_with_sizes split_with_sizes tensor_split hsplit vsplit dsplit rot90 adjoint
diagonal_scatter select_scatter as_strided_scatter diag_embed diagflat trace
prelu hardshrink threshold
""".split()
)

WITHOUT_OUT |= set(_IN_PLACE)

# The first operand of these may be a number. (PyTorch has the same list.)
NUMBER_FIRST = set(
    """
add sub subtract mul multiply div divide true_divide floor_divide remainder pow float_power xlogy
bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift
prelu hardshrink threshold
""".split()
)

# The second operand of these may.
_NUMBER_SECOND = NUMBER_FIRST | set("eq ne lt le gt ge not_equal less less_equal greater greater_equal fmod".split())

_FACTOR_FIRST = {"addmm", "addmv", "addr", "baddbmm", "addbmm"}

__all__ = _ROWS + _NAMES + _IN_PLACE


def _function(name: str) -> Callable[..., Tensor]:
    """The function of a method. One of few operands names them: to pass on `*args` takes twice as long."""
    written_after = name not in WITHOUT_OUT and not any((name, others) in _KERNELS for others in range(3))

    def of_one(input: Any, *, out: Out = None) -> Tensor:
        if not isinstance(input, Tensor) or not (out is None or written_after):
            return _otherwise(name, out, input)
        result = getattr(Tensor, name)(input)  # (autocast may have wrapped it since)
        return result if out is None else into(out, result, name)

    def of_two(input: Any, other: Any, *, out: Out = None) -> Tensor:
        if not isinstance(input, Tensor) or not (out is None or written_after):
            return _otherwise(name, out, input, other)
        result = getattr(Tensor, name)(input, other)
        return result if out is None else into(out, result, name)

    def of_two_and(input: Any, other: Any, *, out: Out = None, **kwargs: Any) -> Tensor:
        if kwargs or not isinstance(input, Tensor) or not (out is None or written_after):
            return _otherwise(name, out, input, other, **kwargs)
        result = getattr(Tensor, name)(input, other)
        return result if out is None else into(out, result, name)

    def of_three(input: Any, other: Any, third: Any, *, out: Out = None, **kwargs: Any) -> Tensor:
        if kwargs or not isinstance(input, Tensor) or not (out is None or written_after):
            return _otherwise(name, out, input, other, third, **kwargs)
        result = getattr(Tensor, name)(input, other, third)
        return result if out is None else into(out, result, name)

    def of_any(input: Any, *args: Any, out: Out = None, **kwargs: Any) -> Tensor:
        if not isinstance(input, Tensor) or not (out is None or written_after):
            return _otherwise(name, out, input, *args, **kwargs)
        result = getattr(Tensor, name)(input, *args, **kwargs)
        return result if out is None else into(out, result, name)

    method = getattr(Tensor, name)
    code = method.__code__
    made: Any = of_any
    if not code.co_flags & VARIABLE and code.co_argcount <= 3:
        more = code.co_kwonlyargcount > 0
        made = {1: of_any if more else of_one, 2: of_two_and if more else of_two, 3: of_three}[code.co_argcount]
    function: Any = functools.update_wrapper(made, method)
    function.__module__, function.__qualname__ = __name__, name  # where pickle finds it
    if made is not of_any:  # under the method's names
        names = ("input", *code.co_varnames[1 : code.co_argcount])
        function.__code__ = made.__code__.replace(co_varnames=names + made.__code__.co_varnames[len(names) :])
        function.__defaults__ = method.__defaults__
    return cast(Callable[..., Tensor], function)


def _otherwise(name: str, out: Out, input: Any, *args: Any, **kwargs: Any) -> Tensor:
    """The function of this name with an `out`, or of what is no Tensor."""
    if out is not None and name in WITHOUT_OUT:
        raise TypeError(f"{name}() got an unexpected keyword argument 'out'")
    kernel = None if out is None or kwargs or operation.mode.autocast else _KERNELS.get((name, len(args)))
    if kernel is not None:
        is_number = len(args) == 1 and type(args[0]) in (int, float) and name in _NUMBER_SECOND
        if written(out, kernel, input, *((number(args[0]),) if is_number else args)):
            return cast(Tensor, out)
    if isinstance(input, SparseTensor):
        return getattr(input, name)(*args, **kwargs)
    if name in _FACTOR_FIRST and args and isinstance(args[0], Tensor) and not isinstance(input, Tensor):
        input, args = args[0], (input, *args[1:])  # an older order, (beta, x, alpha, y, z)
    if name == "pow" and isinstance(input, (int, float)) and args and isinstance(args[0], Tensor):
        return into(out, input ** args[0], name)  # C computes powers of some numbers faster
    if not isinstance(input, Tensor):
        may_be_number = name in NUMBER_FIRST
        input = _of_number(input, name, *args, **kwargs) if may_be_number else check_tensor(input, name)
    return into(out, getattr(Tensor, name)(input, *args, **kwargs), name)


def _of_number(value: Any, name: str, *others: Any, **keywords: Any) -> Tensor:
    """A number that stands in place of the first tensor, in the dtype that the second operand gives it."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    other = next((t for t in (*others, *keywords.values()) if isinstance(t, Tensor)), None)
    if other is None or not isinstance(value, (int, float)):
        return check_tensor(value, name)
    kind = float64 if name == "float_power" else result_type(value, other)
    return tensor(value, kind, other.device)


def _row(name: str) -> str:
    """How C calls the kernel of a function, if it is one: by the name of the method, which others are aliases of."""
    found = getattr(Tensor, name).__name__
    return "elementwise_mul" if found == "mul" else found


# The kernels that write straight into `out`, by the name of a function and the number of its operands after the first.
_KERNELS = {
    (name, others): getattr(lib, f"{_row(name)}_into")
    for others, kind in enumerate(("unary", "binary", "ternary"))
    for name in __all__
    if _row(name) in operations()[kind]
}

globals().update({name: _function(name) for name in __all__})
