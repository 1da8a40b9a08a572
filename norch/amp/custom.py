"""Decorators for the `forward` and `backward` of custom operations under autocast."""

from __future__ import annotations

import functools
from typing import Any, Callable

from .. import operation
from ..operation import mode
from ..types import DType, check_dtype, float64
from .mode import autocast


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: DType | None = None
) -> Callable[..., Any]:
    """For `forward` of an autograd.Function: with `cast_inputs` it runs outside autocast, its operands in that dtype.

    >>> class Cube(norch.autograd.Function):
    ...     @staticmethod
    ...     @norch.amp.custom_fwd(device_type="cpu", cast_inputs=norch.float32)
    ...     def forward(ctx, x):
    ...         return x * x * x
    >>> Cube.apply(norch.ones(2, dtype=norch.bfloat16)).dtype
    norch.bfloat16
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._autocast = mode.autocast.get(device_type)
        if cast_inputs is None or ctx._autocast is None:
            return fwd(ctx, *args, **kwargs)
        kind, ctx._autocast = check_dtype(cast_inputs), None
        with autocast(device_type, enabled=False):
            return fwd(ctx, *[_cast(x, kind) for x in args], **{name: _cast(x, kind) for name, x in kwargs.items()})

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """For `backward` of an autograd.Function: it runs under the autocast that `forward` ran under.

    >>> backward = norch.amp.custom_bwd(lambda ctx, gradient: gradient, device_type="cpu")
    """
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        kind = getattr(ctx, "_autocast", None)
        with autocast(device_type, dtype=kind, enabled=kind is not None):
            return bwd(ctx, *args, **kwargs)

    return decorated


def _cast(value: Any, kind: Any) -> Any:
    is_float = isinstance(value, operation.Tensor) and value.is_floating_point() and value.dtype is not float64
    return value.to(kind) if is_float else value
