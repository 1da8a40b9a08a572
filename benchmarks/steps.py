"""One step of training, in every framework: the sin2 regression, a small MLP, and a loss on its own.

The frameworks share one text, since they share PyTorch's names; NumPy has the same steps with gradients by hand.
Each function returns the names that a row of rows.py uses: `step`, and `state()`, which says what it did.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable

import norch

POINTS = [(0.4 * i, math.sin(0.4 * i) ** 2) for i in range(51)]
SIN2_RATE, MLP_RATE = 0.001, 0.05


def uniform(*shape: int, bound: float = 1.0) -> Any:
    return norch.rand(*shape) * (2 * bound) - bound


def parameters_of(sizes: list[int]) -> list:
    """Weight [out, in] and bias [out] of each Linear, the same at each call."""
    norch.manual_seed(1)
    shapes = itertools.chain.from_iterable(((n, m), (n,)) for m, n in zip(sizes, sizes[1:]))
    return [uniform(*shape, bound=1 / math.sqrt(sizes[0])) for shape in shapes]


def trainer(framework: Any, sizes: list[int], activation: str, loss: str, rate: float) -> tuple[Any, Any, Any]:
    """The model Linear, activation, Linear with `parameters_of(sizes)`, its loss and its optimizer."""
    nn = framework.nn
    first, last = nn.Linear(sizes[0], sizes[1]), nn.Linear(sizes[1], sizes[2])
    model = nn.Sequential(first, getattr(nn, activation)(), last)
    framework.load(model, parameters_of(sizes))
    return model, getattr(nn, loss)(), framework.optim.SGD(model.parameters(), lr=rate)


def names(framework: Any, step: Callable[[], None], parameters: list) -> dict[str, Any]:
    """For a row: `step`, `state()`, by how much 50 steps change each parameter, and the parameters."""

    def state() -> list:
        before = [framework.copy(p) for p in parameters]
        for _ in range(50):
            step()
        return [framework.copy(p) - b for p, b in zip(parameters, before)]

    return {"step": step, "state": state, "parameters": parameters}


# ---- The sin2 regression: one point a step, built from lists ---------------------------------------------------------


def sin2(framework: Any, hidden: int = 10) -> dict[str, Any]:
    """A step of examples/sin2.py: a new point, forward, mean squared error, backward, SGD."""
    if framework.name == "numpy":
        return sin2_by_hand(framework, hidden)
    model, criterion, optimizer = trainer(framework, [1, hidden, 1], "Sigmoid", "MSELoss", SIN2_RATE)
    Tensor, points = framework.Tensor, itertools.cycle(POINTS)

    def step() -> None:
        x, y = next(points)
        inputs, target = Tensor([[x]]), Tensor([[y]])
        loss = criterion(model(inputs), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return names(framework, step, list(model.parameters()))


def sin2_by_hand(framework: Any, hidden: int) -> dict[str, Any]:
    np = framework.numpy
    parameters = [framework.take(p).copy() for p in parameters_of([1, hidden, 1])]
    w1, b1, w2, b2 = parameters
    points = itertools.cycle(POINTS)

    def step() -> None:
        x, y = next(points)
        inputs, target = np.array([[x]], np.float32), np.array([[y]], np.float32)
        h = 1 / (1 + np.exp(-(inputs @ w1.T + b1)))
        d_out = 2 * (h @ w2.T + b2 - target)  # of one element: the mean divides by 1
        d_hidden = (d_out @ w2) * h * (1 - h)
        descend(parameters, [d_hidden.T @ inputs, d_hidden.sum(0), d_out.T @ h, d_out.sum(0)], SIN2_RATE)

    return names(framework, step, parameters)


# ---- A multilayer perceptron on a batch ------------------------------------------------------------------------------


def mlp(framework: Any, batch: int = 64) -> dict[str, Any]:
    """A step of 784-128-10 with ReLU and cross-entropy, on a batch that is there already."""
    x, target = mlp_batch(batch)
    if framework.name == "numpy":
        return mlp_by_hand(framework, framework.take(x), framework.take(target))
    model, criterion, optimizer = trainer(framework, [784, 128, 10], "ReLU", "CrossEntropyLoss", MLP_RATE)
    inputs, classes = framework.take(x), framework.classes(target, 10)

    def step() -> None:
        loss = criterion(model(inputs), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return names(framework, step, list(model.parameters()))


def mlp_batch(batch: int) -> tuple[Any, Any]:
    norch.manual_seed(2)
    return norch.rand(batch, 784), norch.randint(0, 10, (batch,))


def mlp_by_hand(framework: Any, x: Any, target: Any) -> dict[str, Any]:
    np = framework.numpy
    parameters = [framework.take(p).copy() for p in parameters_of([784, 128, 10])]
    w1, b1, w2, b2 = parameters
    rows = np.arange(len(x))

    def step() -> None:
        h = np.maximum(x @ w1.T + b1, 0)
        logits = h @ w2.T + b2
        d_out = np.exp(logits - logits.max(1, keepdims=True))  # softmax, minus 1 at the target, over the batch
        d_out /= d_out.sum(1, keepdims=True)
        d_out[rows, target] -= 1
        d_out /= len(x)
        d_hidden = (d_out @ w2) * (h > 0)
        descend(parameters, [d_hidden.T @ x, d_hidden.sum(0), d_out.T @ h, d_out.sum(0)], MLP_RATE)

    return names(framework, step, parameters)


def descend(parameters: list, gradients: list, rate: float) -> None:
    for parameter, gradient in zip(parameters, gradients):
        parameter -= rate * gradient


# ---- A loss on its own -----------------------------------------------------------------------------------------------


def cross_entropy(framework: Any, samples: int = 4096, classes: int = 1000) -> dict[str, Any]:
    """Cross-entropy of logits [samples, classes] and its gradient."""
    norch.manual_seed(3)
    logits = framework.leaf(uniform(samples, classes, bound=5))
    target = framework.classes(norch.randint(0, classes, (samples,)), classes)
    criterion = framework.nn.CrossEntropyLoss()

    def step() -> None:
        framework.forget(logits)
        criterion(logits, target).backward()

    def state() -> list:
        step()
        return [logits.grad]

    return {"step": step, "state": state}
