"""What shares memory or is one object, inside and outside of a compiled function; and what is asked of arguments."""

from __future__ import annotations

import collections
import datetime
import os
import pathlib
import types
import warnings

import pytest
from compiled import shown

import norch
from norch import nn

REPLAYED, EAGER = {}, {}


def replayed(make):
    """A scene: given what compiles, or leaves alone, a function, it returns what call number i does. It is replayed."""
    REPLAYED[make.__name__] = make
    return make


def eager(make):
    """The same for one that stays eager."""
    EAGER[make.__name__] = make
    return make


def weights(*shape):
    return norch.ones(*shape, requires_grad=True)


def written(x, w):
    """x, a part of which was multiplied by w in a graph, and the gradient of w."""
    w.grad = None
    if x.requires_grad:
        x.sum().backward()
    return x, x.requires_grad, w.grad


# ---- Results that are views -----------------------------------------------------------------------------------------


@replayed
def view_of_an_argument(compiled):
    f, w = compiled(lambda x: x.view(-1)), weights(6)

    def call(i):
        x = norch.ones(2, 3)
        y = f(x)
        y.mul_(w)
        return written(x, w), y, y._base is x

    return call


@replayed
def view_of_a_view(compiled):
    f, w = compiled(lambda x: x[1:]), weights(2)

    def call(i):
        base = norch.ones(4, 2)
        f(base[1:])[0].mul_(w)
        return written(base, w)

    return call


@replayed
def view_of_an_argument_in_a_graph(compiled):
    f, p = compiled(lambda x: x.view(-1)), weights(2, 2)

    def call(i):
        p.grad = None
        x = p * (i + 1)
        f(x).mul_(3.0)
        x.sum().backward()
        return x, p.grad

    return call


@replayed
def result_and_its_views(compiled):
    def function(x):
        y = x * 2
        return y, y[0], y.t()

    f, w = compiled(function), weights(2)

    def call(i):
        y, row, turned = f(norch.ones(3, 2) * i)
        row.mul_(w)
        turned.add_(1.0)
        return written(y, w), row, turned

    return call


@replayed
def views_of_what_is_hidden(compiled):
    def function(x):
        y = x * 2
        return y[0], y[1:], y.view(-1)

    f, w = compiled(function), weights(2)

    def call(i):
        row, _, flat = f(norch.ones(3, 2) * i)
        row.mul_(w)
        return written(flat, w)

    return call


@replayed
def view_of_a_buffer(compiled):
    buffer = norch.zeros(3, 2)

    def function(x):
        buffer.add_(x)
        return buffer[0]

    f = compiled(function)

    def call(i):
        row = f(norch.ones(2))
        row.add_(1.0)
        return row, buffer, row._base is buffer

    return call


@replayed
def alias_of_a_parameter_that_counts_for_itself(compiled):
    layer = nn.Linear(2, 1)
    layer.weight.data = norch.ones(1, 2)
    f = compiled(lambda: layer.weight.detach())

    def call(i):
        f().add_(1.0)
        return layer.weight

    return call


@replayed
def argument_that_counts_for_itself(compiled):
    f, x = compiled(lambda x: x.add_(1.0)), norch.ones(2)

    def call(i):
        y = x.data if i % 2 else x
        f(y)
        return x, y

    return call


def test_a_write_to_results_that_share_memory_in_a_graph():
    """Nobody knows the graph between them: it is refused."""
    layer = nn.Linear(2, 4)

    def function(x):
        y = layer(x)
        return y[0], y[:2]

    f = norch.compile(function)
    for _ in range(4):
        row, _ = f(norch.ones(3, 2))
    assert f.programs
    with pytest.raises(RuntimeError, match="clone"):
        row.mul_(2.0)


# ---- Results that are one object ------------------------------------------------------------------------------------


