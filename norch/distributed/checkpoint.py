"""Checkpoints of a run on several ranks: rank 0 writes one file, all ranks read it, also another number of them."""

from __future__ import annotations

import random
from typing import Any

from ..functions.generator import default_generator, get_rng_state, set_rng_state
from ..functions.serialization import File
from ..utils import resume
from .collectives import barrier
from .group import get_rank, get_world_size
from .objects import all_gather_object, first_error

__all__ = ["load_checkpoint", "save_checkpoint"]

RANKS = "random_states_of_ranks"
STEP = 0x9E3779B97F4A7C15  # between the seeds of ranks: 2^64 / golden ratio


def seed_of(seed: int, rank: int) -> int:
    """The seed of a rank's own random numbers, from one that all ranks have."""
    return (seed + rank * STEP) % 2**64


def save_checkpoint(f: File, **state: object) -> None:
    """`norch.utils.save_checkpoint`, called by all ranks: rank 0 writes, and all return when the file is complete.

        save_checkpoint("run.norch", model=model, optimizer=optimizer, epoch=epoch)

    The random numbers of each rank are saved, and the whole state of a ZeroRedundancyOptimizer. If rank 0 cannot write
    (a full disk), every rank raises RuntimeError, which says why; the file from before stays. A model under
    DistributedDataParallel is saved without the wrapper's names: one process can read it.

    >>> from norch.distributed.checkpoint import load_checkpoint, save_checkpoint
    >>> norch.distributed.init_process_group()
    >>> save_checkpoint("run.norch", model=nn.Linear(2, 1), epoch=3)
    >>> load_checkpoint("run.norch", model=nn.Linear(2, 1))["epoch"]
    3
    >>> norch.distributed.destroy_process_group()
    """
    for value in state.values():
        if hasattr(value, "consolidate_state_dict"):
            value.consolidate_state_dict(0)
    states: list[Any] = [None] * get_world_size()
    all_gather_object(states, (get_rng_state(), random.getstate()))
    error: BaseException | None = None
    if get_rank() == 0:
        try:
            resume.save_checkpoint(f, **state, **{RANKS: [list(pair) for pair in states]})
        except Exception as failed:
            error = failed
    first_error(error)


def load_checkpoint(f: File, *, restore_random: bool = True, **targets: object) -> dict[str, Any]:
    """`norch.utils.load_checkpoint`, called by all ranks, of a file that `save_checkpoint` wrote, or one process.

    With the same number of ranks each continues with its own random numbers, so that the run goes on bit for bit. With
    another number, ranks get numbers of their own from rank 0's. If a rank cannot read it, every rank raises
    RuntimeError with the first reason.
    """
    error: BaseException | None = None
    rest: dict[str, Any] = {}
    try:
        rest = resume.load_checkpoint(f, map_location=None, restore_random=restore_random, **targets)
        states = rest.pop(RANKS, None)
        if restore_random:
            _restore(states)
    except Exception as failed:
        error = failed
    first_error(error)
    barrier()
    return rest


def _restore(states: list[Any] | None) -> None:
    rank = get_rank()
    if states is not None and len(states) == get_world_size():
        set_rng_state(states[rank][0])
        random.setstate(states[rank][1])
    elif rank:
        state = get_rng_state().tolist()
        seed = seed_of(int.from_bytes(bytes(state[:8]), "little"), rank)
        default_generator.manual_seed(seed)
        random.seed(seed)
