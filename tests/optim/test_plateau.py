"""ReduceLROnPlateau: when it lowers the rates, what it keeps, and groups that come later."""

import math

import pytest

import norch
from norch import nn, optim
from norch.optim.lr_scheduler import ReduceLROnPlateau

pytestmark = pytest.mark.filterwarnings("ignore:Detected call")  # schedules are followed without training


def make_optimizer():
    return optim.SGD([nn.Parameter([1.0])], lr=1.0)


def plateau(metrics, **options):
    scheduler = ReduceLROnPlateau(make_optimizer(), **options)
    rates = []
    for metric in metrics:
        scheduler.step(metric)
        rates += scheduler.get_last_lr()
    return rates


def test_reduce_on_plateau():
    assert plateau([3, 2, 2, 2, 2], patience=1, factor=0.5) == [1, 1, 1, 0.5, 0.5]
    assert plateau([3, 2, 2, 1, 1], patience=1, factor=0.5) == [1, 1, 1, 1, 1]
    assert plateau([1.0, 0.95, 0.89], patience=0, threshold=0.1, factor=0.5) == [1, 0.5, 0.5]  # of the best: 0.9
    assert plateau([1.0, 0.95, 0.89], patience=0, threshold=0.06, threshold_mode="abs", factor=0.5) == [1, 0.5, 0.5]
    assert plateau([1, 2, 2, 2], mode="max", patience=1, factor=0.5) == [1, 1, 1, 0.5]
    assert plateau([1] * 6, patience=0, cooldown=2, factor=0.5) == [1, 0.5, 0.5, 0.5, 0.25, 0.25]
    assert plateau([1] * 4, patience=0, factor=0.1, min_lr=0.05) == pytest.approx([1, 0.1, 0.05, 0.05])
    assert plateau([1] * 3, patience=0, factor=0.9, eps=0.2) == [1, 1, 1]
    assert plateau([norch.Tensor([1.0]), math.nan], patience=0, factor=0.5) == [1, 0.5]


def test_a_plateau_says_whether_it_cools_down():
    scheduler = ReduceLROnPlateau(make_optimizer(), patience=0, cooldown=1)
    found = []
    for _ in range(4):
        scheduler.step(1.0)
        found.append(scheduler.in_cooldown)
    assert found == [False, True, False, True]


def test_a_plateau_resumes():
    first = ReduceLROnPlateau(make_optimizer(), patience=2, factor=0.5)
    for metric in (1.0, 2.0, 2.0):
        first.step(metric)
    second = ReduceLROnPlateau(make_optimizer())
    second.load_state_dict(first.state_dict())
    second.step(2.0)
    assert second.get_last_lr() == [0.5] and second.best == 1.0


def test_a_plateau_reduces_groups_that_come_later():
    optimizer = make_optimizer()
    scheduler = ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
    listed = ReduceLROnPlateau(optimizer, factor=0.5, patience=0, min_lr=[0.1])
    optimizer.add_param_group({"params": [nn.Parameter([1.0])], "lr": 1.0})
    scheduler.step(1.0)
    scheduler.step(1.0)
    assert scheduler.get_last_lr() == [0.5, 0.5]
    listed.step(1.0)
    with pytest.raises(RuntimeError, match="min_lrs has 1 rates, expected 2"):
        listed.step(1.0)
