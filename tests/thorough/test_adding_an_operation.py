"""CONTRIBUTING's worked example: in a copy of norch, its pieces make an operation that passes every test."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def read_pieces():
    """The code blocks of the section: (file that the text before a block names last, the block)."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("\n## Adding an operation\n")[1].split("\n## ")[0]
    pieces = []
    for prose, code in re.findall(r"(.*?)```\w+\n(.*?)```", section, re.DOTALL):
        pieces.append((re.findall(r"`((?:norch|tests)/[\w/.]+)`", prose)[-1], code))
    return pieces


def insert(lines, code):
    """Puts a class after TanhBackward, any other line of code after the line like it for tanh."""
    if code.startswith("class"):
        start = next(i for i, line in enumerate(lines) if line.startswith("class TanhBackward"))
        end = next(i for i in range(start + 1, len(lines)) if lines[i].startswith("class "))
        return [*lines[:end], *code.splitlines(), "", "", *lines[end:]]
    for new in code.splitlines():
        beside = re.escape(new[: new.index("gudermannian")] + "tanh")
        (place,) = [i for i, line in enumerate(lines) if re.match(rf"{beside}\b", line)]
        lines = [*lines[: place + 1], new, *lines[place + 1 :]]
    return lines


@pytest.fixture
def extended(tmp_path):
    """A copy of the sources with the section's pieces in it."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy2(ROOT / name, tmp_path / name)
    for name in ("norch", "tests", "tools", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.so", "__pycache__", "check"))
    for name, code in read_pieces():
        path = tmp_path / name
        path.write_text("\n".join(insert(path.read_text().splitlines(), code)) + "\n")
    return tmp_path


def test_the_operation_passes_every_test(extended):
    pieces = [name for name, _ in read_pieces()]
    sources = ["norch/csrc/ops/operations.h", "norch/tensor.py", "norch/autograd/functions.py"]
    assert pieces == [*sources, "tests/tables/operations.py"]

    hidden = ("MAKEFLAGS", "MAKELEVEL", "NORCH_LIBRARY", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    quick = ["make", "CUDA=0", "CXXFLAGS=-O0", "ONE_COPY=1"]
    build = subprocess.run(quick, cwd=extended, env=environment, capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    paths = {**environment, "PYTHONPATH": str(extended)}
    subprocess.run([sys.executable, "tools/stubs.py"], cwd=extended, env=paths, check=True)
    command = [sys.executable, "-m", "pytest", "tests", "tests/oracle", "-q", "-k", "gudermannian or stubs"]
    suite = subprocess.run(command, cwd=extended, env=environment, capture_output=True, text=True)
    assert suite.returncode == 0, suite.stdout
    assert int(re.search(r"(\d+) passed", suite.stdout).group(1)) > 20
