"""Inputs and results of compiled functions: later calls change no result, and shared memory stays shared."""

from __future__ import annotations

import gc

import pytest
from compiled import World, beside_eager, shown, state_of, training_step

import norch
from norch import _C, nn, optim


def pair(i):
    return norch.arange(6).reshape(2, 3) * (i + 1.0), norch.ones(2, 3) * i


def in_place(x, y):
    x.add_(y)
    return x.sum()


def into_a_view(x, y):
    x[0].mul_(2)
    return (x * y).sum(), x[0]


def nested(x, y):
    return {"sum": x + y, "list": [x * y, (x, y[0])], "number": 3, "none": None}


WEIGHT = nn.Parameter([[1.0, 2.0, 3.0]])
FUNCTIONS = {
    "an input": lambda x, y: x,
    "a view of an input": lambda x, y: x[0],
    "two views of one result": lambda x, y: ((x + y)[0], (x + y).T),
    "views that share": lambda x, y: (lambda z: (z, z[0], z.T))(x * y),
    "a parameter": lambda x, y: (WEIGHT, x + y),
    "a view of a parameter": lambda x, y: (WEIGHT.detach()[0], x + y),
    "the same twice": lambda x, y: (lambda z: (z, z))(x + y),
    "nothing": lambda x, y: None,
    "a number": lambda x, y: 3,
    "a shape": lambda x, y: tuple(x.shape),
    "in place": in_place,
    "into a view": into_a_view,
    "in place, returned": lambda x, y: x.add_(y),
    "nested": nested,
    "a constant": lambda x, y: norch.tensor([1.0, 2.0]),
    "empty": lambda x, y: norch.zeros(0, 3),
    "integers": lambda x, y: (x > y, x.long() + 1, x.argmax()),
    "half": lambda x, y: x.half() * y.half() + 1,
    "bfloat16": lambda x, y: (x.bfloat16() @ y.bfloat16().T).float(),
    "a matrix product": lambda x, y: x @ y.T,
    "reductions": lambda x, y: (x.sum(), x.mean(1), x.max(dim=1), y.std()),
    "random": lambda x, y: (x + norch.rand(2, 3), norch.randperm(5), norch.randn(2)),
    "one sample after another": lambda x, y: norch.func.vmap(lambda row: (row * row).sum())(x),
    "random samples": lambda x, y: norch.func.vmap(lambda row: row * norch.rand(3), randomness="different")(x),
    "a contraction": lambda x, y: norch.einsum("ij,kj->ik", x, y),
    "joins": lambda x, y: norch.cat([x, y, x]),
    "sorting": lambda x, y: x.sort(dim=1, descending=True),
    "indexing": lambda x, y: x[norch.tensor([1, 0, 1])],
    "clamped in place": lambda x, y: norch.relu_(x - y),
}
functions = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
ON_THE_HOST = {"random", "indexing"}  # they make tensors there that go to a GPU, which no program does


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results(name):
    """The inputs are compared after the call, too; all results again after all calls."""
    given = []

    def arguments(i):
        given[:] = pair(i)
        return tuple(given)

    compiled, warned = beside_eager(lambda: World(FUNCTIONS[name], arguments, lambda: shown(given)))
    if name in ON_THE_HOST and norch.get_default_device().type == "cuda":
        assert len(warned) == 1 and "several devices" in warned[0] and not compiled.programs
    else:
        assert not warned and len(compiled.programs) == 1


LAYOUTS = {
    "slices at other offsets": lambda i: (
        norch.arange(60.0)[i : i + 6].reshape(2, 3),
        norch.arange(60.0)[6:12].view(2, 3),
    ),
    "transposed": lambda i: (norch.arange(6.0).reshape(3, 2).T * (i + 1), norch.ones(2, 3)),
    "sometimes transposed": lambda i: (
        norch.arange(6.0).reshape(3, 2).T if i % 2 else norch.ones(2, 3),
        norch.ones(2, 3),
    ),
    "the same twice": lambda i: (norch.ones(2, 3) * i,) * 2,
    "sometimes the same": lambda i: (lambda x: (x, x if i % 3 == 0 else x + 1))(norch.ones(2, 3) * i),
    "overlapping": lambda i: (lambda x: (x[:6].view(2, 3), x[3:9].view(2, 3)))(norch.arange(12.0) * i),
    "views of one": lambda i: (lambda x: (x, x.view(2, 3)))(norch.arange(6.0).reshape(2, 3) * i),
    "expanded": lambda i: (norch.ones(2, 3) * i, norch.arange(3.0).expand(2, 3)),
}