@replayed
def one_tensor_twice(compiled):
    def function(x):
        y = x * 2
        return y, [y]

    f = compiled(function)

    def call(i):
        a, (b,) = f(norch.ones(2) * i)
        return a is b, a

    return call


@eager
def container_that_is_an_argument(compiled):
    f = compiled(lambda d: [d])

    def call(i):
        d = {"x": norch.ones(2)}
        return f(d)[0] is d

    return call


@eager
def container_of_outside(compiled):
    found = [norch.ones(2)]
    f = compiled(lambda x: (x * 2, found))
    return lambda i: f(norch.ones(2))[1] is found


# ---- Arguments that lie in memory of outside, or have a gradient ----------------------------------------------------


@replayed
def parameter_as_an_argument_at_first(compiled):
    layer = nn.Linear(3, 3)
    f = compiled(lambda x: (layer.weight * x).sum().detach())
    return lambda i: f(layer.weight.detach() if i < 6 or i % 2 else norch.ones(3, 3))


@replayed
def state_of_an_optimizer_as_an_argument_at_first(compiled):
    layer = nn.Linear(3, 3, bias=False)
    optimizer = norch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)

    def function(x):
        optimizer.zero_grad()
        (layer.weight * x).sum().backward()
        optimizer.step()
        return x * 2

    f = compiled(function)

    def call(i):
        state = optimizer.state.get(layer.weight)
        x = state["momentum_buffer"].detach() if state and (i < 7 or i % 2) else norch.ones(3, 3)
        return f(x), layer.weight

    return call


@replayed
def gradients_of_arguments_that_add_up(compiled):
    w = weights(3)

    def function(x):
        (w * x * x).sum().backward()

    f, xs = compiled(function), [weights(3), weights(3)]

    def call(i):
        x = xs[i % 2]
        if i % 5 == 4:
            x.grad = w.grad = None
        if i == 11:
            x.grad = norch.ones(3)
        f(x)
        return x.grad, w.grad

    return call


# ---- What is asked of an argument -----------------------------------------------------------------------------------


def of_arguments(ask, *others):
    """A scene: the same question to an argument of each kind in turn, one kind for the first calls."""

    def make(compiled):
        f = compiled(lambda x: x * (2 if ask(x) else 3))

        def call(i):
            x = others[0 if i < 6 else i % len(others)]()
            with norch.no_grad():
                return f(x)

        return call

    return make


def with_gradient():
    x = weights(3)
    (x * 2).sum().backward()
    return x


def flagged():
    x = weights(3)
    x.flag = True
    return x


def computed():
    return weights(3) * 2


EAGER["whether it has a gradient"] = of_arguments(lambda x: x.grad is None, lambda: weights(3), with_gradient)
EAGER["whether it is a leaf"] = of_arguments(lambda x: x.is_leaf, computed, lambda: weights(3))
EAGER["its node"] = of_arguments(lambda x: "Mul" in repr(x.grad_fn), computed, lambda: weights(3) + 2)
EAGER["its place in memory"] = of_arguments(
    lambda x: x.storage_offset(), lambda: norch.ones(3), lambda: norch.ones(5)[2:]
)
EAGER["its attributes"] = of_arguments(lambda x: getattr(x, "flag", False), flagged)
REPLAYED["its class"] = of_arguments(
    lambda x: isinstance(x, nn.Parameter), lambda: weights(3), lambda: nn.Parameter(norch.ones(3))
)


@eager
def gradient_of_an_argument(compiled):
    f, xs = compiled(lambda x: x + 0.1 * x.grad), [weights(3) for _ in range(3)]
    for k, x in enumerate(xs):
        (x * k).sum().backward()
    return lambda i: f(xs[0 if i < 6 else i % 3])


@eager
def graph_of_an_argument_in_a_recorded_call(compiled):
    f, w = compiled(lambda x: x * (2 if "Mul" in repr(x.grad_fn) else 3)), weights(3)
    return lambda i: f(w * 2)


