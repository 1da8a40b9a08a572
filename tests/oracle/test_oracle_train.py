"""norch.optim and its schedulers against torch: values, derivatives, whole and resumed trainings."""

from __future__ import annotations

import math
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
        dtype = getattr(norch, str(value.dtype).replace("torch.", ""))
        return norch.tensor(value.tolist(), dtype=dtype).reshape(tuple(value.shape))
    if isinstance(value, dict):
        return {key: to_norch(inner) for key, inner in value.items()}
    return [to_norch(inner) for inner in value] if isinstance(value, list) else value


def assert_same(mine, theirs, dtype, scale=1.0):
    """Equal in shape, but for the [1] of norch's scalars, and in every element within the tolerance of the dtype."""
    assert str(mine.dtype) == f"norch.{dtype}"
    assert mine.shape == theirs.shape or (mine.shape == [1] and theirs.ndim == 0)
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
    *(
        ("Adadelta", options)
        for options in each(lr=0.5, rho=0.7, eps=1e-3, weight_decay=0.2, maximize=True)
    ),
    *(
        ("Adagrad", options)
        for options in each(
            lr=0.1, lr_decay=0.1, weight_decay=0.2, initial_accumulator_value=0.5, eps=1e-3, maximize=True
        )
    ),
    *(
        ("Adamax", options)
        for options in each(lr=0.02, betas=(0.6, 0.95), eps=1e-3, weight_decay=0.2, maximize=True)
    ),
    *(
        ("ASGD", options)
        for options in each(lr=0.1, lambd=1e-2, alpha=0.5, t0=20, weight_decay=0.2, maximize=True)
    ),
    *(
        (name, {**options, **more})
        for name in ("NAdam", "RAdam")
        for options in each(lr=0.02, betas=(0.6, 0.95), eps=1e-3, weight_decay=0.2, maximize=True)
        for more in ({}, {"decoupled_weight_decay": True})
    ),
    ("NAdam", {"momentum_decay": 0.1}),
    *(("Rprop", options) for options in each(lr=0.02, etas=(0.3, 1.5), step_sizes=(1e-3, 0.1), maximize=True)),
    *(
        ("Adafactor", options)
        for options in each(lr=0.1, beta2_decay=-0.6, eps=(1e-6, 1e-2), d=1.5, weight_decay=0.2, maximize=True)
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
        if i < 3 or i % 10 == 9:
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
    mine, theirs = pair.optimizers
    assert repr(mine) == repr(theirs)


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


# ---- Schedulers ------------------------------------------------------------------------------------------------------


class Decay:
    """A callable with attributes, which a state_dict keeps."""

    def __init__(self, rate):
        self.rate = rate

    def __call__(self, epoch):
        return self.rate**epoch


SCHEDULERS = [
    ("StepLR", {"step_size": 3}),
    ("StepLR", {"step_size": 1, "gamma": 0.9}),
    ("MultiStepLR", {"milestones": [7, 2, 2, 15], "gamma": 0.5}),
    ("ExponentialLR", {"gamma": 0.93}),
    ("LambdaLR", {"lr_lambda": lambda epoch: 1 / (1 + epoch)}),
    ("LambdaLR", {"lr_lambda": [Decay(0.9), Decay(0.7)]}),
    ("LinearLR", {}),
    ("LinearLR", {"start_factor": 0.1, "end_factor": 0.6, "total_iters": 12}),
    ("LinearLR", {"start_factor": 1.0, "end_factor": 0.0, "total_iters": 4}),
    *(("CosineAnnealingLR", {"T_max": count}) for count in (1, 2, 7, 25)),
    ("CosineAnnealingLR", {"T_max": 10, "eta_min": 0.01}),
    *(("CosineAnnealingWarmRestarts", {"T_0": first, "T_mult": times}) for first in (1, 4) for times in (1, 2)),
    ("CosineAnnealingWarmRestarts", {"T_0": 5, "eta_min": 0.01}),
    ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.95}),
    ("MultiplicativeLR", {"lr_lambda": [Decay(0.99), Decay(0.97)]}),
    ("ConstantLR", {}),
    ("ConstantLR", {"factor": 0.1, "total_iters": 9}),
    ("PolynomialLR", {}),
    ("PolynomialLR", {"total_iters": 12, "power": 2.5}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 1.0, "step_size_up": 4}),
    ("CyclicLR", {"base_lr": [0.1, 0.2], "max_lr": [1.0, 0.5], "step_size_up": 3, "step_size_down": 5}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 1.0, "step_size_up": 2, "mode": "triangular2"}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 1.0, "step_size_up": 4, "mode": "exp_range", "gamma": 0.9}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 1.0, "step_size_up": 4, "scale_fn": Decay(0.8), "cycle_momentum": False}),
    (
        "CyclicLR",
        {"base_lr": 0.1, "max_lr": 1.0, "step_size_up": 4, "scale_fn": Decay(0.9), "scale_mode": "iterations"},
    ),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 25}),
    ("OneCycleLR", {"max_lr": [1.0, 2.0], "epochs": 5, "steps_per_epoch": 5, "pct_start": 0.4}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 25, "anneal_strategy": "linear", "three_phase": True}),
    (
        "OneCycleLR",
        {
            "max_lr": 1.0,
            "total_steps": 25,
            "div_factor": 5,
            "final_div_factor": 100,
            "base_momentum": [0.5, 0.6],
            "max_momentum": 0.8,
        },
    ),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 25, "cycle_momentum": False}),
]


