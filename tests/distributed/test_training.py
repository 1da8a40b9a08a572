"""DistributedDataParallel: W ranks beside one process, and copies of it with a fault, which must fail."""

import pytest
from launching import HERE, ROOT, launch, needs_mpi, passes

import norch
import norch.distributed as dist
from norch import nn

SPOILS = [
    "no broadcast",
    "no mean",
    "leaves finished too early",
    "sums not given back",
    "sums under no_sync",
    "equal samples",
    "unused parameters forgotten",
    "buffers left alone",
]


@needs_mpi
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks_give_what_one_process_gives(ranks):
    assert passes(ranks, "training").count("all right") == ranks


@needs_mpi
@pytest.mark.parametrize("fault", SPOILS)
def test_a_copy_with_a_fault_fails(fault):
    ended = launch(2, HERE / "programs" / "training.py", SPOIL=fault)
    assert ended.status != 0 and not ended.orphans, ended.output


@needs_mpi
def test_the_benchmark_runs():
    ended = launch(2, ROOT / "benchmarks" / "distributed.py", "--size", "tiny", "--only", "steps")
    assert ended.status == 0 and "efficiency of norch" in ended.output, ended.output


@pytest.fixture
def alone():
    dist.init_process_group()
    yield
    dist.destroy_process_group()


def test_one_process_alone_trains_as_without(alone):
    model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
    with model.no_sync():
        model(norch.ones(3, 2)).sum().backward()
    model(norch.ones(3, 2)).sum().backward()
    assert model.module.bias.grad.tolist() == [6.0]


def test_what_is_refused(alone):
    for arguments, kind, text in [
        ({"module": nn.ReLU()}, RuntimeError, "no parameters"),
        ({"module": nn.Linear(2, 1), "bucket_cap_mb": 0}, ValueError, "bucket_cap_mb"),
    ]:
        with pytest.raises(kind, match=text):
            nn.parallel.DistributedDataParallel(**arguments)


def test_without_a_group():
    with pytest.raises(ValueError, match="init_process_group"):
        nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
    with pytest.raises(ValueError, match="init_process_group"):
        norch.utils.data.DistributedSampler([1, 2])
