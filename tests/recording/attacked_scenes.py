"""Scenes for test_scenes.py that random functions found: what a compiled function did otherwise (attack/replays.py)."""

from __future__ import annotations

import norch
from norch import optim

SCENES = {}


def scene(make):
    """A scene: given what compiles, or leaves alone, a function, it returns what call number i does."""
    SCENES[make.__name__] = make
    return make


def leaf(*values):
    return norch.tensor(values, dtype=norch.float64, requires_grad=True)


def differentiated(function):
    """A function of a leaf, and backward of what comes back."""

    def make(compiled):
        f = compiled(function)

        def call(i):
            x = leaf(1.5, 0.5 * i)
            result = f(x)
            if result is not None and not result.is_leaf:
                (result * result).sum().backward()
            return result, x, x.grad

        return call

    return make


def stepping(x):
    optimizer = optim.SGD([x], lr=0.1)
    optimizer.step(lambda: (x * x).sum().backward())
    return x * 3


def stepping_on(x):
    stepping(x)
    x.sum().backward()
    (x * x).sum().backward()


def giving_other_data(x):
    (x * x).sum().backward()
    x.data = x.data - 0.1 * x.grad


@norch.no_grad()
def turning(x):
    x.unsqueeze_(0)
    return x * 2


def renewing(x):
    (x * x).sum().backward()
    x.grad = None
    (x * 3).sum().backward()
    x.grad.mul_(2)


def leaving_a_graph(x):
    x.cos().sum().backward(create_graph=True)


def making_a_leaf(x):
    made = leaf(2.0, 3.0)
    (made * made * x.detach()).sum().backward()
    return made


def solving(x):
    triangle = norch.outer(x, x).tril() + 3 * norch.eye(2, dtype=x.dtype)
    return norch.cholesky_solve(x[:, None].expand(2, 2) + 0.1, triangle)


SCENES["a step of an argument"] = differentiated(stepping)
SCENES["a step, and further gradients"] = differentiated(stepping_on)
SCENES["other data"] = differentiated(giving_other_data)
SCENES["another shape"] = differentiated(turning)
SCENES["a gradient that is set"] = differentiated(renewing)
SCENES["gradients with a graph"] = differentiated(leaving_a_graph)
SCENES["a leaf with a gradient"] = differentiated(making_a_leaf)
SCENES["triangles"] = differentiated(solving)


@scene
def a_gradient_that_is_there_without_grad_mode(compiled):
    f, x = compiled(lambda x: x * 2), leaf(1.0, 2.0)
    (x * 3).sum().backward()

    @norch.no_grad()
    def call(i):
        return f(x), x.grad

    return call


@scene
def an_error_after_a_backward(compiled):
    def step(x, index):
        (x * x).sum().backward()
        return x.detach()[index]

    f = compiled(step)

    def call(i):
        x = leaf(1.0, 2.0)
        try:
            f(x, norch.tensor([1, 7 if i == 1 else 0]))
        except IndexError as error:
            return str(error), x.grad
        return x.grad

    return call


@scene
def a_backward_that_saves_nothing_but_emptiness(compiled):
    f = compiled(lambda x: x.var(-1))

    def call(i):
        x = norch.zeros(3, 0, dtype=norch.float16, requires_grad=True)
        f(x).sum().backward()
        return x, x.grad

    return call


@scene
def what_nobody_differentiates(compiled):
    f = compiled(lambda x: (norch.special.zeta(x + 2, 1.5), x.exp().mul_(2)))
    return lambda i: f(leaf(1.0, i))


@scene
def a_leaf_with_a_later_backward(compiled):
    def step():
        made = leaf(2.0, 3.0)
        return made, made * made

    f = compiled(step)

    def call(i):
        made, result = f()
        result.sum().backward()
        return made, result

    return call


@scene
def a_variable_that_begins_to_require_gradients(compiled):
    w = norch.ones(2)
    f = compiled(lambda: w * 2)

    def call(i):
        if i in (5, 9, 12):
            w.requires_grad_(not w.requires_grad)
        return f()

    return call


@scene
def a_graph_that_was_freed(compiled):
    w = leaf(1.0, 2.0)
    outside = w * w
    f = compiled(lambda x: (outside * x).sum())

    def call(i):
        try:
            f(leaf(1.0, 2.0 * i)).backward()
        except RuntimeError as error:
            return str(error)
        return w

    return call


@scene
def two_backwards_of_what_is_not_replayed(compiled):
    f = compiled(lambda x: (float(x.sum().detach()), x * x, x * 3))

    def call(i):
        x = leaf(1.0, 2.0 * i)
        _, a, b = f(x)
        a.sum().backward()
        b.sum().backward()
        return x

    return call


@scene
def memory_through_dlpack(compiled):
    def step(x):
        y = x * 2
        return y, norch.from_dlpack(y)

    f = compiled(step)

    def call(i):
        y, same = f(norch.ones(2) * i)
        same.add_(1)
        return y, same

    return call


@scene
def a_view_that_reaches_past_the_argument(compiled):
    f = compiled(lambda x: x.as_strided((5,), (1,), 0) * 2)
    return lambda i: f(norch.arange(6.0).mul(i + 1)[1:3])


@scene
def parameters_behind_a_checkpoint(compiled):
    layer = norch.nn.Linear(3, 2)
    norch.nn.init.constant_(layer.weight, 0.5)
    norch.nn.init.zeros_(layer.bias)
    f = compiled(lambda x: norch.utils.checkpoint.checkpoint(layer, x, preserve_rng_state=False))

    def call(i):
        x = norch.arange(6.0).reshape(2, 3).mul(i + 1).requires_grad_()
        f(x).sum().backward()
        return x.grad, layer.weight.grad.clone()

    return call


@scene
def a_backward_that_adds_to_what_others_see(compiled):
    total = norch.zeros(3)
    w = leaf(1.0, 2.0, 3.0)

    class Doubled(norch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            total.add_(gradient)
            return gradient * 2

    f = compiled(lambda x: Doubled.apply(x) * w)

    def call(i):
        x = norch.arange(3.0).mul(i + 1).requires_grad_()
        f(x).sum().backward()
        return x.grad, total.clone(), w.grad.clone()

    return call
