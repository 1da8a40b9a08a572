"""Starts ranks: python -m norch.distributed.run --nproc-per-node 4 script.py ..., with torchrun's options.

It starts the mpirun that belongs to the MPI beside this Python, and each rank is a Python that runs the script. Every
rank keeps a connection to the launcher (watch.py): one that ends without saying that it is done, or that raised, ends
all others, and is named. If the launcher ends, its ranks end. There are no files to clean up.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Iterable, Sequence

from .. import cuda
from ..types import shown
from .board import VARIABLE, size_of
from .mpi import INSTALL, processors
from .watch import Watch

__all__ = ["main"]

LEAVING = 30  # seconds


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m norch.distributed.run", description=__doc__)
    add = parser.add_argument
    add("--nproc-per-node", "--nproc_per_node", type=_per_node, default=1, help="ranks on each machine, or auto, gpu")
    add("--nnodes", type=_count, default=1, help="machines")
    add("--hosts", help="host1,host2,...: where mpirun starts them, by ssh; under Slurm it knows them itself")
    add("--hostfile", help="a file with a host a line, as mpirun reads it")
    add("--master-addr", "--master_addr", default=None, help="this machine's address for the others")
    add("--master-port", "--master_port", default="29500", help="what scripts find in MASTER_PORT; norch needs no port")
    add("-m", "--module", action="store_true", help="the script is the name of a module, as for python -m")
    add("--standalone", action="store_true", help=argparse.SUPPRESS)  # torchrun's, for which MPI has its own ways
    for name in (
        "node-rank",
        "local-addr",
        "rdzv-backend",
        "rdzv-endpoint",
        "rdzv-id",
        "rdzv-conf",
        "role",
        "start-method",
        "max-restarts",
        "monitor-interval",
    ):
        add(f"--{name}", f"--{name.replace('-', '_')}", help=argparse.SUPPRESS)
    add("script")
    add("arguments", nargs=argparse.REMAINDER)
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:  # torchrun's 1:4 too: MPI starts a number that is known before
        raise argparse.ArgumentTypeError(f"{shown(text)} is no number of 1 or more")
    return int(text)


def _per_node(text: str) -> int:
    counts = {"auto": lambda: len(processors()), "cpu": lambda: len(processors()), "gpu": cuda.device_count}
    found = counts[text]() if text in counts else _count(text)
    if not found:
        raise argparse.ArgumentTypeError("this machine has no GPU that norch could use")
    return found


def mpirun() -> str:
    """The mpirun to use: NORCH_MPIRUN, the one beside this Python, or that of the PATH; SystemExit if there is none."""
    beside = os.path.join(sys.prefix, "bin", "mpirun")
    found = os.environ.get("NORCH_MPIRUN") or (beside if os.path.exists(beside) else shutil.which("mpirun"))
    if found is None:
        raise SystemExit(f"norch.distributed.run: no mpirun was found: {INSTALL}")
    return found


def command(mpirun: str, version: str, ranks: int, per_node: int, options: Any, told: Iterable[str]) -> list[str]:
    """mpirun's command for so many ranks, by its `--version`. `told`: the variables that all ranks must have."""
    if not is_open_mpi(version):
        where = ["-hosts", options.hosts] if options.hosts else ["-f", options.hostfile] if options.hostfile else []
        own = ["-localhost", options.master_addr] if options.master_addr else []  # where the other machines find mpirun
        return [mpirun, *own, *where, "-ppn", str(per_node), "-n", str(ranks)]
    old = any(f"(Open{kind}) {major}." in version for kind in ("RTE", " MPI") for major in (2, 3, 4))
    each = f"ppr:{per_node}:node"
    placed = ["--map-by", each, "--oversubscribe"] if old else ["--map-by", f"{each}:OVERSUBSCRIBE"]
    hosts = [f"{host}:{per_node}" for host in (options.hosts or "").split(",") if host]
    where = ["--host", ",".join(hosts)] if hosts else ["--hostfile", options.hostfile] if options.hostfile else []
    # other machines get only the variables that are named; processors are shared out by init_process_group, which knows
    # the whole machine only without binding
    variables = [word for name in told for word in ("-x", name)]
    return [mpirun, *placed, "--bind-to", "none", *variables, *where, "-n", str(ranks)]


