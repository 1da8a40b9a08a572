"""Small scenes, each eager and compiled: arguments and results of every form, and what a function looks at."""

from __future__ import annotations

import collections
import dataclasses
import sys
import types
import warnings
from typing import Any

import attacked_scenes
import pytest
from compiled import shown

import norch
from norch import nn, optim

SCENES = {}


def scene(make):
    """A scene: given what compiles, or leaves alone, a function, it returns what call number i does."""
    SCENES[make.__name__] = make
    return make


def filled(*size):
    """A layer whose weights are 1 and biases 0."""
    layer = nn.Linear(*size)
    nn.init.ones_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def training(compiled, model, optimizer, scale=lambda: 1.0):
    """A compiled step of training."""

    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean() * scale()
        loss.backward()
        optimizer.step()
        return loss

    return compiled(step)


@dataclasses.dataclass
class Batch:
    x: Any
    y: Any


def seen(value):
    """What can be seen of a result."""
    if isinstance(value, norch.Tensor):
        return shown(value), shown(value.grad) if value.is_leaf else None
    if isinstance(value, Batch):
        return "Batch", seen(vars(value))
    if isinstance(value, dict):
        return type(value).__name__, [(key, seen(x)) for key, x in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [seen(x) for x in value]
    return value


@scene
def dataclasses_go_in_and_out(compiled):
    f = compiled(lambda b: Batch(b.x * 2 + b.y, [b.x]))
    return lambda i: f(Batch(norch.ones(2) * i, norch.ones(2)))


@scene
def an_object_with_new_tensors(compiled):
    f, batch = compiled(lambda b: b.x * 2 + b.y), Batch(norch.ones(2), norch.ones(2))

    def call(i):
        batch.x = norch.ones(2) * i
        return f(batch)

    return call


@scene
def ordered_dicts(compiled):
    f = compiled(lambda x: collections.OrderedDict(a=x * 2, b=[x + 1]))
    return lambda i: f(norch.ones(2) * i)


@scene
def names_in_any_order(compiled):
    f, five = compiled(lambda x, y: x - y), norch.ones(2) * 5

    def call(i):
        x = norch.ones(2) * i
        return f(y=x, x=five), f(x, five), f(x=x, y=five), f(x, y=five)

    return call


@scene
def nested_and_flat(compiled):
    five = norch.ones(2) * 5
    f = compiled(lambda x, y=None: (x[0] if isinstance(x, list) else x * 3) + (0 if y is None else y))

    def call(i):
        x = norch.ones(2) * i
        return f([x], five), f(x, five), f([x, five])

    return call


@scene
def lists_that_grow(compiled):
    weight = norch.ones(2).requires_grad_()

    def appending(values, x):
        values.append(x)
        return values[0] * x

    f = compiled(appending)

    def call(i):
        values = [weight]
        f(values, norch.ones(2) * i).sum().backward()
        return values

    return call


@scene
def one_tensor_twice(compiled):
    def step(x, y):
        loss = (x * y).sum()
        loss.backward()
        return loss

    f, g = compiled(step), compiled(lambda x, y: x * y)

    def call(i):
        x, y = (norch.ones(2) * i).requires_grad_(), (norch.ones(2) * i).requires_grad_()
        g(y, y).sum().backward()
        return f(x, x), x, y

    return call


@scene
def an_argument_in_an_object_of_the_result(compiled):
    class Holder:
        def __init__(self, x):
            self.x = x

    f = compiled(lambda x: Holder(x * 3))

    def call(i):
        x = (norch.ones(2) * i).requires_grad_()
        f(x * 2).x.sum().backward()
        return x

    return call


@scene
def gradients_of_two_calls(compiled):
    model = filled(2, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)

    def backward(x):
        loss = model(x).square().mean() / 2
        loss.backward()
        return loss

    f = compiled(backward)

    def call(i):
        losses = [f(norch.ones(3, 2) * i), f(norch.ones(3, 2))]
        gradient = model.weight.grad.tolist()
        optimizer.step()
        optimizer.zero_grad()
        if i == 9 and hasattr(f, "programs"):
            assert len(f.programs) == 2
        return losses, gradient, model.weight

    return call


@scene
def classes_slots_and_long_containers(compiled):
    class Settings:
        gain = 2.0

    class Slotted:
        __slots__ = ("gain",)

    slotted, numbers, tensors, queue = Slotted(), [1.0] * 100, [norch.ones(2)] * 80, collections.deque([1.0, 2.0])
    slotted.gain = 3.0
    f = compiled(lambda x: x * Settings.gain * slotted.gain * sum(numbers) * tensors[79] * queue[0])

    def call(i):
        if i == 5:
            Settings.gain = 5.0
        elif i == 8:
            slotted.gain = 7.0
        elif i == 11:
            numbers[99] = 4.0
        elif i == 14:
            tensors[79] = norch.zeros(2)
        elif i == 17:
            tensors[79], queue[0] = norch.ones(2), 9.0
        return f(norch.ones(2) * i)

    return call


@scene
def functions_of_other_modules(compiled):
    helpers = types.ModuleType("helpers")
    sys.modules["helpers"] = helpers
    exec("K = 2.0\ndef scaled(x):\n    return x * K\n", vars(helpers))
    names = {"helpers": helpers}
    exec("def step(x):\n    return helpers.scaled(x)\n", names)
    f = compiled(names["step"])

    def call(i):
        if i == 5:
            helpers.K = 3.0
        elif i == 8:
            exec("def scaled(x):\n    return x * 10\n", vars(helpers))
        return f(norch.ones(2) * i)

    return call


@scene
def states_that_are_replaced(compiled):
    model = filled(2, 2)
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    f = training(compiled, model, optimizer)

    def call(i):
        if i == 5:
            optimizer.state[model.weight]["exp_avg"] = norch.zeros(2, 2)
        elif i == 8:
            optimizer.state[model.weight] = {k: x.clone() for k, x in optimizer.state[model.weight].items()}
        return f(norch.ones(3, 2) * i), list(model.parameters())

    return call


@scene
def settings_that_the_function_reads(compiled):
    model = filled(2, 2)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    f = training(compiled, model, optimizer, lambda: optimizer.param_groups[0]["lr"])

    def call(i):
        optimizer.param_groups[0]["lr"] = 0.1 if i < 6 else 0.01
        return f(norch.ones(3, 2) * i), list(model.parameters())

    return call


class Stepping(optim.Optimizer):
    """Defines its own step."""

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.add_(p.grad, alpha=-group["lr"])


class Ruled(optim.Optimizer):
    """Defines a rule that replaces what it remembers, by the gradient itself too."""

    def remembered(self, group):
        return ("m",)

    def update(self, parameter, gradient, state, group):
        state["m"] = 0.9 * state["m"] + gradient
        state["last"] = gradient
        parameter -= group["lr"] * state["m"]


def users_optimizer(kind):
    def make(compiled):
        model, gradients = filled(2, 2), []
        optimizer = kind(model.parameters(), {"lr": 0.1})
        f = training(compiled, model, optimizer)

        def call(i):
            if i == 6:
                optimizer.param_groups[0]["lr"] = 0.01
            loss = f(norch.ones(3, 2) * i)
            gradients.append(model.weight.grad)
            if i == 5 and hasattr(f, "programs"):
                assert len(f.programs) == 1
            return loss, list(model.parameters()), list(optimizer.state.values()), gradients

        return call

    return make


SCENES["an optimizer with a step"], SCENES["an optimizer with a rule"] = map(users_optimizer, (Stepping, Ruled))


@scene
def a_hook_that_goes(compiled):
    model, calls = filled(2, 2), []
    handle = model.register_forward_hook(lambda *_: calls.append(1))
    f = compiled(lambda x: model(x))

    def call(i):
        if i == 4:
            handle.remove()
        result = f(norch.ones(2) * i)
        if i == 9 and hasattr(f, "programs"):
            assert len(f.programs) == 1
        return result, len(calls)

    return call


@scene
def an_error_between_two_writes(compiled):
    table, buffer = nn.Embedding(4, 2), norch.zeros(2)
    nn.init.ones_(table.weight)

    def step(index):
        buffer.add_(1.0)
        found = table.weight.index_select(0, index).sum()  # (nn.Embedding adds to the message in Python)
        buffer.add_(1.0)
        return found

    f = compiled(step)

    def call(i):
        try:
            found = f(norch.tensor([1, 7 if i in (5, 8) else 2]))
        except IndexError as error:
            found = str(error)
        return found, buffer  # and its version

    return call


@scene
def no_elements(compiled):
    f = compiled(lambda x: x * 2 + x.sum())
    return lambda i: f(norch.ones(0, 2))


SCENES.update(attacked_scenes.SCENES)


@pytest.mark.parametrize("name", SCENES)
def test_as_eager(name):
    runs = []
    for compiled in (lambda function: function, norch.compile):
        norch.manual_seed(1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = SCENES[name](compiled)
            runs.append([seen(call(i)) for i in range(20)])
    assert runs[0] == runs[1]
