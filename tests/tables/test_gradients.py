"""Gradients of every operation of the table against finite differences, of the first and second order."""

from __future__ import annotations

import itertools
import math

import pytest
from arrays import Array
from cases import CASES
from compare import assert_close
from draws import any_numbers, drawn, smooth, smooth_positive
from operations import (
    BINARY,
    ELEMENTWISE,
    REDUCTIONS,
    UNARY,
    by_name,
)
from tensors import LAYOUTS, operand, tensor_of

import norch
from norch.autograd import gradcheck, gradgradcheck

GRADIENT_PAIRS = [
    ((2, 3), (2, 3)),
    ((3,), (2, 3)),
    ((2, 1, 2), (2,)),
    ((2,), (2, 1, 2)),
    ((2, 1), (1, 2)),
    ((), (3,)),
    ((1,), (0, 1)),
]


def leaf(draw, rng, shape, layout="contiguous", device="cpu"):
    tensor, _ = operand(lambda count: draw(rng, count), shape, "float64", layout, device)
    return tensor.detach().requires_grad_()


def backward_classes(*tensors):
    """The names of all Backward classes in the graphs of tensors."""
    nodes, seen = [tensor.grad_fn for tensor in tensors], set()
    while nodes:
        node = nodes.pop()
        if node is not None and node not in seen and not node.is_leaf:
            seen.add(node)
            nodes.extend(node.edges)
    return {type(node).__name__ for node in seen}


def check_gradients(function, *inputs):
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


@pytest.mark.parametrize("layout", ["contiguous", "transposed", "stepped"])
@by_name([row for row in UNARY if row.backward])
def test_unary_gradient(row, layout, device, rng):
    for shape in ((2, 3), (4,), (), (0, 2)):
        x = leaf(row.gradient_draws[0], rng, shape, layout, device)
        check_gradients(getattr(norch, row.name), x)
        result = getattr(norch, row.name)(x)
        assert type(result.grad_fn).__name__ == row.backward


@by_name([row for row in BINARY if row.backward])
def test_binary_gradient(row, device, rng):
    def apart(rng, count):
        """Between the values that `smooth` draws, so that operands never tie."""
        return [x + 0.033 for x in row.gradient_draws[1](rng, count)]

    for shape1, shape2 in GRADIENT_PAIRS:
        x = leaf(row.gradient_draws[0], rng, shape1, "contiguous", device)
        y = leaf(apart, rng, shape2, "stepped", device)
        check_gradients(getattr(norch, row.name), x, y)
        check_gradients(lambda t: getattr(norch, row.name)(t, y.detach()), x)  # noqa: B023
        check_gradients(lambda t: getattr(norch, row.name)(x.detach(), t), y)  # noqa: B023
        assert type(getattr(norch, row.name)(x, y).grad_fn).__name__ == row.backward


@by_name([row for row in BINARY if row.backward and row.symbol])
def test_gradient_with_a_python_number(row, device, rng):
    x = leaf(row.gradient_draws[0], rng, (2, 3), "transposed", device)
    check_gradients(lambda t: row.symbol(t, 1.73), x)
    y = leaf(row.gradient_draws[1], rng, (2, 3), "contiguous", device)
    check_gradients(lambda t: row.symbol(1.73, t), y)


@by_name([row for row in ELEMENTWISE if row.rule == "test" or row.name == "floor_divide"])
def test_operations_without_derivative_end_the_graph(row, device):
    x = norch.tensor([1.0, 2.0], device=device).requires_grad_()
    result = getattr(norch, row.name)(*[x] * (1 if row in UNARY else 2))
    assert not result.requires_grad and result.grad_fn is None


@by_name([row for row in REDUCTIONS if row.backward])
def test_reduction_gradient(row, device, rng):
    for shape, layout in [((2, 3, 2), "contiguous"), ((3, 2), "transposed"), ((4,), "stepped"), ((3, 1), "contiguous")]:
        for axes, keepdim in itertools.product(row.axes(shape), (False, True)):
            count = math.prod(shape) if axes is None else math.prod(shape[axis] for axis in axes)
            if count < row.least:
                continue
            x = leaf(smooth, rng, shape, layout, device)
            check_gradients(lambda t: row.of(t, axes, keepdim), x)  # noqa: B023


def test_gradient_of_prod_at_zero(device):
    for values in ([[2.0, 0.0, 3.0], [0.0, 0.0, 1.0]], [[1.0, 2.0], [3.0, 4.0]]):
        x = norch.tensor(values, dtype=norch.float64, device=device).requires_grad_()
        check_gradients(lambda t: t.prod(), x)
        check_gradients(lambda t: t.prod(axis=1), x)


def test_ties_share_the_gradient_of_a_full_max_and_one_takes_it_along_an_axis(device):
    x = norch.tensor([[1.0, 3.0, 3.0]], device=device).requires_grad_()
    x.max().backward()
    assert_close(x.grad, [[0.0, 0.5, 0.5]])
    x.grad = None
    x.max(dim=1)[0].sum().backward()
    assert_close(x.grad, [[0.0, 1.0, 0.0]])