@eager
def argument_that_enters_a_graph(compiled):
    f = compiled(lambda x: x.requires_grad_() * 2)

    def call(i):
        x = norch.ones(2)
        f(x).sum().backward()
        return x, x.grad

    return call


@eager
def grad_mode_left_behind(compiled):
    def function(x):
        norch.set_grad_enabled(False)
        return x * 2

    f = compiled(function)

    def call(i):
        f(norch.ones(2))
        left = norch.is_grad_enabled()
        norch.set_grad_enabled(True)
        return left

    return call


# ---- What changes unseen, or does not change ------------------------------------------------------------------------


@replayed
def views_of_a_dict(compiled):
    known = collections.OrderedDict(a=1.0)
    keys, values, items = known.keys(), {"a": 1.0}.values(), known.items()
    f = compiled(lambda x: x * sum(values) + len(keys) + sum(y for _, y in items))

    def call(i):
        if i == 8:
            known["a"] = 2.0
        if i == 12:
            known["b"] = 3.0
        return f(norch.ones(2))

    return call


@eager
def files(compiled):
    path = pathlib.Path(__file__)
    f = compiled(lambda x: x + len(path.read_text()) + os.stat(path).st_size + len(os.getcwd()))
    return lambda i: f(norch.ones(2))


@eager
def clock_of_a_class(compiled):
    f = compiled(lambda x: x + datetime.datetime.now().year)
    return lambda i: f(norch.ones(2))


@eager
def seed(compiled):
    f = compiled(lambda x: x + norch.initial_seed() + norch.get_rng_state().sum())
    return lambda i: f(norch.ones(2))


@eager
def threads(compiled):
    f = compiled(lambda x: x + norch.get_num_threads())
    return lambda i: f(norch.ones(2))


@replayed
def buffer_that_is_counted_up(compiled):
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", norch.zeros(1))

        def forward(self, x):
            self.calls += 1  # which sets the attribute to the same tensor
            return x / self.calls

    model = Counting()
    f = compiled(model)

    def call(i):
        if i == 9:
            model.calls = norch.zeros(1)
        return f(norch.ones(2)), model.calls

    return call


@replayed
def layers_that_are_made_inside(compiled):
    norch.manual_seed(2)
    f = compiled(lambda x: nn.Linear(2, 2)(x))
    return lambda i: f(norch.ones(3, 2))


@replayed
def parameters_of_outside_for_a_model(compiled):
    model, given = nn.Linear(2, 1), {"weight": weights(1, 2), "bias": weights(1)}
    f = compiled(lambda x: norch.func.functional_call(model, given, (x,)).detach())

    def call(i):
        if i == 8:
            given["bias"] = norch.zeros(1)
        return f(norch.ones(3, 2)), model.weight

    return call


@replayed
def outputs_without_a_gradient(compiled):
    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 1), nn.Linear(2, 1)

        def forward(self, x):
            return self.a(x), self.b(x)

    model = Heads()
    f = compiled(model)

    def call(i):
        model.zero_grad()
        f(norch.ones(3, 2))[i % 2].sum().backward()
        return [p.grad for p in model.parameters()]

    return call


def run(make, compiled):
    made = types.SimpleNamespace(functions=[])

    def compiling(function):
        made.functions.append(norch.compile(function) if compiled else function)
        return made.functions[-1]

    norch.manual_seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = make(compiling)
        return [shown(call(i)) for i in range(16)], sum(len(f.programs) for f in made.functions if compiled)


@pytest.mark.parametrize("name", [*REPLAYED, *EAGER])
def test_as_eager(name):
    make = {**REPLAYED, **EAGER}[name]
    (expected, _), (found, programs) = run(make, False), run(make, True)
    assert found == expected
    assert bool(programs) == (name in REPLAYED)


def test_a_compiled_sequence_is_one():
    model = norch.compile(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    assert len(model) == 2 and model[0].out_features == 3 and [*model][1] in model and bool(model)
