"""Checkpoints: a run that is stopped and goes on is, bit for bit, the one that was not stopped. And progress bars."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import norch
from norch import nn, optim
from norch.optim import lr_scheduler
from norch.utils import load_checkpoint, progress, save_checkpoint
from norch.utils.data import DataLoader, TensorDataset

ROOT = Path(__file__).resolve().parents[2]


class Run:
    """A model with dropout and running statistics, trained on shuffled batches with noise from both generators."""

    def __init__(self, make_optimizer, make_scheduler=None):
        self.model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(0.3), nn.Linear(8, 1))
        self.optimizer = make_optimizer(self.model.parameters())
        self.scheduler = make_scheduler(self.optimizer) if make_scheduler else None
        self.generator = norch.Generator().manual_seed(5)
        x = norch.linspace(-1, 1, 60).reshape(20, 3)
        self.loader = DataLoader(TensorDataset(x, x[:, :1] ** 2), batch_size=6, shuffle=True, generator=self.generator)

    @property
    def parts(self):
        parts = {"model": self.model, "optimizer": self.optimizer, "generator": self.generator}
        return {**parts, "scheduler": self.scheduler} if self.scheduler else parts

    def train(self, epochs):
        losses = []
        for _ in range(epochs):
            for inputs, labels in self.loader:
                inputs = inputs + random.gauss(0, 0.1) + norch.randn(1) * 0.1
                loss = nn.functional.mse_loss(self.model(inputs), labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
            if self.scheduler:
                self.scheduler.step()
        return losses

    def values(self):
        return {name: tensor.tolist() for name, tensor in self.model.state_dict().items()}


OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.05),
    "SGD momentum": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "Adam": lambda p: optim.Adam(p, lr=0.01, amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True),
}


def check_goes_on(path, make):
    norch.manual_seed(1)
    whole = make()
    expected = whole.train(3)
    save_checkpoint(path, **whole.parts, epoch=3, losses=expected)
    expected = whole.train(3)
    norch.manual_seed(99)  # the other process knows nothing
    resumed = make()
    resumed.generator.manual_seed(77)
    random.random()
    rest = load_checkpoint(path, **resumed.parts)
    assert rest["epoch"] == 3 and len(rest["losses"]) == 12 and set(rest) == {"epoch", "losses"}
    assert resumed.train(3) == expected
    assert resumed.values() == whole.values()
    assert norch.rand(3).tolist() and random.random()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_as_if_never_stopped(tmp_path, name):
    check_goes_on(tmp_path / "run.norch", lambda: Run(OPTIMIZERS[name]))


class Plateau(lr_scheduler.ReduceLROnPlateau):
    """One that never sees its measure improve."""

    def step(self):
        super().step(1.0)


SCHEDULERS = {
    "StepLR": lambda o: lr_scheduler.StepLR(o, 2),
    "LambdaLR": lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.9**epoch),
    "ExponentialLR": lambda o: lr_scheduler.ExponentialLR(o, 0.8),
    "CosineAnnealingLR": lambda o: lr_scheduler.CosineAnnealingLR(o, 5),
    "OneCycleLR": lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=8),
    "ReduceLROnPlateau": lambda o: Plateau(o, patience=1),
}


@pytest.mark.parametrize("optimizer", ["SGD momentum", "Adam"])
@pytest.mark.parametrize("name", SCHEDULERS)
def test_schedules_go_on_too(tmp_path, name, optimizer):
    check_goes_on(tmp_path / "run.norch", lambda: Run(OPTIMIZERS[optimizer], SCHEDULERS[name]))


def test_plain_save_and_load_do_too(tmp_path):
    """PyTorch's way, without the helpers."""
    path = tmp_path / "run.norch"
    norch.manual_seed(1)
    whole = Run(OPTIMIZERS["Adam"])
    whole.train(2)
    states = {name: part.state_dict() for name, part in whole.parts.items() if name != "generator"}
    states["random"] = norch.get_rng_state(), random.getstate(), whole.generator.get_state()
    norch.save(states, path)
    expected = whole.train(2)
    resumed = Run(OPTIMIZERS["Adam"])
    loaded = norch.load(path)
    for name in ("model", "optimizer"):
        resumed.parts[name].load_state_dict(loaded[name])
    norch.set_rng_state(loaded["random"][0])
    random.setstate(loaded["random"][1])
    resumed.generator.set_state(loaded["random"][2])
    assert resumed.train(2) == expected


