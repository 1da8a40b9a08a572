"""Python objects between ranks: pickled, for settings, lists of files, results."""

from __future__ import annotations

import ctypes
import pickle
from typing import Any

from ..functions.creation import empty, tensor
from ..methods.interop import frombuffer
from ..tensor import Tensor
from ..types import int64, uint8
from .collectives import all_gather, broadcast
from .exchange import recv, send
from .group import of
from .places import Group

OBJECTS = 32767  # the tag of their messages: MPI has tags up to this one at least


def _bytes(value: object) -> Tensor:
    return frombuffer(bytearray(pickle.dumps(value)), dtype=uint8)


def _object(content: Tensor) -> Any:
    return pickle.loads(ctypes.string_at(content.data_ptr(), content.numel()))


def broadcast_object_list(object_list: list[Any], src: int = 0, group: Group = None, device: Any = None) -> None:
    """Replace the list's objects, in each rank, by those of rank `src`: anything that pickle takes.

    As with pickle, only ranks that are trusted may take part. Raises as `broadcast`.

    >>> norch.distributed.init_process_group()
    >>> settings = [{"lr": 0.1}]
    >>> norch.distributed.broadcast_object_list(settings, src=0)
    >>> norch.distributed.destroy_process_group()
    """
    ranks = of(group)
    if ranks is None or ranks.size() == 1:
        return
    content = _bytes(object_list) if ranks.ranks[ranks.rank()] == src else empty(0, dtype=uint8)
    length = tensor([content.numel()], dtype=int64)
    broadcast(length, src, group)
    if not content.numel():
        content = empty(length.item(), dtype=uint8)
    broadcast(content, src, group)
    object_list[:] = _object(content)


def all_gather_object(object_list: list[Any], obj: Any, group: Group = None) -> None:
    """Fill the list, one place for each rank, with the objects of all ranks: anything that pickle takes.

    Raises ValueError for a list of another length.

    >>> norch.distributed.init_process_group()
    >>> every = [None]
    >>> norch.distributed.all_gather_object(every, {"loss": 0.5})
    >>> every
    [{'loss': 0.5}]
    >>> norch.distributed.destroy_process_group()
    """
    ranks = of(group)
    if ranks is None:
        return
    if len(object_list) != ranks.size():
        raise ValueError(f"all_gather_object: expected a list of length {ranks.size()}, got {len(object_list)}")
    content = _bytes(obj)
    lengths = [tensor([0], dtype=int64) for _ in object_list]
    all_gather(lengths, tensor([content.numel()], dtype=int64), group)
    longest = max(length.item() for length in lengths)
    padded = empty(longest, dtype=uint8)
    padded[: content.numel()] = content
    parts = [empty(longest, dtype=uint8) for _ in object_list]
    all_gather(parts, padded, group)
    object_list[:] = [_object(part[: length.item()]) for part, length in zip(parts, lengths)]


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: Group = None) -> None:
    """Fill the list of rank `dst`, one place for each rank, with the objects of all ranks. The others give no list.

    Raises ValueError for a list of another length.

    >>> norch.distributed.init_process_group()
    >>> every = [None]
    >>> norch.distributed.gather_object("a result", every, dst=0)
    >>> every
    ['a result']
    >>> norch.distributed.destroy_process_group()
    """
    ranks = of(group)
    if ranks is None:
        return
    mine = ranks.ranks[ranks.rank()]
    if mine != dst:
        content = _bytes(obj)
        send(tensor([content.numel()], dtype=int64), dst, group, OBJECTS)
        send(content, dst, group, OBJECTS)
        return
    if object_gather_list is None or len(object_gather_list) != ranks.size():
        raise ValueError(f"gather_object: rank {dst} gives a list of length {ranks.size()}")
    for place, rank in enumerate(ranks.ranks):
        if rank == mine:
            object_gather_list[place] = obj
            continue
        length = tensor([0], dtype=int64)
        recv(length, rank, group, OBJECTS)
        content = empty(length.item(), dtype=uint8)
        recv(content, rank, group, OBJECTS)
        object_gather_list[place] = _object(content)


def first_error(error: BaseException | None, group: Group = None) -> None:
    """Raise, in every rank, the error of the first rank that has one: what one rank did alone failed for all."""
    ranks = of(group)
    if ranks is None or ranks.size() == 1:
        if error is not None:
            raise error
        return
    errors: list[str | None] = [None] * ranks.size()
    all_gather_object(errors, None if error is None else f"{type(error).__name__}: {error}", group)
    for rank, text in zip(ranks.ranks, errors):
        if text is not None:
            raise RuntimeError(f"rank {rank}: {text}") from error
