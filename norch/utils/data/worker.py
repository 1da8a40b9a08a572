"""Worker processes of a DataLoader: each makes whole batches, of the samples that it is told to, one after the other.

Workers are processes, not threads: a dataset is Python code, of which only one thread runs at a time. They are forked,
so that the dataset needs no pickling (which norch's tensors refuse) and shares its memory with the parent. How batches
come back is in transport.py. A worker ends when its socket closes: with the iterator, and with a parent that is killed.
"""

from __future__ import annotations

import gc
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

from . import transport

LOOK_AROUND = 5.0  # seconds after which a worker that waits looks whether its parent is still there
GRACE, PATIENCE = 0.2, 5.0  # seconds in which a worker may end by itself, and in which it must when told to


class WorkerInfo(NamedTuple):
    """What `get_worker_info` returns in a worker."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker, its id, num_workers, this epoch's seed and its copy of the dataset; elsewhere None.

    >>> norch.utils.data.get_worker_info() is None  # this is no worker
    True
    """
    return _info


class Failure(NamedTuple):
    """A worker's reply where the dataset raised an exception: its class, if that can be sent, and what it says."""

    kind: Any
    text: str

    @classmethod
    def of(cls, error: Exception, number: int) -> Failure:
        """What is raised in the worker, with the whole traceback."""
        kind: Any = type(error)
        text = f"{kind.__name__} caught in DataLoader worker {number}.\nOriginal {traceback.format_exc()}"
        try:
            pickle.dumps(kind)
        except Exception:
            kind = None
        return cls(kind, text)

    def exception(self) -> Exception:
        """An exception of the same class, or a RuntimeError where it cannot be made of a text alone."""
        try:
            made = RuntimeError(self.text) if self.kind is None else self.kind(_Text(self.text))
        except Exception:
            made = RuntimeError(self.text)
        return RuntimeError(self.text) if isinstance(made, StopIteration) else made  # that would end the loop silently


class _Text(str):
    """A message that a KeyError prints as it is, in lines."""

    def __repr__(self) -> str:
        return str(self)


class End:
    """A worker's reply where its IterableDataset has no more samples."""


# ---- In the worker ---------------------------------------------------------------------------------------------------


class Job(NamedTuple):
    """What all workers of a loader need to know. `make_fetch()` returns the function from a task to a batch."""

    dataset: Any
    make_fetch: Callable[[], Callable[[Any], Any]]
    init: Callable[[int], None] | None
    workers: int
    parent: int


class Epoch(NamedTuple):
    """The task that starts an epoch: begin to iterate anew, with this seed."""

    seed: int


def _run(job: Job, number: int, channel: socket.socket) -> None:
    """A worker's life: prepare, then answer each task until the parent closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group: the parent decides
    signal.signal(signal.SIGTERM, _leave)
    for other in list(_parents_ends):  # or they would stay open after the parent's end
        other.close()
    gc.freeze()  # what the parent's garbage is, the parent collects
    from norch.threads import set_num_threads

    set_num_threads(1)
    try:
        _answer(job, number, channel)
    except (EOFError, BrokenPipeError):
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _leave(*_: Any) -> None:
    raise SystemExit(0)  # so that what the dataset has open is closed


def _answer(job: Job, number: int, channel: socket.socket) -> None:
    fetch: Any = None
    failed: Failure | None = None  # in preparing: every task is answered so
    while True:
        while not select.select([channel], [], [], LOOK_AROUND)[0]:
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
            reply = failed or fetch(task)
        except Exception as error:
            reply = Failure.of(error, number)
        try:
            transport.send(channel, reply)
        except OSError:
            raise
        except Exception as error:  # the batch cannot be sent
            transport.send(channel, Failure.of(error, number))


def _prepare(job: Job, number: int, seed: int, first: bool) -> Callable[[Any], Any]:
    global _info
    seed = (seed + number) % 2**63
    _seed_all(seed)
    _info = WorkerInfo(number, job.workers, seed, job.dataset)
    if first and job.init is not None:
        job.init(number)
    return job.make_fetch()


def _seed_all(seed: int) -> None:
    """norch's generator, Python's, and NumPy's where somebody imported it."""
    from norch.functions.generator import manual_seed

    manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(random.Random(seed).getrandbits(32))


# ---- In the parent ---------------------------------------------------------------------------------------------------

_parents_ends: weakref.WeakSet[socket.socket] = weakref.WeakSet()


class Worker:
    """A worker process, seen from its parent."""

    def __init__(self, job: Job, number: int):
        import multiprocessing

        if "fork" not in multiprocessing.get_all_start_methods():
            raise RuntimeError("DataLoader: workers are forked, which this system cannot do; use num_workers=0")
        self.number, self.finished = number, False
        self.channel, theirs = socket.socketpair()
        _parents_ends.add(self.channel)
        process = multiprocessing.get_context("fork").Process
        self.process = process(target=_run, args=(job, number, theirs), daemon=True, name=f"norch-worker-{number}")
        try:
            with warnings.catch_warnings():  # Python warns of threads; norch's own stand still in a fork
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

    def send(self, task: Any) -> None:
        """Give the worker a task, which it answers after those before."""
        try:
            transport.send(self.channel, task)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it died: `receive` tells

    def receive(self, timeout: float = 0) -> Any:
        """Its next reply. Raises RuntimeError where it died, or did not reply in `timeout` seconds (0: any time)."""
        ready = dict(self._poll.poll(timeout * 1000 if timeout else None))
        if not ready:
            raise RuntimeError(f"DataLoader: worker {self.number} did not reply within {timeout} seconds")
        try:
            if self.channel.fileno() in ready:
                return transport.receive(self.channel)
        except EOFError:
            pass
        self.process.join(PATIENCE)
        raise RuntimeError(self._obituary())

    def _obituary(self) -> str:
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
    """End all workers: close their sockets, then tell those at work to leave, then kill."""
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
    """Wait for the workers' end, and forget those that have ended."""
    deadline = time.monotonic() + seconds
    for worker in list(workers):
        worker.process.join(max(0.0, deadline - time.monotonic()))
        if worker.process.exitcode is not None:
            worker.process.close()
            workers.remove(worker)
