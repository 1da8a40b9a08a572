"""DistributedSampler: the share of one of several processes that train on the same dataset."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized

from ...arguments import flags
from ...distributed.group import get_rank, get_world_size
from ...functions.generator import Generator
from ...functions.random import randperm
from .sampler import Sampler


class DistributedSampler(Sampler):
    """The indices of process `rank` of `num_replicas`: every num_replicas-th of an order that all of them share.

    The order is drawn from seed + epoch (`set_epoch`). So that all shares are of one length, the first indices are
    repeated at the end, or with `drop_last` the last are left out. Both numbers are by default those of the process
    group. Raises ValueError for a rank out of range, or if a number is missing and there is no group.

    >>> list(norch.utils.data.DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False))
    [1, 3, 0]
    """

    @flags
    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ):
        num_replicas = get_world_size() if num_replicas is None else num_replicas
        rank = get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"DistributedSampler: rank is {rank}, expected 0 to {num_replicas - 1}")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        count = len(dataset)
        self.num_samples = count // num_replicas if drop_last else math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order = list(range(count))
        if self.shuffle:
            order = randperm(count, generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        if order:
            order = (order * math.ceil(self.total_size / count))[: self.total_size]
        return iter(order[self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Draw another order in this epoch."""
        self.epoch = epoch
