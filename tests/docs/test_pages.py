"""README, CONTRIBUTING and the pages of docs/ tell the truth: their scripts print what they show, the files exist."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys

import pytest
from documents import ROOT, blocks_of

import norch

README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LISTS = [ROOT / "benchmarks" / "README.md", ROOT / "examples" / "README.md"]  # commands only: nothing runs here
MADE = ("build/docs/", "build/first", "build/bench.", "norch/libnorch.so")  # by make


def text_of(path):
    return path.read_text(encoding="utf-8")


def name_of(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_scripts_print_what_is_shown(page):
    command = [sys.executable, str(ROOT / "tests" / "docs" / "documents.py"), str(page)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if "NORCH_LIBRARY" in environment:  # may be relative, and the scripts run in a folder of their own
        environment["NORCH_LIBRARY"] = os.path.abspath(environment["NORCH_LIBRARY"])
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_the_readme_has_three_scripts_and_the_losses_of_the_article():
    blocks = blocks_of(text_of(README))
    assert len([block for block in blocks if not block.marker and block.output]) == 3
    assert "Epoch [1/10], Loss: 1.7035" in text_of(README) and "Epoch [10/10], Loss: 0.1297" in text_of(README)


MODULES = [norch.nn, norch.optim, norch.optim.lr_scheduler, norch.utils.data, norch.distributions]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_features_name_every_class(module):
    """Of layers the name alone, without the dimensions and Lazy; transforms and what users derive from are left out."""
    words = re.findall(r"\w+", text_of(ROOT / "docs" / "features.md"))
    kinds = {
        re.sub(r"^(Lazy|Uninitialized)|[123]d$", "", name) for name, value in vars(module).items() if is_class(value)
    }
    bases = {"Distribution", "LRScheduler", "Optimizer", "RNNBase", "Sampler", "Buffer"}
    bases |= {"_LRScheduler", "_enable_get_lr_call"}
    named = {word for name in words for word in (name, re.sub(r"[123]d$", "", name))}
    assert sorted(name for name in kinds - bases - named if not name.endswith("Transform")) == []


def is_class(value):
    return inspect.isclass(value) and value.__module__.startswith("norch")


def test_the_architecture_names_every_folder_of_the_package():
    text = text_of(ROOT / "docs" / "architecture.md")
    files = [path for room in ("norch", "norch/csrc") for path in (ROOT / room).glob("*/*.*") if path.suffix != ".pyc"]
    folders = {name_of(path.parent) for path in files}
    assert sorted(folder for folder in folders if f"`{folder}/`" not in text) == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_is_only_shown_says_why(page):
    assert all(len(block.argument) > 10 for block in blocks_of(text_of(page)) if block.marker)


@pytest.mark.parametrize("page", [*PAGES, *LISTS], ids=name_of)
def test_targets_shown_exist(page):
    makefiles = "".join(text_of(path) for path in (ROOT / "Makefile", *(ROOT / "tools").glob("*.mk")))
    targets = " ".join(re.findall(r"^([\w -]+):(?!=)", makefiles, re.MULTILINE)).split()
    named = re.findall(r"(?:^|`)make ([a-z][\w-]*)", text_of(page), re.MULTILINE)
    assert [target for target in named if target not in targets] == []


@pytest.mark.parametrize("page", [*PAGES, *LISTS], ids=name_of)
def test_links_and_files_named_exist(page):
    text = re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []
    named = re.findall(r"`((?:norch|tests|examples|benchmarks|tools|docs|build)/[\w/.-]*)`", text)
    assert [name for name in named if not name.startswith(MADE) and not (ROOT / name).exists()] == []
