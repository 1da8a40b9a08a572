"""`out=`: the tensor into which a function writes its result, by one mechanism for all functions.

A function that has `out` ends with `return into(out, result, name)`; those made of methods (of_methods.py) have it all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence, TypeVar, Union

from .. import operation
from .._C import Number, lib
from ..autograd.in_place import after_write
from ..autograd.mode import no_grad
from ..given import warn
from ..operation import check_tensor, mode
from ..types import shown
from .promotion import can_cast

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

Out = Union["Tensor", Sequence["Tensor"], None]
Result = TypeVar("Result")

# These write into the dtype of their result alone, as in PyTorch; others into any that can hold it.
_OWN_DTYPE = set(
    """
amax amin aminmax arange argmax argmin bucketize cummax cummin empty eye full gather histc histogram index_add
index_copy index_reduce index_select isin kthvalue linspace logcumsumexp logspace masked_select mode msort multinomial
nanquantile nonzero ones quantile rand randint randn randperm range renorm scatter scatter_add scatter_reduce
searchsorted sort take take_along_dim topk zeros
""".split()
)


def into(out: Out, result: Result, name: str) -> Result:
    """The result of the function `name`, written into `out` unless that is None; several results into a tuple.

    A tensor of another shape is resized, with a warning unless it was empty; its dtype stays. Raises RuntimeError if
    the dtype cannot hold the result, for another device, if elements share memory, and if a gradient would be lost.
    """
    if out is None:
        return result
    x: Any = out
    y: Any = result
    if type(x) is type(y) is operation.Tensor and x._edge is x._base is x._views is y._edge is None:  # most often
        if lib.write_result(x._ptr, y._ptr) == 0:
            return x
    if written(out, lib.write_result, result):
        return out  # type: ignore[return-value]
    parts = result if isinstance(result, tuple) else (result,)
    targets = tuple(out) if isinstance(out, (tuple, list)) else (out,)
    if len(targets) != len(parts) or isinstance(out, (tuple, list)) != isinstance(result, tuple):
        wanted = f"a tuple of {len(parts)} tensors" if isinstance(result, tuple) else "a Tensor"
        raise TypeError(f"{name}: expected {wanted} as out, got {shown(out)}")
    for target, part in zip(targets, parts):
        _write(check_tensor(target, f"{name}: out"), part, name)
    if not isinstance(result, tuple):
        return targets[0]
    return type(result)(*targets) if hasattr(result, "_fields") else type(result)(targets)


def written(out: Any, kernel: Callable[..., int], *operands: Any) -> bool:
    """Let a kernel write into `out` what it makes of tensors. False if it cannot, or if there is a graph to follow."""
    places = []
    for x in (out, *operands):
        if not isinstance(x, (operation.Tensor, Number)) or (x._edge is not None and mode.enabled):
            return False
        places.append(x._ptr)
    base = out._base
    if (base is not None and base._edge is not None) or kernel(*places):
        return False
    if base is not None or out._views is not None:
        after_write(out, 0)
    return True


def _write(target: Tensor, result: Tensor, name: str) -> None:
    if mode.enabled and (result.requires_grad or target.requires_grad):
        raise RuntimeError(
            f"{name}: functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad"
        )
    if name in _OWN_DTYPE and result.dtype is not target.dtype:
        raise RuntimeError(f"{name}: expected out of the dtype {result.dtype}, got {target.dtype}")
    if any(stride == 0 and size > 1 for stride, size in zip(target.stride(), target.shape)):
        raise RuntimeError(f"{name}: several elements of out share one place in memory; clone() it first")
    if not can_cast(result.dtype, target.dtype):
        raise RuntimeError(f"{name}: result type {result.dtype} can't be cast to {target.dtype}, the dtype of out")
    if result.device != target.device:
        raise RuntimeError(f"{name}: expected out on {result.device}, got {target.device}")
    if target.shape != result.shape:
        if target.numel:
            warn(
                f"{name}: out has shape {list(target.shape)} and was resized to {list(result.shape)}; this will "
                "become an error: give an empty tensor or one of the right shape",
            )
        target.data = target.detach().resize_(result.shape)  # over the same memory, if it is large enough
    with no_grad():
        target.copy_(result)
