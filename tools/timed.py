"""Runs a command, and says how many minutes it took: on the clock, and of CPU time, its children's included.

    python tools/timed.py name command...

The line is also added to build/minutes.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    name, *command = sys.argv[1:]
    start = time.monotonic()
    status = subprocess.run(command, close_fds=False).returncode  # with what makes tell each other of free cores
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    minutes, cpu = (time.monotonic() - start) / 60, (used.ru_utime + used.ru_stime) / 60
    line = f"{name:<24} {minutes:5.1f} minutes, {cpu:5.1f} of CPU time{'' if status == 0 else ', FAILED'}"
    print(line, flush=True)
    with open(ROOT / "build" / "minutes", "a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    sys.exit(status)


if __name__ == "__main__":
    main()
