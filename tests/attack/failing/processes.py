"""Whole processes that are killed while they save, interrupted while they train, or refused threads."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import norch

VICTIM = Path(__file__).with_name("victim.py")


SIGNALS, KILLS = 40, 10  # of a round


def attack(report: Any, seconds: float, cases: int, rng: random.Random, preloaded: dict[str, str]) -> None:
    end, rounds = time.monotonic() + seconds, -(-cases // SIGNALS)
    if preloaded:
        refuse_threads(report, rng, preloaded)
    for _ in range(rounds):
        interrupt(report, end, rng)
        if time.monotonic() > end:
            return
        with tempfile.TemporaryDirectory(prefix="norch-attack-") as folder:
            for _ in range(KILLS):
                kill(report, Path(folder), rng)
                if time.monotonic() > end:
                    break
            clear(report, Path(folder))


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(VICTIM), *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env={**os.environ, **environment})


def line_of(victim: subprocess.Popen[str]) -> str:
    assert victim.stdout is not None
    return victim.stdout.readline().strip()


def kill(report: Any, folder: Path, rng: random.Random) -> None:
    """SIGKILL somewhere in a loop of saves: the file is one of those that were saved, whole and private."""
    path = folder / "weights"
    if not path.exists():
        norch.save({"number": -1, "x": norch.ones(3)}, path)
        path.chmod(0o600)
    victim = start("save", str(path))
    line_of(victim)
    delay = rng.uniform(0, 0.02)
    time.sleep(delay)
    victim.kill()
    victim.communicate()
    report.count("kills while saving")
    try:
        found = norch.load(path)
        if found["x"].tolist() != [1.0] * 3 and not (found["x"] == found["number"]).all():
            report.findings.append(f"killed {delay:.4f} s into saves, and the file holds parts of two: {found}")
    except Exception as error:
        report.findings.append(f"killed {delay:.4f} s into saves, and the file is broken: {error!r}")
    for left in folder.iterdir():
        if left.stat().st_mode & 0o077:
            report.findings.append(
                f"killed {delay:.4f} s into saves over a file of mode 600: {left.name} is open to others"
            )


def clear(report: Any, folder: Path) -> None:
    """What killed processes left behind goes with the next save."""
    norch.save(norch.ones(2), folder / "weights")
    left = sorted(path.name for path in folder.iterdir())
    if left != ["weights"]:
        report.findings.append(f"after killed saves and a good one the folder holds {left}")


def interrupt(report: Any, end: float, rng: random.Random) -> None:
    """SIGINT at random times into steps, loaders and saves: each arrives as a KeyboardInterrupt, and all is well."""
    victim = start("steps")
    line_of(victim)
    assert victim.stdin is not None
    for _ in range(SIGNALS):
        if time.monotonic() > end:
            break
        victim.stdin.write("on\n")
        victim.stdin.flush()
        time.sleep(rng.uniform(0, 0.004))
        victim.send_signal(signal.SIGINT)
        told = answer(victim)
        report.count("signals")
        if told != "caught":
            report.findings.append(f"SIGINT into python {VICTIM} steps: {told}")
            break
    victim.kill()
    victim.communicate()


def answer(victim: subprocess.Popen[str]) -> str:
    """What the victim says of a signal, or what became of it."""
    import select

    if not select.select([victim.stdout], [], [], 10)[0]:
        return "swallowed: no KeyboardInterrupt within 10 seconds"
    told = line_of(victim)
    return told or f"the process ended with status {victim.wait()}"


def refuse_threads(report: Any, rng: random.Random, preloaded: dict[str, str]) -> None:
    """The n-th thread cannot be started: fewer do the work, and its result is the same."""
    for n in (1, 2, rng.choice([3, 4])):
        victim = start("threads", str(n), **preloaded)
        told = answer(victim)
        report.count("threads that cannot be started")
        if told != "right":
            report.findings.append(f"thread {n} could not be started (python {VICTIM} threads {n}): {told}")
        victim.communicate()
