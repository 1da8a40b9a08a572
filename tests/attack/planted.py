"""Each attacker finds the faults that are planted in a copy of norch: a test that finds nothing must be able to.

python -m pytest tests/attack/planted.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from random_programs.differences import explained
from random_programs.execution import run

from norch.autograd.functions import ExpBackward

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# attacker, file, what stands there, what is planted, what the finding names, how many cases, or seconds, at most
PLANTED: list[tuple[str, str, str, str, str, int]] = [
    (
        "programs",
        "autograd/derivatives/views.py",
        "return [gradient.reshape(self.shape)]\n\n\nclass TransposeBackward",
        "return [2 * gradient.reshape(self.shape)]\n\n\nclass TransposeBackward",
        ".grad elements",
        5000,
    ),
    (
        "programs",
        "autograd/in_place.py",
        "if ptr and not lib.shares_memory(ptr, base._ptr):",
        "if not ptr:",
        "leaf tensor that requires grad",
        5000,
    ),
    (
        "programs",
        "autograd/node.py",
        "if write_clock.value > node.stamp:",
        "if node.freed:",
        "modified by an inplace operation",
        5000,
    ),
    (
        "replays",
        "recording/watching.py",
        'self.guard_attribute(tensor, "_edge")',
        "pass",
        "result of call",
        3000,
    ),
    (
        "parsers",
        "functions/torch_files.py",
        "return _ALLOWED[module, name]",
        "return _ALLOWED.get((module, name)) or getattr(__import__(module), name)",
        "torch: it did",
        400,
    ),
    (
        "parsers",
        "functions/serialization.py",
        "data + begin",
        "data + begin - begin % 3",
        "safetensors: a valid file",
        400,
    ),
    (
        "parsers",
        "utils/data/readers.py",
        "except csv.Error as error:",
        "except KeyError as error:",
        "csv: Error: ",
        400,
    ),
    (
        "failures",
        "optim/optimizer.py",
        "        if kind is not None:\n            at_once(*self.calls)",
        "        pass",
        "neither as before nor as after: at .optimizer",
        120,
    ),
    (
        "failures",
        "files.py",
        "            os.unlink(temporary)\n        raise",
        "            pass\n        raise",
        "neither as before nor as after: at ..norch-",
        120,
    ),
    (
        "arguments",
        "arguments.py",
        'raise TypeError(f"{name}: expected True or False, got {shown(value)}")',
        "return bool(value)",
        "[accepted]",
        5000,
    ),
    (
        "arguments",
        "operation.py",
        'raise TypeError(f"{name}: expected a Tensor, got {type_name(value)}")',
        "pass",
        "[AttributeError]",
        5000,
    ),
]


@pytest.mark.parametrize(("attacker", "file", "right", "wrong", "named", "most"), PLANTED)
def test_a_planted_fault_is_found(attacker, file, right, wrong, named, most, tmp_path):
    shutil.copytree(ROOT / "norch", tmp_path / "norch", ignore=shutil.ignore_patterns("csrc", "__pycache__"))
    path = tmp_path / "norch" / file
    source = path.read_text(encoding="utf-8")
    assert source.count(right) == 1
    path.write_text(source.replace(right, wrong), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "ATTACK_UNTIL": named}  # it may stop there
    limit = (
        "--seconds" if attacker == "failures" else "--cases"
    )  # failures come in parts, each with a share of the time
    command = [sys.executable, HERE / "run.py", limit, str(most), attacker]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1 and named in done.stdout, done.stdout + done.stderr


def test_a_cause_hides_no_other_fault(monkeypatch):
    """A row of CAUSES tells why instance_norm may differ: not why exp does, whose derivative is wrong here."""
    monkeypatch.setattr(ExpBackward, "fused", None)
    monkeypatch.setattr(ExpBackward, "backward", lambda self, gradient: [gradient * self.output * 1.1])
    lines = [
        "v1 = lib.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=lib.float64, requires_grad=True)",
        "v2 = lib.nn.functional.instance_norm(v1[None])",
        "v3 = v1.exp()",
        "(v2 * v3).sum().backward()",
    ]
    number, found = run(lines)
    assert (number, explained(lines, found)) == (3, None) and ".grad elements" in found
