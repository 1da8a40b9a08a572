"""Runs programs under norch's launcher, with a time limit and a look at what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def _has_mpi() -> bool:
    check = "import norch, sys; sys.exit(not norch.distributed.is_available())"
    return subprocess.run([sys.executable, "-c", check], cwd=ROOT, timeout=60).returncode == 0


needs_mpi = pytest.mark.skipif(not _has_mpi(), reason="needs mpi4py and an MPI: pip install mpi4py mpich")


@dataclass
class Ended:
    """How a launch ended."""

    status: int
    at: float  # of time.monotonic()
    output: str
    orphans: list[str]

    def seconds_after(self, folder: Path) -> float:
        """From what a program of programs/ noted in this folder to the end of the launcher and all ranks."""
        return self.at - float((folder / "time").read_text())


def launch(
    ranks: int, script: Path | str, *arguments: str, limit: float = 60, options: Sequence[str] = (), **environment: str
) -> Ended:
    """Run a program on so many ranks of each machine; `options` are the launcher's."""
    mark = f"NORCH_TEST={os.getpid()}-{time.monotonic_ns()}"
    launcher = [sys.executable, "-m", "norch.distributed.run", "--nproc-per-node", str(ranks), *options]
    command = [*launcher, str(script), *arguments]
    names = dict([mark.split("=")])
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **names, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        for pid in _processes(mark):
            os.kill(pid, signal.SIGKILL)
        output, _ = process.communicate()
        pytest.fail(f"{script} on {ranks} ranks did not end within {limit} s:\n{output}")
    at = time.monotonic()
    return Ended(process.returncode, at, output, _after_a_moment(mark))


def _processes(mark: str) -> list[int]:
    """The processes that have this in their environment: what a launch started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parts[2]))
        except OSError:
            pass
    return found


def _after_a_moment(mark: str) -> list[str]:
    """What still runs after a second, as command lines; it is killed."""
    deadline = time.monotonic() + 1
    while _processes(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = []
    for pid in _processes(mark):
        try:
            left.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode())
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    return left


def shared_memory():
    """What MPI could leave there; other users' files come and go."""
    kinds = ("mpich", "ucx_shm", "sm_segment", "open_mpi", "norch")
    return {name for name in os.listdir("/dev/shm") if name.startswith(kinds)}


def passes(ranks: int, program: str, *arguments: str, limit: float = 120, **environment: str) -> str:
    """Run programs/<program>.py, which must end well on all ranks; return what it printed."""
    ended = launch(ranks, HERE / "programs" / f"{program}.py", *arguments, limit=limit, **environment)
    assert ended.status == 0 and not ended.orphans, ended.output[-4000:]
    return ended.output
