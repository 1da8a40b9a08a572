"""Runs the suite with a library built with AddressSanitizer, LeakSanitizer and UBSan.

    python tools/sanitized.py build/cpu-address/libnorch.so [--compiler g++] [tests and options of pytest]
    python tools/sanitized.py build/cpu-address/libnorch.so --attack SECONDS [--attacker NAME]

Python itself is not instrumented, so the sanitizer's runtime is preloaded, and libstdc++ after it: the interpreter does
not link to libstdc++, and the sanitizer must see its __cxa_throw before the first exception. Of the memory that is
still held at exit, only what libnorch.so allocated counts. Two planted bugs must be found before the suite starts.
Files, folders and tests that are named take the place of the suite, and so does, with --attack, an attacker of
tests/attack/run.py.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

CREATE = """
import ctypes
from norch import _C
number, shape = (ctypes.c_float * 1)(), (ctypes.c_int64 * 1)({size})
create = ctypes.PyDLL(_C.lib.path).create_tensor  # which knows no owner for the result
create(ctypes.byref(number), ctypes.byref(shape), 1, 4, 0)
"""
PLANTED = {"heap-buffer-overflow": CREATE.format(size=1000), "LeakSanitizer": CREATE.format(size=1)}
# Tests that take long and show the sanitizers nothing new: of texts, of files, which Python writes, and of sizes of
# memory, which a sanitizer changes
LEFT_OUT = [
    "--ignore=tests/docs",
    "--ignore=tests/native/test_packaging.py",
    "--ignore=tests/native/test_imports.py",
    "--ignore=tests/autograd/test_drawing.py",
    "--ignore=tests/tensor/test_written_files.py",
    "--ignore=tests/distributed/test_virtual_ranks.py",
    "--deselect=tests/data/test_resume.py::test_it_goes_on_in_another_process",
    # Threads that the end of the process stops while they work hold tensors; that is no leak.
    "--deselect=tests/native/test_threads.py::test_the_process_ends_while_threads_work",
]


def find_runtime(compiler, name):
    """The path of one of the compiler's own libraries."""
    command = [*compiler.split(), f"-print-file-name={name}"]
    path = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    if not path.is_absolute():
        sys.exit(f"{compiler} has no {name}: install its sanitizer libraries")
    return str(path.resolve())


def environment_for(library, compiler):
    """The variables under which any Python, children included, loads the instrumented library."""
    preload = [find_runtime(compiler, "libasan.so"), find_runtime(compiler, "libstdc++.so")]
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "NORCH_LIBRARY": str(library),
        "LD_PRELOAD": os.pathsep.join(preload),
        "PYTHONMALLOC": "malloc",  # Python's own pools would hide the edges of its buffers
    }


def run_watched(command, environment):
    """Runs a command; returns its exit status and what the sanitizers say about norch."""
    with tempfile.TemporaryDirectory() as folder:
        # exitcode=0: tests that look at a child's exit status see Python's; here the reports decide.
        # A request of more than 4 GB fails, as it would without sanitizers: its shadow would fill the memory.
        options = f"log_path={folder}/report,exitcode=0,allocator_may_return_null=1,max_allocation_size_mb=4096"
        options += ",detect_leaks=1,print_stacktrace=1,hard_rss_limit_mb=8192"
        environment = {**environment, "ASAN_OPTIONS": options, "UBSAN_OPTIONS": options}
        status = subprocess.run(command, cwd=ROOT, env=environment).returncode
        reports = [path.read_text(errors="replace") for path in sorted(Path(folder).iterdir())]
    return status, [finding for report in reports for finding in findings(report)]


def findings(report):
    """The parts of a report that are about norch: any error, and leaks of what libnorch.so allocated."""
    frames = [line for line in report.splitlines() if not re.match(r"\s*#\d\d", line)]  # Python's own are many
    report = "\n".join(frames).strip()
    if not re.search(r"ERROR: \w+Sanitizer|runtime error:", report):
        return []  # a warning, such as one of a request that was refused
    if "ERROR: LeakSanitizer" not in report:
        return [report.split("\nShadow bytes")[0]]
    title, *leaks, _ = re.split(r"\n\n+", report)
    return [f"{title}\n{leak}" for leak in leaks if "norch/csrc/" in leak]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", type=Path)
    parser.add_argument("--attack", metavar="SECONDS", help="attack for so long instead")
    parser.add_argument("--attacker", default="arguments", help="with hostile arguments, or one of tests/attack/run.py")
    parser.add_argument("--compiler", default="g++", help="the compiler that built the library")
    arguments, options = parser.parse_known_args()

    environment = environment_for(arguments.library.resolve(), arguments.compiler)
    for bug, code in PLANTED.items():
        _, found = run_watched([sys.executable, "-c", code], environment)
        if not any(bug in finding for finding in found):
            sys.exit(f"the sanitizers did not find a planted {bug}: nothing they say can be trusted")

    named = any(Path(ROOT, option.split("::")[0]).exists() for option in options)
    tests = [] if named else ["tests"]
    command = [sys.executable, "-m", "pytest", *tests, "-p", "no:cacheprovider", *LEFT_OUT, *options]
    if arguments.attack:
        command = [sys.executable, "tests/attack/run.py", "--seconds", arguments.attack, *options, arguments.attacker]
    status, found = run_watched(command, environment)
    print(*found, f"sanitizers: {len(found)} findings", sep="\n")
    sys.exit(status or bool(found))


if __name__ == "__main__":
    main()
