"""Calls of which PyTorch warns: norch does too, as often, of the same category and in the caller's line."""

from __future__ import annotations

import inspect
import warnings

import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402

THETA = [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]


def schedule(t, name, *args):
    optimizer = t.optim.SGD([t.nn.Parameter(t.ones(2))], lr=1.0)
    made = getattr(t.optim.lr_scheduler, name)(optimizer, *args)
    optimizer.step()
    return made


def in_turn(t):
    of = t.optim.lr_scheduler
    optimizer = t.optim.SGD([t.nn.Parameter(t.ones(2))], lr=1.0)
    both = of.SequentialLR(optimizer, [of.ConstantLR(optimizer), of.ExponentialLR(optimizer, 0.5)], [1])
    optimizer.step()
    both.step()


CALLS = {
    "an epoch": lambda t: schedule(t, "StepLR", 2).step(3),
    "an epoch of 0": lambda t: schedule(t, "OneCycleLR", 1.0, 10).step(epoch=0),
    "no epoch": lambda t: schedule(t, "StepLR", 2).step(),
    "an epoch between restarts": lambda t: schedule(t, "CosineAnnealingWarmRestarts", 2).step(0.5),
    "a metric": lambda t: schedule(t, "ReduceLROnPlateau").step(1.0),
    "a metric and an epoch": lambda t: schedule(t, "ReduceLROnPlateau").step(1.0, 3),
    "schedules in turn": in_turn,
    "many workers": lambda t: t.utils.data.DataLoader([1, 2], num_workers=4000),
    "no workers": lambda t: t.utils.data.DataLoader([1, 2]),
    "affine_grid": lambda t: t.nn.functional.affine_grid(t.tensor(THETA), (1, 1, 2, 2)),
    "affine_grid of a row": lambda t: t.nn.functional.affine_grid(t.tensor(THETA), (1, 1, 1, 2), align_corners=True),
    "affine_grid, corners": lambda t: t.nn.functional.affine_grid(t.tensor(THETA), (1, 1, 2, 2), align_corners=True),
    "affine_grid, edges": lambda t: t.nn.functional.affine_grid(t.tensor(THETA), (1, 1, 1, 1), align_corners=False),
    "grid_sample": lambda t: t.nn.functional.grid_sample(t.ones(1, 1, 2, 2), t.zeros(1, 2, 2, 2)),
    "grid_sample, edges": lambda t: t.nn.functional.grid_sample(
        t.ones(1, 1, 2, 2), t.zeros(1, 2, 2, 2), align_corners=False
    ),
    "upsample": lambda t: t.nn.functional.upsample(t.ones(1, 1, 2), 4),
    "upsample_nearest": lambda t: t.nn.functional.upsample_nearest(t.ones(1, 1, 2), 4),
    "upsample_bilinear": lambda t: t.nn.functional.upsample_bilinear(t.ones(1, 1, 2, 2), 4),
}


@pytest.mark.parametrize("name", CALLS)
def test_both_warn(name):
    said = {}
    for t in (torch, norch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            CALLS[name](t)
        said[t] = [each.category for each in caught]
        assert t is torch or all(each.filename == __file__ for each in caught)
    assert said[norch] == said[torch]


@pytest.mark.parametrize("name", ["mkldnn", "cudnn", "nnpack", "opt_einsum", "miopen", None])
def test_flags_of_backends(name):
    theirs, ours = (t.backends if name is None else getattr(t.backends, name) for t in (torch, norch))
    wanted = inspect.signature(theirs.flags).parameters.values()
    found = inspect.signature(ours.flags).parameters.values()
    assert [(each.name, each.default) for each in found] == [(each.name, each.default) for each in wanted]
    settings = {each: getattr(ours, each, None) for each in inspect.signature(ours.flags).parameters}
    with pytest.raises(ZeroDivisionError), ours.flags():
        raise ZeroDivisionError
    assert {each: getattr(ours, each, None) for each in settings} == settings
    with pytest.raises(TypeError):
        ours.flags(unknown=True)
    if "enabled" in settings and name != "opt_einsum":
        with pytest.raises(TypeError, match="expected True or False"):
            ours.flags(enabled="no")
