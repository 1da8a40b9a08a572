"""Every optimizer and learning rate schedule, in a compiled training step, beside eager: bit for bit the same."""

from __future__ import annotations

import inspect

import pytest
from compiled import World, beside_eager, state_of

import norch
from norch import nn, optim
from norch.optim import lr_scheduler as schedulers
from norch.optim.swa_utils import SWALR

# An optimizer, and the settings to try; all of them replay, but for those in EAGER
OPTIMIZERS = {
    "SGD": [
        {"lr": 0.1},
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01},
        {"lr": 0.1, "momentum": 0.9, "nesterov": True},
        {"lr": 0.01, "maximize": True},
    ],
    "Adam": [{}, {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1}, {"maximize": True, "betas": (0.5, 0.9)}],
    "AdamW": [{}, {"amsgrad": True}],
    "RMSprop": [{}, {"momentum": 0.9, "centered": True, "weight_decay": 0.01}],
    "ASGD": [{"t0": 3}],
    "Adadelta": [{}, {"weight_decay": 0.1, "maximize": True}],
    "Adafactor": [{}, {"weight_decay": 0.1, "lr": 1.0}],
    "Adagrad": [{"lr_decay": 0.1}],
    "Adamax": [{}, {"weight_decay": 0.1}],
    "LBFGS": [{"max_iter": 3}],
    "Muon": [{}],
    "NAdam": [{}, {"decoupled_weight_decay": True, "weight_decay": 0.1}],
    "RAdam": [{}, {"betas": (0.5, 0.7)}],
    "Rprop": [{}],
    "SparseAdam": [{}],
}
EAGER = {  # a line search decides in Python, and a number of rows in values
    "LBFGS": "LBFGS takes its step",
    "SparseAdam": "the shape of a result depends on values",
}
cases = [(name, options) for name, each in OPTIMIZERS.items() for options in each]
optimizers = pytest.mark.parametrize("name, options", cases, ids=[f"{name} {list(options)}" for name, options in cases])

SCHEDULES = {
    "ChainedScheduler": lambda o: schedulers.ChainedScheduler(
        [schedulers.ConstantLR(o, 0.1, 3), schedulers.ExponentialLR(o, 0.9)]
    ),
    "ConstantLR": lambda o: schedulers.ConstantLR(o, 0.25, 4),
    "CosineAnnealingLR": lambda o: schedulers.CosineAnnealingLR(o, 20, eta_min=0.001),
    "CosineAnnealingWarmRestarts": lambda o: schedulers.CosineAnnealingWarmRestarts(o, 3, 2, eta_min=0.001),
    "CyclicLR": lambda o: schedulers.CyclicLR(o, 0.01, 0.1, 3, cycle_momentum=False),
    "ExponentialLR": lambda o: schedulers.ExponentialLR(o, 0.9),
    "LambdaLR": lambda o: schedulers.LambdaLR(o, lambda e: 1 / (1 + e)),
    "LinearLR": lambda o: schedulers.LinearLR(o),
    "MultiStepLR": lambda o: schedulers.MultiStepLR(o, [8, 3], 0.5),
    "MultiplicativeLR": lambda o: schedulers.MultiplicativeLR(o, lambda e: e / (e + 1)),
    "OneCycleLR": lambda o: schedulers.OneCycleLR(
        o, 0.1, total_steps=101, cycle_momentum=not o.defaults.keys().isdisjoint(("betas", "momentum"))
    ),
    "PolynomialLR": lambda o: schedulers.PolynomialLR(o, 200, 2.0),
    "ReduceLROnPlateau": lambda o: schedulers.ReduceLROnPlateau(o, patience=1),
    "SWALR": lambda o: SWALR(o, 0.25, 6),
    "SequentialLR": lambda o: schedulers.SequentialLR(
        o, [schedulers.LinearLR(o, 0.1), schedulers.ExponentialLR(o, 0.5)], [4]
    ),
    "StepLR": lambda o: schedulers.StepLR(o, 3),
}
SCHEDULED = ["SGD", "Adam", "RMSprop", "Adafactor"]
SETTINGS = {"SGD": {"lr": 0.05, "momentum": 0.9}, "RMSprop": {"momentum": 0.5}}


