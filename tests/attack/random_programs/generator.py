"""Draws programs: each statement is executed as soon as it is drawn, so that the next one fits what is alive."""

from __future__ import annotations

import functools
import math
import random
import string
from collections.abc import Callable, Sequence

import torch

from .discovery import found_statements
from .execution import Pair, has_no_memory
from .holes import Nothing
from .option_holes import OptionHoles
from .statements import FAMILIES, FOUND
from .surroundings import around

SHAPES = [(), (1,), (2,), (3,), (2, 3), (3, 3), (3, 2), (1, 3), (2, 1), (2, 2, 3), (2, 3, 3), (0,), (2, 0)]
WEIGHTS = [3, 2, 3, 5, 8, 5, 5, 3, 3, 3, 2, 0.3, 0.2]
VALUES = 12  # different tensors of a shape and dtype, so that their statements are compiled once
THEMED = 0.3  # the share of programs in which every other statement is of one table
WILD = 0.25  # the share of short programs of any dtype, with elements at which formulas break
NARROW = {"float64": 16, "float32": 4, "float16": 1, "bfloat16": 1}  # what takes the place of float64 in all statements
LARGE = 0.05  # the share of programs whose tensors are longer than a vector of the processor
LAID_OUT = 0.1  # the share of tensors that are views of others, in another order of memory or with gaps
AROUND = 0.04  # the share of statements that are called in another way
DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]
USUAL = [24, 1, 0, 0, 2, 0, 0, 0, 0, 2]  # how often each comes otherwise
BREAKING = [math.nan, math.inf, -math.inf, -0.0, 0.0, 1.0, -1.0, 0.5, 300.0, 1e-30]
LONGER = {0: 0, 1: 1, 2: 18, 3: 37}  # the sizes of large tensors
LARGEST, RANK, GREATEST = 64, 5, 1e3  # size, rank and elements of the tensors that statements use again


@functools.lru_cache(None)
def parsed(statement: str) -> list[tuple[str, str | None]]:
    """The text before each hole, and its name."""
    return [(text, name) for text, name, _, _ in string.Formatter().parse(statement)]


@functools.lru_cache(None)
def families() -> tuple[list[list[str]], list[float]]:
    """The tables of statements, and how often each comes."""
    tables = [*FAMILIES, (found_statements(), FOUND)]
    torch.distributions.Distribution.set_default_validate_args(True)  # one of those that were tried switches it off
    return [table for table, _ in tables], [weight for _, weight in tables]


