"""Datasets: collections of samples, found by index or yielded one after another."""

from __future__ import annotations

import math
import operator
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from ..._C import ShapeError
from ...functions.generator import Generator
from ...functions.random import randperm
from ...given import given, length_of, no_tensor, settings, warn
from ...tensor import Tensor


class Dataset:
    """Base class: a subclass defines `__getitem__`, which returns a sample, and `__len__`.

    A sample is a tensor, a number, a string, or a tuple, list or dict of them.

    >>> class Squares(norch.utils.data.Dataset):
    ...     def __len__(self):
    ...         return 10
    ...
    ...     def __getitem__(self, index):
    ...         return index, index**2
    >>> Squares()[3]
    (3, 9)
    """

    def __class_getitem__(cls, item: object) -> type[Dataset]:
        return cls  # Dataset[Tensor], for annotations

    def __repr__(self) -> str:
        return f"{type(self).__name__}({settings(length=length_of(self))})"

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define __getitem__()")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Base class for a stream of samples: a subclass defines `__iter__`, and `__len__` if the length is known.

    Each worker of a DataLoader iterates over its own copy of the whole dataset: `get_worker_info()` tells a copy which
    part to yield.

    >>> class Countdown(norch.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter([3, 2, 1])
    >>> list(norch.utils.data.DataLoader(Countdown(), batch_size=2))
    [tensor([3, 2]), tensor([1])]
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__()")

    def __add__(self, other: Dataset) -> ChainDataset:  # type: ignore[override]  # a stream has no indices
        return ChainDataset([self, other])


class ChainDataset(IterableDataset):
    """Streams one after another. Raises TypeError, when it is iterated, for a dataset that is no IterableDataset.

    >>> class Countdown(norch.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter([2, 1])
    >>> list(norch.utils.data.ChainDataset([Countdown(), Countdown()]))
    [2, 1, 2, 1]
    """

    def __init__(self, datasets: Iterable[Any]):
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise TypeError(f"ChainDataset was given {given(dataset)}, expected IterableDatasets")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class TensorDataset(Dataset):
    """Sample i is the tuple of `tensor[i]`, for tensors of one length. Raises ShapeError if lengths differ.

    An element of a vector is a tensor of no dimensions, which keeps its dtype.

    >>> dataset = norch.utils.data.TensorDataset(norch.ones(5, 3), norch.arange(5))
    >>> len(dataset), dataset[4]
    (5, (tensor([1., 1., 1.]), tensor(4)))
    """

    def __init__(self, *tensors: Tensor):
        if not tensors:
            raise TypeError("TensorDataset expects at least one tensor")
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"TensorDataset was given {no_tensor(tensor)}")
        for tensor in tensors:
            if tensor.ndim == 0 or tensor.shape[0] != tensors[0].shape[0]:
                shapes = ", ".join(str(list(t.shape)) for t in tensors)
                raise ShapeError(f"TensorDataset: tensors of shapes {shapes}, expected one length for all")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        alone = not isinstance(index, (slice, tuple, list, Tensor)) and index is not None
        return tuple(t.select(0, operator.index(index)) if alone and t.ndim == 1 else t[index] for t in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class ConcatDataset(Dataset):
    """Datasets one after another.

    >>> from norch.utils.data import ConcatDataset, TensorDataset
    >>> whole = ConcatDataset([TensorDataset(norch.arange(2)), TensorDataset(norch.arange(3))])
    >>> len(whole), whole[2]
    (5, (tensor(0),))
    """

    def __init__(self, datasets: Iterable[Any]):
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset was given no datasets, expected at least one")
        for dataset in self.datasets:
            if isinstance(dataset, IterableDataset):
                raise TypeError(f"ConcatDataset was given {given(dataset)}, which has no indices")
        self.cumulative_sizes = list(accumulate(len(dataset) for dataset in self.datasets))

    def __getitem__(self, index: int) -> Any:
        if operator.index(index) < -len(self):  # PyTorch's types: IndexError on the other side ends an iteration
            raise ValueError(f"ConcatDataset: index {index} is out of range for {len(self)} samples")
        position = _position(index, len(self), "ConcatDataset")
        number = bisect_right(self.cumulative_sizes, position)
        return self.datasets[number][position - (self.cumulative_sizes[number - 1] if number else 0)]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class StackDataset(Dataset):
    """Datasets of one length side by side: sample i is the tuple of their samples i, or, by names, the dict.

    >>> from norch.utils.data import StackDataset
    >>> StackDataset("ab", norch.arange(2))[1], StackDataset(x="ab", y="cd")[0]
    (('b', tensor(1)), {'x': 'a', 'y': 'c'})
    """

    def __init__(self, *args: Any, **kwargs: Any):
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset expects datasets either one by one or by name, at least one of them")
        self.datasets: Any = args or kwargs
        lengths = {len(dataset) for dataset in self._each()}
        if len(lengths) > 1:
            raise ValueError(f"StackDataset: datasets of lengths {sorted(lengths)}, expected one length for all")

    def _each(self) -> Iterable[Any]:
        return self.datasets if isinstance(self.datasets, tuple) else self.datasets.values()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, tuple):
            return tuple(dataset[index] for dataset in self.datasets)
        return {name: dataset[index] for name, dataset in self.datasets.items()}

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        columns = [_samples(dataset, indices) for dataset in self._each()]
        for column in columns:
            if len(column) != len(indices):
                raise ValueError(f"StackDataset: a dataset gives {len(column)} samples for {len(indices)} indices")
        rows = list(zip(*columns))
        return rows if isinstance(self.datasets, tuple) else [dict(zip(self.datasets, row)) for row in rows]

    def __len__(self) -> int:
        return len(next(iter(self._each())))


