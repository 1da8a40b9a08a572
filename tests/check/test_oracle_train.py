"""Losses, optimizers and schedulers against torch: values, gradients, whole trainings and resumed ones."""

from __future__ import annotations

import random

import pytest
import torch

import norch

TOLERANCE = {"float32": 2e-5, "float64": 1e-10}


def to_torch(value):
    """A norch tensor, or dicts and lists of them, as torch's."""
    if isinstance(value, norch.Tensor):
        return torch.tensor(value.tolist(), dtype=getattr(torch, str(value.dtype).replace("norch.", "")))
    if isinstance(value, dict):
        return {key: to_torch(inner) for key, inner in value.items()}
    return [to_torch(inner) for inner in value] if isinstance(value, list) else value


def to_norch(value):
    """The inverse of to_torch."""
    if isinstance(value, torch.Tensor):
        return norch.tensor(value.tolist(), dtype=getattr(norch, str(value.dtype).replace("torch.", "")))
    if isinstance(value, dict):
        return {key: to_norch(inner) for key, inner in value.items()}
    return [to_norch(inner) for inner in value] if isinstance(value, list) else value


def assert_same(mine, theirs, dtype, scale=1.0):
    """Equal in shape, but for the [1] of norch's scalars, and in every element within the tolerance of the dtype."""
    assert str(mine.dtype) == f"norch.{dtype}"
    assert list(mine.shape) == (list(theirs.shape) or [1])
    tolerance = TOLERANCE[dtype] * scale
    actual = to_torch(mine.detach()).reshape(theirs.shape)
    torch.testing.assert_close(actual, theirs.detach(), rtol=tolerance, atol=tolerance, equal_nan=True)


# ---- Optimizers ------------------------------------------------------------------------------------------------------


def each(**choices):
    """Dicts of options: the defaults, each option alone, and all at once."""
    alone = [{name: value} for name, value in choices.items()]
    return [{}, *alone, dict(choices)]


OPTIMIZERS = [
    *(("SGD", {"lr": 0.05, **options}) for options in each(momentum=0.9, weight_decay=0.1, maximize=True)),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    *(
        (name, options)
        for name in ("Adam", "AdamW")
        for options in each(
            lr=0.02, betas=(0.6, 0.95), eps=1e-3, weight_decay=0.2, amsgrad=True, maximize=True
        )
    ),
    ("Adam", {"weight_decay": 0.3, "decoupled_weight_decay": True}),
    ("Adam", {"betas": (0.0, 0.0)}),
    *(
        ("RMSprop", options)
        for options in each(
            lr=0.02, alpha=0.7, eps=1e-3, weight_decay=0.2, momentum=0.8, centered=True, maximize=True
        )
    ),
]  # fmt: skip


class Pair:
    """The same parameters in both libraries, the optimizers under test on them, and gradients that both are given."""

    SHAPES = [(3, 4), (5,), (1,), (2, 1, 3)]

    def __init__(self, seed, dtype, name, options, groups=False):
        self.rng, self.dtype = random.Random(seed), dtype
        values = [self.draw(shape) for shape in self.SHAPES]
        self.mine = [norch.nn.Parameter(norch.tensor(v.tolist(), dtype=getattr(norch, dtype))) for v in values]
        self.theirs = [torch.nn.Parameter(v.clone()) for v in values]
        self.optimizers = []
        for lib, parameters in ((norch, self.mine), (torch, self.theirs)):
            listed = parameters
            if groups:
                listed = [{"params": parameters[:2], **groups[0]}, {"params": parameters[2:3], **groups[1]}]
            self.optimizers.append(getattr(lib.optim, name)(listed, **options))
            if groups:
                self.optimizers[-1].add_param_group({"params": parameters[3:], **groups[2]})

    def draw(self, shape):
        size = torch.Size(shape).numel()
        values = [self.rng.uniform(-1, 1) for _ in range(size)]
        return torch.tensor(values, dtype=torch.float64).reshape(shape).to(getattr(torch, self.dtype))

    def step(self, skipped=None):
        for k, (mine, theirs) in enumerate(zip(self.mine, self.theirs)):
            gradient = self.draw(theirs.shape)
            mine.grad = None if k == skipped else to_norch(gradient)
            theirs.grad = None if k == skipped else gradient
        for optimizer in self.optimizers:
            optimizer.step()

    def check(self, scale=1.0):
        for mine, theirs in zip(self.mine, self.theirs):
            assert_same(mine, theirs, self.dtype, scale)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name, options", OPTIMIZERS, ids=repr)
def test_a_hundred_steps(name, options, dtype):
    pair = Pair(name, dtype, name, options)
    for i in range(100):
        pair.step(skipped=1 if i in (0, 7) else None)  # whose count of steps is then its own
        pair.check()


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop"])
def test_groups(name):
    groups = [{}, {"lr": 0.3, "weight_decay": 0.1}, {"maximize": True, "lr": 0.0}]
    pair = Pair(name, "float64", name, {"lr": 0.01}, groups)
    for i in range(20):
        if i == 10:
            for optimizer in pair.optimizers:
                optimizer.param_groups[2]["lr"] = 0.05
        pair.step()
        pair.check()


STATES = [
    ("SGD", {"lr": 0.05, "momentum": 0.9}),
    ("Adam", {"amsgrad": True}),
    ("AdamW", {}),
    ("RMSprop", {"centered": True, "momentum": 0.5}),
]


@pytest.mark.parametrize("name, options", STATES, ids=repr)
def test_the_state_is_torch_s(name, options):
    pair = Pair(name, "float64", name, options)
    for _ in range(3):
        pair.step()
    mine, theirs = (optimizer.state_dict() for optimizer in pair.optimizers)
    assert mine["state"].keys() == theirs["state"].keys()
    for number, state in theirs["state"].items():
        assert mine["state"][number].keys() == state.keys()
        for key, value in state.items():
            assert_same(mine["state"][number][key], value, "float32" if key == "step" else "float64")
    for group, wanted in zip(mine["param_groups"], theirs["param_groups"]):
        assert group.items() <= wanted.items()


@pytest.mark.parametrize("name, options", STATES, ids=repr)
def test_each_goes_on_from_the_other_s_state(name, options):
    pair, fresh = Pair(name, "float64", name, options), Pair(name, "float64", name, {"lr": 9.0})
    for _ in range(3):
        pair.step()
    mine, theirs = (optimizer.state_dict() for optimizer in pair.optimizers)
    fresh.optimizers[0].load_state_dict(to_norch(theirs))
    fresh.optimizers[1].load_state_dict({**to_torch(mine), "param_groups": theirs["param_groups"]})
    with torch.no_grad():
        for k, (mine, theirs) in enumerate(zip(pair.mine, pair.theirs)):
            fresh.mine[k].data = to_norch(theirs.detach())
            fresh.theirs[k].copy_(to_torch(mine.detach()))
    for _ in range(3):
        fresh.step()
        fresh.check()
