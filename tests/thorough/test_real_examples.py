"""The examples on real data as a user runs them: what their short forms learn, what they leave behind, what they say.

Each bound is one that the model does not reach untrained; what it then reaches stands beside it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import norch

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

LEARNT = [
    ("digits_mlp", "Test accuracy", 90, "at least"),  # untrained 9%
    ("digits_ddp", "Test accuracy", 90, "at least"),  # in a process alone; untrained 10%
    ("digits_cnn", "Test accuracy", 93, "at least"),  # untrained 10%
    ("wine", "Test accuracy", 85, "at least"),  # untrained 36%
    ("spirals", "Test accuracy", 85, "at least"),  # untrained 17%; the arms meet in the middle
    ("diabetes", "Test R^2", 0.4, "at least"),  # untrained -0.04
    ("lstm_sequence", "Test RMSE", 0.19, "at most"),  # untrained 0.26; always the value before: 0.22
    ("char_transformer", "Test loss", 2.9, "at most"),  # untrained 4.7; letters by their frequency: 3.4
]
IN_TORCH = [row for row in LEARNT if row[0] in ("digits_mlp", "digits_cnn", "wine", "lstm_sequence")]


def run(script, *options, folder, first=EXAMPLES):
    """Runs a script in `folder`, on one thread; modules are looked for in `first` before this checkout."""
    threads = dict.fromkeys(["NORCH_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")
    environment = {**os.environ, **threads, "PYTHONPATH": os.pathsep.join([str(first), str(ROOT)])}
    command = [sys.executable, str(script), *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def check_learnt(result, name, bound, direction):
    assert result.returncode == 0, result.stderr
    figure = float(re.search(rf"^{re.escape(name)}: (-?[\d.]+)", result.stdout, re.MULTILINE).group(1))
    assert figure >= bound if direction == "at least" else figure <= bound, result.stdout


def test_every_example_is_here():
    assert {row[0] for row in LEARNT} == {path.stem for path in EXAMPLES.glob("*.py")} - {"sin2", "common"}


@pytest.mark.parametrize("script, name, bound, direction", LEARNT, ids=[row[0] for row in LEARNT])
def test_learns_saves_and_draws(script, name, bound, direction, tmp_path):
    result = run(EXAMPLES / f"{script}.py", "--quick", "--save", "model.safetensors", folder=tmp_path)
    check_learnt(result, name, bound, direction)
    assert (tmp_path / f"{script}.png").read_bytes().startswith(b"\x89PNG")
    weights = norch.load(tmp_path / "model.safetensors")
    assert weights and all(isinstance(weight, norch.Tensor) for weight in weights.values())


@pytest.mark.parametrize("script", ["wine", "diabetes", "lstm_sequence"])
def test_a_compiled_step_prints_the_same_figures(script, tmp_path):
    plain, compiled = (
        run(EXAMPLES / f"{script}.py", "--quick", "--no-plot", *option, folder=tmp_path)
        for option in ([], ["--compile"])
    )
    assert compiled.returncode == 0 and compiled.stderr == ""
    figures = [re.sub(r" \(.* processor time\)", "", result.stdout) for result in (plain, compiled)]
    assert figures[0] == figures[1]


@pytest.mark.parametrize("script, name, bound, direction", IN_TORCH, ids=[row[0] for row in IN_TORCH])
def test_torch_runs_the_script_when_the_import_is_changed(script, name, bound, direction, tmp_path):
    for file in ("common", script):
        text = (EXAMPLES / f"{file}.py").read_text(encoding="utf-8")
        (tmp_path / f"{file}.py").write_text(re.sub(r"\bnorch\b", "torch", text), encoding="utf-8")
    result = run(tmp_path / f"{script}.py", "--quick", "--no-plot", folder=tmp_path, first=tmp_path)
    check_learnt(result, name, bound, direction)


def test_a_seed_gives_the_same_figure_again(tmp_path):
    figures = []
    for seed in ("3", "3", "4"):
        result = run(EXAMPLES / "spirals.py", "--epochs", "3", "--seed", seed, "--no-plot", folder=tmp_path)
        figures.append([line for line in result.stdout.splitlines() if line.startswith("Epoch")])
    assert figures[0] == figures[1] != figures[2] and len(figures[0]) == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", ["sklearn", "matplotlib"])
def test_says_what_is_missing(missing, tmp_path):
    # A module of this name that cannot be imported stands in for one that is not installed.
    (tmp_path / f"{missing}.py").write_text("raise ImportError('not installed')")
    result = run(EXAMPLES / "wine.py", "--epochs", "1", folder=tmp_path, first=tmp_path)
    if missing == "sklearn":
        assert result.returncode == 1 and result.stdout == ""
        assert result.stderr.startswith("This example needs scikit-learn") and "pip install" in result.stderr
    else:
        assert result.returncode == 0, result.stderr
        assert "matplotlib is not installed" in result.stdout
    assert not list(tmp_path.glob("*.png"))


def test_impossible_options_are_refused(tmp_path):
    for options in (["--epochs", "0"], ["--seed", "some"], ["--steps", "3"]):
        result = run(EXAMPLES / "wine.py", *options, folder=tmp_path)
        assert result.returncode == 2 and options[0] in result.stderr
