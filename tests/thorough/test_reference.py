"""`make docs`: a page for each public module, with every public name and its example on it."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_docstrings import MODULES, NAMES, TENSOR, modules

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    target = tmp_path_factory.mktemp("docs")
    run = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "reference.py"), str(target)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert "warn" not in run.stderr.lower(), run.stderr
    return target


def page(pages, module):
    return (pages / (module.replace(".", "/") + ".html")).read_text(encoding="utf-8")


def test_the_pages_are_those_of_the_public_modules(pages):
    found = {str(path.relative_to(pages))[: -len(".html")].replace("/", ".") for path in pages.rglob("*.html")}
    assert found == {"index", *(module.__name__ for module in modules())}
    assert (pages / "search.js").exists()
    assert " ".join(MODULES) in " ".join((ROOT / "docs" / "reference.py").read_text(encoding="utf-8").split())


def test_every_public_name_is_there(pages):
    for module in modules():
        anchors = set(re.findall(r'id="([\w.]+)"', page(pages, module.__name__)))
        names = [name.rpartition(".")[2] for name in NAMES if name.rpartition(".")[0] == module.__name__]
        assert sorted(set(names) - anchors) == []
    anchors = set(re.findall(r'id="(Tensor\.\w+)"', page(pages, "norch")))
    assert len(anchors) >= len(TENSOR) and {name[len("norch.") :] for name in TENSOR} <= anchors


def test_examples_are_shown_as_code(pages):
    text = re.sub(r"<[^>]+>", "", page(pages, "norch.nn"))
    assert "&gt;&gt;&gt; nn.Linear(3, 2)(norch.ones(5, 3)).shape" in text
    assert inspect.getdoc(NAMES["norch.nn.Linear"]).splitlines()[0].split(" for ")[0] in text
