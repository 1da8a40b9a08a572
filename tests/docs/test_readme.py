"""The README tells the truth: its scripts print what it shows, and the files that it names exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from documents import ROOT, blocks_of

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_scripts_print_what_is_shown():
    command = [sys.executable, str(ROOT / "tests" / "docs" / "documents.py"), str(ROOT / "README.md")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if "NORCH_LIBRARY" in environment:  # may be relative, and the scripts run in a folder of their own
        environment["NORCH_LIBRARY"] = os.path.abspath(environment["NORCH_LIBRARY"])
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_there_are_scripts():
    blocks = blocks_of(TEXT)
    assert len([block for block in blocks if not block.marker and block.output]) >= 2
    assert all(len(block.argument) > 10 for block in blocks if block.marker)  # why it is only shown


def test_targets_shown_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = " ".join(re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)).split()
    shown = "".join(block.code for block in blocks_of(TEXT) if block.language == "bash")
    named = re.findall(r"^make (\w+)", shown, re.MULTILINE)
    assert named and [target for target in named if target not in targets] == []


def test_files_named_exist():
    named = re.findall(r"`((?:norch|tests|examples|build)/[\w/.-]*|Makefile|setup\.py)`", TEXT)
    named += re.findall(r"\]\(([\w/.]+)\)", TEXT)
    made = ("build/docs/",)  # by make docs
    assert named and [name for name in named if not name.startswith(made) and not (ROOT / name).exists()] == []


def test_the_article_losses_are_shown():
    assert "Epoch [1/10], Loss: 1.7035" in TEXT and "Epoch [10/10], Loss: 0.1297" in TEXT
