"""Ranks on several machines, all of which are this one.

What stands for ssh and srun starts its command here, in a bare environment: what other machines must be told has to
come through mpirun.
"""

import os
import re
from types import SimpleNamespace

import pytest
from launching import HERE, launch, needs_mpi, shared_memory

from norch.distributed.run import command, main

SSH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
echo "$1" >> LOG
shift
exec env -i HOME="$HOME" PATH=/usr/bin:/bin sh -c "$*"
"""
SRUN = """#!/bin/sh
[ "$1" = --version ] && exit
echo "$*" >> LOG
while [ "${1#/}" = "$1" ]; do shift; done
for node in 0 1; do env -i HOME="$HOME" PATH=/usr/bin:/bin SLURM_NODEID=$node SLURM_PROCID=$node "$@" & done
wait
"""
SLURM = {  # what it tells a job of two nodes
    "SLURM_JOB_ID": "7", "SLURM_JOBID": "7", "SLURM_NNODES": "2", "SLURM_JOB_NUM_NODES": "2", "SLURM_NTASKS": "4",
    "SLURM_NODELIST": "node[1-2]", "SLURM_JOB_NODELIST": "node[1-2]", "SLURM_TASKS_PER_NODE": "2(x2)",
}  # fmt: skip
TWO = ["--nnodes", "2"]


@pytest.fixture
def machines(tmp_path):
    """The environment in which mpirun uses the stand-ins, and the file in which they note whom they were to reach."""
    log = tmp_path / "log"
    for name, text in (("ssh", SSH), ("srun", SRUN)):
        (tmp_path / name).write_text(text.replace("LOG", f"'{log}'"))
        (tmp_path / name).chmod(0o755)
    ssh = str(tmp_path / "ssh")
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    return {"HYDRA_LAUNCHER_EXEC": ssh, "PRTE_MCA_plm_ssh_agent": ssh, "PATH": path}, log


def is_mpich():
    import norch.distributed as dist

    return "MPICH" in dist.mpi.load().Get_library_version()


def run_on_two(options, environment):
    """All ranks know their places; those of MPICH also communicate (Open MPI's see that it is one machine)."""
    sums = is_mpich()
    ended = launch(
        2, HERE / "programs" / "machines.py", "sums" if sums else "", options=[*TWO, *options], **environment,
        NORCH_TEST_SETTING="told",
    )  # fmt: skip
    assert ended.status == 0 and not ended.orphans, ended.output
    said = sorted(re.findall("here: (.*)", ended.output))
    total = 4.0 if sums else 1.0
    assert said == [f"{rank} 4 {rank % 2} 2 {rank // 2} told {total}" for rank in range(4)], ended.output


@needs_mpi
@pytest.mark.parametrize("kind", ["hosts", "hostfile"])
def test_two_machines_by_ssh(kind, machines, tmp_path):
    environment, log = machines
    (tmp_path / "hosts").write_text("node1\nnode2\n")
    run_on_two(["--hosts", "node1,node2"] if kind == "hosts" else ["--hostfile", str(tmp_path / "hosts")], environment)
    assert sorted(log.read_text().split()) == ["node1", "node2"]


@needs_mpi
def test_two_nodes_under_slurm(machines):
    environment, log = machines
    if is_mpich():  # by srun; Open MPI's package reaches Slurm's nodes by ssh
        del environment["HYDRA_LAUNCHER_EXEC"]
    run_on_two([], {**environment, **SLURM})
    assert "node1" in log.read_text() and "node2" in log.read_text()


@needs_mpi
@pytest.mark.parametrize("fault", ["import", "forward", "killed", "vanishes", "stopped", "shape", "leaves"])
def test_a_fault_on_another_machine_ends_all(fault, machines, tmp_path):
    if not is_mpich():
        pytest.skip("Open MPI's ranks see that it is one machine")
    environment, _ = machines
    before = shared_memory()
    ended = launch(
        2,
        HERE / "programs" / "faults.py",
        fault,
        str(tmp_path),
        options=[*TWO, "--hosts", "node1,node2"],
        **environment,
    )
    said = {
        "import": "rank 3 raised ModuleNotFoundError",
        "forward": "rank 3 raised ArithmeticError: this one",
        "stopped": "rank 3 does not answer, but rank 0 called all_reduce(SUM)",
        "shape": "rank 3 called all_reduce(SUM) of float32 [1000]",
        "leaves": "rank 3 called destroy_process_group()",
    }.get(fault, "rank 3 ended without a word")
    assert ended.status != 0 and f"norch.distributed.run: {said}" in ended.output and not ended.orphans, ended.output
    assert ended.seconds_after(tmp_path) < (7 if fault == "stopped" else 5), ended.output
    assert shared_memory() - before == set()


@pytest.mark.parametrize(
    "version, options, expected",
    [
        ("HYDRA build details:", {}, "mpirun -ppn 2 -n 4"),
        ("HYDRA build details:", {"hosts": "a,b"}, "mpirun -hosts a,b -ppn 2 -n 4"),
        ("HYDRA build details:", {"hostfile": "them"}, "mpirun -f them -ppn 2 -n 4"),
        ("HYDRA build details:", {"hosts": "a", "master_addr": "b"}, "mpirun -localhost b -hosts a -ppn 2 -n 4"),
        (
            "mpirun (Open MPI) 5.0.8",
            {"hosts": "a,b"},
            "mpirun --map-by ppr:2:node:OVERSUBSCRIBE --bind-to none -x A -x B --host a:2,b:2 -n 4",
        ),
        (
            "mpirun (Open MPI) 4.1.4",
            {"hostfile": "them"},
            "mpirun --map-by ppr:2:node --oversubscribe --bind-to none -x A -x B --hostfile them -n 4",
        ),
    ],
)
def test_the_command_of_each_mpirun(version, options, expected):
    chosen = SimpleNamespace(**{"hosts": None, "hostfile": None, "master_addr": None, **options})
    assert " ".join(command("mpirun", version, 4, 2, chosen, ["A", "B"])) == expected


@needs_mpi
def test_scripts_find_the_variables_of_torchrun(tmp_path):
    names = "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK GROUP_WORLD_SIZE MASTER_ADDR MASTER_PORT".split()
    script = tmp_path / "script.py"
    script.write_text(f"import os\nprint('found:', *(os.environ[name] for name in {names}))")
    ended = launch(2, script, options=["--standalone", "--master_port", "1234", "--rdzv-id", "7"])
    assert ended.status == 0, ended.output
    said = sorted(re.findall("found: (.*)", ended.output))
    assert said == [f"{rank} 2 {rank} 2 0 1 127.0.0.1 1234" for rank in range(2)]


@pytest.mark.parametrize("option", [["--nnodes", "1:4"], ["--nproc-per-node", "0"], ["--nproc-per-node", "many"]])
def test_a_number_of_ranks_that_is_none_is_named(option, capsys):
    with pytest.raises(SystemExit):
        main([*option, "script.py"])
    assert f"{option[1]!r} is no number of 1 or more" in capsys.readouterr().err
