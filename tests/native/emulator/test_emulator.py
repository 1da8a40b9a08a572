"""The emulator finds planted bugs: each in the mode, or the modes, that can see it, and nothing in correct kernels.

The kernels are in planted.cu, which is built here as the Makefile builds cuda.cu: plainly, and with each sanitizer.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
EMULATOR = HERE.parents[2] / "tools" / "cuda_emulator"
COMPILER = shutil.which(os.environ.get("CXX", "g++").split()[-1])  # "ccache g++"
MODES = {"plain": [], "address": ["-fsanitize=address,undefined"], "thread": ["-fsanitize=thread"]}
ORDERS = ["forward", "reverse", "7"]

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """planted.cu as a program, for each mode."""
    folder = tmp_path_factory.mktemp("planted")
    subprocess.run([sys.executable, EMULATOR / "translate.py", HERE / "planted.cu", folder], check=True)
    building = []
    for mode, flags in MODES.items():
        define = [] if mode == "plain" else [f"-DEMULATOR_{mode.upper()}"]
        common = [COMPILER, "-std=c++17", "-O1", "-g", f"-I{EMULATOR}"]
        objects = [folder / f"{part}-{mode}.o" for part in ("emulator", "memory", "graphs")]
        for part in objects:
            source = EMULATOR / f"{part.stem.split('-')[0]}.cpp"
            subprocess.run([*common, *define, "-c", source, "-o", part], check=True)
        program = folder / f"planted-{mode}"
        building.append(subprocess.Popen([*common, *flags, folder / "planted.cpp", *objects, "-o", program]))
    assert all(process.wait() == 0 for process in building)
    return {mode: folder / f"planted-{mode}" for mode in MODES}


def run(program, kernel, order="forward"):
    """What a run of one kernel has to say; empty if it ended as if all were well."""
    options = {"NORCH_EMULATOR_ORDER": order, "TSAN_OPTIONS": "exitcode=66", "ASAN_OPTIONS": "detect_leaks=0"}
    environment = {**os.environ, **options}
    done = subprocess.run([program, kernel], env=environment, capture_output=True, text=True, timeout=120)
    return f"status {done.returncode}: {done.stderr}" if done.returncode else ""


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kernel", ["sum", "atomic_sum", "graph"])
def test_correct_kernels_pass(programs, kernel, mode, order):
    assert run(programs[mode], kernel, order) == ""


# bug -> what is said about it, and in which mode
ALWAYS_FOUND = {
    "divergent_barrier": "different __syncthreads",
    "early_return": "after others of its block have returned",
    "host_pointer": "memory of the host",
    "other_device": "memory of another device",
    "unset_memory": "wrong result: -?nan",
    "block_too_large": "cudaErrorInvalidConfiguration",
    "empty_grid": "cudaErrorInvalidConfiguration",
    "grid_too_high": "cudaErrorInvalidConfiguration",
    "copy_too_long": "cudaErrorInvalidValue",
    "copy_wrong_way": "cudaErrorInvalidMemcpyDirection",
    "free_twice": "cudaErrorInvalidValue",
    "too_much_memory": "cudaErrorMemoryAllocation",
    "graph_reads_freed_memory": "unset_kernel: .*freed after its capture",
    "graph_reads_moved_memory": "unset_kernel: .*freed after its capture",
    "graph_reads_freed_member": "member_kernel: .*freed after its capture",
    "memory_in_capture": "cudaErrorStreamCaptureUnsupported",
    "wait_in_capture": "cudaErrorStreamCaptureUnsupported",
    "host_copy_in_capture": "cudaErrorStreamCaptureUnsupported",
    "capture_of_a_forbidden_call": "cudaErrorStreamCaptureInvalidated",
    "capture_of_default_stream": "cudaErrorStreamCaptureUnsupported",
    "graph_launched_after_its_end": "cudaErrorInvalidValue",
}
FOUND_BY = {
    ("missing_barrier", "thread"): "data race",
    ("racing_sum", "thread"): "data race",
    ("racing_blocks", "thread"): "data race",
    ("store_past_end", "plain"): "past the end",
    ("store_past_end", "address"): "heap-buffer-overflow",
    ("store_before_start", "address"): "heap-buffer-overflow",
    ("shared_overflow", "address"): "(heap-buffer-overflow|out of bounds)",
    ("host_reads_device", "address"): "use-after-poison",
}


def assert_found(report, words):
    assert re.search(words, report), f"not found; the run said: {report or 'nothing'}"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bug", ALWAYS_FOUND)
def test_bugs_that_every_mode_finds(programs, bug, mode):
    assert_found(run(programs[mode], bug), ALWAYS_FOUND[bug])


@pytest.mark.parametrize("bug, mode", FOUND_BY)
def test_bugs_that_a_sanitizer_finds(programs, bug, mode):
    assert_found(run(programs[mode], bug), FOUND_BY[bug, mode])


def test_some_thread_order_shows_a_missing_barrier_without_a_sanitizer(programs):
    assert any("wrong result" in run(programs["plain"], "missing_barrier", order) for order in ORDERS)