@pytest.mark.parametrize("kind", ["in place", "into a view", "nested", "a matrix product"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_inputs_that_share_memory_or_are_strided(name, kind):
    function = FUNCTIONS[kind]
    given = []

    def arguments(i):
        given[:] = LAYOUTS[name](i)
        return tuple(given)

    beside_eager(lambda: World(function, arguments, lambda: shown(given)))


def test_forms_of_arguments():
    """Keywords, nested lists, other shapes and dtypes: a program each."""

    def step(first, *others, scale=1.0, flags=(), **more):
        return first * scale + sum(x.sum() for x in others) + len(flags) + sum(x.sum() for x in more.values())

    def calls(i, x):
        return [
            lambda: run[0](x),
            lambda: run[0](x, x, scale=2.0),
            lambda: run[0](first=x, flags=[1, 2]),
            lambda: run[0](x, extra=x),
            lambda: run[0](norch.ones(i % 2 + 1, 2)),
            lambda: run[0](x.double()),
            lambda: run[0](x.long()),
        ][i % 7]()

    compiled = norch.compile(step)
    results = []
    for function in (step, compiled):
        run = [function]
        results.append([shown(calls(i, norch.ones(2) * i)) for i in range(60)])
    assert results[0] == results[1] and len(compiled.programs) == 8


def test_lists_of_tensors():
    def step(xs, options):
        return [x * options["gain"] for x in xs]

    def arguments(i):
        return [norch.ones(2) * i, norch.ones(3) * i], {"gain": norch.tensor(float(i))}

    compiled, warned = beside_eager(lambda: World(step, arguments))
    assert not warned and len(compiled.programs) == 1


def test_more_than_eight_signatures_warn():
    compiled = norch.compile(lambda x, share: x * share)
    x = norch.ones(2)
    with pytest.warns(UserWarning, match="pass tensors"):
        for i in range(12):
            assert compiled(x, i / 8).tolist() == [i / 8] * 2


def test_kept_results_and_gradients():
    """Outputs, .grad and views of them that somebody keeps."""

    def make():
        model = nn.Linear(3, 2)
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        kept = []

        def keep(i, loss):
            kept.append([model.weight.grad, model.weight.grad[0], model.bias.grad.detach(), loss][i % 4])

        def look():
            return shown(kept), state_of(model, optimizer)

        return World(training_step(model, optimizer), lambda i: (norch.randn(4, 3),), look, after=keep)

    compiled, warned = beside_eager(make, steps=16)
    assert not warned and len(compiled.programs) == 1


def test_which_leaves_have_a_gradient():
    """A frozen parameter takes part in a step while it has one."""

    def make():
        model = nn.Linear(3, 2)
        optimizer = optim.SGD(model.parameters(), lr=0.1, weight_decay=0.1)
        model(norch.ones(3)).sum().backward()
        model.bias.requires_grad_(False)

        def step(x):
            optimizer.zero_grad(set_to_none=False)
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        def before(i):
            if i in (6, 14):
                model.bias.grad = None
            elif i == 10:
                model.bias.grad = norch.ones(2)

        look = lambda: (state_of(model, optimizer), shown(model.bias.grad))  # noqa: E731
        return World(step, lambda i: (norch.randn(4, 3),), look, before)

    function, warned = beside_eager(make, steps=18)
    assert not warned and len(function.programs) == 2


ZEROING = ["never", "start", "end", "outside", "outside before", "in place", "in place outside", "every third"]


@pytest.mark.parametrize("when", ZEROING)
@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam], ids=["SGD", "Adam"])
def test_gradients_that_add_up(when, kind):
    def make():
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        optimizer = kind(model.parameters(), lr=0.05)

        def step(x):
            if when == "start":
                optimizer.zero_grad()
            elif when == "in place":
                optimizer.zero_grad(set_to_none=False)
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            if when == "end":
                optimizer.zero_grad()
            return loss

        def around(i, loss=None):
            if when == "outside before" and loss is None or when == "outside" and loss is not None:
                optimizer.zero_grad()
            elif when == "in place outside":
                optimizer.zero_grad(set_to_none=False)
            elif when == "every third" and i % 3 == 0 and loss is None:
                optimizer.zero_grad()

        return World(step, lambda i: (norch.randn(4, 3),), lambda: state_of(model, optimizer), around, around)

    compiled, warned = beside_eager(make, steps=16)
    assert not warned and compiled.programs


