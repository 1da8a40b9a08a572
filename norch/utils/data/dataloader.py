"""DataLoader: batches of a dataset, made in this process or ahead of time by workers."""

from __future__ import annotations

import _thread
import atexit
import functools
import multiprocessing.util  # noqa: F401  (see _stop_all)
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, repeat
from multiprocessing.context import BaseContext
from typing import TYPE_CHECKING, Any

from ...arguments import flags
from ...functions.generator import Generator
from ...functions.random import randint
from ...given import given, length_of, settings, warn
from ...types import shown
from .collate import default_collate, default_convert
from .dataset import Dataset, IterableDataset, whole_batch
from .sampler import BatchSampler, RandomSampler, SequentialSampler
from .worker import End, Epoch, Failure, Fetch, Job, Worker, stop

if TYPE_CHECKING:
    from typing_extensions import Self

Collate = Callable[[Any], object]  # from a list of samples to a batch, or from a sample
_collate_fn_t, _worker_init_fn_t = Collate, Callable[[int], None]  # (for annotations of loaders derived from this one)

_FIXED = {"dataset", "batch_size", "sampler", "batch_sampler", "drop_last", "persistent_workers"}  # they work together
MAX_PREFETCH = 64  # batches in flight for each worker; each is an open file


class _DatasetKind:
    """The numbers of `loader._dataset_kind`."""

    Map, Iterable = 0, 1


