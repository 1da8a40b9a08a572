"""The package finds its library wherever it lies, says so where it is missing, and states one version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import norch

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(norch.__file__).resolve().parent
TRAIN = "import norch; x = norch.Tensor([3.0], requires_grad=True); (x * x).sum().backward(); print(x.grad[0])"


def run_python(*arguments, folder, library=None):
    """Runs a Python that finds norch in `folder` only; NORCH_LIBRARY is set if `library` is given."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    environment.pop("NORCH_LIBRARY", None)
    if library is not None:
        environment["NORCH_LIBRARY"] = str(library)
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def copied(tmp_path):
    """A copy of the package in a folder whose name would break an unquoted path."""
    folder = tmp_path / "a place, é"
    shutil.copytree(PACKAGE, folder / "norch", ignore=shutil.ignore_patterns("csrc", "__pycache__"))
    return folder


def test_a_copy_uses_its_own_library(copied):
    run = run_python("-c", TRAIN + "; print(norch.__file__); print(norch._C.lib.path)", folder=copied)
    assert run.returncode == 0, run.stderr
    gradient, package, library = run.stdout.splitlines()
    assert gradient == "6.0"
    assert Path(package) == copied / "norch" / "__init__.py"
    assert Path(library) == copied / "norch" / "libnorch.so"


def test_norch_library_chooses_another_library(copied):
    elsewhere = copied / "elsewhere.so"
    (copied / "norch" / "libnorch.so").rename(elsewhere)
    run = run_python("-c", TRAIN + "; print(norch._C.lib.path)", folder=copied, library=elsewhere)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == ["6.0", str(elsewhere)]


def test_a_missing_library_is_named(copied):
    (copied / "norch" / "libnorch.so").unlink()
    run = run_python("-c", "import norch", folder=copied)
    assert run.returncode == 1
    last = run.stderr.splitlines()[-1]
    assert last.startswith(("ImportError: ", "OSError: ")) and "libnorch.so" in last and "make" in last


def test_nothing_is_needed_beyond_the_standard_library(copied):
    # -S leaves out site-packages: only norch's folder and the standard library can be imported.
    run = run_python("-S", "-c", TRAIN + "; import norch.nn, norch.optim, norch.autograd", folder=copied)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "6.0\n"


def test_one_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", norch.__version__)
    for name in ("setup.py", "pyproject.toml"):  # both take it from the package
        assert norch.__version__ not in (ROOT / name).read_text(encoding="utf-8")


def test_types_are_published():
    assert (PACKAGE / "py.typed").exists()
