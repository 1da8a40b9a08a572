"""One rank fails: all end soon, with a status that tells and the first cause named with its rank, nothing is left."""

import os
import re
import socket
import subprocess
import sys
import threading

import pytest
from launching import HERE, ROOT, launch, needs_mpi, shared_memory

import norch
from norch.distributed.watch import HIGH

# what the last rank does -> what the launcher must say; {0} is the rank's number
FAULTS = {
    "import": "rank {0} raised ModuleNotFoundError: No module named 'no_such_module'",
    "forward": "rank {0} raised ArithmeticError: this one",
    "backward": "rank {0} raised ArithmeticError: this one",
    "loader": "rank {0} raised OSError: OSError caught in DataLoader worker",
    "killed": "rank {0} ended without a word",
    "crashes": "rank {0} ended without a word",
    "vanishes": "rank {0} ended without a word",
    "status 3": "rank {0} ended with status 3",
    "stopped": "rank {0} did not call it",
    "leaves": "rank {0} called destroy_process_group()",
    "one more": "rank {0} called all_reduce(SUM)",
    "shape": "rank {0} called all_reduce(SUM) of float32 [1000]",
    "dtype": "rank {0} called all_reduce(SUM) of float64 [10]",
    "operation": "rank {0} called broadcast(src=0) of float32 [10]",
    "memory": "rank {0} raised MemoryError",
    "model": "rank {0} has another model than rank 0: weight [9, 8]",
    "full disk": "RuntimeError: rank 0: OSError: [Errno 27] File too large",
    "interrupt": "SIGINT: ending all ranks",
    "no launcher": "",  # nobody is there to say it
}
WITHIN = 5  # seconds
TIMEOUT = 2  # of the program: a stopped rank is noticed after that


@needs_mpi
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_one_rank_ends_all(fault, ranks, tmp_path):
    before, temporary, written = shared_memory(), tmp_path / "temporary", tmp_path / "written"
    temporary.mkdir(), written.mkdir()
    ended = launch(ranks, HERE / "programs" / "faults.py", fault, str(written), TMPDIR=str(temporary))
    assert ended.status == 130 if fault == "interrupt" else ended.status != 0, ended.output
    said = "".join(re.findall("^norch.distributed.run: .*", ended.output, re.MULTILINE))  # by the launcher
    assert FAULTS[fault].format(ranks - 1) in said, ended.output
    assert ended.seconds_after(written) < WITHIN + (TIMEOUT if fault == "stopped" else 0), ended.output
    assert not ended.orphans
    assert os.listdir(temporary) == []
    assert shared_memory() - before == set()
    if fault == "full disk":  # the checkpoint from before is whole, and alone
        assert sorted(os.listdir(written)) == ["run.norch", "time"]
        assert norch.utils.load_checkpoint(written / "run.norch")["epoch"] == 1


@needs_mpi
def test_mismatches_are_named_by_a_comparison_without_the_launcher_s_board():
    for fault in ("shape", "dtype", "operation"):
        ended = launch(2, HERE / "programs" / "without_board.py", fault, NORCH_DISTRIBUTED_DEBUG="DETAIL")
        assert ended.status != 0 and "the ranks differ: rank 1 called" in ended.output, ended.output


@needs_mpi
def test_an_mpirun_of_another_mpi_is_named():
    """What its ranks find in the environment is enough."""
    program = """
import os
import norch.distributed as dist
theirs = {"OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "job@1", "PMIX_RANK": "0"}
os.environ.update(theirs if "MPICH" in dist.mpi.load().Get_library_version() else {"PMI_SIZE": "2"})
dist.init_process_group(timeout=10)
"""
    before = shared_memory()
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "mpirun belongs to another MPI" in done.stderr, done.stderr
    assert shared_memory() - before == set()


@needs_mpi
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("what", ["slow", "stray"])
def test_what_is_no_fault_ends_nothing(what, ranks, tmp_path):
    ended = launch(ranks, HERE / "programs" / "faults.py", what, str(tmp_path))
    assert ended.status == 0 and not ended.orphans, ended.output


