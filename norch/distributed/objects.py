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
    content = _bytes(object_list) if ranks.ranks[ranks.rank()] == src else empty(0, dtype=uint8, device="cpu")
    length = tensor([content.numel()], dtype=int64, device="cpu")
    broadcast(length, src, group)
    if not content.numel():
        content = empty(length.item(), dtype=uint8, device="cpu")
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
    lengths = [tensor([0], dtype=int64, device="cpu") for _ in object_list]
    all_gather(lengths, tensor([content.numel()], dtype=int64, device="cpu"), group)
    longest = max(length.item() for length in lengths)
    padded = empty(longest, dtype=uint8, device="cpu")
    padded[: content.numel()] = content
    parts = [empty(longest, dtype=uint8, device="cpu") for _ in object_list]
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
        _send(obj, dst, group)
        return
    places = _places(object_gather_list, ranks.size(), f"gather_object: rank {dst}")
    for place, rank in enumerate(ranks.ranks):
        places[place] = obj if rank == mine else _received(rank, group)[0]


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int = 0,
    group: Group = None,
) -> None:
    """Put the object that rank `src` has for this rank into the first place of the list; the others give no input.

    Raises ValueError for an output list without a place, or an input list of another length.

    >>> norch.distributed.init_process_group()
    >>> mine = [None]
    >>> norch.distributed.scatter_object_list(mine, ["a part"], src=0)
    >>> mine
    ['a part']
    >>> norch.distributed.destroy_process_group()
    """
    ranks = of(group)
    if ranks is None:
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("scatter_object_list: expected an output list with a place for this rank's object")
    mine = ranks.ranks[ranks.rank()]
    if mine != src:
        scatter_object_output_list[0] = _received(src, group)[0]
        return
    for rank, obj in zip(
        ranks.ranks, _places(scatter_object_input_list, ranks.size(), f"scatter_object_list: rank {src}")
    ):
        if rank == mine:
            scatter_object_output_list[0] = obj
        else:
            _send(obj, rank, group)


def send_object_list(object_list: list[Any], dst: int, group: Group = None, device: Any = None) -> None:
    """Send the list's objects to rank `dst`, which calls `recv_object_list`: anything that pickle takes.

    Raises as `send`.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.send_object_list([{"lr": 0.1}], dst=0)
    Traceback (most recent call last):
    ValueError: send: rank 0 is this rank
    >>> norch.distributed.destroy_process_group()
    """
    _send(list(object_list), dst, group)


def recv_object_list(object_list: list[Any], src: int | None = None, group: Group = None, device: Any = None) -> int:
    """Replace the list's objects by those that rank `src` (or any) sends; return the sender's rank.

    Outside of the group the list stays, and -1 is returned. Raises as `recv`.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.recv_object_list([None], src=0)
    Traceback (most recent call last):
    ValueError: recv: rank 0 is this rank
    >>> norch.distributed.destroy_process_group()
    """
    if of(group) is None:
        return -1
    object_list[:], rank = _received(src, group)
    return rank


def _places(objects: Any, count: int, who: str) -> list[Any]:
    if not isinstance(objects, list) or len(objects) != count:
        raise ValueError(f"{who} gives a list of length {count}")
    return objects


def _send(obj: object, dst: int, group: Group) -> None:
    content = _bytes(obj)
    send(tensor([content.numel()], dtype=int64, device="cpu"), dst, group, OBJECTS)
    send(content, dst, group, OBJECTS)


def _received(src: int | None, group: Group) -> tuple[Any, int]:
    """The object that a rank sent, and which."""
    length = tensor([0], dtype=int64, device="cpu")
    rank = recv(length, src, group, OBJECTS)
    content = empty(length.item(), dtype=uint8, device="cpu")
    recv(content, rank, group, OBJECTS)
    return _object(content), rank


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
