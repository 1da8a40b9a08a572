"""Worker processes of a DataLoader: each makes whole batches of given samples, one after another.

Workers are processes, not threads: a dataset is Python code, which runs in only one thread at a time. They are forked,
so the dataset needs no pickling (which norch's tensors refuse) and shares its memory with the parent. transport.py
sends the batches back. A worker ends when its socket closes: with the iterator, or when the parent is killed.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import random
import select
import signal
import socket
import sys
import time
import traceback
import warnings
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from ..._utils import KeyErrorMessage
from ...functions.generator import manual_seed
from ...threads import set_num_threads
from . import transport

Fetch = Callable[[Any], object]  # from a task, such as a list of indices, to a batch

PARENT_CHECK = 5.0  # a waiting worker checks this often, in seconds, that its parent is alive
GRACE, PATIENCE = 0.2, 5.0  # seconds that a worker has to end by itself, and when told to


class WorkerInfo(NamedTuple):
    """What `get_worker_info` returns in a worker."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker, its id, num_workers, this epoch's seed and its copy of the dataset; elsewhere None.

    >>> norch.utils.data.get_worker_info() is None  # this is not a worker
    True
    """
    return _info


class Failure(NamedTuple):
    """A worker's reply if the dataset raised an exception: its class, if that can be sent, and its text."""

    kind: type[Exception] | None
    text: str

    @classmethod
    def of(cls, error: Exception, number: int) -> Failure:
        """The exception raised in the worker, with the whole traceback."""
        kind: type[Exception] | None = type(error)
        text = f"{type(error).__name__} caught in DataLoader worker {number}.\nOriginal {traceback.format_exc()}"
        try:
            pickle.dumps(kind)
        except Exception:
            kind = None
        return cls(kind, text)

    def exception(self) -> Exception:
        """An exception of the same class, or a RuntimeError if the class needs more than a text."""
        if self.kind is not None and not issubclass(self.kind, StopIteration):  # which would end the loop silently
            try:
                return self.kind(KeyErrorMessage(self.text))
            except Exception:
                pass
        return RuntimeError(self.text)


class End:
    """A worker's reply if its IterableDataset has no more samples."""


# ---- In the worker ---------------------------------------------------------------------------------------------------


class Job(NamedTuple):
    """What all workers of a loader share; `make_fetch` is called once an epoch."""

    dataset: object
    make_fetch: Callable[[], Fetch]
    init: Callable[[int], None] | None
    workers: int
    parent: int


class Epoch(NamedTuple):
    """The task that starts an epoch: iterate from the beginning, with this seed."""

    seed: int


def _run(job: Job, number: int, channel: socket.socket) -> None:
    """The worker's main function: prepare, then answer each task until the parent closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the parent decides
    signal.signal(signal.SIGTERM, _leave)
    for other in list(_parents_ends):  # otherwise they would outlive the parent
        other.close()
    gc.freeze()  # the parent's garbage is the parent's to collect
    set_num_threads(1)
    try:
        _answer(job, number, channel)
    except (EOFError, BrokenPipeError):
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _leave(*_: object) -> None:
    raise SystemExit(0)  # so that the dataset's open files are closed


def _answer(job: Job, number: int, channel: socket.socket) -> None:
    fetch: Fetch | None = None
    failed: Failure | None = None  # while preparing: the answer to every task
    while True:
        while not select.select([channel], [], [], PARENT_CHECK)[0]:
            if os.getppid() != job.parent:
                return
        task = transport.receive(channel)
        if isinstance(task, Epoch):
            try:
                fetch, failed = _prepare(job, number, task.seed, first=fetch is None), None
            except Exception as error:
                failed = Failure.of(error, number)
            continue
        try:
            reply = failed or fetch(task)  # type: ignore[misc]  # an Epoch comes first
        except Exception as error:
            reply = Failure.of(error, number)
        try:
            transport.send(channel, reply)
        except OSError:
            raise
        except Exception as error:  # the batch cannot be sent
            transport.send(channel, Failure.of(error, number))


def _prepare(job: Job, number: int, seed: int, first: bool) -> Fetch:
    global _info
    seed = (seed + number) % 2**63
    _seed_all(seed)
    _info = WorkerInfo(number, job.workers, seed, job.dataset)
    if first and job.init is not None:
        job.init(number)
    return job.make_fetch()


def _seed_all(seed: int) -> None:
    """Seed norch's generator, Python's, and NumPy's if it was imported."""
    manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(random.Random(seed).getrandbits(32))


# ---- In the parent ---------------------------------------------------------------------------------------------------

_parents_ends: weakref.WeakSet[socket.socket] = weakref.WeakSet()


class Worker:
    """A worker process, seen from its parent."""

    def __init__(self, job: Job, number: int):
        if "fork" not in multiprocessing.get_all_start_methods():
            raise RuntimeError("DataLoader: workers are forked, which this system cannot do; use num_workers=0")
        self.number, self.finished = number, False
        self.channel, theirs = socket.socketpair()
        _parents_ends.add(self.channel)
        process = multiprocessing.get_context("fork").Process
        self.process = process(target=_run, args=(job, number, theirs), daemon=True, name=f"norch-worker-{number}")
        try:
            with warnings.catch_warnings():  # Python warns of threads; norch's are idle in a fork
                warnings.simplefilter("ignore", DeprecationWarning)
                self.process.start()
        except BaseException:
            self.channel.close()
            raise
        finally:
            theirs.close()
        self._poll = select.poll()
        self._poll.register(self.channel, select.POLLIN)
        self._poll.register(self.process.sentinel, select.POLLIN)

    def send(self, task: object) -> None:
        """Give the worker a task; it answers tasks in order."""
        try:
            transport.send(self.channel, task)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it died: `receive` raises

    def receive(self, timeout: float = 0) -> object:
        """Its next reply. Raises RuntimeError if it died, or did not reply within `timeout` seconds (0: no limit)."""
        ready = dict(self._poll.poll(timeout * 1000 if timeout else None))
        if not ready:
            raise RuntimeError(f"DataLoader: worker {self.number} did not reply within {timeout} seconds")
        try:
            if self.channel.fileno() in ready:
                return transport.receive(self.channel)
        except EOFError:
            pass
        self.process.join(PATIENCE)
        raise RuntimeError(self._cause_of_death())

    def _cause_of_death(self) -> str:
        code = self.process.exitcode
        if code is not None and code < 0:
            try:
                how = f"was killed by {signal.Signals(-code).name}"
            except ValueError:
                how = f"was killed by signal {-code}"
        else:
            how = f"ended with exit status {code}"
        return f"DataLoader: worker {self.number} (process {self.process.pid}) {how} before it had replied"


def stop(workers: list[Worker]) -> None:
    """End all workers: close their sockets, then terminate those still at work, then kill."""
    for worker in workers:
        worker.channel.close()
    _wait(workers, GRACE)
    for worker in workers:
        worker.process.terminate()
    _wait(workers, PATIENCE)
    for worker in workers:
        worker.process.kill()
    _wait(workers, PATIENCE)


def _wait(workers: list[Worker], seconds: float) -> None:
    """Wait until workers end, and remove those that have ended."""
    deadline = time.monotonic() + seconds
    for worker in list(workers):
        worker.process.join(max(0.0, deadline - time.monotonic()))
        if worker.process.exitcode is not None:
            worker.process.close()
            workers.remove(worker)