def scheduled(lib, name, options, optimizer="SGD", **more):
    """An optimizer of two groups and a scheduler for it."""
    parameters = [lib.nn.Parameter(lib.ones(2)), lib.nn.Parameter(lib.ones(2))]
    settings = {"lr": 0.2, **({"momentum": 0.9} if optimizer == "SGD" else {})}
    groups = [{"params": parameters[:1]}, {"params": parameters[1:], "lr": 0.5}]
    made = getattr(lib.optim, optimizer)(groups, **settings)
    for group in made.param_groups if more else ():
        group["initial_lr"] = 2 * group["lr"]
    return made, getattr(lib.optim.lr_scheduler, name)(made, **options, **more)


def rates(optimizer, scheduler):
    """All that a scheduler governs."""
    keys = ("lr", "momentum", "betas", "initial_lr")
    found = [scheduler.last_epoch, *scheduler.get_last_lr()]
    for group in optimizer.param_groups:
        found += [
            number for key in keys for number in (lambda v: v if isinstance(v, tuple) else [v])(group.get(key, 0))
        ]
    return found


@pytest.mark.filterwarnings("ignore:Detected call")
@pytest.mark.parametrize("optimizer", ["SGD", "AdamW", "RMSprop"])
@pytest.mark.parametrize("name, options", SCHEDULERS, ids=repr)
def test_whole_schedules(name, options, optimizer):
    mine, theirs = (scheduled(lib, name, options, optimizer) for lib in (norch, torch))
    for _ in range(25):
        assert rates(*mine) == pytest.approx(rates(*theirs), rel=1e-12, abs=1e-15)
        mine[1].step()
        theirs[1].step()
    assert rates(*mine) == pytest.approx(rates(*theirs), rel=1e-12, abs=1e-15)


@pytest.mark.filterwarnings("ignore:Detected call")
@pytest.mark.parametrize("last_epoch", [0, 1, 5, 6, 11])
@pytest.mark.parametrize("name, options", [row for row in SCHEDULERS if row[0] != "OneCycleLR"], ids=repr)
def test_schedules_that_go_on_from_an_epoch(name, options, last_epoch):
    mine, theirs = (scheduled(lib, name, options, last_epoch=last_epoch) for lib in (norch, torch))
    for _ in range(25):
        assert rates(*mine) == pytest.approx(rates(*theirs), rel=1e-12, abs=1e-15)
        mine[1].step()
        theirs[1].step()


@pytest.mark.filterwarnings("ignore:Detected call")
@pytest.mark.parametrize("name, options", SCHEDULERS, ids=repr)
def test_schedules_resume(name, options):
    first = scheduled(norch, name, options)
    for _ in range(9):
        first[1].step()
    second = scheduled(norch, name, options)
    second[0].load_state_dict(first[0].state_dict())
    second[1].load_state_dict(first[1].state_dict())
    for _ in range(14):
        assert rates(*first) == rates(*second)
        first[1].step()
        second[1].step()


@pytest.mark.filterwarnings("ignore:Detected call")
@pytest.mark.parametrize("name, options", SCHEDULERS, ids=repr)
def test_schedules_go_on_from_the_state_of_torchs(name, options):
    mine, theirs = (scheduled(lib, name, options) for lib in (norch, torch))
    for _ in range(3):
        theirs[1].step()
    mine[1].load_state_dict(theirs[1].state_dict())
    for ours, group in zip(mine[0].param_groups, theirs[0].param_groups):
        ours.update({key: value for key, value in group.items() if key != "params"})
    for _ in range(14):
        mine[1].step()
        theirs[1].step()
        assert rates(*mine) == pytest.approx(rates(*theirs), rel=1e-12, abs=1e-15)


