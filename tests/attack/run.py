"""Attacks norch for some time, and says what was tried and found.

    python tests/attack/run.py [--seconds 60] [--seed 0] [attacker...]

An attacker is a module beside this one with `attack(seconds, seed)`, which gives a Report. It uses its seconds up, and
the same seed makes the same attempts. Each runs in a process of its own, so that what one breaks does not reach the
next. The exit status is 1 if anything was found.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ATTACKERS = ["programs", "arguments", "failures", "parsers"]


def attack(name: str, seconds: float, seed: int) -> int:
    """One attacker, in this process: the number of its findings."""
    start = time.monotonic()
    report = importlib.import_module(name).attack(seconds, seed)
    print(f"{name} ({time.monotonic() - start:.0f} s, seed {seed}): {report}", flush=True)
    return len(report.findings)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("attackers", nargs="*", default=ATTACKERS, metavar="attacker", help=", ".join(ATTACKERS))
    parser.add_argument("--seconds", type=float, default=60, help="for all of them together")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    unknown = set(options.attackers) - set(ATTACKERS)
    if unknown:
        parser.error(f"no attackers of these names: {', '.join(sorted(unknown))}")
    share = options.seconds / len(options.attackers)
    if len(options.attackers) == 1:
        return 1 if attack(options.attackers[0], share, options.seed) else 0
    command = [sys.executable, __file__, "--seconds", str(share), "--seed", str(options.seed)]
    environment = {**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", str(ROOT))}
    return max(subprocess.run([*command, name], env=environment).returncode != 0 for name in options.attackers)


if __name__ == "__main__":
    sys.exit(main())
