"""Everything that can fail does, one thing after another: is the failure told, is nothing lost, torn or leaked?

- an allocation of the library, on the CPU and on the emulated CUDA device, and the start of a kernel there (`make
  CUDA=emu`; left out if that is not built, or is older than the sources);
- a bytecode of norch's Python code is interrupted, as by Ctrl-C;
- a call that opens, reads, writes or renames a file, or starts a thread, fails;
- a process is killed while it saves, and interrupted by signals while it trains.

The programs are calls of all layers, optimizers and operations, the examples of all docstrings, and files. They run in
processes of their own (failing/worker.py), so that a crash or a hang is a finding.
"""

from __future__ import annotations

import json
import os
import queue
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from failing import faults, processes
from report import Report

HERE = Path(__file__).resolve().parent
EMULATED = HERE.parents[1] / "build" / "cuda-emu" / "libnorch.so"
SOURCES = HERE.parents[1] / "norch" / "csrc"
PATIENCE = 60.0  # seconds for one attempt
CASES = 40  # programs of a short attack, of each kind of failure
FILES = "EIO,ENOSPC,EINTR,short"


def attack(seconds: float, cases: int, seed: int) -> Report:
    report, rng = Report(), random.Random(seed)
    preloaded = faults.preloaded()
    # what to do, and which share of the time it has
    parts = [(0.15, lambda time: _workers(report, FILES, "cpu", time, cases, rng, preloaded))] if preloaded else []
    parts += [
        (0.3, lambda time: _workers(report, "allocation", "cpu", time, cases, rng, {})),
        (0.35, lambda time: _workers(report, "interrupt", "cpu", time, cases, rng, {})),
    ]
    if EMULATED.exists() and EMULATED.stat().st_mtime > max(path.stat().st_mtime for path in SOURCES.rglob("*.*")):
        emulated = {"NORCH_LIBRARY": str(EMULATED), "NORCH_CUDA_CACHE": "0"}
        parts.append((0.2, lambda time: _workers(report, "allocation,launch", "cuda", time, cases, rng, emulated)))
    parts.append((0.15, lambda time: processes.attack(report, time, cases, rng, preloaded)))
    end, whole = time.monotonic() + seconds, sum(share for share, _ in parts)
    for share, part in parts:
        if report.is_enough:
            break
        part(max(1.0, (end - time.monotonic()) * share / whole))
        whole -= share
    return report


def _workers(
    report: Report, kinds: str, device: str, seconds: float, cases: int, rng: random.Random, extra: dict[str, str]
) -> None:
    """Let a worker try for some seconds; one that dies or hangs is a finding, and another goes on after that place."""
    seed, skip, end = rng.randrange(2**31), 0, time.monotonic() + seconds
    named: set[str] = set()
    while time.monotonic() < end and skip < cases and not report.is_enough:
        command = [
            sys.executable,
            "-m",
            "failing.worker",
            kinds,
            device,
            str(end - time.monotonic()),
            str(seed),
            str(skip),
            str(cases),
        ]
        path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", str(HERE.parents[1]))])
        environment = {**os.environ, **extra, "PYTHONPATH": path}
        worker = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        at, skip = _listen(worker, report, named, device)
        if at is None:
            return
        report.findings.append(at)
        if not skip:  # it did not even begin
            return


def _listen(worker: subprocess.Popen[str], report: Report, named: set[str], device: str) -> tuple[str | None, int]:
    """Count what a worker tells; how it ended if it did not end well, and the number of what it was at."""
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(worker, lines), daemon=True).start()
    at, number = "the beginning", 0
    while True:
        try:
            line = lines.get(timeout=PATIENCE)
        except queue.Empty:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.communicate()
            return f"hung for {PATIENCE:.0f} seconds: {at}", number
        if not line:
            break
        told = json.loads(line)
        if "at" in told:
            at, number = told["at"], told["number"]
            report.count(f"failures of the kind {at.split()[0]}, {device}" if "without" not in at else "programs")
        elif _kind_of(told["finding"]) not in named:  # the same fault shows in many programs
            named.add(_kind_of(told["finding"]))
            report.findings.append(told["finding"])
            if report.is_enough:
                worker.kill()
                worker.communicate()
                return None, number
    _, errors = worker.communicate()
    if worker.returncode == 0:
        return None, number
    how = signal.Signals(-worker.returncode).name if worker.returncode < 0 else f"exit status {worker.returncode}"
    return f"the process ended with {how}: {at}\n{errors[-1500:]}", number


def _read(worker: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    assert worker.stdout is not None
    for line in worker.stdout:
        lines.put(line)
    lines.put("")


def _kind_of(finding: str) -> str:
    """What a finding says without its numbers and the program: the place if there is one."""
    place = re.search(r" \(([^()]* in [^,]*),", finding)
    return re.sub(r"\d+", "", place[1] if place else finding)[:200] + finding.rpartition(": ")[0][-40:]
