"""Which operations `autocast` runs in a dtype of 16 bits, which in float32, and the one place that converts operands.

nn/functional wraps the functions named here; the methods are wrapped when the first autocast begins, so that programs
without one do not pay for it. Without an autocast a wrapper passes on what it was given. Whatever an operation calls
itself runs in the dtypes that it was given.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar
from weakref import ref

from . import operation
from ._C import lib
from .guards import Guard
from .operation import mode
from .threads import holding, shared_lock
from .types import HALVES, bfloat16, dtype, float16, float32, float64, promoted

F = TypeVar("F", bound=Callable[..., Any])

DEFAULTS = {"cpu": bfloat16, "cuda": float16}

# The lists of PyTorch's documentation, under norch's names. LOWER: in the dtype of the autocast. FLOAT32: halves become
# float32. WIDEST: float32 if an operand is (as `cat` and `stack` do without an autocast). GIVEN: in the dtypes of the
# operands, as is whatever is not named, although composed of operations that are.
LOWER, FLOAT32, WIDEST, GIVEN = "lower", "float32", "widest", "given"
_EVERYWHERE = {
    LOWER: """
        matmul __matmul__ __rmatmul__ mm bmm addmm addbmm baddbmm chain_matmul multi_dot prelu
        linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d scaled_dot_product_attention
        multi_head_attention_forward
        """,
    FLOAT32: """
        prod cdist binary_cross_entropy_with_logits mse_loss l1_loss smooth_l1_loss nll_loss cross_entropy kl_div
        poisson_nll_loss cosine_embedding_loss hinge_embedding_loss margin_ranking_loss soft_margin_loss
        triplet_margin_loss multi_margin_loss multilabel_margin_loss linear_cross_entropy
        """,
}
_ON_CPU = {
    LOWER: "vecdot",
    FLOAT32: """
        trace quantile nanquantile stft binary_cross_entropy huber_loss ctc_loss avg_pool3d max_pool3d max_unpool1d
        max_unpool2d max_unpool3d adaptive_avg_pool3d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d
        grid_sample pad_by_edges cholesky cholesky_ex cholesky_inverse cholesky_solve inverse inv inv_ex pinverse
        solve lu_solve triangular_solve lstsq tensorinv tensorsolve qr geqrf orgqr ormqr householder_product svd
        svdvals eigh eigvalsh cond matrix_rank
        """,
    WIDEST: "index_copy",
    GIVEN: "mv addmv addr dot vdot bilinear convolution matrix_exp",
}
_ON_CUDA = {
    LOWER: "mv addmv addr",
    FLOAT32: """
        acos asin cosh erfinv exp expm1 log log10 log1p log2 reciprocal rsqrt sinh tan pow __pow__ __rpow__ __rtruediv__
        sum cumsum cumprod norm dist renorm softmax log_softmax softmin softplus layer_norm group_norm cosine_similarity
        normalize pdist
        """,
    WIDEST: "addcdiv addcmul atan2 bilinear cross dot vdot grid_sample index_put scatter_add tensordot",
}
RULES = {
    device: {name: rule for table in (_EVERYWHERE, own) for rule, names in table.items() for name in names.split()}
    for device, own in (("cpu", _ON_CPU), ("cuda", _ON_CUDA))
}
NAMES = RULES["cpu"].keys() | RULES["cuda"].keys()


classes: list[type] = []  # whose methods take part (tensor.py puts Tensor here)
_beginning = shared_lock()


def begin() -> None:
    """Wrap the methods, before the first autocast."""
    while classes:
        _wrap_methods()


@holding(_beginning)
def _wrap_methods() -> None:
    for kind in classes[-1:]:  # none, if another thread was here
        for name in NAMES:
            method = getattr(kind, name, None)
            if method is not None and not getattr(method, "casts", False):  # one may be, after an interrupt
                setattr(kind, name, under_autocast(method, name))
        classes.pop()


VARIABLE = 0x04 | 0x08  # a code has *args or **kwargs: inspect.CO_VARARGS and CO_VARKEYWORDS, without its slow import


def under_autocast(function: F, name: str, home: str = "") -> F:
    """The operation of this name, with operands in the dtype that an autocast gives it. Pickle finds it in `home`."""

    def cast(*args: Any, **options: Any) -> Any:
        before, given = mode.autocast, [*args, *options.values()]
        device = "cuda" if any(x.is_cuda for x in _tensors(given)) else "cpu"
        if name not in RULES[device]:
            return function(*args, **options)
        kind = _wanted(RULES[device][name], before.get(device), given)
        with Guard((mode, {"autocast": {}})):
            if kind is not None:
                args = tuple(_in_dtype(value, kind, device) for value in args)
                options = {key: _in_dtype(value, kind, device) for key, value in options.items()}
            return function(*args, **options)

    def chosen(*args: Any, **options: Any) -> Any:
        return cast(*args, **options) if mode.autocast else function(*args, **options)

    def unary(self: Any) -> Any:  # the same for methods without arguments, and for operators: less overhead
        return cast(self) if mode.autocast else function(self)

    def operator(self: Any, other: Any) -> Any:
        return cast(self, other) if mode.autocast else function(self, other)

    code = getattr(function, "__code__", None)
    arity = code.co_argcount if code and not code.co_flags & VARIABLE and not code.co_kwonlyargcount else 0
    made = unary if arity == 1 else operator if arity == 2 and name.startswith("__") else chosen
    wrapped: Any = functools.wraps(function)(made)
    wrapped.casts = True
    if home:
        wrapped.__module__, wrapped.__qualname__ = home, name
    return wrapped


def lowered(*values: Any) -> Any:
    """Tensors (and lists of them) in the dtype of the autocast, for layers that are not made of one operation."""
    if not mode.autocast:
        return values
    device = "cuda" if any(x.is_cuda for x in _tensors(values)) else "cpu"
    kind = mode.autocast.get(device)
    return values if kind is None else [_in_dtype(value, kind, device) for value in values]


def widened(*values: Any) -> Any:
    """Tensors of the CPU in the widest of their dtypes, as where PyTorch composes a layer of operations."""
    if not mode.autocast or any(x.is_cuda for x in _tensors(values)):
        return values
    kind = functools.reduce(promoted, (x.dtype for x in _tensors(values)))
    return [_in_dtype(value, kind, "cpu") for value in values]


def _wanted(rule: str, lower: dtype | None, given: list[Any]) -> dtype | None:
    """The dtype of the floating operands; None leaves them as they are."""
    if rule == GIVEN or lower is None:
        return None
    if rule == LOWER:
        return lower
    kinds = {x.dtype for x in _tensors(given)}
    if rule == WIDEST and not (float32 in kinds or set(HALVES) <= kinds):
        return None
    return float32


def _tensors(values: Any) -> list[Any]:
    found = []
    for value in values:
        if isinstance(value, operation.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _tensors(value)
    return found


def _in_dtype(value: Any, kind: dtype, device: str) -> Any:
    """A floating tensor of the device in a dtype (float64 stays), also inside a list or tuple."""
    if isinstance(value, (list, tuple)) and _tensors(value):
        return type(value)(_in_dtype(part, kind, device) for part in value)
    if not isinstance(value, operation.Tensor) or value.dtype in (kind, float64) or not value.is_floating_point():
        return value
    return value if value.is_cuda != (device == "cuda") else _cached(value, kind)


def _cached(x: Any, kind: dtype) -> Any:
    """The tensor in a dtype. Of a parameter the copy is kept until the outermost autocast ends."""
    is_leaf = x._edge is not None and x._edge.is_leaf
    if mode.autocast_cache is None or not (mode.enabled and is_leaf and x.dtype is float32):
        return x.to(kind)
    key = (id(x), kind)
    found = mode.autocast_cache.get(key)
    if found is not None:
        owner, version, copy = found
        if owner() is x and version == lib.version_of(x._ptr) and not copy.grad_fn.freed:
            return copy
    copy = x.to(kind)
    mode.autocast_cache[key] = (ref(x), lib.version_of(x._ptr), copy)
    return copy
