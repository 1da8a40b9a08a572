"""Random cases for the oracles: every case is an expression that norch and the oracle both evaluate.

A case is drawn from a seed of its own. When one fails, the seed and the expression are in the message, and the
expression can be pasted into a Python session as it stands (`lib` being norch or torch).
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence
from typing import Any, Callable


class RandomCase:
    """Draws shapes, layouts and elements, and writes down what it drew."""

    def __init__(self, seed: object) -> None:
        self.seed = seed
        self.rng = random.Random(repr(seed))
        self.expressions: list[str] = []

    def shape(self, max_rank: int = 4, sizes: Sequence[int] = (0, 1, 1, 2, 2, 3, 3, 4, 5)) -> tuple:
        return tuple(self.rng.choice(sizes) for _ in range(self.rng.randint(0, max_rank)))

    def broadcastable(self, count: int) -> list[tuple]:
        """Shapes that broadcast against each other: leading axes left out, sizes of 1."""
        full = self.shape()
        shapes = []
        for _ in range(count):
            kept = full[self.rng.randint(0, len(full)) :] if self.rng.random() < 0.5 else full
            shapes.append(tuple(1 if self.rng.random() < 0.25 else size for size in kept))
        return shapes

    def tensor(self, shape: tuple, dtype: str, draw: Callable, repeats: bool = True) -> str:
        """An expression for a tensor of this shape in a random layout, where an element may repeat."""
        rng, rank = self.rng, len(shape)
        steps = ""
        if repeats and rank and rng.random() < 0.25:
            steps = f".expand({list(shape)})"
            shape = tuple(1 if rng.random() < 0.5 else size for size in shape)
        if rank > 1 and rng.random() < 0.5:
            order = rng.sample(range(rank), rank)
            steps = f".permute({order})" + steps
            shape = tuple(shape[order.index(axis)] for axis in range(rank))
        if rank and rng.random() < 0.5:
            starts, strides = [rng.randint(0, 2) for _ in shape], [rng.randint(1, 3) for _ in shape]
            cuts = ", ".join(f"{start}::{step}" for start, step in zip(starts, strides))
            steps = f"[{cuts}]" + steps
            shape = tuple(
                start + (step * (size - 1) + rng.randint(1, step) if size else 0)
                for size, start, step in zip(shape, starts, strides)
            )
        count = 1
        for size in shape:
            count *= size
        elements = ", ".join(
            f'float("{x}")' if x != x or x in (float("inf"), -float("inf")) else repr(x)
            for x in draw(rng, count, dtype)
        )
        text = f"lib.tensor([{elements}], dtype=lib.{dtype}).reshape({shape}){steps}"
        self.expressions.append(text)
        return text

    @contextlib.contextmanager
    def reporting(self) -> Iterator[None]:
        """Names the seed and the operands in the message of what fails inside."""
        try:
            yield
        except Exception as error:
            operands = "\n".join(f"  {text}" for text in self.expressions)
            raise AssertionError(f"{error}\nseed {self.seed!r}, operands:\n{operands}") from error


def evaluate(expression: str, lib: Any) -> Any:
    return eval(expression, {"lib": lib})
