"""Scripts written for PyTorch, run by torch and, with nothing but their imports changed, by norch: their losses agree.

A program is a function of a file in programs/, which imports torch as scripts do. It takes `start`, which gives the
models of both runs the same initial weights (those that torch drew), and returns its losses.
"""

from __future__ import annotations

import re
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402

FILES = sorted((Path(__file__).parent / "programs").glob("*.py"))


def translated(source: str) -> str:
    """The script with `torch` replaced in its import statements alone."""
    source = re.sub(r"^(\s*)import torch$", r"\1import norch as torch", source, flags=re.M)
    return re.sub(r"^(\s*)(import|from) torch\b", r"\1\2 norch", source, flags=re.M)


def test_only_imports_are_translated():
    script = "import torch\nimport torch.nn as nn\nfrom torch.utils.data import Dataset\nx = torch.ones(2)\n"
    assert translated(script) == (
        "import norch as torch\nimport norch.nn as nn\nfrom norch.utils.data import Dataset\nx = torch.ones(2)\n"
    )


def programs_of(path: Path, translate: bool) -> dict[str, object]:
    source = path.read_text(encoding="utf-8")
    space = types.ModuleType(path.stem)
    exec(compile(translated(source) if translate else source, str(path), "exec"), vars(space))
    return {
        name: value
        for name, value in vars(space).items()
        if isinstance(value, types.FunctionType) and value.__code__.co_varnames[:1] == ("start",)
    }


# torch's own test modules, which other files here import, forbid its flags of cudnn until one asks.
torchs_flags = torch.backends.__allow_nonbracketed_mutation
with torchs_flags():
    THEIRS = {name: program for path in FILES for name, program in programs_of(path, False).items()}
with norch.backends.cudnn.flags(benchmark=False):  # a program sets it when it is imported
    OURS = {name: program for path in FILES for name, program in programs_of(path, True).items()}


class Recorder:
    """`start` of the run by torch: notes the initial values."""

    def __init__(self) -> None:
        self.noted = []

    def __call__(self, *values):
        for value in values:
            state = value.state_dict() if hasattr(value, "state_dict") else {"": value.detach()}
            self.noted.append({name: tensor.numpy().copy() for name, tensor in state.items()})
        return values[0] if len(values) == 1 else values


class Player:
    """`start` of the run by norch: sets the same initial values."""

    def __init__(self, noted) -> None:
        self.noted = iter(noted)

    def __call__(self, *values):
        for value in values:
            state = {name: norch.from_numpy(array) for name, array in next(self.noted).items()}
            if hasattr(value, "state_dict"):
                value.load_state_dict(state)
            else:
                value.data.copy_(state[""])
        return values[0] if len(values) == 1 else values


def test_there_are_programs():
    assert len(THEIRS) >= 40 and THEIRS.keys() == OURS.keys()


@pytest.mark.parametrize("name", THEIRS)
def test_a_program_follows_torchs_losses(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some save files
    recorder = Recorder()
    with warnings.catch_warnings(), torchs_flags():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        expected = THEIRS[name](recorder)
        norch.manual_seed(0)
        found = OURS[name](Player(recorder.noted))
    assert len(found) == len(expected) >= 2
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


# ---- Those that are timed (benchmarks/program_steps.py) --------------------------------------------------------------


def test_timed_programs_compute_the_same(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    import program_steps
    import programs

    compared = [make for make in program_steps.PROGRAMS.values() if make not in program_steps.DRAWN]
    assert len(compared) > len(program_steps.PROGRAMS) / 2
    for make in compared:
        programs.agreed(make, {"norch": norch, "torch": torch})
    off = lambda framework: ([], lambda: framework.ones(()) * (1 + (framework is torch) * 1e-3))  # noqa: E731
    with pytest.raises(ValueError, match="the loss of torch is 1.001, that of norch 1"):
        programs.agreed(off, {"norch": norch, "torch": torch})
