"""Attacks norch, and says what was tried and found.

    python tests/attack/run.py [--seconds 60 | --cases 100] [--seed 0] [attacker...]

An attacker is a module beside this one with `attack(seconds, cases, seed)`, which gives a Report. It ends when its
seconds are over, or when it has tried so many cases; without either it tries its own `CASES`. The same seed makes the
same attempts, but for signals and kills at random times. Each attacker runs in a process of its own, so that what one
breaks does not reach the next. The exit status is 1 if anything was found.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ATTACKERS = ["programs", "replays", "arguments", "failures", "parsers"]


def attack(name: str, seconds: float | None, cases: int | None, seed: int) -> int:
    """One attacker, in this process: the number of its findings."""
    start, module = time.monotonic(), importlib.import_module(name)
    if cases is None:
        cases = module.CASES if seconds is None else sys.maxsize
    report = module.attack(math.inf if seconds is None else seconds, cases, seed)
    print(f"{name} ({time.monotonic() - start:.0f} s, seed {seed}): {report}", flush=True)
    return len(report.findings)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("attackers", nargs="*", default=ATTACKERS, metavar="attacker", help=", ".join(ATTACKERS))
    parser.add_argument("--seconds", type=float, help="for all of them together")
    parser.add_argument("--cases", type=int, help="of each of them")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":  # or the order of sets would differ from run to run
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
    unknown = set(options.attackers) - set(ATTACKERS)
    if unknown:
        parser.error(f"no attackers of these names: {', '.join(sorted(unknown))}")
    if len(options.attackers) == 1:
        return 1 if attack(options.attackers[0], options.seconds, options.cases, options.seed) else 0
    command = [sys.executable, __file__, "--seed", str(options.seed)]
    if options.seconds is not None:
        command += ["--seconds", str(options.seconds / len(options.attackers))]
    if options.cases is not None:
        command += ["--cases", str(options.cases)]
    environment = {**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", str(ROOT))}
    return max(subprocess.run([*command, name], env=environment).returncode != 0 for name in options.attackers)


if __name__ == "__main__":
    sys.exit(main())
