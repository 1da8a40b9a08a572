"""Tensors as MPI takes them: its memory, its types, its operations; and the one way to start a collective.

MPI gets addresses, and nothing is copied but what it cannot take: tensors that are not contiguous, those of a device
(unless the MPI reads its memory: NORCH_CUDA_AWARE_MPI=1), and 16-bit floats, which are summed as float32 and rounded
once.
"""

from __future__ import annotations

import os
from typing import Any, Callable, Iterable, Sequence

from .._C import lib
from ..functions.creation import empty
from ..operation import check_tensor
from ..tensor import Tensor
from ..types import bfloat16, bool_, float16, float32, float64, int8, int16, int32, int64, shown, uint8
from .group import ProcessGroup, _groups
from .work import Work

Group = Any  # a ProcessGroup, None for all ranks, or GroupMember.NON_GROUP_MEMBER


class ReduceOp:
    """The ways of combining the tensors of the ranks. Names ("sum") serve too.

    AVG is the sum divided by the number of ranks, of floating dtypes. BAND, BOR and BXOR combine the bits of integers.

    >>> norch.distributed.ReduceOp.SUM
    'SUM'
    """

    SUM, PRODUCT, MIN, MAX, AVG, BAND, BOR, BXOR = "SUM", "PRODUCT", "MIN", "MAX", "AVG", "BAND", "BOR", "BXOR"


_NAMES = {
    bool_: "UINT8_T", uint8: "UINT8_T", int8: "INT8_T", int16: "INT16_T", int32: "INT32_T", int64: "INT64_T",
    float16: "UINT16_T", bfloat16: "UINT16_T", float32: "FLOAT", float64: "DOUBLE",
}  # fmt: skip
_OPS = {"SUM": "SUM", "PRODUCT": "PROD", "MIN": "MIN", "MAX": "MAX", "AVG": "SUM"}
_BITS = {"BAND": "BAND", "BOR": "BOR", "BXOR": "BXOR"}
_OF_NUMBERS = {**_OPS, **_BITS}
_OF_BOOL = {"SUM": "MAX", "PRODUCT": "MIN", "MIN": "MIN", "MAX": "MAX", **_BITS}  # bytes that are 0 or 1


def _aware() -> bool:
    return os.environ.get("NORCH_CUDA_AWARE_MPI") == "1"


def _direct(x: Tensor) -> bool:
    """Whether MPI can use the memory as it is."""
    return x.is_contiguous() and (x.device == "cpu" or _aware())


def placed(x: Tensor, wide: Any = None, filled: bool = True) -> Tensor:
    """The tensor, or contiguous memory of the host for it: with its elements, as `wide` if given, if `filled`."""
    if wide is None and _direct(x):
        return x.detach()
    dtype = wide or x.dtype
    made = empty(x.shape, dtype=dtype, device="cpu")
    return made.copy_(x.detach().to(made.device)) if filled else made


def memory_of(x: Tensor, count: int | None = None) -> list[Any]:
    """What mpi4py takes: memory, the number of elements (for each rank, if they are divided), and their type."""
    buffer = _groups.MPI.buffer.fromaddress(x.data_ptr() if x.numel() else 0, x.numel() * x.element_size())
    return [buffer, x.numel() if count is None else count, mpi_type(x)]


def mpi_type(x: Tensor) -> Any:
    return getattr(_groups.MPI, _NAMES[x.dtype])


def own(x: Tensor, place: Tensor) -> bool:
    """Whether MPI uses the tensor's own memory."""
    return x.data_ptr() == place.data_ptr() and x.dtype is place.dtype


def written_back(into: Tensor, place: Tensor, scale: float | None = None) -> Callable[[], object] | None:
    """What remains to do when MPI has written to `place`."""

    def finish() -> None:
        if scale is not None:
            place.mul_(scale)
        if not own(into, place):
            into.detach().copy_(place.to(into.device))
        else:
            lib.mark_as_written(into._ptr)  # a backward that saved the old values must notice

    return finish


def checked(x: Any, name: str, writes: bool = True) -> Tensor:
    check_tensor(x, name)
    if writes and any(size > 1 and stride == 0 for size, stride in zip(x.shape, x.stride())):
        raise RuntimeError(f"{name}: several elements of the tensor share one place in memory; clone() it first")
    if x.dtype not in _NAMES:
        raise RuntimeError(f"{name}: {x.dtype} cannot be sent")
    return x


def operation_of(op: Any, x: Tensor, name: str) -> tuple[str, Any]:
    """The name of MPI's operation, and the dtype to compute in, None for the tensor's own."""
    word = op.upper() if isinstance(op, str) else op
    if word not in vars(ReduceOp):
        raise ValueError(f"{name}: op is {shown(op)}, expected one of ReduceOp's")
    floating = x.dtype.is_floating_point
    if (word == "AVG" and not floating) or (word in _BITS and floating):
        raise RuntimeError(f"{name}: ReduceOp.{word} does not apply to {x.dtype}")
    table = _OF_BOOL if x.dtype is bool_ else _OF_NUMBERS
    return table[word], float32 if x.dtype in (float16, bfloat16) else None


def mean_of(op: Any, group: ProcessGroup) -> float | None:
    """What the sum is multiplied by for AVG."""
    return 1 / group.size() if isinstance(op, str) and op.upper() == "AVG" else None


def description(name: str, x: Tensor, detail: str = "") -> str:
    """What `compare` compares: operation, shape and dtype."""
    return f"{name}({detail}) of {str(x.dtype).split('.')[-1]} {list(x.shape)}"


class _Done(Work):
    """The work of a group of one: nothing is left to do."""

    def __init__(self) -> None:
        self._request = self._finish = None


def run(
    group: ProcessGroup, async_op: bool, what: str, call: Callable[[Any], Any], keep: Any, finish: Any
) -> Work | None:
    """Start MPI's collective, and wait for it or return its Work."""
    work = group.start(what, call, keep, finish, not async_op)
    if async_op:
        return work
    work.wait()
    return None


def copy_each(into: Iterable[Tensor], sources: Iterable[Tensor]) -> None:
    """Copy each tensor to its place, which may have another shape and lie on another device."""
    for place, x in zip(into, sources):
        if place is not x:
            place.detach().copy_(x.detach().reshape(place.shape).to(place.device))


def alone(async_op: bool, into: Sequence[Tensor] = (), sources: Sequence[Tensor] = ()) -> Work | None:
    """The collective of a group of one: copies at most."""
    copy_each(into, sources)
    return _Done() if async_op else None
