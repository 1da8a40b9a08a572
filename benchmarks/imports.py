"""How long `import norch` takes, beside NumPy and torch: the processor's time in fresh interpreters, a median.

    PYTHONPATH=. python benchmarks/imports.py

Bytecode is there already, as after anyone's first import.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

LIBRARIES = ("norch", "numpy", "torch", "magnetron")
CODE = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"


def seconds(library: str, bytecode: str) -> float | None:
    """The time of one import; None where the library is not installed. Bytecode is kept in a folder."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", CODE.format(library)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.returncode:
        if "ModuleNotFoundError" in run.stderr and library != "norch":
            return None
        raise SystemExit(run.stderr)
    return float(run.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, metavar="N", help="imports of each library (default: 9)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as bytecode:
        found = [library for library in LIBRARIES if seconds(library, bytecode) is not None]  # writes bytecode, too
        times: dict[str, list] = {library: [] for library in found}
        for _ in range(rounds):
            for library in found:
                times[library].append(seconds(library, bytecode))
    ours = statistics.median(times["norch"])
    for library in LIBRARIES:
        if library in found:
            median = statistics.median(times[library])
            spread = f"{min(times[library]) * 1e3:.0f} to {max(times[library]) * 1e3:.0f}"
            print(f"import {library:10} {median * 1e3:7.1f} ms ({spread}), {median / ours:5.2f} times norch's")
        else:
            print(f"import {library:10} not installed")


if __name__ == "__main__":
    main()
