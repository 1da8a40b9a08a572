"""DataLoader: batches of a dataset, made in this process or by workers ahead of time."""

from __future__ import annotations

import atexit
import functools
import os
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice, repeat
from typing import Any

import norch

from .collate import default_collate, default_convert
from .dataset import IterableDataset, whole_batch
from .sampler import BatchSampler, RandomSampler, SequentialSampler
from .worker import End, Epoch, Failure, Job, Worker, stop

MAX_PREFETCH = 64  # batches in flight for each worker; a process may only have so many files


class DataLoader:
    """Iterates over a dataset in batches: `for inputs, labels in DataLoader(dataset, batch_size=32, shuffle=True)`.

    Which samples: `shuffle` draws a new order each epoch, from `generator` or from norch's (`norch.manual_seed`);
    `sampler` gives indices, `batch_sampler` lists of them, instead. The last batch may be smaller; `drop_last` leaves
    it out. `len(loader)` counts batches. With `batch_size=None` samples come one by one.

    How they become a batch: `collate_fn(list of samples)`, by default `default_collate`. A dataset that defines
    `__getitems__(indices)` is asked for the samples of a whole batch at once.

    `num_workers` processes make batches ahead, `prefetch_factor` (2) each; their order stays. An exception in a dataset
    is raised here with the worker's traceback, and the next batch can still be had. Workers end with the iterator, also
    when it is abandoned, unless `persistent_workers` keeps them for the next epoch. Each seeds norch's, Python's and
    NumPy's generators anew in each epoch with a number drawn from `generator` plus its own, then, once, calls
    `worker_init_fn(id)`. `timeout` limits the seconds to wait for a batch (0: no limit). A worker cannot use CUDA: move
    batches to a device here. (`pin_memory` is accepted; norch has no pinned memory.)

    >>> from norch.utils.data import DataLoader, TensorDataset
    >>> dataset = TensorDataset(norch.arange(5), norch.arange(5) * 10)
    >>> for inputs, labels in DataLoader(dataset, batch_size=2):
    ...     print(inputs, labels)
    tensor([0, 1]) tensor([ 0, 10])
    tensor([2, 3]) tensor([20, 30])
    tensor([4]) tensor([40])
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
    ):
        self.dataset, self.generator, self.timeout = dataset, generator, timeout
        self.num_workers, self.prefetch_factor = num_workers, prefetch_factor or 2
        self.worker_init_fn, self.persistent_workers, self.pin_memory = worker_init_fn, persistent_workers, pin_memory
        _check_workers(num_workers, prefetch_factor, timeout, persistent_workers, multiprocessing_context)
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError("DataLoader: an IterableDataset decides its order itself: no shuffle, no sampler")
        if sampler is not None and shuffle:
            raise ValueError("DataLoader: a sampler decides the order: expected shuffle or sampler, got both")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last")
            batch_size = drop_last = None  # type: ignore[assignment]
        elif batch_size is None and drop_last:
            raise ValueError("DataLoader: without batches (batch_size=None) there is no last one to drop")
        if sampler is None and not self._iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and not self._iterable:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        elif batch_size is not None:
            BatchSampler((), batch_size, drop_last)  # for its checks
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler = (
            batch_size,
            drop_last,
            sampler,
            batch_sampler,
        )
        self._batched = batch_size is not None or batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if self._batched else default_convert)
        self._kept: Any = None  # the iterator whose workers persist

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers == 0:
            return _Iterator(self)
        if self._kept is not None and self._kept.restart(self):
            return self._kept
        iterator = _WorkerIterator(self)
        if self.persistent_workers:
            self._kept = iterator
        return iterator

    def __len__(self) -> int:
        """The number of batches, the last, smaller one included unless it is dropped."""
        if not self._iterable:
            return len(self.batch_sampler if self._batched else self.sampler)
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    # ---- What an iterator needs

    def _tasks(self) -> Iterator[Any]:
        """What to fetch, batch by batch: indices; of a stream, just the next."""
        if self._iterable:
            return repeat(None)
        return iter(self.batch_sampler if self._batched else self.sampler)

    def _seed(self) -> int:
        """A number for the workers' seeds. Drawn without workers too, so that the order of samples is the same."""
        return norch.randint(0, 2**63 - 1, (1,), generator=self.generator).item()

    def _make_fetch(self) -> Callable[[Any], Any]:
        """The function from a task to a batch (or to End), for one epoch."""
        if self._iterable:
            return functools.partial(
                _next_of_stream, iter(self.dataset), self.batch_size, self.drop_last, self.collate_fn
            )
        if not self._batched:
            return lambda index: self.collate_fn(self.dataset[index])
        if hasattr(self.dataset, "__getitems__"):
            return lambda indices: self.collate_fn(self.dataset.__getitems__(indices))
        faster = whole_batch(self.dataset) if self.collate_fn is default_collate else None
        return faster or (lambda indices: self.collate_fn([self.dataset[index] for index in indices]))


def _next_of_stream(samples: Iterator[Any], size: int | None, drop_last: bool, collate: Callable, _: None) -> Any:
    batch = list(islice(samples, size or 1))
    if not batch or (drop_last and size and len(batch) < size):
        return End()
    return collate(batch if size else batch[0])


