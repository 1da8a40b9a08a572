"""Training by several processes, on one machine or many, over MPI: PyTorch's names, through the package mpi4py.

    python -m norch.distributed.run --nproc-per-node 4 script.py     # or: mpirun -n 4 python script.py

Nothing here loads MPI before `init_process_group`, and a process alone never does.
"""

from __future__ import annotations

import os as _os

from ..missing import missing as _missing
from .collectives import *
from .collectives import __all__ as _collectives
from .exchange import *
from .exchange import __all__ as _exchange
from .group import (
    GroupMember,
    ProcessGroup,
    destroy_process_group,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_initialized,
    new_group,
)
from .mpi import is_available
from .objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from .work import DistBackendError, DistError, Work

__all__ = [
    "DistBackendError", "DistError", "GroupMember", "ProcessGroup", "Work", "all_gather_object",
    "broadcast_object_list", "destroy_process_group", "gather_object", "get_backend", "get_global_rank",
    "get_group_rank", "get_node_local_rank", "get_process_group_ranks", "get_rank", "get_world_size", "group",
    "init_process_group", "is_available", "is_gloo_available", "is_initialized", "is_mpi_available",
    "is_nccl_available", "is_torchelastic_launched", "new_group", "recv_object_list", "scatter_object_list",
    "send_object_list", *_collectives, *_exchange,
]  # fmt: skip


is_mpi_available = is_available


def is_nccl_available() -> bool:
    """Whether messages can go through NCCL: no, MPI carries them.

    >>> norch.distributed.is_nccl_available(), norch.distributed.is_gloo_available()
    (False, False)
    """
    return False


is_gloo_available = is_nccl_available


def is_torchelastic_launched() -> bool:
    """Whether `python -m norch.distributed.run` started this process.

    >>> norch.distributed.is_torchelastic_launched()
    False
    """
    return "NORCH_WATCH" in _os.environ


__getattr__ = _missing("distributed")
