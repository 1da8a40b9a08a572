"""The schedule of buckets: which gradients are summed together, decided from sizes alone."""

from __future__ import annotations

from typing import Hashable, Sequence

MIB = 2**20
FIRST = 1 * MIB  # the first bucket is small, so that its sum starts early


def buckets_of(sizes: Sequence[int], kinds: Sequence[Hashable], cap: float, first: float = FIRST) -> list[list[int]]:
    """The indices of parameters in buckets of up to `cap` bytes, the first of up to `first`, each of one kind.

    Last parameters come first: backward reaches them first. A parameter larger than a bucket has one of its own.

    >>> from norch.nn.parallel.buckets import buckets_of
    >>> buckets_of([4, 4, 4, 4], "dddd", cap=8, first=4)
    [[3], [2, 1], [0]]
    """
    buckets: list[list[int]] = []
    room = 0.0
    for index in reversed(range(len(sizes))):
        if not buckets or sizes[index] > room or kinds[index] != kinds[buckets[-1][0]]:
            room = cap if buckets else min(first, cap)
            buckets.append([])
        buckets[-1].append(index)
        room -= sizes[index]
    return buckets


class Schedule:
    """Which buckets to sum next: in the same order in all ranks, whatever the order of their gradients.

    Raises RuntimeError for a gradient that comes twice.
    """

    def __init__(self, buckets: Sequence[Sequence[int]]) -> None:
        self._bucket_of = {index: number for number, bucket in enumerate(buckets) for index in bucket}
        self._left = [set(bucket) for bucket in buckets]
        self._next = 0

    def arrived(self, index: int) -> int:
        """The gradient of this parameter is complete: the number of its bucket."""
        number = self._bucket_of[index]
        if index not in self._left[number]:
            raise RuntimeError("twice")
        self._left[number].remove(index)
        return number

    def ready(self) -> range:
        """The buckets that are complete now, and that all buckets before them are too; each is given once."""
        start = self._next
        while self._next < len(self._left) and not self._left[self._next]:
            self._next += 1
        return range(start, self._next)

    def missing(self) -> list[int]:
        """The parameters whose gradients have not come."""
        return [index for left in self._left for index in sorted(left, reverse=True)]
