"""Hooks of nodes, edges of gradients and checkpoints: each program, given torch or norch, notes the same things."""

from __future__ import annotations

import importlib
import weakref

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402

VALUES = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]


def leaf(torch, scale=1.0):
    return (torch.tensor(VALUES) * scale).requires_grad_()


def lists(tensors):
    return [None if x is None else x.tolist() for x in tensors]


def hooks_of_a_node(torch, seen):
    x = leaf(torch)
    y = x.exp()
    y.grad_fn.register_prehook(lambda outputs: seen.append(lists(outputs)))
    after = y.grad_fn.register_hook(lambda inputs, outputs: seen.append([lists(inputs), lists(outputs)]))
    y.sum().backward(retain_graph=True)
    after.remove()
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 3,))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + outputs[0],))
    y.sum().backward()
    seen.append(x.grad.tolist())


def hooks_of_a_node_with_two_operands(torch, seen):
    x, y = leaf(torch), leaf(torch, 2.0)
    z = x * y
    z.grad_fn.register_hook(lambda inputs, outputs: (inputs[1], inputs[0]))
    z.sum().backward()
    seen += [x.grad.tolist(), y.grad.tolist()]


def hooks_of_a_node_of_several_results(torch, seen):
    x = leaf(torch)
    a, b = torch.linalg.qr(x.T)
    b.grad_fn.register_prehook(lambda outputs: seen.append(len(outputs)))
    b.grad_fn.register_prehook(lambda outputs: tuple(g if g is None else g * 2 for g in outputs))
    b.grad_fn.register_hook(lambda inputs, outputs: seen.append(lists(inputs)))
    (a.sum() + 3 * b.sum()).backward(retain_graph=True)
    b.sum().backward()
    seen.append(x.grad.tolist())


def hooks_of_a_custom_operation(torch, seen):
    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, y):
            return x * factor, y * factor

        @staticmethod
        def backward(ctx, one, two):
            return one * 2, None, two * 3

    x, y = leaf(torch), leaf(torch)
    a, b = Pair.apply(x, 2.0, y)
    a.grad_fn.register_hook(lambda inputs, outputs: seen.append([lists(inputs), lists(outputs)]))
    a.grad_fn.register_hook(lambda inputs, outputs: (inputs[1], inputs[0]))
    (a + 10 * b).sum().backward()
    seen += [x.grad.tolist(), y.grad.tolist()]


def hooks_of_a_leaf(torch, seen):
    x = leaf(torch)
    accumulator = x.expand_as(x).grad_fn.next_functions[0][0]
    accumulator.register_prehook(lambda outputs: (outputs[0] * 5,))
    accumulator.register_hook(lambda inputs, outputs: seen.append([inputs, lists(outputs), x.grad.tolist()]))
    (x * 2 + x).sum().backward()
    torch.autograd.grad((x * 2).sum(), x)


def gradients_of_several_tensors(torch, seen):
    a, b = leaf(torch), leaf(torch, 3.0)
    c, d = a * b, a + b
    graph = torch.autograd.graph
    every = graph.register_multi_grad_hook([a, b, c, d], lambda found: seen.append([g is not None for g in found]))
    one = graph.register_multi_grad_hook([c, d, torch.ones(1)], lambda g: seen.append(g.tolist()), mode="any")
    c.sum().backward(retain_graph=True)
    c.sum().backward(inputs=[a], retain_graph=True)
    (c + 2 * d).sum().backward(retain_graph=True)
    every.remove()
    one.remove()
    (c + d).sum().backward()
    graph.register_multi_grad_hook([a, b], lambda found: seen.append([g is not None for g in found]))
    for result in (a * 2, b.exp(), a * 2 + b):  # graphs that are freed on the way to the leaves
        result.sum().backward()


def edges_of_gradients(torch, seen):
    x = leaf(torch)
    y = x.exp()
    of_x, of_y = map(torch.autograd.graph.get_gradient_edge, (x, y))
    seen += lists(torch.autograd.grad(y.sum(), [of_x, of_y], retain_graph=True))
    seen += lists(torch.autograd.grad(y.sum(), of_x, retain_graph=True))
    seen += lists(torch.autograd.grad(of_y, of_x, torch.ones(2, 3), retain_graph=True))
    torch.autograd.backward(of_y, torch.ones(2, 3), inputs=[of_x])
    seen += [x.grad.tolist(), tuple(of_y)[1], isinstance(of_y.node, torch.autograd.graph.Node)]
    for refused in (lambda: torch.autograd.graph.get_gradient_edge(x.detach()), lambda: torch.autograd.grad(of_y, x)):
        with pytest.raises(RuntimeError):
            refused()


def versions(torch, seen):
    x = leaf(torch)
    y = x * 2
    z = (y * y).sum()
    torch.autograd.graph.increment_version([y, y])
    seen.append(y._version)
    with pytest.raises(RuntimeError):
        z.backward()


