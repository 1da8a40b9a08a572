"""examples/sin2.py as a user runs it: its ten losses, its options and its errors."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from norch import _C

ROOT = Path(__file__).resolve().parents[2]
ARTICLE_LOSSES = ["1.7035", "0.7193", "0.3068", "0.1742", "0.1342", "0.1232", "0.1220", "0.1241", "0.1270", "0.1297"]


def run_sin2(*options, folder, first=ROOT):
    """Runs the example in `folder` with norch from this checkout; modules are looked for in `first` before that."""
    command = [sys.executable, str(ROOT / "examples" / "sin2.py"), *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(first), str(ROOT)])}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def losses_of(output):
    return re.findall(r"^Epoch \[\d+/\d+\], Loss: (\S+)$", output, re.MULTILINE)


def mean_loss_of(output):
    return float(re.search(r"^Mean loss over all 51 points: (\S+)$", output, re.MULTILINE).group(1))


def test_prints_the_losses_of_the_article(device, tmp_path):
    run = run_sin2("--no-plot", "--device", device, folder=tmp_path)
    assert run.returncode == 0, run.stderr
    expected = [f"Epoch [{i + 1}/10], Loss: {loss}" for i, loss in enumerate(ARTICLE_LOSSES)]
    assert run.stdout.splitlines()[:10] == expected
    assert list(tmp_path.iterdir()) == []


def test_a_compiled_step_prints_the_same_losses(tmp_path):
    run = run_sin2("--no-plot", "--compile", folder=tmp_path)
    assert run.returncode == 0 and run.stderr == ""
    assert losses_of(run.stdout) == ARTICLE_LOSSES


def test_it_runs_from_any_folder_without_being_told_where_norch_is(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for name in ("sin2", "spirals"):
        command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), "--epochs", "1", "--no-plot"]
        run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, run.stderr


def test_a_spread_model_learns_the_curve(tmp_path):
    options = ["--spread", "--hidden", "32", "--lr", "0.01", "--epochs", "300", "--no-plot"]
    run = run_sin2(*options, folder=tmp_path)
    assert run.returncode == 0, run.stderr
    assert len(losses_of(run.stdout)) == 10
    assert mean_loss_of(run.stdout) < 0.002  # the mean of the curve alone leaves 0.12


def test_options_change_the_training(tmp_path):
    plain = losses_of(run_sin2("--epochs", "2", "--no-plot", folder=tmp_path).stdout)
    assert plain == ARTICLE_LOSSES[:2]
    for option in (["--lr", "0.002"], ["--momentum", "0.5"], ["--hidden", "11"]):
        changed = losses_of(run_sin2("--epochs", "2", "--no-plot", *option, folder=tmp_path).stdout)
        assert len(changed) == 2 and changed != plain


def test_saves_a_picture_where_matplotlib_is_installed(tmp_path):
    pytest.importorskip("matplotlib")
    run = run_sin2("--epochs", "1", "--picture", "fit.png", folder=tmp_path)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "fit.png").read_bytes().startswith(b"\x89PNG")


def test_says_that_matplotlib_is_missing(tmp_path):
    # A module of this name that cannot be imported stands in for one that is not installed.
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not installed')")
    run = run_sin2("--epochs", "1", folder=tmp_path, first=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "matplotlib is not installed" in run.stdout
    assert not (tmp_path / "sin2.png").exists()


@pytest.mark.parametrize("device", ["cuda", "banana", "cpu:1"])
def test_a_device_that_is_not_there_is_an_error(tmp_path, device):
    if device == "cuda" and _C.lib.device_count() > 0:
        pytest.skip("this machine has a CUDA device")
    run = run_sin2("--device", device, "--no-plot", folder=tmp_path)
    assert run.returncode != 0
    assert device in run.stderr.splitlines()[-1]
    assert losses_of(run.stdout) == []


def test_impossible_options_are_refused(tmp_path):
    for options in (["--epochs", "0"], ["--hidden", "0"], ["--epochs", "many"]):
        run = run_sin2(*options, folder=tmp_path)
        assert run.returncode == 2 and options[0] in run.stderr