SCRIPT = """
import random, sys
import norch
from norch import nn, optim
from norch.utils import load_checkpoint, save_checkpoint

norch.manual_seed(3)
random.seed(3)
model = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1))
optimizer = optim.Adam(model.parameters(), lr=0.05)
path, first, last, stop = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "stop"
if first:
    assert load_checkpoint(path, model=model, optimizer=optimizer)["step"] == first
for step in range(first, last):
    loss = (model(norch.randn(5, 2) * random.random()) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item().hex())
if stop:
    save_checkpoint(path, model=model, optimizer=optimizer, step=last)
"""


def test_it_goes_on_in_another_process(tmp_path):
    def run(*arguments):
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / "run.norch"), *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    assert run(0, 6, "stop") + run(6, 12, "end") == run(0, 12, "end")


def test_what_has_no_target_is_returned_and_random_numbers_may_stay(tmp_path):
    path = tmp_path / "run.norch"
    run = Run(OPTIMIZERS["SGD momentum"])
    run.train(1)
    save_checkpoint(path, **run.parts, best=float("inf"), note=None)
    other = Run(OPTIMIZERS["SGD"])
    norch.manual_seed(4)
    random.seed(4)
    expected = norch.rand(1).item(), random.random()
    norch.manual_seed(4)
    random.seed(4)
    rest = load_checkpoint(path, model=other.model, restore_random=False, map_location="cpu")
    assert (norch.rand(1).item(), random.random()) == expected
    assert set(rest) == {"optimizer", "generator", "best", "note"} and rest["best"] == float("inf")
    assert other.values() == run.values()
    assert rest["optimizer"]["param_groups"][0]["momentum"] == 0.9
    assert set(norch.load(path)) == {*rest, "model", "random_state"}


def test_refusals(tmp_path):
    path = tmp_path / "run.norch"
    run = Run(OPTIMIZERS["SGD"])
    save_checkpoint(path, model=run.model, epoch=1)
    before = run.values()
    with pytest.raises(ValueError, match="run.norch has no optimizer, only model, epoch"):
        load_checkpoint(path, model=run.model, optimizer=run.optimizer)
    with pytest.raises(TypeError, match="epoch is an int"):
        load_checkpoint(path, epoch=3)
    with pytest.raises(ValueError, match="random_state"):
        save_checkpoint(path, random_state=1)
    with pytest.raises(TypeError, match="at thing an object"):
        save_checkpoint(path, thing=object())
    with pytest.raises(RuntimeError, match="size mismatch"):
        load_checkpoint(path, model=nn.Sequential(nn.Linear(3, 9), *list(run.model)[1:]))
    norch.save({"model": norch.ones(2)}, path)
    with pytest.raises(ValueError, match="run.norch is not a checkpoint"):
        load_checkpoint(path)
    assert run.values() == before


# ---- Progress --------------------------------------------------------------------------------------------------------


def test_progress_with_and_without_tqdm(monkeypatch):
    loader = DataLoader(TensorDataset(norch.ones(5)), batch_size=2)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    bar = progress(loader, desc="epoch 1")
    assert len(bar) == 3 and len([bar.set_postfix(loss=1.0) for _ in bar]) == 3
    bar.close()
    monkeypatch.undo()
    tqdm = pytest.importorskip("tqdm")
    bar = progress(range(3), desc="epoch 1", disable=True)
    assert isinstance(bar, tqdm.tqdm) and list(bar) == [0, 1, 2]


@pytest.mark.parametrize(
    "states", [None, {}, {"norch": 3, "python": 3}, "python", (3, (0,) * 624 + (-1,), None), (3, (2**70,) * 625, None)]
)
def test_damaged_states_of_random_numbers_are_refused_before_anything_changes(tmp_path, states):
    good = {"norch": norch.get_rng_state(), "python": random.getstate()}
    if not isinstance(states, dict) and states is not None:
        states = {**good, "python": states}
    model = nn.Linear(2, 1)
    before = model.weight.tolist()
    norch.save({"random_state": states, "model": nn.Linear(2, 1).state_dict()}, tmp_path / "run")
    with pytest.raises(ValueError, match="no valid states of random numbers"):
        load_checkpoint(tmp_path / "run", model=model)
    assert model.weight.tolist() == before
