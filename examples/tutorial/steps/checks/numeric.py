"""The derivative by a small change, for every operation: what a rule must agree with."""

from tensor import Tensor

POINTS = [[0.5, 1.5], [2.0, 1.25]]
OTHER = Tensor([[1.5, 0.75], [0.5, 2.0]])
RULES_TRIED = {
    "x + y": lambda x: x + OTHER,
    "x - y": lambda x: x - OTHER,
    "y - x": lambda x: OTHER - x,
    "x * y": lambda x: x * OTHER,
    "x / y": lambda x: x / OTHER,
    "y / x": lambda x: OTHER / x,
    "x ** y": lambda x: x**OTHER,
    "y ** x": lambda x: OTHER**x,
    "x.log()": lambda x: x.log(),
    "x @ y": lambda x: x @ OTHER,
    "y @ x": lambda x: OTHER @ x,
    "x.T": lambda x: x.T,
    "x.reshape": lambda x: x.reshape([4, 1]),
    "x.expand": lambda x: x.expand([3, 2, 2]),
    "x.sum()": lambda x: x.sum(),
}


def wrong(name, step=0.01):
    """Whether the rule of an operation differs from what happens if each element of x changes a little."""
    function, x = RULES_TRIED[name], Tensor(POINTS, requires_grad=True)
    result = function(x)
    weights = Tensor([0.5 + i % 3 for i in range(result.numel)]).reshape(result.shape)
    parts = zip(result.grad_fn.input, result.grad_fn.backward(weights))
    (found,) = [gradient for source, gradient in parts if source is x]
    for i in range(2):
        for j in range(2):
            above, below = (total(function, i, j, change, weights) for change in (step, -step))
            expected = (above - below) / (2 * step)
            if abs(found[i, j] - expected) > 0.02 * max(1, abs(expected)):
                return True
    return False


def total(function, i, j, change, weights):
    points = [list(row) for row in POINTS]
    points[i][j] += change
    return (function(Tensor(points)) * weights).sum()[0]