class DataLoader:
    """Iterates over a dataset in batches: `for inputs, labels in DataLoader(dataset, batch_size=32, shuffle=True)`.

    The samples: `shuffle` draws a new order each epoch, from `generator` or from norch's (`norch.manual_seed`);
    instead, `sampler` gives indices, or `batch_sampler` lists of them. The last batch may be smaller; `drop_last`
    leaves it out. `len(loader)` counts batches. With `batch_size=None` samples come one by one.

    The batch: `collate_fn(list of samples)`, by default `default_collate`. If the dataset defines
    `__getitems__(indices)`, that gives the samples of a whole batch.

    `num_workers` processes make batches ahead of time, `prefetch_factor` (2) each, in the same order. An exception in
    the dataset is raised here with the worker's traceback; iteration can then continue. Workers end with the iterator,
    even if it is abandoned, unless `persistent_workers` keeps them for the next epoch. In each epoch a worker seeds
    norch's, Python's and NumPy's generators with a number drawn from `generator` plus its id; at first it also calls
    `worker_init_fn(id)`. `timeout` is how many seconds to wait for a batch (0: no limit). Workers cannot use CUDA: move
    batches to a device here. (`pin_memory` is accepted; norch has no pinned memory. Batches always
    come in order.)

    >>> from norch.utils.data import DataLoader, TensorDataset
    >>> dataset = TensorDataset(norch.arange(5), norch.arange(5) * 10)
    >>> for inputs, labels in DataLoader(dataset, batch_size=2):
    ...     print(inputs, labels)
    tensor([0, 1]) tensor([ 0, 10])
    tensor([2, 3]) tensor([20, 30])
    tensor([4]) tensor([40])
    """

    @flags
    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[object] | None = None,
        batch_sampler: Iterable[object] | None = None,
        num_workers: int = 0,
        collate_fn: Collate | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: str | BaseContext | None = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ):
        self.dataset, self.generator, self.timeout = dataset, generator, timeout
        self.num_workers = num_workers
        self.prefetch_factor = 2 if prefetch_factor is None and num_workers else prefetch_factor
        self.multiprocessing_context, self.pin_memory_device = multiprocessing_context, pin_memory_device
        self.in_order = in_order
        self.worker_init_fn, self.persistent_workers, self.pin_memory = worker_init_fn, persistent_workers, pin_memory
        _check_workers(num_workers, prefetch_factor, timeout, persistent_workers, multiprocessing_context)
        self._iterable = isinstance(dataset, IterableDataset)
        self._batched = batch_size is not None or batch_sampler is not None
        self._check_order(batch_size, shuffle, sampler, batch_sampler, drop_last)
        batch_size = None if batch_sampler is not None else batch_size
        if sampler is None and not self._iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None:  # BatchSampler checks its arguments, those of a stream too
            batches = BatchSampler(() if sampler is None else sampler, batch_size, drop_last)
            batch_sampler = None if self._iterable else batches
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.collate_fn: Collate = collate_fn or (default_collate if self._batched else default_convert)
        self._iterator: Any = None  # the one whose workers persist
        self.__initialized = True

    __initialized = False  # loaders that go round and round set it while they wrap the sampler, as in PyTorch

    def __setattr__(self, name: str, value: object) -> None:
        if name in _FIXED and self.__initialized:
            raise ValueError(f"DataLoader: {name} is decided when it is made, expected a new DataLoader")
        super().__setattr__(name, value)

    def _check_order(
        self,
        batch_size: int | None,
        shuffle: bool | None,
        sampler: Iterable[object] | None,
        batch_sampler: Iterable[object] | None,
        drop_last: bool,
    ) -> None:
        """Raise ValueError for settings that contradict each other, TypeError for a dataset without a length."""
        if self._iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError("DataLoader: an IterableDataset decides its order itself: no shuffle, no sampler")
        if sampler is not None and shuffle:
            raise ValueError("DataLoader: a sampler decides the order: expected shuffle or sampler, got both")
        if not self._batched and drop_last:
            raise ValueError("DataLoader: batch_size=None excludes drop_last: there is no last batch")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last")
        if not self._iterable and sampler is None and batch_sampler is None and not hasattr(self.dataset, "__len__"):
            raise TypeError(f"DataLoader: {given(self.dataset)} has no len(), expected a Dataset or an IterableDataset")

    def __class_getitem__(cls, item: object) -> type[DataLoader]:
        return cls  # DataLoader[Tensor], for annotations

    def __iter__(self) -> Iterator[Any]:
        if self._iterator is not None and self._iterator._reset(self) is not False:
            return self._iterator
        iterator = self._get_iterator()
        if self.persistent_workers:
            self._iterator = iterator
        return iterator

    def _get_iterator(self) -> Any:
        """A new iterator, which loaders derived from this class wrap."""
        return _MultiProcessingDataLoaderIter(self) if self.num_workers else _SingleProcessDataLoaderIter(self)

    def __repr__(self) -> str:
        shuffle = isinstance(self.sampler, RandomSampler)
        dataset = repr(self.dataset) if isinstance(self.dataset, Dataset) else type(self.dataset).__name__
        plain = settings(batch_size=self.batch_size, shuffle=shuffle, batches=length_of(self))
        return f"{type(self).__name__}({dataset}, {plain})"

    def __len__(self) -> int:
        """The number of batches, including a last, smaller one unless it is dropped."""
        if not self._iterable:
            return len(self._order())
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    @property
    def _dataset_kind(self) -> int:
        return _DatasetKind.Iterable if self._iterable else _DatasetKind.Map

    # ---- For iterators

    def _order(self) -> Any:
        """The sampler that says what to fetch."""
        return self.batch_sampler if self._batched else self.sampler

    def _tasks(self) -> Iterator[object]:
        """What to fetch for each batch: indices; of a stream, the next samples (None)."""
        return repeat(None) if self._iterable else iter(self._order())

    def _seed(self) -> int:
        """A number for the workers' seeds, drawn without workers too, so that the order of samples is the same."""
        return randint(0, 2**63 - 1, (1,), generator=self.generator).item()

    def _make_fetch(self) -> Fetch:
        """The function from a task to a batch, or to End, for one epoch."""
        if self._iterable:
            samples = iter(self.dataset)
            return functools.partial(_next_of_stream, samples, self.batch_size, self.drop_last, self.collate_fn)
        if not self._batched:
            return lambda index: self.collate_fn(self.dataset[index])
        if hasattr(self.dataset, "__getitems__"):
            return lambda indices: self.collate_fn(self.dataset.__getitems__(indices))
        faster = whole_batch(self.dataset) if self.collate_fn is default_collate else None
        if faster is not None:
            return faster
        return lambda indices: self.collate_fn([self.dataset[index] for index in indices])


def _next_of_stream(samples: Iterator[object], size: int | None, drop_last: bool, collate: Collate, _: None) -> object:
    batch = list(islice(samples, size or 1))
    if not batch or (drop_last and size and len(batch) < size):
        return End()
    return collate(batch if size else batch[0])


def _check_workers(
    workers: int, prefetch: int | None, timeout: float, persistent: bool, context: str | BaseContext | None
) -> None:
    if not isinstance(workers, int) or isinstance(workers, bool):
        raise TypeError(f"DataLoader: num_workers is {shown(workers)}, expected an int")
    if workers < 0:
        raise ValueError(f"DataLoader: num_workers is {workers}, expected at least 0")
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or workers
    if workers > cpus:
        warn(
            f"DataLoader: {workers} worker processes where this process may use {cpus} CPUs: they may be slower "
            "than fewer, or freeze"
        )
    if workers == 0 and (prefetch is not None or persistent):
        raise ValueError("DataLoader: prefetch_factor and persistent_workers need num_workers > 0")
    if prefetch is not None and not 1 <= prefetch <= MAX_PREFETCH:
        raise ValueError(f"DataLoader: prefetch_factor is {prefetch}, expected 1 to {MAX_PREFETCH}")
    if timeout < 0:
        raise ValueError(f"DataLoader: timeout is {timeout}, expected at least 0")
    method = getattr(context, "get_start_method", lambda: context)()
    if method not in (None, "fork"):
        raise ValueError(f"DataLoader: multiprocessing_context is {shown(method)}, expected None or 'fork'")


