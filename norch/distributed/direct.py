"""Collectives that come again, in one call of C: a small message would wait longer for Python than for other ranks.

A training loop repeats its calls. What checks, descriptions and handles cost is paid once: what they give follows from
the bytes of the tensors' C structs up to the dtype (address, strides, shape, device), and each group keeps it under
these. So it is for calls in which MPI reads and writes the tensors' own memory; all others go through mpi4py.
"""

from __future__ import annotations

import ctypes
import struct
from ctypes import c_void_p, string_at
from functools import partial
from typing import Any

from .._C import CTensor, lib
from ..operation import refuse_recording
from ..tensor import Tensor
from ..threads import held
from .group import ProcessGroup, _groups
from .work import DistBackendError, Work

_SEEN = CTensor.is_number.offset
_MOST_KNOWN = 1024
_MOST_WORDS = 8  # of an MPI function, with the request
_POLLS = 100  # in C; then Work goes on polling, with a deadline
_DONE, _UNDER_WAY = 0, 1  # what C gives; 2 if ranks differ, -error if MPI fails

Key = Any
Known = Any  # a description, the same on the board, and a call as C takes it


def known_of(group: ProcessGroup | None, name: str, detail: Any, x: Tensor, y: Any = None) -> tuple[Known, Key]:
    """What was prepared for such a call, or None, and the key to keep it under."""
    try:
        key = name, detail, string_at(x._ptr, _SEEN), y if y is None else string_at(y._ptr, _SEEN)
        return None if group is None else group.known.get(key), key
    except (AttributeError, TypeError):  # the checks will say what is wrong
        return None, None


def remember(group: ProcessGroup, key: Key, what: str, function: str, *arguments: Any) -> None:
    """Keep a call of MPI's function of that name; arguments are integers, tensors (addresses) and mpi4py's objects."""
    MPI = _groups.MPI
    if not hasattr(MPI, "_handleof") or any(isinstance(x, int) and x >= 2**31 for x in arguments):
        return  # mpi4py before 4; counts that MPI_Iallreduce_c takes
    words = [_word_of(x) for x in (*arguments, group.comm)]
    start, test = (_address_of(name) for name in (function, "MPI_Test"))
    text = group.text(what)
    board = (0, 1, 1, 0, 0) if group.board is None else group.board.for_c(text)
    call = struct.pack("=11Q5q", start, *words, *[0] * (_MOST_WORDS - len(words)), len(words), test, *board)
    if group.spare is None:
        group.spare = MPI.Request()
    if len(group.known) >= _MOST_KNOWN:
        group.known.clear()
    group.known[key] = what, text, call


def _word_of(x: Any) -> int:
    if isinstance(x, Tensor):
        return x.data_ptr()
    return int(x) % 2**64 if hasattr(x, "__int__") else _groups.MPI._handleof(x)


def _address_of(function: str) -> int:
    """Where the MPI library of mpi4py has a function."""
    return ctypes.cast(getattr(ctypes.CDLL(_groups.MPI.__file__), function), c_void_p).value or 0


def _started(group: ProcessGroup, known: Known, polls: int, pointer: int | None) -> tuple[int, int, Any]:
    """The number of the call as a collective, what MPI says of it, and its request."""
    what, text, call = known
    number, request = group.next_number(what), group.spare
    if group.board is not None:
        group.board.describe(text)
    code = lib.run_collective(call, number, polls, _groups.MPI._addressof(request), pointer)
    if code != _DONE:
        group.spare = _groups.MPI.Request()
    return number, code, request


def run_again(group: ProcessGroup, async_op: bool, known: Known, keep: Any, written: Tensor | None) -> Work | None:
    """Run a call that was prepared before; `written` is what MPI writes, if it does."""
    what = known[0]
    refuse_recording("ranks communicate")
    pointer = None if written is None else written._ptr
    number, code, request = held(group.lock, _started, group, known, 0 if async_op else _POLLS, pointer)
    if code == _DONE:
        return None
    if code != _UNDER_WAY:
        group.compare(number, what)
        raise DistBackendError(f"{group.who}: {what} failed: {_groups.MPI.Get_error_string(-code)}")
    work = Work(group, number, what, request, None if written is None else partial(lib.mark_as_written, pointer), keep)
    if async_op:
        group.follow(work)
        return work
    work.wait()
    return None
