"""Python threads that share models, leaves, generators and loaders; also without Python's global lock."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import shared_models

import norch

FREE_THREADED = os.environ.get("FREE_THREADED_PYTHON") or shutil.which("python3.13t") or shutil.which("python3.14t")


@pytest.fixture(autouse=True)
def switched_often():
    """Python changes threads as often as it can."""
    interval, threads = sys.getswitchinterval(), norch.get_num_threads()
    sys.setswitchinterval(1e-6)
    norch.set_num_threads(2)
    yield
    sys.setswitchinterval(interval)
    norch.set_num_threads(threads)


@pytest.mark.parametrize("attack", shared_models.ATTACKS, ids=lambda attack: attack.__name__)
def test_threads(attack):
    attack()


FORK = """
import os, sys, threading, time, norch
leaf = norch.zeros(200_000, requires_grad=True)
def work():
    while True:
        (leaf * 2.0).sum().backward()
        norch.rand(2)
        norch.ones(2).untyped_storage()
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
for _ in range(15):
    child = os.fork()
    if child == 0:
        own = norch.ones(3, requires_grad=True)
        (own * norch.rand(3)).sum().backward()
        os._exit(0 if own.untyped_storage() is own.untyped_storage() else 3)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.05)
    else:
        os.kill(child, 9)
        sys.exit("a child hangs")
    if status:
        sys.exit(f"a child ended with {status}")
os._exit(0)  # what the threads hold now is no leak
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_children_of_a_process_whose_threads_hold_locks():
    result = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(FREE_THREADED is None, reason="no free-threaded Python is installed")
def test_threads_without_the_global_lock():
    environment = {**os.environ, "PYTHONPATH": str(Path(norch.__file__).parents[1]), "PYTHON_GIL": "0"}
    command = [FREE_THREADED, shared_models.__file__]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0 and "without the global lock" in result.stdout, result.stdout + result.stderr
