"""The package finds its library wherever it lies, says so where it is missing, and states one version."""

from __future__ import annotations

import ast
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


def run_python(*arguments, folder, library=None, cwd=None):
    """Runs a Python that finds norch in `folder` only; NORCH_LIBRARY is set if `library` is given."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    environment.pop("NORCH_LIBRARY", None)
    if library is not None:
        environment["NORCH_LIBRARY"] = str(library)
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd or folder, env=environment, capture_output=True, text=True)


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


@pytest.fixture
def clone(copied):
    """A clone in a folder called norch."""
    shutil.copy(ROOT / "__init__.py", copied.rename(copied.with_name("norch")))
    return copied.with_name("norch")


def test_a_script_beside_the_clone_finds_the_package(clone):
    once = "import sys, norch.nn; print(norch.nn is sys.modules['norch.nn'])"
    (clone.parent / "script.py").write_text(f"{TRAIN}\n{once}\n")
    run = run_python("-W", "error", "script.py", folder=clone.parent)
    assert (run.returncode, run.stdout) == (0, "6.0\nTrue\n"), run.stderr


def test_beside_the_clone_an_installed_norch_comes_first(clone, tmp_path):
    (tmp_path / "installed" / "norch").mkdir(parents=True)
    (tmp_path / "installed" / "norch" / "__init__.py").write_text("installed = True")
    paths = os.pathsep.join([str(clone.parent), str(tmp_path / "installed")])
    run = run_python("-c", "import norch; print(norch.installed)", folder=paths, cwd=tmp_path / "installed")
    assert run.returncode == 0, run.stderr


def test_an_old_python_gets_a_sentence():
    """Whose parser must take the file first, and the example's too."""
    for file in (PACKAGE / "__init__.py", ROOT / "examples" / "sin2.py"):
        text = file.read_text(encoding="utf-8")
        ast.parse(text, feature_version=(3, 6))
        assert "from __future__" not in text
    run = run_python("-c", "import sys; sys.version_info = (3, 8, 1); import norch", folder=ROOT)
    assert re.search("^ImportError: norch needs Python 3.9 or later, this is Python ", run.stderr, re.MULTILINE)


def make(folder, *arguments):
    """The Makefile's output with a compiler and a Python that only say that they were called."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "CUDA", "NORCH", "ARGS"))
    }
    tools = [f"CXX={folder / 'compiler'}", f"PYTHON={folder / 'python'}", "CUDA=0"]
    command = ["make", *tools, *arguments]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture
def sources(tmp_path):
    """A fresh clone, as far as the Makefile sees."""
    for name in ("norch/csrc", "tools"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "compiler").write_text(
        '#!/bin/sh\n[ "$1" = -dumpmachine ] && echo x86_64 && exit\n'
        'while [ $# -gt 0 ]; do [ "$1" = -o ] && echo built > "$2"; shift; done\n'
    )
    (tmp_path / "python").write_text('#!/bin/sh\necho "train with ${NORCH_LIBRARY:-the package}"\n')
    for name in ("compiler", "python"):
        (tmp_path / name).chmod(0o755)
    return tmp_path


needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


@needs_make
def test_make_counts_what_it_compiles(sources):
    counts = re.findall(r"^\[(\d+)/(\d+)\] compile", make(sources), re.MULTILINE)
    assert len(counts) > 40 and sorted(counts, key=lambda pair: int(pair[0])) == [
        (str(number), str(len(counts))) for number in range(1, len(counts) + 1)
    ]
    assert "compile" not in make(sources)
    assert (sources / "norch" / "libnorch.so").exists()
    objects = sorted((sources / "build" / "cpu" / "api").glob("*.o"))
    for number in (1, 2):
        objects[number].unlink()
    assert sorted(re.findall(r"^(\[.*\]) compile", make(sources), re.MULTILINE)) == ["[1/2]", "[2/2]"]
    (sources / "norch" / "csrc" / "api" / "views.cpp").touch()
    assert re.findall(r"^.*compile.*$", make(sources), re.MULTILINE) in ([], ["compile norch/csrc/api/views.cpp"])


@needs_make
def test_the_first_example_comes_before_the_whole_library(sources):
    output = make(sources, "example")
    first, _, rest = output.partition("train with build/first/libnorch.so\n")
    assert "for baseline" in first and "avx" not in first and "for avx512" in rest and "train" not in rest
    assert (sources / "norch" / "libnorch.so").exists()
    again = make(sources, "example")
    assert "compile" not in again and again.endswith("train with the package\n")


@needs_make
def test_options_of_the_example_wait_for_the_whole_library(sources):
    output = make(sources, "example", "ARGS=--epochs 3")
    assert "first" not in output and output.endswith("train with the package\n")


def test_one_version():
    release = norch.version.release
    assert re.fullmatch(r"\d+\.\d+\.\d+", release) and norch.__version__ == f"{norch.version.interface}+norch{release}"
    for name in ("setup.py", "pyproject.toml"):  # both take it from the package
        assert release not in (ROOT / name).read_text(encoding="utf-8")


def test_types_are_published():
    assert (PACKAGE / "py.typed").exists()