@pytest.mark.filterwarnings("ignore:Detected call")
def test_milestones_of_an_older_state_are_a_list():
    _, scheduler = scheduled(norch, "MultiStepLR", {"milestones": [1]})
    scheduler.load_state_dict({**scheduler.state_dict(), "milestones": [2, 5, 5]})
    for _ in range(5):
        scheduler.step()
    assert scheduler.get_last_lr() == pytest.approx([0.2 * 0.1**3, 0.5 * 0.1**3])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"patience": 1, "factor": 0.5},
        {"patience": 0, "threshold": 0.1, "cooldown": 2},
        {"mode": "max", "patience": 2, "threshold": 0.05, "threshold_mode": "abs"},
        {"patience": 0, "min_lr": [0.1, 0.01], "threshold_mode": "abs"},
        {"patience": 0, "eps": 0.05},
    ],
    ids=repr,
)
def test_plateaus(options):
    rng = random.Random(repr(options))
    mine, theirs = (scheduled(lib, "ReduceLROnPlateau", options) for lib in (norch, torch))
    for i in range(60):
        metric = rng.choice([rng.uniform(-1, 1), 1 / (1 + i), math.nan])
        mine[1].step(norch.Tensor([metric]) if i % 2 else metric)
        theirs[1].step(torch.tensor(metric) if i % 2 else metric)
        assert rates(*mine) == pytest.approx(rates(*theirs), rel=1e-12)


@pytest.mark.filterwarnings("ignore:Detected call")
@pytest.mark.parametrize("milestones", [[3, 9], [1, 2], [10, 20]])
def test_one_schedule_after_the_other(milestones):
    made = []
    for lib in (norch, torch):
        optimizer, _ = scheduled(lib, "LambdaLR", {"lr_lambda": lambda epoch: 1})
        s = lib.optim.lr_scheduler
        turns = [
            s.LinearLR(optimizer, 0.1, total_iters=3),
            s.CosineAnnealingLR(optimizer, 6),
            s.ExponentialLR(optimizer, 0.9),
        ]
        made.append((optimizer, s.SequentialLR(optimizer, turns, milestones)))
    for _ in range(25):
        assert rates(*made[0]) == pytest.approx(rates(*made[1]), rel=1e-12)
        for _, scheduler in made:
            scheduler.step()
    assert made[0][1].state_dict().keys() <= made[1][1].state_dict().keys()


# ---- Clipping --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("norm_type", [1, 2.0, 3, 0.5, math.inf, "inf"])
@pytest.mark.parametrize("max_norm", [0.1, 1.0, 1e3])
def test_clip_grad_norm(max_norm, norm_type, dtype):
    pair = Pair(0, dtype, "SGD", {"lr": 0.0})
    pair.step(skipped=2)
    norms = [
        lib.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type)
        for lib, parameters in ((norch, pair.mine), (torch, pair.theirs))
    ]
    assert_same(*norms, dtype)
    for mine, theirs in zip(pair.mine, pair.theirs):
        assert (mine.grad is None) == (theirs.grad is None)
        if mine.grad is not None:
            assert_same(mine.grad, theirs.grad, dtype)


def test_clip_grad_value():
    pair = Pair(0, "float32", "SGD", {"lr": 0.0})
    pair.step(skipped=2)
    for lib, parameters in ((norch, pair.mine), (torch, pair.theirs)):
        lib.nn.utils.clip_grad_value_(parameters, 0.25)
    for mine, theirs in zip(pair.mine, pair.theirs):
        if mine.grad is not None:
            assert_same(mine.grad, theirs.grad, "float32")


# ---- The rules as functions ------------------------------------------------------------------------------------------

DECAYING = {"weight_decay": 0.1, "lr": 0.05, "maximize": True}
MOMENTUM = {"momentum": 0.9, "dampening": 0.0, "nesterov": True, **DECAYING}
ADAM = {"beta1": 0.7, "beta2": 0.9, "eps": 1e-6, **DECAYING}
FUNCTIONAL = [
    ("sgd", 1, MOMENTUM),
    *((name, 3, {"amsgrad": amsgrad, **ADAM}) for name in ("adam", "adamw") for amsgrad in (False, True)),
]


@pytest.mark.parametrize("name, count, settings", FUNCTIONAL)
def test_functional_rules(name, count, settings):
    generator = torch.Generator().manual_seed(0)
    values = [torch.randn(3, generator=generator) for _ in range(8)]
    found = []
    for lib in (torch, norch):
        params, grads = ([lib.tensor(value.tolist()) for value in values[i::2]] for i in (0, 1))
        states = [[None] * 4] if name == "sgd" else [[lib.zeros(3) for _ in params] for _ in range(count)]
        steps = [] if name == "sgd" else [[lib.tensor(0.0) for _ in params]]
        function = getattr(__import__(f"{lib.__name__}.optim._functional", fromlist=[name]), name)
        for _ in range(3):
            function(params, grads, *states, *steps, **settings)
        found.append([x.tolist() for values in (params, *states, *steps) for x in values])
        with pytest.raises((ValueError, IndexError, RuntimeError)):
            function(params, grads[:2], *states, *steps, **settings)
        with pytest.raises((TypeError, AttributeError)):
            function(params, [5] * len(grads), *states, *steps, **settings)
    assert len(found[0]) == len(found[1])
    for theirs, ours in zip(*found):
        assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-6)
