"""Process groups: joining the ranks that a launcher started, their numbers, their timeout, and leaving them again."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import traceback
from collections import deque
from datetime import timedelta
from typing import Any, Callable, Sequence
from zlib import crc32

from ..operation import check_kind, refuse_recording
from ..threads import held, set_num_threads
from ..types import shown
from . import mpi
from .board import TEXT, Board
from .work import DistBackendError, Timeout, Work, seconds

DEFAULT_TIMEOUT = 1800.0  # seconds, as PyTorch's for gloo and MPI
DETAIL = 256  # bytes of a description that the ranks exchange with NORCH_DISTRIBUTED_DEBUG=DETAIL


class ProcessGroup:
    """Ranks that communicate: all of them, or some, as `new_group` makes it.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.group.WORLD.size()
    1
    >>> norch.distributed.destroy_process_group()
    """

    def __init__(self, comm: Any, ranks: Sequence[int], rank: int, timeout: float, board: Board | None = None) -> None:
        self.comm, self.ranks, self.timeout, self.board = comm, list(ranks), timeout, board
        self._rank, self.who = rank, f"rank {self.ranks[rank]}"
        self.crowded = 0.0  # seconds of polling after which a waiting rank sleeps, if ranks are more than processors
        self._number, self._called = 0, ""  # of collectives so far, and the last of them
        self._texts: dict[str, bytes] = {}
        self.known: dict[Any, Any] = {}  # calls that may come again (direct.py), and the request of the next of them
        self.spare: Any = None
        self._running: deque[Work] = deque()
        self.lock = threading.Lock()
        self.checked = os.environ.get("NORCH_DISTRIBUTED_DEBUG", "").upper() == "DETAIL"

    def __deepcopy__(self, _: Any) -> ProcessGroup:
        return self  # a copy of a model is in the same group

    def rank(self) -> int:
        """This process's number in the group."""
        return self._rank

    def size(self) -> int:
        """How many ranks the group has."""
        return len(self.ranks)

    def place_of(self, rank: int, name: str) -> int:
        """The number in this group of a rank of the world. Raises ValueError for one that is not in it."""
        if rank not in self.ranks:
            raise ValueError(f"{name}: rank {rank} is not one of this group's {self.ranks}")
        return self.ranks.index(rank)

    # ---- Collectives

    def start(
        self,
        what: str,
        call: Callable[[Any], Any],
        keep: Any,
        finish: Callable[[], object] | None = None,
        waited_for: bool = True,
    ) -> Work:
        """Call a collective of MPI that returns a request. `finish` runs once its result is there.

        One that the caller does not wait for is polled by later ones.
        """
        refuse_recording("ranks communicate")  # norch.compile: a replay would not
        work = held(self.lock, self._started, what, call, keep, finish)  # the notes come in the order of the calls
        if not waited_for:
            self.follow(work)
        return work

    def _started(self, what: str, call: Callable[[Any], Any], keep: Any, finish: Callable[[], object] | None) -> Work:
        number = self.next_number(what)
        if self.board is not None:
            other = self.board.note(number, self.text(what))
            if other is not None:
                raise self.mixed_up(what, other)
        try:
            return Work(self, number, what, call(self.comm), finish, keep)
        except mpi.load().Exception as error:
            raise DistBackendError(f"{self.who}: {what} failed: {error}") from error

    def next_number(self, what: str) -> int:
        """The number of a collective that begins now, under the lock."""
        self._number += 1
        self._called = what
        if self.checked:
            self._compare_all(what)
        return self._number

    def follow(self, work: Work) -> None:
        """Poll this work from time to time."""
        self._running.append(work)
        while self._running and self._running[0].is_completed():
            self._running.popleft()

    def text(self, what: str) -> bytes:
        """A description as it stands on the board."""
        found = self._texts.get(what)
        if found is None:
            found = self._texts[what] = what.encode()[:TEXT].ljust(TEXT)
        return found

    def compare(self, number: int, what: str) -> None:
        """Raise DistBackendError if a rank is known to call something else as its collective of that number."""
        other = None if self.board is None else self.board.differing(number)
        if other is not None:
            raise self.mixed_up(what, other)

    def place(self) -> tuple[str, int]:
        """Where this rank is, as the launcher asks the ranks of several machines: its last collective's number, too."""
        return self._called, self._number

    def mixed_up(self, what: str, other: int) -> DistBackendError:
        """The error of a collective while another rank, whose check is given, called another one."""
        called = "" if self.board is None else self.board.text(other)
        return DistBackendError(f"{self.who} called {what}, but rank {other} called {called}")

    def _compare_all(self, what: str) -> None:
        """Exchange descriptions with all ranks, and raise DistBackendError that names the first that differs."""
        mine = what.encode()[:DETAIL].ljust(DETAIL)
        texts = bytearray(DETAIL * self.size())
        request = self.comm.Iallgather(mine, texts)
        Work(self, 0, f"comparing {what}", request, None, (mine, texts)).wait()
        called = [bytes(texts[i : i + DETAIL]).rstrip().decode(errors="replace") for i in range(0, len(texts), DETAIL)]
        for rank, other in zip(self.ranks, called):
            if other != called[0]:
                raise DistBackendError(
                    f"the ranks differ: rank {rank} called {other}, rank {self.ranks[0]} {called[0]}"
                )

    def too_late(self, number: int, what: str, limit: float) -> DistBackendError:
        """The exception of a wait that ended without a result; it names the ranks that are known to be missing."""
        missing = [] if self.board is None else self.board.missing(number)
        reason = "a rank has ended, is stopped, or does something else"
        if missing and self.board is not None:
            last = self.board.text(missing[0]) or "nothing"
            names = ", ".join(map(str, missing))
            reason = f"rank{'s' * (len(missing) > 1)} {names} did not call it (rank {missing[0]} called last {last})"
        return DistBackendError(f"{self.who}: {what} did not finish within {limit:g} s: {reason}")

    def drain(self) -> None:
        """Wait for everything that is under way."""
        while self._running:
            self._running.popleft().wait()


