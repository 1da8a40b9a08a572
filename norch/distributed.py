"""Training on several machines: norch does not have it. `is_available()` says so, everything else raises an error."""

from __future__ import annotations

from typing import Any, NoReturn


def is_available() -> bool:
    """Whether norch can train on several machines: no.

    >>> norch.distributed.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """Whether several processes train together: never.

    >>> norch.distributed.is_initialized()
    False
    """
    return False


is_nccl_available = is_gloo_available = is_mpi_available = is_torchelastic_launched = is_initialized


class ReduceOp:
    """The ways of combining tensors of several processes, as names.

    >>> norch.distributed.ReduceOp.SUM
    'SUM'
    """

    SUM, PRODUCT, MIN, MAX, AVG, BAND, BOR, BXOR = "SUM", "PRODUCT", "MIN", "MAX", "AVG", "BAND", "BOR", "BXOR"


def _refused(*_: Any, **__: Any) -> NoReturn:
    """Raise RuntimeError: norch trains in one process.

    >>> norch.distributed.all_reduce(norch.ones(2))
    Traceback (most recent call last):
    RuntimeError: norch trains in one process (norch.distributed.is_available() is False); run the script without ...
    """
    raise RuntimeError(
        "norch trains in one process (norch.distributed.is_available() is False); run the script without its "
        "distributed option"
    )


init_process_group = destroy_process_group = get_rank = get_world_size = barrier = new_group = _refused
all_reduce = all_gather = all_gather_object = broadcast = broadcast_object_list = reduce = scatter = gather = _refused
send = recv = isend = irecv = reduce_scatter = all_to_all = get_backend = monitored_barrier = _refused
