"""The steps of a walk that C takes (csrc/api/walk.cpp) are those of engine.py, which takes all of them elsewhere."""

from collections import namedtuple

import pytest

import norch
import norch.nn.functional as F
from norch.autograd import engine

pytestmark = pytest.mark.skipif(not engine.CPYTHON, reason="C takes no steps here")
Pair = namedtuple("Pair", "first second")


def leaf(*shape):
    return norch.arange(1.0, norch.Size(shape).numel() + 1, dtype=norch.float64).reshape(shape).div(7).requires_grad_()


class Scaled(norch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        return Pair(gradient * y, gradient * x)


class One(norch.autograd.Function):
    forward = staticmethod(lambda ctx, x: 2 * x)
    backward = staticmethod(lambda ctx, gradient: 2 * gradient)  # alone, in no tuple


def layers(x, y):
    return F.mse_loss(F.linear(F.linear(x, y).sigmoid(), y.T), x)


def broadcast(x, y):
    return ((x * y[0] + y[:, :1] * 0.5) ** 2 / y.mean()).sum()


def shared(x, y):
    for _ in range(5):
        x = x * x.detach() + x * y
    return x.sum()


def views(x, y):
    parts = (x @ y).unbind(0)
    return norch.stack([part * i for i, part in enumerate(parts)]).sum() + x[0, 1:].sum() * y.T[1].sum()


def rows(x, y):
    a, b, c = x.unbind(1)
    top, bottom = (x * y).split([1, 2])
    b.register_hook(lambda gradient: gradient * 2)
    loss = (a * a + b + a[1:].sum() * c).sum() + (bottom * y[0]).exp().sum() + c[0] * c[1] + bottom[0, 1] * y[0, 1]
    loss.held = c  # which gets a gradient
    return loss


def outputs(x, y):
    first, second = norch.sort(x * y, 1)
    return (first * second).sum() + x.max(1).values.prod()


def custom(x, y):
    return One.apply(Scaled.apply(x, y)).sum()


def in_place(x, y):
    z = x * 1
    z[0] = y[1]
    z.mul_(y)
    return z.exp().sum()


def hooked(x, y):
    z = x * y
    z.register_hook(lambda gradient: gradient * 3)
    w = z.sin()
    w.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 2,))
    x.register_hook(lambda gradient: gradient + 1)
    return (w * y).sum()


def one_gradient(x, y):  # arrives at both
    return (x + y).sum()


PROGRAMS = [layers, broadcast, shared, views, rows, outputs, custom, in_place, hooked, one_gradient]


@pytest.fixture(params=["C", "Python"])
def walk(request, monkeypatch):
    monkeypatch.setattr(engine, "CPYTHON", request.param == "C")


def both(monkeypatch, run):
    """What `run` returns with C's steps, and with Python's alone."""
    found = []
    for in_c in (True, False):
        monkeypatch.setattr(engine, "CPYTHON", in_c)
        found.append(run())
    return found


def bits(tensors):
    return [None if x is None else x.detach().tolist() for x in tensors]


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_are_the_same(program, monkeypatch):
    def run():
        x, y = leaf(3, 3), leaf(3, 3)
        middle = x * 1
        for _ in range(2):  # the second adds
            program(middle, y).backward(retain_graph=True)
        assert x.grad._ptr is not y.grad._ptr
        return bits([x.grad, y.grad, middle.grad])

    first, second = both(monkeypatch, run)
    assert first == second and None not in first


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_of_some_and_of_gradients_are_the_same(program, monkeypatch):
    def run():
        x, y = leaf(3, 3), leaf(3, 3)
        middle = x * 1
        found = norch.autograd.grad(program(middle, y), [middle], create_graph=True)
        seconds = norch.autograd.grad((found[0] ** 2).sum() + (y * x).sum(), [x, y])
        return bits([*found, *seconds, x.grad, y.grad])

    first, second = both(monkeypatch, run)
    assert first == second and first[-2:] == [None, None] and None not in first[:3]


def test_a_freed_graph_is_refused_where_it_was(walk):
    x = leaf(2)
    y = x.exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="freed"):
        y.sum().backward()
    z = leaf(2)
    (z.exp() * 2).sum().backward(retain_graph=True)
    assert z.grad is not None


def test_a_rule_that_raises_leaves_its_exception(walk):
    class Wrong(norch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 1)

        @staticmethod
        def backward(ctx, gradient):
            raise KeyError("no rule")

    x = leaf(2)
    with pytest.raises(KeyError, match="no rule"):
        (Wrong.apply(x * 2) * 3).sum().backward()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_rule_that_returns_too_many_is_refused(walk):
    class TooMany(norch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 1)
        backward = staticmethod(lambda ctx, gradient: (gradient, gradient))

    with pytest.raises(RuntimeError, match="returned 2 gradients for 1 operands"):
        TooMany.apply(leaf(2)).sum().backward()


def test_nothing_is_left_of_a_walk(walk):
    before = norch._C.lib.live_tensors()
    for program in PROGRAMS:
        program(leaf(3, 3), leaf(3, 3)).backward()
    assert norch._C.lib.live_tensors() == before


def test_a_gradient_that_reaches_two_leaves_is_copied_for_one(walk):
    x, y = leaf(2), leaf(2)
    (x + y).backward(norch.ones(2, dtype=norch.float64))
    x.grad[0] = 5
    assert y.grad.tolist() == [1, 1]


def test_a_node_of_a_wrong_age_is_refused(walk):
    y = leaf(2) * 2
    z = (y + leaf(2).exp()).sum()  # two nodes wait, and the younger one comes first
    y.grad_fn.age = "old"
    with pytest.raises(TypeError, match="integer|unary -"):
        z.backward()


def test_a_rule_may_change_the_list_that_it_returned(walk):
    parts = []

    class Adding(norch.Tensor):
        def __add__(self, other):
            parts.clear()
            return norch.Tensor.__add__(self, other)

    x = leaf(2)
    y, z = x * 1, x * 2
    w = norch.stack([y, y, z])
    rule = lambda node, gradient: parts  # noqa: E731
    w.grad_fn.__class__ = type("Kept", (type(w.grad_fn),), {"backward": rule, "fused": None})
    parts += [norch.ones(2, dtype=norch.float64).as_subclass(Adding) for _ in range(3)]
    w.sum().backward()
    assert x.grad.tolist() in ([2, 2], [4, 4])  # without the third, or with it
