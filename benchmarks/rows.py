"""The table: what is timed, in which words, and how fast it should be beside torch.

`code` is what norch and magnetron run, and torch where `torch` is empty; `numpy` is what NumPy runs, if anything.
`floor` and `aim` are ratios, the peer's time over norch's, for the peers in `against`.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import steps

import norch


class Row(NamedTuple):
    name: str
    code: str
    inputs: dict[str, Callable[[], Any]]  # name in the code -> what makes it, a norch tensor
    numpy: str | None = None
    floor: float | None = None
    aim: float | None = None
    torch: str = ""
    against: tuple[str, ...] = ("torch",)
    leaves: bool = False  # the inputs require gradients
    setup: Callable[[Any], dict[str, Any]] | None = None  # in place of inputs: framework -> the names in the code
    check: str = ""  # what is compared, where it is not the value of the code
    threads: bool = True  # worth more than one

    def names(self, framework: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """What the code of this row refers to, in a framework."""
        if self.setup:
            return self.setup(framework)
        take = framework.leaf if self.leaves else framework.take
        return {name: take(x) for name, x in inputs.items()}

    def code_for(self, framework: Any) -> str | None:
        if framework.name == "numpy":
            return self.numpy
        return self.torch if self.torch and framework.name == "torch" else self.code


def numbers(*shape: int, low: float = -4.0, high: float = 4.0) -> Callable[[], Any]:
    """A tensor of numbers between low and high."""
    return lambda: norch.rand(*shape) * (high - low) + low


# ---- Steps of training -----------------------------------------------------------------------------------------------


def step(name: str, setup: Callable[[Any], dict[str, Any]], floor: float, aim: float, **rest: Any) -> Row:
    return Row(name, "step()", {}, floor=floor, aim=aim, setup=setup, check="state()", **rest)


STEPS = [
    step("sin2 step, batch 1", steps.sin2, 5, 12, numpy="step()", threads=False),
    step("MLP 784-128-10 step, batch 64", steps.mlp, 1.5, 2, numpy="step()"),
]

# ---- The cost of a call ----------------------------------------------------------------------------------------------

TWO = {"x": numbers(2, 2), "y": numbers(2, 2)}
CALLS = [
    Row("2x2 add", "x + y", TWO, "x + y", 1.4, 2, threads=False),
    Row("2x2 add with graph", "x + y", TWO, None, 1.4, 2.5, leaves=True, threads=False),
]

# ---- Matrix products -------------------------------------------------------------------------------------------------


def product(name: str, left: tuple, right: tuple, floor: float, aim: float, code: str = "a @ b") -> Row:
    inputs = {"a": numbers(*left, low=-1, high=1), "b": numbers(*right, low=-1, high=1)}
    return Row(name, code, inputs, code, floor, aim, against=("torch", "numpy"))


def square(n: int, floor: float, aim: float, code: str = "a @ b", name: str = "matrix product") -> Row:
    return product(f"{name} {n}", (n, n), (n, n), floor, aim, code)


PRODUCTS = [
    square(64, 0.95, 1.1),
    *[square(n, 0.95, 1.08) for n in (256, 512, 1024, 2048)],
    square(1024, 0.95, 1.08, "a @ b.T", "A @ B.T"),
    square(1024, 0.95, 1.08, "a.T @ b", "A.T @ B"),
    product("64x784 @ 784x30", (64, 784), (784, 30), 1.0, 1.6)._replace(against=("torch",)),
]

# ---- Elementwise -----------------------------------------------------------------------------------------------------

MILLION = 1_000_000


def unary(name: str, numpy: str, floor: float, aim: float, low: float = -4) -> Row:
    return Row(f"{name} of 1M", f"x.{name}()", {"x": numbers(MILLION, low=low)}, numpy, floor, aim)


ELEMENTWISE = [
    Row("x + y of 10M", "x + y", {"x": numbers(10 * MILLION), "y": numbers(10 * MILLION)}, "x + y", 3, 7),
    unary("exp", "np.exp(x)", 1.8, 4.2),
    unary("log", "np.log(x)", 1.8, 3, low=0.01),
    unary("sin", "np.sin(x)", 1.8, 4.2),
    unary("cos", "np.cos(x)", 1.8, 4.2),
    unary("tanh", "np.tanh(x)", 2, 6.5),
    unary("sigmoid", "1 / (1 + np.exp(-x))", 1, 1.3),
    Row("x ** y of 1M", "x ** y", {"x": numbers(MILLION, low=0.01), "y": numbers(MILLION)}, "x ** y"),
]

# ---- Reductions, broadcasting, layouts: a matrix of 4096 x 4096 ------------------------------------------------------

MATRIX = numbers(4096, 4096)
POSITIVE = numbers(4096, 4096, low=0, high=1)  # sums that do not cancel
# torch and NumPy write into z, which is there already: they get fresh memory of this size from the system each time,
# and that would cost them more than the work.
INTO = {"x": MATRIX, "y": MATRIX, "z": lambda: norch.empty(4096, 4096)}
MATRICES = [
    Row("sum over all", "x.sum()", {"x": POSITIVE}, "x.sum()", 0.95, 1.05),
    Row("sum over axis 1", "x.sum(1)", {"x": POSITIVE}, "x.sum(1)", 0.95, 1.05),
    Row("sum over axis 0", "x.sum(0)", {"x": POSITIVE}, "x.sum(0)", 1.5, 3),
    Row("max over axis 1", "x.amax(1)", {"x": MATRIX}, "x.max(1)", 0.9, 1.05),
    Row("matrix + row", "x + y", {**INTO, "y": numbers(4096)}, "np.add(x, y, out=z)", 1, 1.1, "torch.add(x, y, out=z)"),
    Row("transposed + matrix", "x.T + y", INTO, "np.add(x.T, y, out=z)", 3, 5, "torch.add(x.T, y, out=z)"),
    Row("transposed copy", "x.T.contiguous()", INTO, "np.copyto(z, x.T) or z", 1.5, 4, "z.copy_(x.T)"),
]

# ---- Softmax and its loss --------------------------------------------------------------------------------------------

CLASSES = [
    Row("softmax 4096x1000", "x.softmax(1)", {"x": numbers(4096, 1000)}, None, 1, 1.9),
    step("cross-entropy, gradient 4096x1000", steps.cross_entropy, 1.3, 1.7),
]

ROWS = STEPS + CALLS + PRODUCTS + ELEMENTWISE + MATRICES + CLASSES