def _check_workers(workers: Any, prefetch: Any, timeout: float, persistent: bool, context: Any) -> None:
    if not isinstance(workers, int) or isinstance(workers, bool):
        raise TypeError(f"DataLoader: num_workers is {workers!r}, expected an int")
    if workers < 0:
        raise ValueError(f"DataLoader: num_workers is {workers}, expected at least 0")
    if workers == 0 and (prefetch is not None or persistent):
        raise ValueError("DataLoader: prefetch_factor and persistent_workers need num_workers > 0")
    if prefetch is not None and not 1 <= prefetch <= MAX_PREFETCH:
        raise ValueError(f"DataLoader: prefetch_factor is {prefetch}, expected 1 to {MAX_PREFETCH}")
    if timeout < 0:
        raise ValueError(f"DataLoader: timeout is {timeout}, expected at least 0")
    method = getattr(context, "get_start_method", lambda: context)()
    if method not in (None, "fork"):
        raise ValueError(f"DataLoader: multiprocessing_context is {method!r}, expected None or 'fork'")


# ---- Iterators -------------------------------------------------------------------------------------------------------


class _Iterator:
    """Makes each batch when it is asked for."""

    def __init__(self, loader: DataLoader):
        loader._seed()
        self._fetch, self._tasks, self._loader = loader._make_fetch(), loader._tasks(), loader

    def __iter__(self) -> _Iterator:
        return self

    def __next__(self) -> Any:
        task = next(self._tasks)
        try:
            batch = self._fetch(task)
        except StopIteration as error:  # would end the loop as if there were no more
            raise RuntimeError("the dataset raised StopIteration") from error
        if isinstance(batch, End):
            self._tasks = iter(())
            raise StopIteration
        return batch

    def __len__(self) -> int:
        return len(self._loader)


_living: weakref.WeakSet[_WorkerIterator] = weakref.WeakSet()


@functools.cache
def _stop_all_at_exit() -> None:
    """Once, and after multiprocessing has said the same: what is registered last runs first."""
    import multiprocessing.util  # noqa: F401

    @atexit.register
    def stop_all() -> None:
        for iterator in list(_living):
            iterator.close()


class _WorkerIterator:
    """Hands out tasks to workers in turn, and takes the batches back in the same order."""

    def __init__(self, loader: DataLoader):
        self._owner, self._timeout, self._persistent = os.getpid(), loader.timeout, loader.persistent_workers
        self._ahead, self._workers = loader.prefetch_factor, list[Worker]()
        self._waiting: deque[Any] = deque()  # who owes the next batches, in order; or what the sampler raised
        _stop_all_at_exit()
        job = Job(loader.dataset, loader._make_fetch, loader.worker_init_fn, loader.num_workers, self._owner)
        try:
            for number in range(loader.num_workers):
                self._workers.append(Worker(job, number))
        except BaseException:
            self.close()
            raise
        _living.add(self)
        self._begin(loader)

    def restart(self, loader: DataLoader) -> bool:
        """Begin another epoch with the same workers; False where they are gone, because one had died."""
        while self._waiting:
            self._receive()  # what an abandoned epoch left behind
        if not self._workers:
            return False
        self._begin(loader)
        return True

    def _begin(self, loader: DataLoader) -> None:
        self._loader = weakref.ref(loader)
        seed = loader._seed()
        self._tasks = loader._tasks()
        for worker in self._workers:
            worker.finished = False
            worker.send(Epoch(seed))
        for _ in range(self._ahead):
            for worker in self._workers:
                self._assign(worker)

    def _assign(self, worker: Worker) -> None:
        """Give the worker the next task, if there is one."""
        if worker.finished:
            return
        try:
            task = next(self._tasks)
        except StopIteration:
            return
        except Exception as error:  # of the sampler: to be raised after the batches before it
            self._waiting.append(error)
            return
        worker.send(task)
        self._waiting.append(worker)

    def __iter__(self) -> _WorkerIterator:
        return self

    def __next__(self) -> Any:
        while self._waiting:
            worker, reply = self._receive()
            if isinstance(reply, End):
                worker.finished = True
                continue
            if worker is not None:
                self._assign(worker)
            if isinstance(reply, Exception):
                raise reply
            return reply
        if not self._persistent:
            self.close()
        raise StopIteration

    def _receive(self) -> tuple[Any, Any]:
        """The worker whose turn it is and its reply, or an exception; no worker for what the sampler raised."""
        worker = self._waiting[0]
        if isinstance(worker, Exception):
            return None, self._waiting.popleft()
        try:
            reply = worker.receive(self._timeout)
        except RuntimeError:
            self.close()
            raise
        self._waiting.popleft()  # only now: after an interrupt it is still this worker's turn
        return worker, reply.exception() if isinstance(reply, Failure) else reply

    def close(self) -> None:
        """End the workers."""
        if os.getpid() == self._owner:  # a forked child has copies of what is not its own
            self._waiting.clear()
            self._tasks = iter(())
            stop(self._workers)

    def __len__(self) -> int:
        loader = self._loader()
        if loader is None:
            raise TypeError("the loader of this iterator is gone")
        return len(loader)

    __del__ = close
