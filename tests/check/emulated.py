"""Runs the tests of operations on the CUDA emulator, in ways that each show another kind of bug in a kernel.

    python tests/check/emulated.py order build/cuda-emu/libnorch.so [options of pytest]
    python tests/check/emulated.py address build/cuda-emu-address/libnorch.so [--compiler g++]
    python tests/check/emulated.py thread build/cuda-emu-thread/libnorch.so [--compiler g++]

order: threads and blocks in reverse and shuffled (a missing barrier). address: AddressSanitizer and UBSan, with memory
of exact size (stores and loads out of bounds). thread: ThreadSanitizer, where each CUDA thread is a thread of its own
and only barriers order them (races). That tests/cuda_emulator finds planted bugs in these modes is tested there.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from sanitized import ROOT, environment_for, find_runtime, run_watched

# The tables of operations, and the shapes that need several blocks and two stages.
TABLES = ["tests/test_operations.py", "tests/test_reductions.py", "tests/test_gradients.py", "tests/test_cuda.py"]
# Each CUDA thread costs ThreadSanitizer a switch: a kernel of each kind has to do.
RACES = "test_cuda.py and not memory or test_reduction or test_matmul or test_case or test_unary and float32"


def run_tests(environment: dict, files: list, options: list) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, *options]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def in_other_orders(library: Path, options: list) -> int:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NORCH_LIBRARY": str(library), "NORCH_CUDA_CACHE": "0"}
    orders = [{**environment, "NORCH_EMULATOR_ORDER": order} for order in ("reverse", "20261121")]
    return max([run_tests(order, TABLES, ["-k", "cuda", *options]) for order in orders])


def under_address_sanitizer(library: Path, compiler: str, options: list) -> int:
    environment = {**environment_for(library, compiler), "NORCH_CUDA_CACHE": "0"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TABLES, "-k", "cuda", *options]
    status, found = run_watched(command, environment)
    print(*found, f"sanitizers: {len(found)} findings", sep="\n")
    return status or len(found)


def under_thread_sanitizer(library: Path, compiler: str, options: list) -> int:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "NORCH_LIBRARY": str(library),
        "NORCH_CUDA_CACHE": "0",
        "LD_PRELOAD": find_runtime(compiler, "libtsan.so"),
        "TSAN_OPTIONS": "halt_on_error=1,exitcode=66,report_signal_unsafe=0",  # the first race ends the run
    }
    return run_tests(environment, TABLES, ["-k", f"cuda and ({RACES})", *options])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("way", choices=["order", "address", "thread"])
    parser.add_argument("library", type=Path)
    parser.add_argument("--compiler", default="g++", help="the compiler that built the library")
    arguments, options = parser.parse_known_args()
    library = arguments.library.resolve()
    if arguments.way == "order":
        sys.exit(in_other_orders(library, options))
    if arguments.way == "address":
        sys.exit(bool(under_address_sanitizer(library, arguments.compiler, options)))
    sys.exit(under_thread_sanitizer(library, arguments.compiler, options))


if __name__ == "__main__":
    main()
