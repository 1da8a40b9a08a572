"""Packages norch with its library, which the Makefile builds: `pip install .`, `pip install -e .` or `pip wheel .`.

Variables of the Makefile pass through the environment: `CUDA=0 CXX=clang++ pip install .`
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, find_packages, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent


def read_version() -> str:
    """The version that norch/__init__.py states, read without importing it (the library may not be built yet)."""
    source = (HERE / "norch" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "([^"]+)"', source, re.MULTILINE)
    if match is None:
        raise RuntimeError("norch/__init__.py states no __version__")
    return match.group(1)


class BuildWithLibrary(build_py):
    """Runs make, so that norch/libnorch.so is there when the package's files are gathered (or linked to, by -e)."""

    def run(self) -> None:
        # A make that called pip hands down its own flags and job server, which are not for this one.
        environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
        environment.setdefault("PYTHON", sys.executable)
        try:
            subprocess.run(["make", "all"], cwd=HERE, env=environment, check=True)
        except FileNotFoundError:
            raise SystemExit("norch is built by make, which was not found: install make and a C++17 compiler") from None
        except subprocess.CalledProcessError as error:
            raise SystemExit(f"make could not build norch's library (exit status {error.returncode})") from None
        super().run()


class PlatformWheel(bdist_wheel):
    """py3-none-<platform>: the library is reached through ctypes, so any Python of the platform can load it."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class BinaryDistribution(Distribution):
    """Tells setuptools that the package holds machine code, although it declares no extension module."""

    def has_ext_modules(self) -> bool:
        return True


setup(
    name="norch",
    version=read_version(),
    description="The article 'Recreating PyTorch from scratch', made real: tensors in C++, autograd and nn in Python",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="the norch authors",
    license="MIT",
    python_requires=">=3.9",
    packages=find_packages(include=["norch", "norch.*"]),
    package_data={"norch": ["libnorch.so", "py.typed"]},
    zip_safe=False,
    extras_require={"numpy": ["numpy"], "plot": ["matplotlib"], "test": ["pytest>=7"], "docs": ["pdoc>=15,<17"]},
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel},
    distclass=BinaryDistribution,
)
