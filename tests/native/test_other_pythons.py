"""norch on each CPython from 3.9 on that is installed: it imports, trains, and replays what it recorded."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = os.pathsep.join([*map(str, (Path.home() / ".pyenv" / "versions").glob("*/bin")), os.environ["PATH"]])

PROGRAM = """
import norch

seen = []
model = norch.nn.Sequential(norch.nn.Linear(1, 10), norch.nn.Sigmoid(), norch.nn.Linear(10, 1))
model[0].register_forward_hook(lambda module, given, result: seen.append(result.shape))
optimizer = norch.optim.SGD(model.parameters(), lr=0.1)
x = norch.linspace(-1, 1, 16).unsqueeze(1)
losses = []
for _ in range(20):
    loss = norch.nn.functional.mse_loss(model(x), x.sin() ** 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0] and seen == [(16, 10)] * 20
twice = norch.compile(lambda t: (t * 2).exp()[::2])
for n in range(5):
    assert twice(norch.full((4,), float(n))).allclose(norch.full((2,), 2.0 * n).exp())
try:
    norch.ones(2) @ norch.ones(3)
except norch.ShapeError:
    print("works")
"""


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
def test_a_model_trains(version):
    python = shutil.which(f"python{version}", path=PLACES)
    if python is None or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"no Python {version} is installed")
    result = subprocess.run([python, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True)
    assert result.stdout == "works\n", result.stderr
