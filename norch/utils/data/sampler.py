"""Samplers: the order in which a DataLoader asks for samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any

from ...arguments import flags
from ...functions.generator import Generator
from ...functions.random import randint, randperm
from ...given import length_of, settings
from ...methods.interop import as_tensor
from ...types import float64, shown

_DRAWN = 1024  # how many draws are made at once: a sampler of 10**10 costs what is used of it


class Sampler:
    """Base class: a subclass defines `__iter__`, which yields indices, and `__len__`.

    >>> class Backwards(norch.utils.data.Sampler):
    ...     def __iter__(self):
    ...         return iter([2, 1, 0])
    ...
    ...     def __len__(self):
    ...         return 3
    >>> dataset = norch.utils.data.TensorDataset(norch.arange(3))
    >>> [batch[0].tolist() for batch in norch.utils.data.DataLoader(dataset, sampler=Backwards())]
    [[2], [1], [0]]
    """

    def __init__(self, data_source: Any = None) -> None:
        pass  # so that a subclass may pass its dataset on

    def __class_getitem__(cls, item: object) -> type[Sampler]:
        return cls  # Sampler[int], for annotations

    def __repr__(self) -> str:
        return f"{type(self).__name__}({settings(length=length_of(self))})"

    def __iter__(self) -> Iterator[object]:
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__()")


class SequentialSampler(Sampler):
    """0, 1, 2, ...

    >>> list(norch.utils.data.SequentialSampler(range(3)))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized):
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """All indices in random order, a new one each time; or, with `replacement`, independent draws.

    `num_samples` (default: the length of the dataset) may be larger: then one order follows another. The numbers come
    from `generator`, or from norch's, which `norch.manual_seed` seeds.

    >>> sorted(norch.utils.data.RandomSampler(range(5)))
    [0, 1, 2, 3, 4]
    """

    @flags
    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ):
        if not isinstance(replacement, bool):
            raise TypeError(f"RandomSampler: replacement is {shown(replacement)}, expected True or False")
        if num_samples is not None:
            _check_count("RandomSampler: num_samples", num_samples)
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples

    @property
    def num_samples(self) -> int:
        """How many indices one iteration yields."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, wanted = len(self.data_source), self.num_samples
        if count == 0:
            return
        if self.replacement:
            for begin in range(0, wanted, _DRAWN):
                yield from randint(0, count, (min(_DRAWN, wanted - begin),), generator=self.generator).tolist()
            return
        while wanted > 0:
            yield from randperm(count, generator=self.generator).tolist()[:wanted]
            wanted -= count

    def __len__(self) -> int:
        return self.num_samples if len(self.data_source) else 0


class SubsetRandomSampler(Sampler):
    """The given indices in random order.

    >>> sorted(norch.utils.data.SubsetRandomSampler([7, 1, 4]))
    [1, 4, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None):
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """`num_samples` indices, i with probability proportional to `weights[i]`; without replacement each at most once.

    >>> list(norch.utils.data.WeightedRandomSampler([0.0, 1.0], num_samples=3))
    [1, 1, 1]
    """

    @flags
    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Generator | None = None
    ):
        _check_count("WeightedRandomSampler: num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"WeightedRandomSampler: replacement is {shown(replacement)}, expected True or False")
        self.weights = as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise ValueError(f"WeightedRandomSampler: weights of shape {list(self.weights.shape)}, expected a vector")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        yield from self.weights.multinomial(self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of `batch_size` indices of another sampler; a shorter last list is left out with `drop_last`.

    >>> from norch.utils.data import BatchSampler, SequentialSampler
    >>> list(BatchSampler(SequentialSampler(range(5)), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    @flags
    def __init__(self, sampler: Iterable[object], batch_size: int, drop_last: bool):
        _check_count("BatchSampler: batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"BatchSampler: drop_last is {shown(drop_last)}, expected True or False")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[object]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count: int = len(self.sampler)  # type: ignore[arg-type]  # as in PyTorch, a sampler without a length has none
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def _check_count(name: str, count: object) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count <= 0:
        raise ValueError(f"{name} is {shown(count)}, expected an integer of at least 1")