class Program:
    """A program that grows by random statements."""

    def __init__(self, seed: str) -> None:
        self.rng = random.Random(seed)
        self.wild = self.rng.random() < WILD
        self.large = self.rng.random() < LARGE
        self.wide = "float64" if self.wild else self.rng.choices(list(NARROW), list(NARROW.values()))[0]
        self.pair = Pair()
        self.lines: list[str] = []
        self.found: str | None = None  # what differs between the worlds
        self.ended = False
        self.errors = 0  # statements that raise, as they should
        self.tensors: list[str] = []  # the names of live tensors that are small enough
        self.lists: list[str] = []  # the same of tuples of tensors
        self.names = 0

    def grow(self) -> None:
        """Draw statements until the program is complete, or the worlds differ."""
        for _ in range(self.rng.randint(1, 3)):
            self.leaf()
        length = self.rng.randint(3, 8) if self.wild else self.rng.randint(5, 40)
        tables, weights = self.themed()
        while len(self.lines) < length and not self.ended:
            table = self.rng.choices(tables, weights)[0]
            self.attempt(self.rng.choice(table))
        for name in self.fitting(lambda x: x.requires_grad)[-3:]:
            self.do(f"({name} * {name}).sum().backward(retain_graph=True)")
        if not self.ended:
            self.found = self.pair.finish()

    def themed(self) -> tuple[list[list[str]], list[float]]:
        """The tables, and how often each comes: in some programs one more often, so that its statements meet."""
        tables, weights = families()
        theme = self.rng.randrange(len(tables)) if self.rng.random() < THEMED else None
        return tables, [sum(weights) if place == theme else weight for place, weight in enumerate(weights)]

    def attempt(self, statement: str) -> None:
        """Add a statement, its holes filled, if something alive fits each."""
        holes = OptionHoles(self)
        try:
            line = "".join(text if name is None else text + holes.fill(name) for text, name in parsed(statement))
        except Nothing:
            return
        new = holes.filled.get("new")
        if new and self.rng.random() < AROUND:
            line = around(line, new, self.pair.theirs, self.rng)
        self.do(line, new)

    def do(self, line: str, new: str | None = None) -> None:
        """Add a statement, which assigns to `new`, and execute it."""
        if self.ended:
            return
        if self.wide != "float64":
            line = line.replace("float64", self.wide).replace(".double()", f".to(lib.{self.wide})")
        self.lines.append(line)
        self.found = self.pair.step(line)
        self.errors += self.pair.raised
        self.ended = self.found is not None or self.pair.halfway
        if new:
            self.learn(new)
        self.tensors = [name for name in self.tensors if self.is_alive(name)]

    def is_alive(self, name: str) -> bool:
        try:
            return self.pair.theirs[name].is_leaf in (True, False)
        except (KeyError, RuntimeError):  # deleted, or a view that torch gives up
            return False

    def learn(self, name: str) -> None:
        """Let later statements use what a statement made."""
        value = self.pair.theirs.get(name)
        if isinstance(value, torch.Tensor):
            small = value.numel() <= LARGEST * (40 if self.large else 1) and value.ndim <= RANK
            if small and not has_no_memory(value) and (self.wild or is_tame(value)):
                self.tensors.append(name)
        elif isinstance(value, (tuple, list)) and value and all(isinstance(x, torch.Tensor) for x in value):
            self.lists.append(name)
            for place in range(min(2, len(value))):
                part = self.name()
                self.do(f"{part} = {name}[{place}]", part)

    # ---- What holes are filled with

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def fitting(self, fits: Callable[[torch.Tensor], bool]) -> list[str]:
        """The names of live tensors that fit."""
        world = self.pair.theirs
        return [name for name in self.tensors if fits(world[name])]

    def one(self, fits: Callable[[torch.Tensor], bool]) -> str:
        """One of them, more often one of the last."""
        names = self.fitting(fits)
        if not names:
            raise Nothing
        if len(names) > 4 and self.rng.random() < 0.5:
            names = names[-4:]
        return self.rng.choice(names)

    def leaf(self, shape: Sequence[int] | None = None, dtype: str = "") -> str:
        """A new tensor of given numbers, or a view of one."""
        rng = self.rng
        if shape is None:
            shape = rng.choices(SHAPES, None if self.wild else WEIGHTS)[0]
            shape = [LONGER[size] for size in shape] if self.large else shape
        if len(shape) > 1 and rng.random() < LAID_OUT:
            return self.laid_out(list(shape), dtype)
        dtype = dtype or (rng.choice(DTYPES) if self.wild else rng.choices(DTYPES, USUAL)[0])
        grad = ", requires_grad=True" if "float" in dtype and rng.random() < 0.7 else ""
        name = self.name()
        data = numbers(tuple(shape), dtype, rng.randrange(VALUES), self.wild)
        self.do(f"{name} = lib.tensor({data}, dtype=lib.{dtype}{grad})", name)
        return name

    def laid_out(self, shape: list[int], dtype: str) -> str:
        """A new tensor that is a view of a leaf."""
        name, way = self.name(), self.rng.randrange(4)
        if way == 0:
            view = f"{self.leaf([*shape[:-1], 2 * shape[-1]], dtype)}[..., ::2]"
        elif way == 1:
            view = f"{self.leaf([1, *shape[1:]], dtype)}.expand({shape})"
        elif way == 2:
            view = f"{self.leaf([*shape[:-2], shape[-1], shape[-2]], dtype)}.mT"
        else:
            view = f"{self.leaf([*shape[1:], shape[0]], dtype)}.movedim(-1, 0)"
        self.do(f"{name} = {view}", name)
        if self.ended:
            raise Nothing
        return name

    def one_or_leaf(self, fits: Callable[[torch.Tensor], bool], shape: Sequence[int], dtype: str = "float64") -> str:
        try:
            return self.one(fits)
        except Nothing:
            return self.leaf(shape, dtype)


def is_tame(x: torch.Tensor) -> bool:
    return not (x.is_floating_point() and (x.detach().abs() > GREATEST).any())


@functools.lru_cache(None)
def numbers(shape: tuple[int, ...], dtype: str, number: int, wild: bool = False) -> str:
    """The elements of a tensor, one of VALUES for a shape and dtype."""
    rng = random.Random(f"{shape} {dtype} {number}")

    def element() -> object:
        if dtype == "bool":
            return rng.random() < 0.5
        if "float" not in dtype:
            return rng.randint(0 if dtype == "uint8" else -3, 3)
        return rng.choice(BREAKING) if wild and rng.random() < 0.3 else round(rng.uniform(-2.5, 2.5), 3)

    def nested(sizes: Sequence[int]) -> object:
        return [nested(sizes[1:]) for _ in range(sizes[0])] if sizes else element()

    return repr(nested(shape))
