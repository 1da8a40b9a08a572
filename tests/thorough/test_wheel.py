"""norch packed and installed by pip: as sources, as a wheel, from the folder, editable, and moved after that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRAIN = (
    "import norch; x = norch.Tensor([3.0], requires_grad=True); (x * x).sum().backward();"
    "print(x.grad[0], norch.__file__)"
)


def run(*command, folder):
    """Runs a command away from this checkout, so that nothing finds norch here."""
    hidden = ("PYTHONPATH", "NORCH_LIBRARY", "MAKEFLAGS", "MAKELEVEL")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment["CXXFLAGS"] = "-O0"  # what is tested is the packaging: let the compiler be quick
    done = subprocess.run([str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def make_environment(folder):
    """A fresh virtual environment's Python."""
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def check_norch(python, folder):
    """Trains a little; returns where that Python found norch."""
    gradient, location = run(python, "-c", TRAIN, folder=folder).split(maxsplit=1)
    assert gradient == "6.0"
    return Path(location.strip())


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A source distribution, unpacked: made of the files that git would have in a fresh clone."""
    clone = tmp_path_factory.mktemp("clone")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    make_sdist = "from setuptools.build_meta import build_sdist; build_sdist('dist')"
    run(sys.executable, "-c", make_sdist, folder=clone)
    (packed,) = (clone / "dist").glob("norch-*.tar.gz")
    unpacked = tmp_path_factory.mktemp("unpacked")
    run("tar", "xf", packed, folder=unpacked)
    (folder,) = unpacked.iterdir()
    assert not list(folder.rglob("*.so"))
    return folder


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    """A wheel, built with the setuptools that is installed here."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", folder, source, folder=folder)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_is_for_any_python_of_this_platform(wheel):
    name, _, python, abi, platform = wheel.stem.split("-")
    assert (name, python, abi) == ("norch", "py3", "none") and platform != "any"


def test_the_wheel_holds_the_package_and_its_library_alone(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"norch/__init__.py", "norch/libnorch.so", "norch/py.typed", "norch/nn/modules/linear.py"} <= set(names)
    assert {"norch/tensor.pyi", "norch/functions/of_methods.pyi"} <= set(names)
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"norch"}


def test_the_installed_wheel_can_be_moved(wheel, tmp_path):
    python = make_environment(tmp_path / "env")
    run(python, "-m", "pip", "install", "--no-deps", wheel, folder=tmp_path)
    installed = check_norch(python, tmp_path).parent
    assert tmp_path in installed.parents

    moved = tmp_path / "moved"
    moved.mkdir()
    installed.rename(moved / "norch")
    assert check_norch(python, moved).parent == moved / "norch"


def test_pip_install_in_isolation(source, tmp_path):
    python = make_environment(tmp_path / "env")
    run(python, "-m", "pip", "install", source, folder=tmp_path)
    assert tmp_path in check_norch(python, tmp_path).parents


def test_an_editable_install_runs_from_the_source(source, tmp_path):
    copy = tmp_path / "source"
    shutil.copytree(source, copy)
    python = make_environment(tmp_path / "env")
    run(python, "-m", "pip", "install", "-e", copy, folder=tmp_path)
    assert check_norch(python, tmp_path).parent == copy / "norch"
