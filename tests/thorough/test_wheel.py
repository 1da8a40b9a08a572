"""norch packed and installed by pip: as sources, as a wheel, from the folder, editable, and moved after that."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import norch

ROOT = Path(__file__).resolve().parents[2]
TRAIN = (
    "import norch; x = norch.Tensor([3.0], requires_grad=True); (x * x).sum().backward();"
    "print(x.grad[0], norch.__file__)"
)


def run(*command, folder):
    """Runs a command away from this checkout, so that nothing finds norch here."""
    hidden = ("PYTHONPATH", "NORCH_LIBRARY", "MAKEFLAGS", "MAKELEVEL")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"CXXFLAGS": "-O0", "ONE_COPY": "1"}  # what is tested is the packaging: let the compiler be quick
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


@pytest.fixture(scope="module")
def portable(tmp_path_factory):
    """What `make wheel` makes of this checkout's objects: how they were optimized decides what they ask for."""
    folder = tmp_path_factory.mktemp("portable")
    command = ["make", "wheel", f"DIST={folder}", f"PYTHON={sys.executable}", "CUDA=0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


NEWEST = {"GLIBC": (2, 27), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0)}  # of manylinux_2_27


def check_what_is_asked_for(library, objdump):
    asked = set(re.findall(r"\(([A-Z]+)_([\d.]+)\)", run(objdump, "-T", library, folder=library.parent)))
    assert {name for name, _ in asked} >= {"GLIBC", "GLIBCXX"}
    assert [pair for pair in asked if tuple(map(int, pair[1].split("."))) > NEWEST[pair[0]]] == []


CROSS, QEMU = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64-static")
OTHER = os.environ.get("AARCH64_ROOT", "")  # a folder with usr/bin/python3 of that processor, and its libraries
PYTHONS = sorted(Path(OTHER, "usr", "bin").glob("python3.[0-9]*")) if OTHER else []


@pytest.mark.skipif(not (CROSS and QEMU), reason="needs g++-aarch64-linux-gnu and qemu-user-static")
@pytest.mark.skipif(not PYTHONS, reason="needs AARCH64_ROOT, a folder with a Python for aarch64 (CONTRIBUTING.md)")
def test_the_wheel_for_aarch64_trains_there(tmp_path):
    command = ["make", "wheel", f"DIST={tmp_path}", f"PYTHON={sys.executable}", "CUDA=0"]
    command += ["MACHINE=aarch64", f"CXX={CROSS}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = tmp_path.glob("norch-*-py3-none-manylinux_2_27_aarch64.whl")
    zipfile.ZipFile(built).extractall(tmp_path)
    check_what_is_asked_for(tmp_path / "norch" / "libnorch.so", "aarch64-linux-gnu-objdump")
    gradient, location = run(QEMU, "-L", OTHER, PYTHONS[0], "-c", TRAIN, folder=tmp_path).split(maxsplit=1)
    assert gradient == "6.0" and Path(location.strip()).parent == tmp_path / "norch"


def test_the_portable_wheel_asks_for_old_libraries_alone(portable, tmp_path):
    assert "-py3-none-manylinux_2_27_" in portable.name
    library = zipfile.ZipFile(portable).extract("norch/libnorch.so", tmp_path)
    check_what_is_asked_for(Path(library), "objdump")


def test_the_portable_wheel_trains_in_every_python_here(portable, tmp_path):
    zipfile.ZipFile(portable).extractall(tmp_path)
    found = {shutil.which(f"python3.{minor}") for minor in range(9, 20)} - {None}
    working = [python for python in found if subprocess.run([python, "-c", ""], capture_output=True).returncode == 0]
    for python in [sys.executable, *working]:
        assert check_norch(python, tmp_path).parent == tmp_path / "norch"


def test_norch_cuda_is_preferred_where_it_is_installed(portable, tmp_path):
    """The library of the wheel stands for one with CUDA."""
    library = zipfile.ZipFile(portable).extract("norch/libnorch.so", tmp_path)
    packed = run(
        sys.executable, ROOT / "tools" / "cuda_wheel.py", library, "manylinux_2_27_x86_64", tmp_path, folder=tmp_path
    )
    python = make_environment(tmp_path / "env")
    run(python, "-m", "pip", "install", "--no-index", portable, packed.strip(), folder=tmp_path)
    asked = "import norch; print([line.split()[-1] for line in open('/proc/self/maps') if 'libnorch' in line][0])"
    loaded = run(python, "-c", asked, folder=tmp_path)
    assert Path(loaded.strip()).name == f"libnorch_cuda-{norch.version.release}.so"
    Path(loaded.strip()).rename(Path(loaded.strip()).with_name("libnorch_cuda-0.0.9.so"))  # of an older norch
    assert Path(run(python, "-c", asked, folder=tmp_path).strip()).name == "libnorch.so"


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
