"""What type checkers say of user scripts: nothing of good ones, each planted mistake of the others."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(__file__).resolve().parent / "typed"


def lines_by_mypy(script, folder):
    """Line -> message, for a norch that is installed elsewhere, so that its own files are not reported."""
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", script]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    run = subprocess.run([*map(str, command)], cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    found = [re.match(r".*?:(\d+): error: (.*)", line) for line in run.stdout.splitlines()]
    return {int(match[1]): match[2] for match in found if match}


def lines_by_pyright(script, folder):
    config = {"typeCheckingMode": "standard", "include": [str(script)], "extraPaths": [str(ROOT)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "-p", str(folder)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    report = json.loads(run.stdout)
    assert report["summary"]["filesAnalyzed"] == 1, run.stdout
    errors = [entry for entry in report["generalDiagnostics"] if entry["severity"] == "error"]
    return {entry["range"]["start"]["line"] + 1: entry["message"] for entry in errors}


CHECKERS = pytest.mark.parametrize("check", [lines_by_mypy, lines_by_pyright])


@CHECKERS
@pytest.mark.parametrize("name", ["training.py", "types_of.py"])
def test_a_good_script_is_not_reported(check, name, tmp_path):
    assert check(SCRIPTS / name, tmp_path) == {}


@CHECKERS
def test_every_mistake_is_reported(check, tmp_path):
    text = (SCRIPTS / "mistakes.py").read_text(encoding="utf-8")
    planted = {number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# mistake")}
    assert set(check(SCRIPTS / "mistakes.py", tmp_path)) == planted


def test_the_sources_behind_the_stubs_are_right():
    """`mypy norch` reads the stubs in their place."""
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--follow-imports=silent",
        "norch/tensor.py",
        "norch/functions/of_methods.py",
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


def test_the_good_script_runs(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    script = str(SCRIPTS / "training.py")
    run = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
