"""The rows of wide.py: every operation of the tests' tables, then layers, losses, optimizers and single calls.

A row is a line of Python that norch and torch both run, with `lib` for either of them. The names it may use: x, y, z
(matrices of n x n), leaf (one that requires gradients), d (one of doubles), v and w (vectors of n), picked (n places
along an axis), places (n x n of them), mask (n x n), h, b and short (matrices of 16 bits), tiny and bytes (of 8), rows
(many of 28 elements; classes, spots and picks are places in them), thin (many of 10), flat (7 long ones), images (of 16
channels, about n x n elements).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Callable, NamedTuple

import norch

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path += [str(TESTS / "shared"), str(TESTS / "tables")]

from operations import BINARY, REDUCTIONS, UNARY  # noqa: E402  (of the tests)
from wide_layers import FUNCTIONAL, LAYERS, LOSSES, OPTIMIZERS  # noqa: E402
from wide_operations import (  # noqa: E402
    CALLS,
    CHOICES,
    COMPOSED,
    COPIES,
    CREATION,
    DTYPES,
    GRADIENTS,
    IMAGES,
    INDEXING,
    JOINS,
    LINALG,
    NARROW,
    ORDER,
    PRODUCTS,
    SHORT_ROWS,
    SPECIAL,
    THIN,
    VIEWS,
    WRITES,
)

SIZES = (8, 100, 1000)
LAYOUTS = {
    "contiguous": "x",
    "transposed": "x.T",
    "broadcast": "x[:1].expand(x.shape)",
    "strided": "lib.cat((x, x), 1)[:, ::2]",
}
MANY = 100_000  # elements from which on a row is measured with two threads too


class Row(NamedTuple):
    family: str
    name: str
    column: str  # what tells this row from the others of its name: size and layout, or the pass
    code: str
    setup: Callable[[Any], dict[str, Any]]  # norch or torch as a framework -> the names in the code
    large: bool = False  # of more than MANY elements

    @property
    def line(self) -> str:
        return f"{self.family} {self.name}"


# ---- Operands --------------------------------------------------------------------------------------------------------


def between(low: float, high: float) -> Callable[[int], Any]:
    return lambda n: norch.rand(n, n) * (high - low) + low


def of_both_signs(n: int) -> Any:
    x = norch.rand(n, n) * 9.4 - 4.7
    return x + x.sign() * 0.3


def whole_numbers(n: int) -> Any:
    return norch.randint(1, 10, (n, n))


DRAWS = {  # the tests' draws, of any number of elements at once
    "smooth": between(-3, 3),
    "smooth_unit": between(-0.9, 0.9),
    "smooth_positive": between(0.3, 5),
    "smooth_above_one": between(1.3, 5),
    "smooth_either": of_both_signs,
    "positive": between(0.3, 5),
}
OPERANDS = {  # what a code may name, as functions of n
    "x": between(-3, 3),
    "y": between(-3, 3),
    "z": between(0.3, 5),
    "leaf": between(-3, 3),
    "v": lambda n: norch.rand(n),
    "w": lambda n: norch.rand(n),
    "picked": lambda n: norch.randint(0, n, (n,)),
    "places": lambda n: norch.randint(0, n, (n, n)),
    "mask": lambda n: norch.rand(n, n) > 0.5,
    "d": lambda n: (norch.rand(n, n) * 6 - 3).double(),
    "h": lambda n: norch.rand(n, n).half(),
    "b": lambda n: norch.rand(n, n).bfloat16(),
    "tiny": lambda n: norch.randint(0, 11, (n, n)).to(norch.int8),
    "short": lambda n: norch.randint(0, 11, (n, n)).to(norch.int16),
    "rows": lambda n: norch.rand(1 + n * n // 28, 28),
    "classes": lambda n: norch.randint(0, 28, (1 + n * n // 28,)),
    "spots": lambda n: norch.randint(0, 28, (1 + n * n // 28, 28)),
    "picks": lambda n: norch.randint(0, 28, (28,)),
    "thin": lambda n: norch.rand(1 + n * n // 10, 10),
    "flat": lambda n: norch.rand(7, 1 + n * n // 7),
    "bytes": lambda n: norch.randint(0, 50, (n, n), dtype=norch.uint8),
    "images": lambda n: norch.rand(1 + n // 16, 16, 2 + n // 35, 2 + n // 35),
    "channels": lambda n: norch.rand(1, 16, 1, 1),
}
WORD = re.compile(r"[a-z_]+")


def operands(code: str, n: int, layout: str, draws: dict[str, Callable[[int], Any]]) -> Callable[[Any], dict[str, Any]]:
    """Makes what a code names, x in one of the LAYOUTS."""

    def setup(framework: Any) -> dict[str, Any]:
        norch.manual_seed(0)
        lib = framework.modules.get("torch", norch)
        used = set(WORD.findall(code))
        names = {name: framework.take(draw(n)) for name, draw in {**OPERANDS, **draws}.items() if name in used}
        if "leaf" in names:
            names["leaf"].requires_grad_()
        if "x" in names:
            names["x"] = eval(LAYOUTS[layout], {"lib": lib, **names})
        return {"lib": lib, "n": n, **names}

    return setup


def of_sizes(family: str, name: str, code: str, layouts: Any = ("contiguous",), draws: Any = None) -> list[Row]:
    return [
        Row(family, name, f"{n}x{n} {layout}", code, operands(code, n, layout, draws or {}), n * n > MANY)
        for n in SIZES
        for layout in layouts
    ]


# ---- The tests' tables -----------------------------------------------------------------------------------------------


def elementwise(table: list, code: str) -> list[Row]:
    rows = []
    for row in table:
        drawn = [draw.__name__ for draw in (row.draws if row.name.startswith("igamma") else row.gradient_draws)]
        makers = [whole_numbers if row.rule == "whole" else DRAWS[name] for name in drawn]
        rows += of_sizes("elementwise", row.name, f"x.{row.name}{code}", LAYOUTS, dict(zip("xy", makers)))
    return rows


def reductions() -> list[Row]:
    rows = []
    for row in REDUCTIONS:
        for axis in ("", "0", "1"):
            rows += of_sizes("reductions", f"{row.name}({axis})", f"x.{row.name}({axis})", LAYOUTS)
    for name in ("sum", "amax"):  # of whole numbers
        rows += of_sizes("reductions", f"{name} of int64", f"x.{name}()", LAYOUTS, {"x": whole_numbers})
    return rows


def operations() -> list[Row]:
    rows = elementwise(UNARY, "()") + elementwise(BINARY, "(y)") + reductions()
    both = ("contiguous", "transposed")
    tables = [
        ("products", PRODUCTS, both),
        ("joins", JOINS, both),
        ("choices", CHOICES, both),
        ("writes", WRITES, both[:1]),
        ("dtypes", DTYPES, both[:1]),
        ("linalg", LINALG, both[:1]),
        ("views", VIEWS, both[:1]),
        ("copies", COPIES, both),
        ("indexing", INDEXING, both),
        ("order", ORDER, both),
        ("composed", COMPOSED, both[:1]),
        ("creation", CREATION, both[:1]),
        ("special", SPECIAL, both[:1]),
        ("gradients", GRADIENTS, both[:1]),
        ("rows", SHORT_ROWS, both[:1]),
        ("thin", THIN, both[:1]),
        ("images", IMAGES, both[:1]),
        ("narrow", NARROW, both[:1]),
    ]
    for family, codes, layouts in tables:
        for name, code in codes.items():
            sizes = of_sizes(family, name, code, layouts)
            rows += sizes[: len(layouts)] if family == "views" else sizes  # a view's size is no matter
    return rows + [of_sizes("calls", name, code)[0] for name, code in CALLS.items()]


# ---- Layers, losses, optimizers --------------------------------------------------------------------------------------


def passes(family: str, name: str, code: str, build: Callable[[Any], dict[str, Any]]) -> list[Row]:
    """The row of the forward pass, and that of forward and backward from gradients of one."""

    def with_backward(framework: Any) -> dict[str, Any]:
        names = build(framework)
        inputs = [names[letter] for letter in ("a" if family == "losses" else "abc") if letter in names]
        leaves = [x.requires_grad_() for x in inputs if x.is_floating_point()]
        leaves += names["layer"].parameters() if hasattr(names["layer"], "parameters") else []
        forward = compile(code, name, "eval")
        start: Any = None

        def step() -> None:
            nonlocal start
            for leaf in leaves:
                leaf.grad = None
            result = eval(forward, names)
            result = result[0] if isinstance(result, tuple) else result
            if start is None:
                start = names["lib"].ones_like(result)
            result.backward(start)

        return {"step": step}

    elements = large(name)
    return [
        Row(family, name, "forward", code, build, elements),
        Row(family, name, "with backward", "step()", with_backward, elements),
    ]


def large(name: str) -> bool:
    """Whether the largest of the shapes in a row's name has many elements."""
    sizes = [1]
    for shape in re.findall(r"\[([\d, ]+)\]", name):
        count = 1
        for size in shape.split(","):
            count *= int(size)
        sizes.append(count)
    return max(sizes) > MANY


def layer_rows() -> list[Row]:
    rows = []
    for family, table in (("layers", LAYERS), ("functional", FUNCTIONAL), ("losses", LOSSES)):
        for name, code, build in table:
            rows += passes(family, name, code, build)
    rows += [Row("optimizers", name, "step", "optimizer.step()", build, large(name)) for name, build in OPTIMIZERS]
    return rows


ROWS = operations() + layer_rows()


def covered() -> set[str]:
    """The names in the tests' tables that have a row; a layer stands for its function: MaxPool2d for max_pool2d."""
    names = {row.name for row in ROWS} | {row.name.partition("(")[0] for row in ROWS}
    snakes = {re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower() for name in names}
    return names | snakes | {re.sub(r"\dd$", "", name) for name in snakes}
