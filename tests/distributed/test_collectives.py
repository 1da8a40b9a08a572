"""The collectives on 1, 2, 3 and 4 ranks, and in a process alone, which needs no MPI."""

import os
import subprocess
import sys

import pytest
from launching import HERE, ROOT, needs_mpi, passes

import norch
import norch.distributed as dist


@needs_mpi
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_collective_of_every_dtype_and_layout(ranks):
    assert passes(ranks, "collectives").count("all right") == ranks


@needs_mpi
def test_the_same_while_ranks_compare_what_they_call():
    passes(2, "collectives", NORCH_DISTRIBUTED_DEBUG="DETAIL")


@needs_mpi
def test_what_scripts_for_pytorch_do_around_a_training():
    assert passes(3, "idioms").count("all right") == 3


def test_the_same_in_a_process_alone_without_mpi():
    program = f"""
import sys
sys.modules["mpi4py"] = None  # importing it raises ImportError
import runpy
runpy.run_path({str(HERE / "programs" / "collectives.py")!r}, run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "all right" in done.stdout, done.stderr


def test_importing_norch_loads_no_mpi():
    program = "import norch, sys; sys.exit('mpi4py' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=60).returncode == 0


def test_without_mpi_a_launched_process_says_what_to_install():
    program = """
import sys
sys.modules["mpi4py"] = None
import norch
norch.distributed.init_process_group()
"""
    environment = {**os.environ, "PMI_SIZE": "2", "PMI_RANK": "0"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "pip install" in done.stderr


@pytest.mark.parametrize(
    "arguments, kind, text",
    [
        ({"backend": "smoke"}, ValueError, "backend"),
        ({"timeout": 0}, ValueError, "timeout"),
        ({"timeout": -1}, ValueError, "timeout"),
        ({"rank": 1, "world_size": 1}, ValueError, "rank 1 of 1"),
    ],
)
def test_bad_arguments_leave_no_group(arguments, kind, text):
    with pytest.raises(kind, match=text):
        dist.init_process_group(**arguments)
    assert not dist.is_initialized()


def test_before_there_is_a_group():
    for call in (dist.get_rank, dist.get_world_size, dist.barrier, lambda: dist.all_reduce(norch.ones(1))):
        with pytest.raises(ValueError, match="init_process_group"):
            call()
    dist.destroy_process_group()  # nothing to leave


def test_pynorch_s_names():
    dist.init_process_group(0, 1)
    assert dist.get_rank() == 0 and dist.get_world_size() == 1 and dist.get_backend() == "mpi"
    x = norch.ones(2)
    dist.broadcast_tensor(x)
    dist.allreduce_sum_tensor(x)
    dist.destroy_process_group()
    assert x.tolist() == [1, 1]


@pytest.mark.skipif(not norch.cuda.is_available(), reason="needs a GPU, or the emulator")
def test_tensors_of_cuda_go_through_the_host():
    from norch.distributed.places import placed, written_back

    x = norch.ones(3, device="cuda")
    place = placed(x)
    assert place.device == "cpu"
    place.mul_(2)
    written_back(x, place)()
    assert x.tolist() == [2, 2, 2]
