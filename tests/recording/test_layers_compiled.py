"""Every layer and loss of norch.nn, compiled, beside eager: bit for bit the same, and most of them replay."""

from __future__ import annotations

import inspect

import pytest
from compiled import World, beside_eager, state_of
from layer_rows import LAYERS, LOSSES, OTHERS, floats_in, inputs_of, layer_of

from norch import nn, no_grad, optim

ROWS = {**LAYERS, **LOSSES}
rows = pytest.mark.parametrize("code", ROWS)

# Rows that stay eager, and why: the host looks at values. All others must replay
EAGER = {"AdaptiveLogSoftmaxWithLoss(8, 10, [4, 7])": "the shape of a result depends on values"}  # of each cluster


def first_call(code):
    """The layer of a row; lazy ones have their parameters."""
    layer = layer_of(code)
    with no_grad():
        layer(*inputs_of(ROWS[code]))
    return layer


def training(code):
    """A whole step: the forward, a loss, the backward, the optimizer."""
    layer = first_call(code)
    parameters = list(layer.parameters())
    optimizer = optim.SGD(parameters, lr=0.05, momentum=0.5) if parameters else None

    def step(*inputs):
        inputs = [x.detach().requires_grad_() if x.dtype.is_floating_point else x for x in inputs]
        found = layer(*inputs)
        loss = sum((x * x).mean() for x in floats_in(found))
        if optimizer is not None:
            optimizer.zero_grad()
        loss.backward()
        if optimizer is not None:
            optimizer.step()
        return loss

    return World(step, lambda i: tuple(inputs_of(ROWS[code])), lambda: state_of(layer, optimizer))


def forward(code):
    """The layer alone is compiled; loss, backward and optimizer run outside, and the inputs require gradients."""
    layer = first_call(code)
    parameters = list(layer.parameters())
    optimizer = optim.SGD(parameters, lr=0.05) if parameters else None
    given = []

    def arguments(i):
        given[:] = [x.requires_grad_() if x.dtype.is_floating_point else x for x in inputs_of(ROWS[code])]
        return tuple(given)

    def learn(i, found):
        sum((x * x).mean() for x in floats_in(found)).backward()
        if optimizer is not None:
            optimizer.step()
            optimizer.zero_grad()

    def look():
        return state_of(layer, optimizer), [repr(None if x.grad is None else x.grad.tolist()) for x in given]

    return World(layer, arguments, look, after=learn)


def prediction(code):
    """The layer in eval mode, without gradients."""
    layer = first_call(code).eval()

    def step(*inputs):
        with no_grad():
            return layer(*inputs)

    return World(step, lambda i: tuple(inputs_of(ROWS[code])), lambda: state_of(layer))


def test_every_class_has_a_row():
    classes = {name for name, x in vars(nn).items() if inspect.isclass(x) and issubclass(x, nn.Module)}
    assert classes - OTHERS == {code.partition("(")[0] for code in ROWS}


@pytest.mark.parametrize("kind", [training, forward, prediction], ids=lambda kind: kind.__name__)
@rows
def test_as_eager(code, kind):
    function, warned = beside_eager(lambda: kind(code))
    why = EAGER.get(code)
    if why is None:
        assert not warned and len(function.programs) == 1
    else:
        assert all(why in text for text in warned) and len(warned) + len(function.programs) == 1
