"""Builds norch's library by calling make; pyproject.toml says what norch is.

Variables of the Makefile pass through the environment: `CUDA=0 CXX=clang++ pip install .`
`make wheel` has built the library that it wants in the wheel, and names it in NORCH_PACKED.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py


class BuildWithLibrary(build_py):
    """Runs make, so that norch/libnorch.so is there when the package's files are gathered (or linked to, by -e)."""

    def run(self) -> None:
        packed = os.environ.get("NORCH_PACKED")
        if packed is None:
            self.make()
        super().run()
        if packed is not None:
            shutil.copyfile(packed, Path(self.build_lib, "norch", "libnorch.so"))

    def make(self) -> None:
        # If make called pip, its flags and job server are in the environment; they are not for this make.
        environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
        environment.setdefault("PYTHON", sys.executable)
        try:
            subprocess.run(["make", "all"], cwd=Path(__file__).resolve().parent, env=environment, check=True)
        except FileNotFoundError:
            raise SystemExit("norch is built by make, which was not found: install make and a C++17 compiler") from None
        except subprocess.CalledProcessError as error:
            raise SystemExit(f"make could not build norch's library (exit status {error.returncode})") from None


class PlatformWheel(bdist_wheel):
    """py3-none-<platform>: the library is reached through ctypes, so any Python of the platform can load it."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class BinaryDistribution(Distribution):
    """Tells setuptools that the package holds machine code, although it declares no extension module."""

    def has_ext_modules(self) -> bool:
        return True


setup(
    license="MIT",  # not in pyproject.toml, where no one form suits both old and new setuptools
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel},
    distclass=BinaryDistribution,
)
