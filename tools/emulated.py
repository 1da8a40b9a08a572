"""Runs the tests of kernels on the CUDA emulator, in three ways that find different bugs.

    python tools/emulated.py order build/cuda-emu/libnorch.so [options of pytest]
    python tools/emulated.py address build/cuda-emu-address/libnorch.so [--compiler g++]
    python tools/emulated.py thread build/cuda-emu-thread/libnorch.so [--compiler g++]

order: threads and blocks shuffled and, with all cases, also in reverse (finds a missing barrier). address:
AddressSanitizer and UBSan, with memory of exact size (finds loads and stores out of bounds). thread: ThreadSanitizer,
which sees each CUDA thread as a thread that only barriers order (finds races). Each way must run every kernel of
norch/csrc. The tests in tests/native/emulator check that planted bugs are found.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from sanitized import ROOT, environment_for, find_runtime, run_watched

# Shapes that need several blocks, tiles and stages; failing launches; and all folders whose tests run on each device.
FILES = ["tests/native/test_cuda_kernels.py", "tests/native/test_cuda.py", "tests/recording/test_cuda_graphs.py"]
FOLDERS = ["tests/tables", "tests/tensor", "tests/optim", "tests/nn"]
# Gradients are made of other operations, or of kernels that the first file runs; statistics and trainings repeat the
# same launches a thousand times.
CHOSEN = "cuda and not (test_gradients or benchmark or tails or distribution or learns)"
# ThreadSanitizer is slow: the kernels whose threads meet.
THREAD = "test_cuda_kernels or test_faults or test_no_ or test_indexing or test_random or test_optim"


def command(files: list, options: list) -> list:
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, *options]


def kernels_of_norch() -> set:
    """The names of all kernels in the source."""
    sources = [*ROOT.glob("norch/csrc/*.cu"), *ROOT.glob("norch/csrc/cuda/*.cuh")]
    code = re.sub(r"//.*", "", "\n".join(path.read_text(encoding="utf-8") for path in sources))
    return set(re.findall(r"__global__ void\s+(?:__launch_bounds__\([^()]*\)\s+)?(\w+)\(", code))


def run(way: str, library: Path, compiler: str, order: str, options: list) -> int:
    """Runs the tests in one way; returns how many things were wrong."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "NORCH_LIBRARY": str(library),
        "NORCH_CUDA_CACHE": "0",
        "NORCH_EMULATOR_ORDER": order,
    }
    found: list = []
    with tempfile.TemporaryDirectory() as folder:
        environment["NORCH_EMULATOR_KERNELS"] = f"{folder}/kernels"
        chosen = f"{CHOSEN} and ({THREAD})" if way == "thread" else CHOSEN
        call = command(FILES + FOLDERS, ["-k", chosen, *options])
        if way == "address":
            status, found = run_watched(call, {**environment_for(library, compiler), **environment})
        else:
            if way == "thread":
                environment["LD_PRELOAD"] = find_runtime(compiler, "libtsan.so")
                environment["TSAN_OPTIONS"] = "halt_on_error=1,exitcode=66,report_signal_unsafe=0"  # at the first race
            status = subprocess.run(call, cwd=ROOT, env=environment).returncode
        ran = set(Path(folder, "kernels").read_text().split())
    missing = sorted(kernels_of_norch() - ran)
    print(*found, sep="\n")
    print(f"{way} {order}: {len(ran)} kernels ran, {len(found)} findings; not run: {', '.join(missing) or 'none'}")
    return bool(status) + len(found) + len(missing)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("way", choices=["order", "address", "thread"])
    parser.add_argument("library", type=Path)
    parser.add_argument("--compiler", default="g++", help="the compiler that built the library")
    arguments, options = parser.parse_known_args()
    orders = ["20261121", "reverse"] if arguments.way == "order" else ["forward"]
    if "--pairwise" in options:
        orders = orders[:1]
    wrong = [run(arguments.way, arguments.library.resolve(), arguments.compiler, order, options) for order in orders]
    sys.exit(bool(sum(wrong)))


if __name__ == "__main__":
    main()
