"""GradScaler: steps that are taken, skipped and refused; the factor; its state."""

from __future__ import annotations

import math

import pytest

import norch
from norch import nn, optim
from norch.amp import GradScaler


def one_parameter(value=1.0):
    w = nn.Parameter(norch.tensor([value]))
    return w, optim.SGD([w], lr=0.5)


def test_a_step_is_that_of_the_unscaled_gradient():
    w, optimizer = one_parameter()
    scaler = GradScaler("cpu", init_scale=1024.0)
    scaler.scale((w * w).sum()).backward()
    assert w.grad.item() == 2048
    scaler.unscale_(optimizer)
    assert w.grad.item() == 2
    scaler.step(optimizer)
    scaler.update()
    assert w.item() == 0 and scaler.get_scale() == 1024 and scaler.is_enabled()


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_a_step_with_a_gradient_that_is_not_finite_is_skipped(bad):
    w, optimizer = one_parameter()
    scaler = GradScaler("cpu", init_scale=8.0, growth_interval=2, growth_factor=4.0, backoff_factor=0.25)
    scales = []
    for gradient in (1.0, bad, 1.0, 1.0, 1.0):
        w.grad = norch.tensor([gradient])
        before = w.item()
        scaler.step(optimizer)
        scaler.update()
        assert (w.item() == before) == (gradient != 1.0)
        scales.append(scaler.get_scale())
    assert scales == [8.0, 2.0, 2.0, 8.0, 8.0]


def test_halves_keep_what_would_round_to_0():
    """A gradient of 1e-8 is 0 as a float16; times the factor it is not."""
    w = nn.Parameter(norch.tensor([1.0]))
    scaler = GradScaler("cpu", init_scale=1024.0)
    for scale, expected in ((lambda loss: loss, 0.0), (scaler.scale, 1e-8)):
        w.grad = None
        with norch.autocast("cpu", dtype=norch.float16):
            loss = (w.half() * 1e-8).sum()
        scale(loss.float()).backward()
        optimizer = optim.SGD([w], lr=1.0)
        if expected:
            scaler.unscale_(optimizer)
        assert w.grad.item() == pytest.approx(expected, rel=1e-2)


def test_what_is_refused():
    w, optimizer = one_parameter()
    scaler = GradScaler("cpu")
    with pytest.raises(AssertionError, match="No inf checks"):
        scaler.update()
    w.grad = norch.tensor([1.0])
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="Closure"):
        scaler.step(optimizer, closure=lambda: 1)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(optimizer)
    half = nn.Parameter(norch.ones(1, dtype=norch.float16))
    half.grad = norch.ones(1, dtype=norch.float16)
    with pytest.raises(ValueError, match="FP16"):
        scaler.unscale_(optim.SGD([half], lr=1.0))
    with pytest.raises(ValueError, match="outputs"):
        scaler.scale(3)
    for settings in ({"growth_factor": 1.0}, {"backoff_factor": 1.0}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            GradScaler("cpu", **settings)


def test_several_outputs_and_optimizers():
    scaler = GradScaler("cpu", init_scale=4.0)
    first, (second,) = scaler.scale((norch.ones(1), [norch.ones(2)]))
    assert first.tolist() == [4.0] and second.tolist() == [4.0, 4.0]
    (w, one), (v, two) = one_parameter(), one_parameter()
    w.grad, v.grad = norch.tensor([math.inf]), norch.tensor([4.0])
    scaler.step(one)
    scaler.step(two)
    scaler.update()
    assert (w.item(), v.item(), scaler.get_scale()) == (1.0, 0.5, 2.0)  # only one of them skipped


def test_state():
    scaler, other = GradScaler("cpu", init_scale=4.0, growth_interval=7), GradScaler("cpu")
    w, optimizer = one_parameter()
    w.grad = norch.ones(1)
    scaler.step(optimizer)
    scaler.update()
    assert scaler.state_dict() == {
        "scale": 4.0,
        "growth_factor": 2.0,
        "backoff_factor": 0.5,
        "growth_interval": 7,
        "_growth_tracker": 1,
    }
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    scaler.update(16.0)
    assert scaler.get_scale() == 16.0
    with pytest.raises(RuntimeError, match="empty"):
        scaler.load_state_dict(GradScaler("cpu", enabled=False).state_dict())


def test_disabled():
    if not norch.cuda.is_available():
        with pytest.warns(UserWarning, match="not available"):
            assert not GradScaler().is_enabled()
        with pytest.warns(FutureWarning, match="deprecated"), pytest.warns(UserWarning, match="not available"):
            assert not norch.cuda.amp.GradScaler().is_enabled()
    scaler = GradScaler("cuda", enabled=False)
    w, optimizer = one_parameter()
    loss = (w * w).sum()
    assert scaler.scale(loss) is loss and scaler.get_scale() == 1.0 and scaler.state_dict() == {}
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.item() == 0