class Subset(Dataset):
    """The samples of a dataset at `indices`, in their order.

    >>> dataset = norch.utils.data.TensorDataset(norch.arange(10))
    >>> norch.utils.data.Subset(dataset, [7, 1])[0]
    (tensor(7),)
    """

    def __init__(self, dataset: Any, indices: Sequence[int]):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[[self.indices[i] for i in index] if isinstance(index, list) else self.indices[index]]

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        return _samples(self.dataset, [self.indices[index] for index in indices])

    def __len__(self) -> int:
        return len(self.indices)


def _samples(dataset: Any, indices: list[Any]) -> list[Any]:
    """The samples of a batch, at once if the dataset gives them so."""
    if hasattr(dataset, "__getitems__"):
        return list(dataset.__getitems__(indices))
    return [dataset[index] for index in indices]


def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset]:
    """Disjoint Subsets of the given lengths, or of fractions that add up to 1, drawn at random.

    Fractions are rounded down, and the samples left over go to the first subsets, one each. Raises ValueError if the
    lengths do not add up to len(dataset).

    >>> dataset = norch.utils.data.TensorDataset(norch.arange(10))
    >>> training, testing = norch.utils.data.random_split(dataset, [0.8, 0.2])
    >>> len(training), len(testing)
    (8, 2)
    """
    total, lengths = len(dataset), list(lengths)
    if any(length < 0 for length in lengths):
        raise ValueError(f"random_split: lengths {lengths}, expected none below 0")
    if any(isinstance(length, float) for length in lengths) and math.isclose(sum(lengths), 1.0):
        lengths = _shares(lengths, total)
    if sum(lengths) != total:
        raise ValueError(
            f"random_split: lengths {lengths} add up to {sum(lengths)}, expected {total} or fractions of 1"
        )
    if 0 in lengths:
        warn(f"random_split: lengths {lengths} leave a subset empty")
    order = randperm(total, generator=generator).tolist()
    return [Subset(dataset, order[end - size : end]) for size, end in zip(lengths, accumulate(lengths))]


def _shares(fractions: Sequence[float], total: int) -> list[int]:
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    return lengths


def _position(index: int, count: int, name: str) -> int:
    """An index, which may count from the end, counted from the start."""
    position = operator.index(index)
    if not -count <= position < count:
        raise IndexError(f"{name}: index {position} is out of range for {count} samples")
    return position % count


def whole_batch(dataset: object) -> Callable[[Iterable[Any]], list[Tensor]] | None:
    """A faster way, if there is one, from indices to the batch that collating their samples would give."""
    if isinstance(dataset, TensorDataset) and type(dataset).__getitem__ is TensorDataset.__getitem__:

        def rows(indices: Iterable[Any]) -> list[Tensor]:
            numbers = [operator.index(i) for i in indices]  # a tuple, or a list of tensors, would index one element
            return [tensor[numbers] for tensor in dataset.tensors]

        return rows
    if isinstance(dataset, Subset) and type(dataset).__getitem__ is Subset.__getitem__:
        inner = whole_batch(dataset.dataset)
        return inner and (lambda indices: inner([dataset.indices[i] for i in indices]))
    return None