def test_a_stray_process_is_not_taken_for_a_rank():
    """Whoever connects without the token is turned away, and ends nothing."""
    from norch.distributed.watch import Watch

    watch = Watch(1, "127.0.0.1")
    host, port, _ = watch.environment["NORCH_WATCH"].split(":")
    stray = socket.create_connection((host, int(port)), timeout=10)
    stray.sendall(b'{"token": "guessed", "rank": 0, "pid": 1}\n{"failed": "all is lost"}\nnonsense\n')
    found = []
    thread = threading.Thread(target=lambda: found.append(watch.until(lambda: False)), daemon=True)
    thread.start()
    assert stray.recv(1) == b""  # closed
    token = watch.environment["NORCH_WATCH"].split(":")[2]
    rank = socket.create_connection((host, int(port)), timeout=10)
    rank.sendall(f'{{"token": "{token}", "rank": 0, "pid": {os.getpid()}}}\n{{"done": true}}\n'.encode())
    thread.join(10)
    stray.close()
    rank.close()
    watch.close()
    assert found == [None]


def test_the_rank_that_failed_first_is_named():
    from norch.distributed.watch import Watch

    watch = Watch(2, "127.0.0.1")
    host, port, token = watch.environment["NORCH_WATCH"].split(":")
    ranks = []
    for rank in (0, 1):
        ranks.append(socket.create_connection((host, int(port)), timeout=10))
        ranks[-1].sendall(f'{{"token": "{token}", "rank": {rank}, "pid": {os.getpid()}}}\n'.encode())
    ranks[1].sendall(b'{"failed": "raised ValueError: first"}\n')
    ranks[1].close()
    ranks[0].close()
    said = watch.until(lambda: False)
    watch.close()
    assert said == "rank 1 raised ValueError: first"


@pytest.mark.parametrize(
    "failed, cause",
    [
        ([(0, "raised DistBackendError: no answer"), (1, "raised ValueError: mine")], "rank 1 raised ValueError: mine"),
        ([(1, ""), (0, "raised DistBackendError: no answer")], "rank 1 ended without a word"),
        ([(0, "raised DistBackendError: no answer"), (1, "")], "rank 0 raised DistBackendError: no answer"),
    ],
)
def test_what_may_follow_from_another_rank_s_error_is_not_the_cause(failed, cause):
    from norch.distributed.watch import Watch

    watch = Watch(2, "127.0.0.1")
    watch._failed = failed
    assert watch._first().startswith(cause)
    watch.close()


@pytest.mark.parametrize(
    "places, said",
    [
        ("a7 a7 a8", "rank 2 called a as its collective 8, but rank 0 called a as its collective 7"),
        ("a7 - a7", "rank 1 does not answer, but rank 0 called a as its collective 7"),
        ("a7 - a8", "rank 2 called a as its collective 8, but rank 0 called a as its collective 7"),
        ("a7 a8 b7", "rank 2 called b as its collective 7, but rank 0 called a as its collective 7"),
        ("a7 a7 a7", "rank 0 raised DistBackendError: too late"),
        ("- - -", "rank 0 raised DistBackendError: too late"),
    ],
)
def test_of_ranks_on_several_machines_the_one_elsewhere_is_named(places, said):
    from norch.distributed.watch import Watch

    watch = Watch(3, "")
    watch._failed = [(0, "raised DistBackendError: too late")]
    watch._known = {rank: {"rank": rank} for rank in range(3)}
    watch._places = {rank: (place[0], int(place[1])) for rank, place in enumerate(places.split()) if place != "-"}
    assert watch._first() == said
    watch._known = {}
    watch.close()


def test_of_a_killed_rank_the_launcher_hears_before_mpirun():
    """Linux closes a killed process's highest file numbers first, and mpirun kills the others when it sees its own."""
    program = "from norch.distributed.watch import Connection as C; print(C.made(0)._socket.fileno())"
    with socket.create_server(("127.0.0.1", 0)) as server:
        environment = {**os.environ, "NORCH_WATCH": f"127.0.0.1:{server.getsockname()[1]}:token"}
        command = [sys.executable, "-c", program]
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as rank:
            connection, _ = server.accept()
            with connection:
                assert b"token" in connection.recv(1000)
                assert int(rank.stdout.readline()) >= HIGH