def checkpoints(torch, seen):
    checkpoint = importlib.import_module(torch.__name__ + ".utils.checkpoint").checkpoint
    x, weight = leaf(torch), leaf(torch, 0.5)
    calls = []

    def part(x, power=2):
        calls.append(power)
        return (x * weight).exp() ** power

    def nested(x):
        return checkpoint(part, checkpoint(part, x, use_reentrant=False), use_reentrant=False) + part(x)

    y = checkpoint(part, x, power=3, use_reentrant=False)
    seen += lists(torch.autograd.grad(y.sum(), [x, weight], retain_graph=True))
    seen += lists(torch.autograd.grad(y.sum(), [weight]))
    (slope,) = torch.autograd.grad(checkpoint(part, x, use_reentrant=False).sum(), x, create_graph=True)
    slope.sum().backward()
    seen += lists([x.grad, weight.grad])
    checkpoint(part, x.detach(), use_reentrant=False).sum().backward()  # no argument requires a gradient
    checkpoint(nested, 0.1 * x, use_reentrant=False).sum().backward()
    with torch.no_grad():
        checkpoint(part, x, use_reentrant=False)
    seen += [*lists([x.grad, weight.grad]), len(calls)]


def checkpoints_that_differ(torch, seen):
    module = importlib.import_module(torch.__name__ + ".utils.checkpoint")
    x = leaf(torch)
    calls = []

    def fewer(x):
        calls.append(1)
        return x.sin() if len(calls) % 2 == 0 else x.sin().cos()

    def smaller(x):
        calls.append(1)
        return (x[:1] if len(calls) % 2 == 0 else x).sin().cos()

    for function in (fewer, smaller):
        calls.clear()
        with pytest.raises(module.CheckpointError, match="different|Different"):
            module.checkpoint(function, x, use_reentrant=False).sum().backward()
    calls.clear()
    with pytest.raises(ValueError):
        module.checkpoint(fewer, x, use_reentrant=False, determinism_check="always")
    with module.set_checkpoint_early_stop(False), pytest.raises(module.CheckpointError):
        calls.append(1)
        module.checkpoint(fewer, x, use_reentrant=False).sum().backward()  # saves more the second time
    calls.clear()
    with module.set_checkpoint_early_stop(False):  # as it is when the checkpoint is made
        y = module.checkpoint(lambda x: calls.append(1) or x.sin().detach() + x.exp(), x, use_reentrant=False)
    y.sum().backward()
    assert len(calls) == 2


def contexts_of_checkpoints(torch, seen):
    checkpoint = importlib.import_module(torch.__name__ + ".utils.checkpoint").checkpoint

    class Noted:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            seen.append(self.name)

        def __exit__(self, *_):
            seen.append(f"end of {self.name}")

    contexts = lambda: (Noted("forward"), Noted("again"))  # noqa: E731
    checkpoint(torch.exp, leaf(torch), use_reentrant=False, context_fn=contexts).sum().backward()


def checkpoints_under_autocast(torch, seen):
    checkpoint = importlib.import_module(torch.__name__ + ".utils.checkpoint").checkpoint
    x = torch.ones(2, 2).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = checkpoint(lambda x: x @ x, x, use_reentrant=False)
    y.sum().backward()
    seen += [str(y.dtype).split(".")[1], x.grad.tolist()]


def gradients_inside_of_checkpoints(torch, seen):
    checkpoint = importlib.import_module(torch.__name__ + ".utils.checkpoint").checkpoint

    def curved(x):
        (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        return (slope.sin() * x).sum()

    for early_stop in (True, False):
        x = leaf(torch)
        y = checkpoint(curved, x * 1.5, use_reentrant=False, early_stop=early_stop)
        y.backward()
        seen.append([y.tolist(), x.grad.tolist()])
    named = checkpoint(lambda x: {"x": x.tolist()}, leaf(torch), use_reentrant=True)
    seen.append(named["x"])


PROGRAMS = [
    hooks_of_a_node, hooks_of_a_node_with_two_operands, hooks_of_a_node_of_several_results, hooks_of_a_custom_operation,
    hooks_of_a_leaf, gradients_of_several_tensors, edges_of_gradients, versions, checkpoints, checkpoints_that_differ,
    contexts_of_checkpoints, checkpoints_under_autocast, gradients_inside_of_checkpoints,
]  # fmt: skip


def same(found, expected):
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected):
            same(ours, theirs)
    elif isinstance(expected, float):
        np.testing.assert_allclose(found, expected, rtol=1e-4)
    else:
        assert found == expected


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_notes_the_same(program):
    expected, found = [], []
    program(torch, expected)
    program(norch, found)
    same(found, expected)


def test_what_a_hook_of_a_node_returns_must_fit():
    for returned, error in (((None, None, None), RuntimeError), ((1.0, 2.0), TypeError)):
        y = leaf(norch) * leaf(norch)
        y.grad_fn.register_hook(lambda inputs, outputs: returned)  # noqa: B023
        with pytest.raises(error, match="grad_inputs"):
            y.sum().backward()


def test_a_hook_of_a_result_comes_before_those_of_its_node():
    y, seen = leaf(norch).exp(), []
    y.register_hook(lambda gradient: gradient * 2)
    y.grad_fn.register_prehook(lambda outputs: seen.append(outputs[0].tolist()))
    y.sum().backward()
    assert seen == [[[2.0] * 3] * 2]


@pytest.mark.parametrize("mode", ["all", "any"])
def test_hooks_of_several_tensors_keep_no_graph(mode):
    a, b = norch.ones(1, requires_grad=True), norch.ones(1, requires_grad=True)
    called = []
    norch.autograd.graph.register_multi_grad_hook([a, b], called.append, mode=mode)
    for _ in range(2):
        y = a * b
        node = weakref.ref(y.grad_fn)
        y.backward(norch.ones(1), retain_graph=True)
        del y
        assert node() is None
    assert len(called) == 2