# ---- Iterators -------------------------------------------------------------------------------------------------------


class _BaseDataLoaderIter:
    """What `iter(loader)` gives. (The names of these classes are PyTorch's, as programs ask for them.)"""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> object:
        raise NotImplementedError(f"{type(self).__name__} does not define __next__()")


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Makes each batch on demand."""

    def __init__(self, loader: DataLoader):
        loader._seed()
        self._fetch, self._tasks, self._loader = loader._make_fetch(), loader._tasks(), loader

    def __next__(self) -> object:
        task = next(self._tasks)
        try:
            batch = self._fetch(task)
        except StopIteration as error:  # would end the loop silently
            raise RuntimeError("the dataset raised StopIteration") from error
        if isinstance(batch, End):
            self._tasks = iter(())
            raise StopIteration
        return batch

    def __len__(self) -> int:
        return len(self._loader)


_living: weakref.WeakSet[_MultiProcessingDataLoaderIter] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """Before multiprocessing waits for the workers: it registered first, and the last function runs first."""
    for iterator in list(_living):
        iterator.close()


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Gives tasks to workers in turn, and receives the batches in the same order."""

    def __init__(self, loader: DataLoader):
        self._owner, self._timeout, self._persistent = os.getpid(), loader.timeout, loader.persistent_workers
        self._ahead, self._workers = loader.prefetch_factor or 2, list[Worker]()
        self._waiting: deque[Worker | Exception] = deque()  # workers that owe the next batches, or sampler errors
        job = Job(loader.dataset, loader._make_fetch, loader.worker_init_fn, loader.num_workers, self._owner)
        try:
            for number in range(loader.num_workers):
                self._workers.append(Worker(job, number))
            _living.add(self)
            self._begin(loader)
        except BaseException:
            self.close()
            raise

    def _reset(self, loader: DataLoader, first_iter: bool = False) -> bool:
        """Begin another epoch with the same workers; False if they are gone because one died."""
        while self._waiting:
            self._receive()  # batches of an abandoned epoch
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
        """Give a worker the next task, if there is one."""
        if worker.finished:
            return
        try:
            task = next(self._tasks)
        except StopIteration:
            return
        except Exception as error:  # from the sampler: raised after the batches before it
            self._waiting.append(error)
            return
        try:
            worker.send(task)
            self._waiting.append(worker)
        except BaseException:  # an interrupt: nobody knows how much of the task was sent
            self.close()
            self._waiting.append(RuntimeError("DataLoader: an interrupt came while a worker was given a task"))
            raise

    def __next__(self) -> object:
        while self._waiting:
            worker, reply = self._receive()
            if worker is not None:
                worker.finished |= isinstance(reply, End)
                self._assign(worker)
            if isinstance(reply, End):
                continue
            if isinstance(reply, Exception):
                raise reply
            return reply
        if not self._persistent:
            self.close()
        raise StopIteration

    def _receive(self) -> tuple[Worker | None, object]:
        """The next worker and its reply, or None and what the sampler raised."""
        worker = self._waiting[0]
        if isinstance(worker, Exception):
            self._waiting.popleft()
            return None, worker
        try:
            reply = worker.receive(self._timeout)
        except RuntimeError:
            self.close()
            raise
        self._waiting.popleft()  # not before: after an interrupt this worker is still the next
        return worker, reply.exception() if isinstance(reply, Failure) else reply

    def close(self) -> None:
        """End the workers."""
        if os.getpid() == self._owner:  # not in a forked child
            self._waiting.clear()
            self._tasks = iter(())
            stop(self._workers)

    _shutdown_workers = close

    def __len__(self) -> int:
        loader = self._loader()
        if loader is None:
            raise TypeError("the loader of this iterator is gone")
        return len(loader)

    def __del__(self) -> None:
        try:
            self.close()
        except KeyboardInterrupt:  # Python drops what a finalizer raises: this comes again when it is over
            threading.Timer(0.05, _thread.interrupt_main).start()