def is_open_mpi(version: str) -> bool:
    """Whether an mpirun that answers so to `--version` is Open MPI's. MPICH's tells other machines all variables."""
    return "Open MPI" in version or "OpenRTE" in version or "prte" in version.lower()


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the ranks, and return 0 if all of them came to their end."""
    options = _arguments().parse_args(arguments)
    per_node, nodes = options.nproc_per_node, options.nnodes
    ranks = per_node * nodes
    program = mpirun()
    version = subprocess.run([program, "--version"], capture_output=True, text=True, errors="replace").stdout
    watch = Watch(ranks, "127.0.0.1" if nodes == 1 else options.master_addr or "")
    given = {
        **{name: value for name, value in os.environ.items() if name.startswith("NORCH_")},
        **watch.environment, "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(per_node),
        "GROUP_WORLD_SIZE": str(nodes), "MASTER_PORT": options.master_port,
        "MASTER_ADDR": options.master_addr or ("127.0.0.1" if nodes == 1 else socket.getfqdn()),
    }  # fmt: skip
    board = os.memfd_create("norch-board") if nodes == 1 and hasattr(os, "memfd_create") else -1
    if board >= 0:
        os.ftruncate(board, size_of(ranks))
        given[VARIABLE] = f"/proc/{os.getpid()}/fd/{board}"
    package = str(Path(__file__).resolve().parents[2])  # also where norch is used from its folder
    given["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), package]))
    environment = {**os.environ, **given}
    if is_open_mpi(version):  # it asks for these where the user is root, as in a container
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    start = command(program, version, ranks, per_node, options, given)
    rank = [sys.executable, "-m", "norch.distributed.rank", *(["-m"] if options.module else []), options.script]
    return _supervise([*start, *rank, *options.arguments], environment, watch)


def _supervise(command: list[str], environment: dict[str, str], watch: Watch) -> int:
    stopped: list[int] = []

    def stop(number: int, _: Any) -> None:
        stopped.append(number)
        watch.wake()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    # in a session of its own: a Ctrl-C of the terminal is for the launcher, which ends the ranks
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)

    def wait() -> None:
        process.wait()
        watch.wake()

    threading.Thread(target=wait, daemon=True).start()
    first = watch.until(lambda: bool(stopped) or process.poll() is not None)
    if stopped:
        print(f"norch.distributed.run: {signal.Signals(stopped[0]).name}: ending all ranks", file=sys.stderr)
    elif first is None and process.poll() is None:  # all are done: what is left is Python's end and MPI's
        _wait(process, LEAVING)
        if process.poll() is None:
            print(f"norch.distributed.run: the ranks did not end {LEAVING} s after their scripts", file=sys.stderr)
    elif first is not None:
        print(f"norch.distributed.run: {first}; ending all ranks", file=sys.stderr)
    watch.kill(signal.SIGKILL)
    watch.close()
    _wait(process, 0.5)  # mpirun ends with its ranks; if it has to be told, it still needs time to clean up
    for number, patience in ((signal.SIGTERM, 2), (signal.SIGKILL, 1)):
        if process.poll() is None:
            os.killpg(process.pid, number)
            _wait(process, patience)
    if stopped:
        return 128 + stopped[0]
    if first is not None:
        return 1
    return (
        1 if process.returncode is None else 128 - process.returncode if process.returncode < 0 else process.returncode
    )


def _wait(process: Any, limit: float) -> None:
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        pass


if __name__ == "__main__":
    sys.exit(main())
