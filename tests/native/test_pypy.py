"""norch on PyPy, which has ctypes but none of CPython's C API: it imports and trains."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYPY = shutil.which("pypy3")

LOOK = """
import gc
import norch
from norch import _C

assert not _C.CPYTHON
before = _C.live_tensors()
for i in range(100):
    x = norch.rand(3, requires_grad=True)
    values, _ = (x * i).sort()
    values.sum().backward()
    assert x.grad.tolist() == [i] * 3
with norch.no_grad():
    assert not norch.is_grad_enabled()
assert norch.is_grad_enabled()
for share in (norch.from_dlpack, lambda x: x.__dlpack__()):
    try:
        share(norch.ones(2))
        raise AssertionError("shared")
    except (BufferError, RuntimeError):
        pass
assert norch.tensor(bytearray(3)).tolist() == [0, 0, 0]
del x, values, _
for _ in range(3):
    gc.collect()
assert _C.live_tensors() <= before + 3, _C.live_tensors()
"""


def run(*arguments):
    done = subprocess.run(
        [PYPY, *arguments],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(PYPY is None, reason="needs pypy3")
def test_pypy_runs_norch():
    run("-c", LOOK)


@pytest.mark.skipif(PYPY is None, reason="needs pypy3")
def test_pypy_prints_the_losses_of_the_article():
    lines = run("examples/sin2.py").splitlines()
    assert [line.split()[-1] for line in lines[:10:3]] == ["1.7035", "0.1742", "0.1220", "0.1297"]
