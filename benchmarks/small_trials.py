"""What small.py tries in each framework beside its speed: whether derivatives are right, and what mistakes lead to."""

from __future__ import annotations

import importlib
from typing import Any, Callable


class Lacks(Exception):
    """The framework has no such thing."""


class Tensors:
    """Tensors of norch, torch or PyNorch, and what is read from them."""

    def __init__(self, module: str) -> None:
        self.module = importlib.import_module(module)

    def make(self, data: Any, **options: Any) -> Any:
        return (self.module.tensor if self.module.__name__ == "torch" else self.module.Tensor)(data, **options)

    def leaf(self, data: Any) -> Any:
        return self.make(data, requires_grad=True)

    def grad(self, leaf: Any) -> Any:
        return plain(leaf.grad)

    def second(self, x: Any, y: Any) -> Any:
        grad = self.module.autograd.grad
        (first,) = grad(y, [x], create_graph=True)
        return plain(grad(first.sum(), [x])[0])

    def add_one(self, x: Any) -> None:
        x.add_(1)


class PyNorch(Tensors):
    """Without autograd.grad: a second derivative is what a backward from the gradient adds to it."""

    def second(self, x: Any, y: Any) -> Any:
        y.backward()
        first = x.grad
        if isinstance(first, float):
            raise Lacks  # a number, which has no gradient
        (before,) = plain(first)
        total(first).backward()
        return plain(x.grad)[0] - before

    def add_one(self, x: Any) -> None:
        raise Lacks  # x += 1 makes another tensor


class Magnetron(PyNorch):
    def __init__(self) -> None:
        super().__init__("magnetron")

    def add_one(self, x: Any) -> None:
        x.add_(1)


class Tinygrad(Tensors):
    def __init__(self) -> None:
        super().__init__("tinygrad")

    def leaf(self, data: Any) -> Any:
        return self.make(data)

    def second(self, x: Any, y: Any) -> Any:
        return plain(y.gradient(x)[0].sum().gradient(x)[0])

    def add_one(self, x: Any) -> None:
        x.assign(x + 1)


class Micrograd(PyNorch):
    """Single numbers: a list of one stands for its number."""

    def __init__(self) -> None:
        self.value = importlib.import_module("micrograd.engine").Value

    def make(self, data: Any) -> Any:
        if len(data) != 1:
            raise Lacks
        return self.value(*data)

    leaf = make

    def add_one(self, x: Any) -> None:
        x.data += 1


def plain(tensor: Any) -> Any:
    """Numbers and lists; PyNorch's tensors have no tolist()."""
    if isinstance(tensor, (int, float)) or tensor is None:
        return tensor
    if hasattr(tensor, "tolist"):
        return tensor.tolist()
    return [tensor[i] for i in range(tensor.shape[0])]


def total(tensor: Any) -> Any:
    return tensor.sum() if hasattr(tensor, "sum") else tensor


def square(of: Any) -> Any:
    x = of.leaf([3.0])
    total(x * x).backward()
    return of.grad(x)


def shared(of: Any) -> Any:
    x = y = of.leaf([1.0])
    for _ in range(18):
        y = y + y
    total(y).backward()
    return of.grad(x)


def chain(of: Any) -> Any:
    x = y = of.leaf([1.0])
    for _ in range(5000):
        y = y * 1.0
    total(y).backward()
    return of.grad(x)


def broadcast(of: Any) -> Any:
    a, b = of.leaf([[1.0, 2.0], [3.0, 4.0]]), of.leaf([1.0, 2.0])
    (a * b).sum().backward()
    return of.grad(b)


def second(of: Any) -> Any:
    x = of.leaf([3.0])
    return of.second(x, total(x**3))


def changed(of: Any) -> Any:
    x = of.leaf([3.0])
    y = x * 2.0
    z = total(y * y)
    of.add_one(y)
    z.backward()
    return of.grad(x)


TRIALS: dict[str, Callable[[Any], Any]] = {
    "x * x at 3, its derivative": square,
    "y = y + y, 18 times": shared,
    "5,000 operations in a chain": chain,
    "x[2, 2] * y[2], gradient of y": broadcast,
    "second derivative of x ** 3 at 3": second,
    "(2x)² at 3, 2x changed in place": changed,
    "index 100 of two": lambda of: plain(of.make([1.0, 2.0])[100]),
    "[[1, 2], [3]]": lambda of: f"made {of.make([[1.0, 2.0], [3.0]]).shape}",
}
KITS: dict[str, Callable[[], Any]] = {
    "norch": lambda: Tensors("norch"),
    "torch": lambda: Tensors("torch"),
    "magnetron": Magnetron,
    "tinygrad": Tinygrad,
    "micrograd": Micrograd,
    "pynorch": lambda: PyNorch("norch"),
}


def outcome(trial: Callable[[Any], Any], kit: Any) -> str:
    """What came out: a value, the name of an error, or - for what the framework lacks."""
    try:
        value = trial(kit)
    except Lacks:
        return "-"
    except Exception as error:
        return type(error).__name__
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def outcomes(framework: str) -> dict[str, str]:
    kit = KITS[framework]()
    return {name: outcome(trial, kit) for name, trial in TRIALS.items()}
