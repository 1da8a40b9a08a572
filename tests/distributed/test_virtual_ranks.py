"""Samplers and the schedule of buckets, for up to 4,096 ranks that exist only here: without MPI."""

import random

import pytest

from norch.nn.parallel.buckets import MIB, Schedule, buckets_of
from norch.utils.data import DistributedSampler

RANKS = [1, 2, 3, 64, 4096]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("count", [0, 1, 4095, 10_000])
@pytest.mark.parametrize("drop_last", [False, True])
def test_the_shares_of_all_ranks_are_the_dataset(ranks, count, drop_last):
    shares = [
        [*DistributedSampler(range(count), ranks, rank, shuffle=False, drop_last=drop_last)] for rank in range(ranks)
    ]
    assert len({len(share) for share in shares}) == 1
    indices = [index for share in shares for index in share]
    if drop_last:
        assert len(indices) == count // ranks * ranks and len(set(indices)) == len(indices)
    else:
        assert set(indices) == set(range(count)) and len(indices) < count + ranks


@pytest.mark.parametrize("ranks", [2, 64])
def test_epochs_have_orders_of_their_own_that_all_ranks_share(ranks):
    def epoch(number):
        samplers = [DistributedSampler(range(1000), ranks, rank, seed=5) for rank in range(ranks)]
        for sampler in samplers:
            sampler.set_epoch(number)
        return [[*sampler] for sampler in samplers]

    first = epoch(0)
    assert epoch(0) == first != epoch(1)
    assert {i for share in first for i in share} == set(range(1000))


@pytest.mark.parametrize("cap", [1, 0.01, 25])
def test_buckets_hold_each_parameter_once_and_no_more_than_their_size(cap):
    drawn = random.Random(1)
    sizes = [drawn.choice([4, 400, 40_000, 4_000_000, 40_000_000]) for _ in range(300)]
    kinds = ["float64" if i % 50 == 7 else "float32" for i in range(300)]
    buckets = buckets_of(sizes, kinds, cap * MIB)
    assert [index for bucket in buckets for index in bucket] == list(reversed(range(300)))
    for number, bucket in enumerate(buckets):
        limit = cap * MIB if number else min(MIB, cap * MIB)
        assert len({kinds[i] for i in bucket}) == 1
        assert len(bucket) == 1 or sum(sizes[i] for i in bucket) <= limit


def test_4096_ranks_sum_their_buckets_in_one_order():
    """Whatever the order in which gradients come, and whichever do not come at all."""
    buckets = buckets_of([100] * 40, [0] * 40, cap=400, first=200)
    for rank in range(4096):
        drawn = random.Random(rank)
        order = drawn.sample(range(40), drawn.randrange(41))
        schedule, started = Schedule(buckets), []
        for index in order:
            number = schedule.arrived(index)
            assert index in buckets[number]
            started += schedule.ready()
        for index in schedule.missing():
            schedule.arrived(index)
        started += schedule.ready()
        assert started == list(range(len(buckets)))


def test_a_gradient_that_comes_twice_is_an_error():
    schedule = Schedule([[1, 0]])
    schedule.arrived(0)
    with pytest.raises(RuntimeError):
        schedule.arrived(0)