@pytest.mark.parametrize("layout", LAYOUTS[:3])
@by_name([row for row in CASES if row.backward])
def test_case_gradient(row, layout, device, rng):
    if math.prod(row.shapes[0]) > 100 or (row.name == "view" and layout != "contiguous"):
        return
    draws = row.draws or (any_numbers,) * len(row.shapes)
    fixed, inputs = {}, []
    for place, (draw, shape) in enumerate(zip(draws, row.shapes)):
        if draw.__name__ == "truths":
            fixed[place] = operand(drawn(rng, draw, "bool"), shape, "bool", layout, device)[0]
        else:
            shift = 0.013 * place  # operands of clamp never tie
            inputs.append(leaf(lambda rng, count: [x + shift for x in smooth(rng, count)], rng, shape, layout, device))  # noqa: B023

    def function(*tensors):
        rest = iter(tensors)
        return row.call(norch, *(fixed[place] if place in fixed else next(rest) for place in range(len(row.shapes))))

    check_gradients(function, *inputs)
    result = function(*inputs)
    weights = norch.ones_like(result).requires_grad_()
    gradients = norch.autograd.grad(result, inputs, weights, create_graph=True, allow_unused=True)
    assert set(row.backward) <= backward_classes(result, *(g for g in gradients if g is not None))
    for place in range(len(inputs) if row.alone else 0):  # each operand alone
        alone = [tensor if k == place else tensor.detach() for k, tensor in enumerate(inputs)]
        check_gradients(lambda t: function(*alone[:place], t, *alone[place + 1 :]), alone[place])  # noqa: B023


def test_gradients_at_the_far_ends(device):
    """Saturated, not nan: the derivative of tanh at 300 is 0, as is that of sigmoid at -800."""
    for name, values in [
        ("tanh", [300.0, -300.0]),
        ("sigmoid", [800.0, -800.0]),
        ("relu", [-1e30, 0.0]),
        ("exp", [-800.0, -1e30]),
    ]:
        x = norch.tensor(values, device=device).requires_grad_()
        getattr(x, name)().sum().backward()
        assert_close(x.grad, [0.0, 0.0])
    x = norch.tensor([[1000.0, 0.0]], device=device).requires_grad_()
    (x.log_softmax(1) * norch.tensor([[0.0, 1.0]], device=device)).sum().backward()
    assert_close(x.grad, [[-1.0, 1.0]])
    zero = norch.tensor([0.0, 0.0], device=device).requires_grad_()
    (zero**2).sum().backward()
    assert_close(zero.grad, [0.0, 0.0])
    base = norch.tensor([0.0, 2.0], device=device)
    exponent = norch.tensor([2.0, 3.0], device=device).requires_grad_()
    (base**exponent).sum().backward()
    assert_close(exponent.grad, [0.0, 8 * math.log(2)])


def test_unneeded_gradients_are_not_made(device, rng):
    x = leaf(smooth_positive, rng, (2, 3), device=device)
    y = tensor_of(Array(smooth_positive(rng, 3), (3,)), "float64", device)
    (x * y + y / x).sum().backward()
    assert x.grad is not None and y.grad is None


def test_gradient_of_a_conversion(device):
    """It comes back in the dtype of the operand, on its device."""
    x = norch.tensor([1.5, 2.5], device=device).requires_grad_()
    y = x.to(norch.float64)
    assert backward_classes(y) == {"ToBackward"}
    (y * norch.tensor([2.0, 3.0], dtype=norch.float64, device=device)).sum().backward()
    assert_close(x.grad, [2.0, 3.0], "float32")
    assert not x.to(norch.int64).requires_grad
    assert x.to(norch.float32) is x


def test_gradgradcheck_finds_a_gradient_that_left_the_graph(device):
    """Else every check of a second derivative here would pass for a backward that records nothing."""

    class Square(norch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return gradient * (2 * x).detach()

    x = norch.tensor([1.5, -2.5], dtype=norch.float64, device=device).requires_grad_()
    assert gradcheck(Square.apply, x)
    with pytest.raises(RuntimeError, match="finite differences"):
        gradgradcheck(Square.apply, x)
    with pytest.raises(RuntimeError, match="finite differences"):
        gradgradcheck(Square.apply, x, norch.tensor([0.5, 2.0], dtype=norch.float64, device=device), eps=1e-5)


def test_gradgradcheck_weights_the_outputs_as_it_is_told():
    x = norch.tensor([1.5, -2.5], dtype=norch.float64, requires_grad=True)
    weights, seen = norch.tensor([0.5, 2.0], dtype=norch.float64, requires_grad=True), []

    class Cube(norch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, gradient):
            seen.append(gradient.tolist())
            return 3 * gradient * ctx.saved_tensors[0] ** 2

    assert gradgradcheck(Cube.apply, x, weights) and gradgradcheck(Cube.apply, (x,), (weights.detach(),))
    assert seen[0] == weights.tolist()
    assert gradgradcheck(lambda x: (x.detach(), x**3), x, [None, weights])


def test_gradcheck_of_many_large_elements():
    """The rounding of other elements than those that change does not count."""
    x = norch.linspace(1, 2, 300, dtype=norch.float64).requires_grad_()
    assert gradcheck(lambda x: 1e5 + (1e-2 * x).sin(), x)


def test_gradcheck_warns_of_a_coarse_dtype():
    x = norch.tensor([1.5, -2.5], requires_grad=True)
    with pytest.warns(UserWarning, match="norch.float32, expected float64"):
        assert gradcheck(lambda x: 2 * x, x, eps=1 / 16)
