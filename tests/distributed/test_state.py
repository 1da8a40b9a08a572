"""Shared statistics, divided optimizer state, and runs that go on from their checkpoint."""

import re

import pytest
from launching import HERE, launch, needs_mpi

from norch.optim.zero import parts_of

STATE = HERE / "programs" / "state.py"


def run(ranks, path, begin, end, *, kill_at=-1, zero="zero", dropout="0.0"):
    return launch(ranks, STATE, str(path), str(begin), str(end), str(kill_at), zero, dropout)


def losses_of(ended):
    assert ended.status == 0 and not ended.orphans, ended.output
    (line,) = re.findall(r"losses: (.*)", ended.output)
    return [float.fromhex(word) for word in line.split()]


@needs_mpi
@pytest.mark.parametrize("ranks, zero", [(1, "zero"), (2, "zero"), (2, "plain"), (4, "zero")])
def test_a_killed_run_goes_on_bit_for_bit(ranks, zero, tmp_path):
    """Dropout too: each rank goes on with its own random numbers."""
    whole = losses_of(run(ranks, tmp_path / "whole", 0, 5, zero=zero, dropout="0.5"))
    killed = run(ranks, tmp_path / "killed", 0, 5, kill_at=3, zero=zero, dropout="0.5")
    assert killed.status != 0
    resumed = losses_of(run(ranks, tmp_path / "killed", 3, 5, zero=zero, dropout="0.5"))
    assert resumed == whole


@needs_mpi
def test_another_number_of_ranks_goes_on_to_the_same_losses(tmp_path):
    whole = losses_of(run(1, tmp_path / "whole", 0, 6))
    path = tmp_path / "run"
    run(2, path, 0, 2)
    run(4, path, 2, 4, zero="plain")
    resumed = losses_of(run(1, path, 4, 6))
    assert max(abs(a - b) for a, b in zip(whole, resumed)) < 1e-9 and len(resumed) == 6


@pytest.mark.parametrize("ranks", [1, 2, 7, 64, 4096])
def test_parts_of_virtual_ranks(ranks):
    """Each parameter has one owner; no rank keeps more than the mean and the largest parameter."""
    sizes = [(7919 * i) % 5000 + 1 for i in range(6000)]
    owners = parts_of(sizes, ranks)
    loads = [0] * ranks
    for owner, size in zip(owners, sizes):
        loads[owner] += size
    assert len(owners) == len(sizes) and sum(loads) == sum(sizes)
    assert max(loads) <= sum(sizes) / ranks + max(sizes)
    assert parts_of(sizes, ranks) == owners  # alike in all ranks


def test_parts_of_few_parameters():
    assert parts_of([], 4) == [] and sorted(parts_of([5, 5], 4)) == [0, 1]