def two_groups(kind, options):
    """A model whose parameters are in two groups, and their optimizer."""
    model = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Dropout(0.2), nn.Linear(6, 2, bias=kind is not optim.Muon))
    if kind is optim.LBFGS:
        return model, kind(model.parameters(), **options)
    if kind is optim.Muon:
        return model, kind([p for p in model.parameters() if p.ndim == 2], **options)
    groups = [{"params": model[0].parameters()}, {"params": model[3].parameters(), "lr": 0.02}]
    return model, kind(groups, **options)


def program(name, options, schedule=None):
    model, optimizer = two_groups(getattr(optim, name), options)
    scheduler = None if schedule is None else SCHEDULES[schedule](optimizer)
    criterion = nn.MSELoss()

    def closure_step(x, y):
        def closure():
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            return loss

        return optimizer.step(closure)

    def step(x, y):
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    def after(i, loss):
        if schedule == "ReduceLROnPlateau":
            scheduler.step(loss)
        elif schedule is not None:
            scheduler.step()

    return World(
        closure_step if name == "LBFGS" else step,
        lambda i: (norch.randn(4, 3), norch.randn(4, 2)),
        lambda: state_of(model, optimizer),
        after=after,
    )


def test_every_optimizer_and_schedule_has_a_row():
    kinds = {name for name, x in vars(optim).items() if inspect.isclass(x) and issubclass(x, optim.Optimizer)}
    assert kinds - {"Optimizer", "ZeroRedundancyOptimizer"} == OPTIMIZERS.keys()  # the other one is several processes
    found = {name for name, x in vars(schedulers).items() if inspect.isclass(x) and name.endswith(("LR", "Scheduler"))}
    found |= {"SWALR", "ReduceLROnPlateau", "CosineAnnealingWarmRestarts"}
    assert found - {"LRScheduler", "_LRScheduler"} == SCHEDULES.keys()


def check(name, function, warned):
    """It replays, unless it reads values, as Adafactor does for parameters on a GPU."""
    on_gpu = norch.get_default_device().type == "cuda"
    eager = {**EAGER, "Adafactor": "a value is read"} if on_gpu else EAGER
    if name in eager:
        assert all(eager[name] in text for text in warned) and len(warned) == 1 and not function.programs
    else:
        assert not warned and len(function.programs) == 1


@optimizers
def test_optimizers(name, options):
    check(name, *beside_eager(lambda: program(name, options)))


@pytest.mark.parametrize("name", SCHEDULED)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules(schedule, name):
    """A new rate takes effect at the next call, which replays."""
    check(name, *beside_eager(lambda: program(name, SETTINGS.get(name, {}), schedule)))


SWA = optim.swa_utils
AVERAGES = {
    "equal": {},
    "one by one": {"avg_fn": SWA.get_ema_avg_fn(0.75)},
    "lists": {"multi_avg_fn": SWA.get_ema_multi_avg_fn(0.75), "use_buffers": True},
}


@pytest.mark.parametrize("kind", AVERAGES)
def test_averaged_models(kind):
    """The number of updates is read where it is: set back, the next call copies."""

    def make():
        model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
        optimizer, averaged = optim.SGD(model.parameters(), lr=0.1), SWA.AveragedModel(model, **AVERAGES[kind])

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            averaged.update_parameters(model)
            return loss

        def before(i):
            if i == 8:
                averaged.n_averaged.zero_()

        return World(step, lambda i: (norch.randn(4, 3),), lambda: (state_of(model), state_of(averaged)), before)

    function, warned = beside_eager(make)
    assert not warned and len(function.programs) == 1