def test_inputs_that_require_gradients():
    given = []

    def arguments(i):
        leaf = norch.randn(2, 3).requires_grad_(i % 5 != 4)
        given[:] = [leaf, leaf * 2 if i % 2 else leaf]
        return (given[1], norch.ones(2, 3))

    def function(x, y):
        return (x * y).exp(), x.detach() + 1

    def learn(i, results):
        if results[0].requires_grad:
            results[0].sum().backward()

    def make():
        return World(function, arguments, lambda: [shown(x.grad) for x in given[:1]], after=learn)

    compiled, warned = beside_eager(make, steps=24)
    assert not warned and compiled.programs


def test_backward_inside_to_an_input():
    given = []

    def arguments(i):
        given[:] = [norch.randn(3).requires_grad_()]
        return tuple(given)

    def function(x):
        loss = (x * x).sum()
        loss.backward()
        return loss

    beside_eager(lambda: World(function, arguments, lambda: shown(given[0].grad)))


class TestBackwardOutside:
    """norch.compile(model) in a usual loop."""

    def replaying(self):
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        compiled = norch.compile(model)
        x = norch.randn(5, 3)
        for _ in range(4):
            compiled(x).sum().backward()
        assert len(compiled.programs) == 1
        model.zero_grad()
        return model, compiled

    def test_several_forwards_before_one_backward(self):
        model, compiled = self.replaying()
        xs = [norch.randn(5, 3) for _ in range(3)]
        sum(compiled(x).square().sum() for x in xs).backward()
        found = [p.grad for p in model.parameters()]
        model.zero_grad()
        sum(model(x).square().sum() for x in xs).backward()
        assert [x.tolist() for x in found] == [p.grad.tolist() for p in model.parameters()]

    def test_backward_twice(self):
        model, compiled = self.replaying()
        loss = compiled(norch.randn(5, 3)).sum()
        loss.backward(retain_graph=True)
        first = model[0].weight.grad.clone()
        loss.backward()
        assert (model[0].weight.grad - 2 * first).abs().max().item() < 1e-6
        with pytest.raises(RuntimeError, match="second time|freed"):
            loss.backward()

    def test_an_input_that_changes_before_the_backward(self):
        _, compiled = self.replaying()
        x = norch.randn(5, 3)
        loss = compiled(x).sum()
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an in-place operation"):
            loss.backward()

    def test_a_parameter_that_changes_before_the_backward(self):
        model, compiled = self.replaying()
        loss = compiled(norch.randn(5, 3)).sum()
        with norch.no_grad():
            model[2].weight.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an in-place operation"):
            loss.backward()

    def test_create_graph(self):
        model, compiled = self.replaying()
        loss = compiled(norch.randn(5, 3)).sum()
        with pytest.raises(RuntimeError, match="differentiated twice"):
            norch.autograd.grad(loss, list(model.parameters()), create_graph=True)

    def test_a_result_that_nobody_uses(self):
        _, compiled = self.replaying()
        gc.collect()
        before = norch.memory_allocated(), _C.live_tensors()
        for _ in range(5):
            compiled(norch.randn(5, 3))
        assert (norch.memory_allocated(), _C.live_tensors()) == before


def test_a_result_without_a_gradient_counts_as_zero():
    f = norch.compile(lambda x: (x.sum(), x * 2))
    for _ in range(5):
        x = norch.ones(3, requires_grad=True)
        f(x)[1].sum().backward()
        assert x.grad.tolist() == [2, 2, 2]
    assert len(f.programs) == 1


def test_reset_forgets_programs():
    f = norch.compile(lambda x: x + 1)
    for _ in range(4):
        f(norch.ones(2))
    assert len(f.programs) == 1
    norch.compiler.reset()
    assert f.programs == [] and f(norch.ones(2)).tolist() == [2, 2]


def test_a_view_made_under_no_grad_is_an_argument_like_others():
    f = norch.compile(lambda x: x * 2, fullgraph=True)
    with norch.no_grad():
        rows = norch.ones(3, 2)[1:]
    assert [f(rows).tolist() for _ in range(3)] == [[[2, 2], [2, 2]]] * 3
    assert len(f.programs) == 1


def differentiated(x):
    y = -x
    (y * y).sum().backward()
    return y


def differentiated_in_part(x):
    return differentiated(x).exp(), x * 3


@pytest.mark.parametrize("function", [differentiated, differentiated_in_part])
def test_a_result_may_be_differentiated_once_more_if_its_operation_keeps_nothing(function):
    compiled = norch.compile(function)
    for _ in range(5):
        gradients = []
        for call in (function, compiled):
            x = norch.tensor([1.0, 2.0], requires_grad=True)
            results = call(x)
            sum((y * y).sum() for y in (results if isinstance(results, tuple) else [results])).backward()
            gradients.append(x.grad.tolist())
        assert gradients[0] == gradients[1]
    assert len(compiled.programs) == 1
