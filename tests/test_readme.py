"""The README tells the truth: its scripts print what it shows, and the files that it names exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"```python\n((?:import|from).*?)```\n```\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("number", range(len(SCRIPTS)))
def test_script_prints_what_is_shown(number, tmp_path):
    script, shown = SCRIPTS[number]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if "NORCH_LIBRARY" in environment:  # may be relative, and the script runs in a folder of its own
        environment["NORCH_LIBRARY"] = os.path.abspath(environment["NORCH_LIBRARY"])
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == shown


def test_there_are_scripts():
    assert len(SCRIPTS) >= 2


def test_files_named_exist():
    named = re.findall(r"`((?:norch|tests|examples|build)/[\w/.-]*|Makefile|setup\.py)`", TEXT)
    named += re.findall(r"\]\(([\w/.]+)\)", TEXT)
    assert named and [name for name in named if not (ROOT / name).exists()] == []


def test_the_article_losses_are_shown():
    assert "Epoch [1/10], Loss: 1.7035" in TEXT and "Epoch [10/10], Loss: 0.1297" in TEXT
