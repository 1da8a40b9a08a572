"""Hooks of modules, tensors and optimizers under norch.compile: replayed, added, removed."""

from __future__ import annotations

import pytest
from compiled import World, beside_eager, state_of, training_step

import norch
from norch import nn, optim


def clip(model):
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)


def double(gradients):
    return tuple(None if gradient is None else gradient * 2 for gradient in gradients)


def halve(leaf):
    leaf.grad.mul_(0.5)


HOOKS = {
    "leaf": lambda model, _: model[0].weight.register_hook(lambda gradient: gradient * 3),
    "leaf after": lambda model, _: model[0].weight.register_post_accumulate_grad_hook(halve),
    "forward": lambda model, _: model[0].register_forward_hook(lambda module, inputs, out: out * 2),
    "forward before": lambda model, _: model[1].register_forward_pre_hook(lambda module, inputs: (inputs[0] + 1,)),
    "backward": lambda model, _: model[0].register_full_backward_hook(lambda module, inward, outward: double(inward)),
    "backward before": lambda model, _: model[0].register_full_backward_pre_hook(
        lambda module, outward: double(outward)
    ),
    "optimizer": lambda model, optimizer: optimizer.register_step_pre_hook(lambda *_: clip(model)),
}


@pytest.mark.parametrize("kind", HOOKS)
def test_hooks_that_compute_are_replayed(kind):
    def make():
        model = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        handles = [HOOKS[kind](model, optimizer)]

        def before(i):
            if i == 6:
                handles.pop().remove()
            elif i == 12:
                handles.append(HOOKS[kind](model, optimizer))

        return World(
            training_step(model, optimizer), lambda i: (norch.randn(4, 3),), lambda: state_of(model, optimizer), before
        )

    for steps in (6, 12, 18):
        function, warned = beside_eager(make, steps)
        assert not warned and function.programs


def test_hooks_that_change_something_else():
    for register in (
        lambda model, seen: model[0].weight.register_post_accumulate_grad_hook(lambda p: seen.append(1)),
        lambda model, seen: model[0].register_forward_hook(lambda module, inputs, out: seen.append(1)),
        lambda model, seen: model[0].register_full_backward_hook(lambda module, inward, outward: seen.append(1)),
    ):

        def make(register=register):
            model, seen = nn.Sequential(nn.Linear(3, 2), nn.Tanh()), []
            register(model, seen)

            def after(i, result):
                result.sum().backward()

            return World(model, lambda i: (norch.randn(4, 3),), lambda: (seen[:], state_of(model)), after=after)

        beside_eager(make)


@pytest.mark.filterwarnings("ignore:norch.compile")
def test_a_hook_of_an_argument_is_called_behind_a_step():
    seen = []
    for how in (lambda function: function, norch.compile):
        found = []

        @how
        def function(x, found=found):
            x.register_hook(lambda gradient: found.append(gradient.tolist()))
            norch.optim.SGD([x], lr=0.5).step()  # which asks for its gradient
            (x * x).sum().backward()

        for _ in range(4):
            x = norch.ones(2, requires_grad=True)
            x.grad = norch.ones(2)
            function(x)
            (x * 3).sum().backward()
            found.append(x.grad.tolist())
        seen.append(found)
    assert seen[0] == seen[1] and len(seen[0]) == 12