class _Groups:
    """The group of all ranks, and how it was joined."""

    world: ProcessGroup | None = None
    backend = ""
    MPI: Any = None
    others: list[ProcessGroup] = []
    hook: Any = None  # the sys.excepthook from before
    left: tuple[str, int] = ("none", 0)  # the place where this rank left the world


_groups = _Groups()


class GroupMember:
    """What `new_group` returns to a rank that is not in the new group.

    >>> norch.distributed.GroupMember.NON_GROUP_MEMBER is None
    False
    """

    NON_GROUP_MEMBER = object()


class _Group:
    """`norch.distributed.group`: `group.WORLD` is the group of all ranks, None before `init_process_group`."""

    @property
    def WORLD(self) -> ProcessGroup | None:
        return _groups.world


group = _Group()

# ---- Joining and leaving --------------------------------------------------------------------------------------------


def init_process_group(
    backend: str | int | None = None,
    init_method: str | None = None,
    timeout: timedelta | float | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Join the ranks that mpirun, srun or `python -m norch.distributed.run` started; alone, be a group of one.

    `timeout` is how long a collective waits for the other ranks, in seconds or as a timedelta (30 minutes). "mpi" is
    the only backend; "gloo" and "nccl" are taken for it. `world_size` and `rank` are checked, for MPI knows them;
    `init_process_group(rank, world_size)` is accepted too. From here on an exception that nobody catches ends all
    ranks, this process uses its share of the machine's processors, and RANK, WORLD_SIZE, LOCAL_RANK and
    LOCAL_WORLD_SIZE are set in its environment. One process alone needs no MPI.

    Raises RuntimeError if it was called before, without mpi4py or MPI, or if the launcher is not this MPI's; ValueError
    for another backend, rank or world_size.

    >>> norch.distributed.init_process_group("mpi", timeout=60)
    >>> norch.distributed.get_rank(), norch.distributed.get_world_size()
    (0, 1)
    >>> norch.distributed.destroy_process_group()
    """
    if isinstance(backend, int):  # init_process_group(rank, world_size)
        rank, world_size, backend = backend, init_method if isinstance(init_method, int) else world_size, "mpi"
    name = (backend or "mpi").lower()
    if not {kind.split(":")[-1] for kind in name.split(",")} <= {"mpi", "gloo", "nccl"}:
        raise ValueError(f"init_process_group: backend {shown(backend)}, expected 'mpi'")
    if _groups.world is not None:
        raise RuntimeError("init_process_group was called twice; destroy_process_group() comes between")
    limit = seconds(timeout, DEFAULT_TIMEOUT)
    if max(mpi.launched_size(), world_size) > 1 or "mpi4py.MPI" in sys.modules:
        world = _join(limit)
    else:
        world = ProcessGroup(None, [0], 0, limit)
        _tell_environment(0, 1, 0, 1)
    if world_size not in (-1, world.size()) or rank not in (-1, world.rank()):
        raise ValueError(
            f"init_process_group: rank {rank} of {world_size}, but MPI says rank {world.rank()} of {world.size()}; "
            f"python -m norch.distributed.run --nproc-per-node {max(world_size, 1)} script.py starts the ranks"
        )
    _groups.world, _groups.backend = world, "mpi"
    if world.size() > 1:
        _groups.hook, sys.excepthook = sys.excepthook, _end_all
    atexit.register(_leave_at_exit)


def _join(limit: float) -> ProcessGroup:
    _groups.MPI, comm, first = mpi.start(limit)
    if first:
        atexit.register(_finalize, limit)
    rank, size = comm.Get_rank(), comm.Get_size()
    world = ProcessGroup(comm, range(size), rank, limit, Board.found(rank, size))
    node = comm.Split_type(_groups.MPI.COMM_TYPE_SHARED)
    neighbours, place = node.Get_size(), node.Get_rank()
    own = mpi.processors()
    sharing = sum(not own.isdisjoint(others) for others in node.allgather(own))
    node.Free()
    if size > 1 and "NORCH_NUM_THREADS" not in os.environ:  # pools of all processors in every rank would be slower
        set_num_threads(max(1, len(own) // sharing))
    world.crowded = 1e-3 if sharing > len(own) else 0.0
    _tell_environment(rank, size, place, neighbours)
    return world


def _tell_environment(rank: int, size: int, local_rank: int, local_size: int) -> None:
    os.environ.update(
        RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(local_rank), LOCAL_WORLD_SIZE=str(local_size)
    )


def _end_all(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """What an exception that nobody catches does: the other ranks would wait for this one."""
    _groups.hook(kind, error, trace)
    report_failure(error)
    abort(1)


def place_of_this_rank() -> tuple[str, int]:
    """Which collective this rank called last, and how many it has called."""
    return _groups.left if _groups.world is None else _groups.world.place()


def report_failure(error: BaseException) -> None:
    """Write the exception as a line that names the rank."""
    world = _groups.world
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    sys.stdout.flush()
    sys.stderr.write(f"[rank {world.ranks[world.rank()] if world else '?'}] {text}\n")
    sys.stderr.flush()


def abort(status: int) -> None:
    """End all ranks at once."""
    world = _groups.world
    if world is not None and world.size() > 1:
        world.comm.Abort(status)


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Leave the group: wait for its other ranks, and end MPI if `init_process_group` began it.

    Runs by itself at the end of a script. Raises DistBackendError if the others do not come within the timeout.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.destroy_process_group()
    >>> norch.distributed.is_initialized()
    False
    """
    world = _groups.world
    if group is not None and group is not world:
        if group in _groups.others:
            group.drain()
            _groups.others.remove(group)
            group.comm.Free()
        return
    if world is None:
        return
    if world.comm is not None:
        world.drain()
        world.start("destroy_process_group()", lambda comm: comm.Ibarrier(), None).wait()
        world.comm.Free()
    _groups.world, _groups.others, _groups.left = None, [], world.place()
    if sys.excepthook is _end_all:
        sys.excepthook = _groups.hook
    atexit.unregister(_leave_at_exit)


def _leave_at_exit() -> None:
    """A script that ends without leaving does so here; if the others do not come, all end."""
    try:
        destroy_process_group()
    except DistBackendError as error:
        report_failure(error)
        abort(1)
        os._exit(1)


def _finalize(limit: float) -> None:
    """MPI can be initialized only once in a process, so it ends with it: between, another group can be made."""
    if _groups.world is None and not _groups.MPI.Is_finalized():
        with mpi.deadline(limit):
            _groups.MPI.Finalize()


# ---- Questions ------------------------------------------------------------------------------------------------------


def of(group: ProcessGroup | None) -> ProcessGroup | None:
    """The group, by default of all ranks; None for a rank that is not in it. Raises ValueError before there is one."""
    if group is GroupMember.NON_GROUP_MEMBER:
        return None
    if group is not None:
        return check_kind(group, ProcessGroup, "group")
    if _groups.world is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _groups.world


def is_initialized() -> bool:
    """Whether `init_process_group` was called.

    >>> norch.distributed.is_initialized()
    False
    """
    return _groups.world is not None


def get_rank(group: ProcessGroup | None = None) -> int:
    """This process's number, from 0, in the group; -1 if it is not in it. Raises ValueError before there is a group.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.get_rank()
    0
    >>> norch.distributed.destroy_process_group()
    """
    found = of(group)
    return -1 if found is None else found.rank()


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """This process's number among those of its machine: LOCAL_RANK, or what to return if no launcher said it.

    Raises RuntimeError without both.

    >>> norch.distributed.get_node_local_rank(fallback_rank=0)
    0
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("get_node_local_rank: LOCAL_RANK is not in the environment, and no fallback_rank was given")
    return int(fallback_rank)


def get_world_size(group: ProcessGroup | None = None) -> int:
    """How many ranks the group has; -1 if this process is not in it. Raises ValueError before there is a group.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.get_world_size()
    1
    >>> norch.distributed.destroy_process_group()
    """
    found = of(group)
    return -1 if found is None else found.size()


def get_backend(group: ProcessGroup | None = None) -> str:
    """The name of what carries the messages: "mpi". Raises ValueError before there is a group.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.get_backend()
    'mpi'
    >>> norch.distributed.destroy_process_group()
    """
    of(group)
    return _groups.backend


def get_process_group_ranks(group: ProcessGroup | None = None) -> list[int]:
    """The ranks of the world that are in the group, in its order.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.get_process_group_ranks()
    [0]
    >>> norch.distributed.destroy_process_group()
    """
    found = of(group)
    return [] if found is None else list(found.ranks)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank in the world of a group's rank.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.get_global_rank(norch.distributed.group.WORLD, 0)
    0
    >>> norch.distributed.destroy_process_group()
    """
    return group.ranks[group_rank]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in a group of a rank of the world. Raises ValueError if it is not in it.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.get_group_rank(norch.distributed.group.WORLD, 0)
    0
    >>> norch.distributed.destroy_process_group()
    """
    return group.place_of(global_rank, "get_group_rank")


def new_group(ranks: Sequence[int] | None = None, timeout: Timeout = None, backend: str | None = None, **_: Any) -> Any:
    """A group of some ranks (default: all). All ranks call it, those outside too, which get NON_GROUP_MEMBER.

    Its timeout is by default that of the group of all. Raises ValueError for ranks that do not exist or are repeated.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.new_group([0]).size()
    1
    >>> norch.distributed.destroy_process_group()
    """
    world = of(None)
    assert world is not None
    chosen = list(range(world.size())) if ranks is None else sorted(ranks)
    if len(set(chosen)) < len(chosen) or not set(chosen) <= set(world.ranks):
        raise ValueError(f"new_group: expected different ranks from 0 to {world.size() - 1}, got {ranks}")
    limit = seconds(timeout, world.timeout)
    inside = world.rank() in chosen
    comm = None
    if world.comm is not None:
        what = f"new_group({chosen if len(chosen) < 20 else crc32(repr(chosen).encode())})"
        world.start(what, lambda comm: comm.Ibarrier(), None).wait()
        with mpi.deadline(limit):
            comm = world.comm.Split(0 if inside else _groups.MPI.UNDEFINED, world.rank())
    if not inside:
        return GroupMember.NON_GROUP_MEMBER
    made = ProcessGroup(comm, chosen, chosen.index(world.rank()), limit)
    made.crowded = world.crowded
    _groups.others.append(made)
    return made
