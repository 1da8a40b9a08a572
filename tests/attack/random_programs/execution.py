"""A program in two worlds: each statement is executed by both libraries, and what it leaves is compared."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
import mmap
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch.nn.utils.prune

import norch

NUMBERS = {"float64": "d", "float32": "f", "int64": "q", "int32": "i", "int16": "h", "int8": "b", "uint8": "B"}
# Relative, and of the largest element: a sum of many terms loses what is small beside them.
TOLERANCE = {"float64": 1e-9, "float32": 2e-4, "float16": 2e-2, "bfloat16": 1e-1}
COARSE = {torch.float32: 2e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}
INEXACT = {
    "polygamma": 1e-6,
    "VonMises": 1e-4,
    "airy_ai": 1e-5,
    "bessel_": 1e-5,
    "Multinomial": 1e-7,
    "Muon": 1e-5,
}  # what torch computes with fewer digits than the dtype has
NAMES = {"nan": math.nan, "inf": math.inf}  # as repr writes them
IN_PLACE = "modified by an inplace operation"
SHAKEN = 1e-12  # how far a shaken number moves, relatively
PHASES = 4  # in how many ways, as one alone may leave a number on its side of a step
SHAKEN_NARROW = {"float32": 1e-7, "float16": 1e-3, "bfloat16": 1e-2}  # the same in programs that compute in these

RUNNING = mmap.mmap(-1, 1)  # shared with the parent process: 1 while norch executes a statement

variables = functools.lru_cache(100_000)(lambda line: sorted(set(re.findall(r"\bv\d+\b", line))))
# Statements whose numbers are drawn, and how far those of the variable that they assign may differ
DRAWN = {"float(lib.nn.init": 2e-2, "float(p.detach()": 2e-2}


def parts_of_module(x: Any) -> list[Any]:
    """What is compared of a module of either library."""
    return [dict(x.state_dict()), dict(x.named_parameters()), x.training]


# What is compared of an object
PARTS: list[tuple[type, Callable[[Any], Any]]] = [
    (torch.nn.Module, parts_of_module),
    (torch.optim.Optimizer, lambda x: x.state_dict()),
    (torch.optim.lr_scheduler.LRScheduler, lambda x: x.get_last_lr()),
    (torch.distributions.Distribution, lambda x: [x.batch_shape, x.event_shape, x.has_rsample]),
]

PARTLY_CHANGED = (torch.nn.Module, torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler)  # by what raises

compiled = functools.lru_cache(100_000)(lambda line: compile(line, "<program>", "exec"))


class Pair:
    """A program so far: the variables of both worlds, and those whose memory is laid out differently in them."""

    def __init__(self, ours: Any = norch, theirs: Any = torch) -> None:
        self.ours: dict[str, Any] = {"lib": ours, **NAMES}
        self.theirs: dict[str, Any] = {"lib": theirs, **NAMES}
        self.otherwise: set[str] = set()
        self.raised = False  # whether the last statement did
        self.halfway = False  # and torch may have done a part of it: reached some leaves, written some elements
        self.drawn: dict[str, float] = {}  # variables that hold figures of random numbers, and their tolerance
        self.least = 0.0  # the tolerance of all dtypes, once something was computed in a narrow one

    def after(self, world: dict[str, Any]) -> Pair:
        """This pair, whose worlds have both the variables of another one."""
        self.ours.update(world)
        self.theirs.update(world)
        return self

    def step(self, line: str, our_line: str | None = None) -> str | None:
        """Execute a statement in both worlds: what is different after it, None if nothing is."""
        theirs = _error(line, self.theirs)
        RUNNING[0] = 1
        ours = _error(our_line or line, self.ours)
        RUNNING[0] = 0
        self.raised = theirs is not None
        self.halfway = self.raised and self._is_partly_done(line, theirs)
        self.least = max([self.least, *(bound for name, bound in INEXACT.items() if name in line)])
        self.drawn.update((line.split(" ")[0], bound) for text, bound in DRAWN.items() if text in line)
        if theirs is not None or ours is not None:
            return _error_difference(ours, theirs)
        for name in variables(line):
            if found := self.variable_difference(name):
                return found
        return None

    def _is_partly_done(self, line: str, error: Exception | None) -> bool:
        """Whether torch may have done a part of a statement that raised, where norch does all or nothing."""
        if isinstance(error, NameError):  # of a program that was made shorter: nothing was done
            return False
        names = variables(line)
        steps = any(isinstance(self.theirs.get(name), PARTLY_CHANGED) for name in names)
        written = isinstance(error, IndexError) and "] = " in line or "ZeroDivision" in str(error)
        return steps or written or bool(re.search(r"backward\(|_reduce_\(|\bout=", line))

    def variable_difference(self, name: str) -> str | None:
        if name not in self.theirs or name not in self.ours:
            return None
        ours, theirs = self.ours[name], self.theirs[name]
        try:
            if isinstance(theirs, torch.Tensor):
                self.least = max(self.least, COARSE.get(theirs.dtype, 0.0))
            found = difference(ours, theirs, max(self.least, self.drawn.get(name, 0.0)))
        except RuntimeError:  # a view of many, which torch gives up when its base is written to, and norch follows
            del self.ours[name], self.theirs[name]
            return None
        if found:
            return f"{name}: {found}"
        if isinstance(theirs, torch.Tensor):
            (self.otherwise.discard if _strides(ours) == _strides(theirs) else self.otherwise.add)(name)
        return None

    def finish(self) -> str | None:
        """What is different at the end first, in any variable, or in which of them share memory."""
        return next(self.ends(), None)

    def ends(self) -> Iterator[str]:
        """All that is different at the end."""
        for name in [name for name in self.theirs if name[0] == "v"]:
            if found := self.variable_difference(name):
                yield f"at the end {found}"
        both = [name for name in self.theirs if name in self.ours and name[0] == "v"]
        names = [name for name in both if not has_no_memory(self.theirs[name])]
        ours, theirs = _sharing(self.ours, names), _sharing(self.theirs, names)
        for name in ours:
            if ours[name] != theirs[name]:
                yield f"at the end {name} shares memory with {ours[name]}, in torch with {theirs[name]}"


def run(lines: list[str]) -> tuple[int, str] | None:
    """The first statement after which the worlds differ, and how; None if they never do."""
    pair = Pair()
    for number, line in enumerate(lines):
        if found := pair.step(line):
            return number, found
        if pair.halfway:
            return None
    found = pair.finish()
    return (len(lines) - 1, found) if found else None


def without(lines: Sequence[str], cause: str) -> list[str]:
    """The program without the statements that match a cause; a tensor that one makes becomes what it is in torch."""
    pair, rest = Pair(), []
    for line in lines:
        pair.step(line)
        if not re.search(cause, line):
            rest.append(line)
            continue
        parts = line.split("; ")
        kept = [part for part in parts if not re.search(cause, part)]
        if kept and len(kept) < len(parts) and not line.startswith("with "):
            rest.append("; ".join(kept))
        gone = line if len(kept) == len(parts) else "; ".join(part for part in parts if part not in kept)
        for name in re.findall(r"(?:^|; |: )(v\d+) = ", gone):
            x = pair.theirs.get(name)
            with contextlib.suppress(RuntimeError):  # a view that torch gives up
                if isinstance(x, torch.Tensor):
                    needs = ".requires_grad_()" if x.requires_grad else ""
                    value = f"lib.tensor({x.tolist()}, dtype=lib.{str(x.dtype)[6:]}).reshape({list(x.shape)}){needs}"
                    rest.append(f"{name} = {value}")
    return rest


def ends(lines: list[str]) -> list[str]:
    """All that is different behind the last statement."""
    pair = Pair()
    for line in lines:
        pair.step(line)
    return list(pair.ends())


def unneeded(lines: list[str], explained: Callable[[list[str], str], str | None]) -> bool:
    """Whether the worlds agree once torch keeps copies of the saved values that a write in place would change.

    They also do if what they then differ in is explained.
    """
    graph = torch.autograd.graph
    keeping = [  # the first misses writes through views, the second does not differentiate twice
        graph.allow_mutation_on_saved_tensors(),
        graph.saved_tensors_hooks(lambda x: x.detach().clone(), lambda x: x),
    ]
    for context in keeping:
        with context:
            result = run(lines)
            if result is None or (IN_PLACE not in result[1] and explained(lines[: result[0] + 1], result[1])):
                return True
    return False


def unsteady(lines: list[str]) -> bool:
    """Whether torch's own results change beyond the tolerance if the last digits of its numbers do.

    Equal numbers stay equal and zeros stay zeros, so that ties are no excuse.
    """
    far = max([SHAKEN, *(far for dtype, far in SHAKEN_NARROW.items() if any(f".{dtype}" in line for line in lines))])
    for phase in range(PHASES):
        pair = Pair(torch, torch)
        if any(pair.step(line, _shaken(line, far, phase)) for line in lines) or pair.finish():
            return True
    return _cancels(lines)


def _cancels(lines: list[str]) -> bool:
    """Whether float32 gives torch quite other values than float64: then what is left of a difference decides."""
    pair = Pair(torch, torch)
    for line in lines:
        _error(line.replace("float64", "float32"), pair.ours)
        _error(line, pair.theirs)
    for name, theirs in pair.theirs.items():
        ours = pair.ours.get(name)
        for our, their in ((ours, theirs), (_gradient(ours), _gradient(theirs))):
            if isinstance(their, torch.Tensor) and isinstance(our, torch.Tensor) and their.is_floating_point():
                with contextlib.suppress(RuntimeError):  # views that torch gives up
                    if our.shape != their.shape or not same_elements(our.double(), their.double(), "float64", 1e-2):
                        return True
    return False


def _gradient(x: Any) -> torch.Tensor | None:
    try:
        return x.grad if isinstance(x, torch.Tensor) and x.is_leaf else None
    except RuntimeError:  # a view that torch gives up
        return None


def _shaken(line: str, far: float, phase: int) -> str:
    def moved(value: float) -> float:
        return value * (1 + far * (1 + math.sin(1000 * value + phase)))

    return re.sub(r"-?\d+\.\d+", lambda found: repr(moved(float(found[0]))), line)


# ---- Errors -----------------------------------------------------------------------------------------------------


def _error(line: str, world: dict[str, Any]) -> Exception | None:
    try:
        exec(compiled(line), world)
    except Exception as error:  # whatever it is, it is what we compare
        return error.with_traceback(None)
    finally:
        if "set_default_dtype" in line:  # which it does not reach if it raises
            world["lib"].set_default_dtype(world["lib"].float32)
    return None


def _error_difference(ours: Exception | None, theirs: Exception | None) -> str | None:
    if ours is None:
        return f"norch computes, torch raises {_told(theirs)}"
    if theirs is None:
        return f"norch raises {_told(ours)}, torch computes"
    kinds = [kind for kind in type(theirs).__mro__ if kind.__module__ == "builtins"]
    expected = RuntimeError if kinds[0] is NotImplementedError else kinds[0]
    if isinstance(ours, expected):
        return None
    return f"norch raises {_told(ours)}, torch {_told(theirs)}"


def _told(error: Exception | None) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"


# ---- Values -----------------------------------------------------------------------------------------------------


def difference(ours: Any, theirs: Any, least: float = 0.0) -> str | None:
    """Why a value is not what torch has, None if it is; `least` is the least tolerance."""
    if isinstance(theirs, torch.Tensor):
        if not isinstance(ours, (norch.Tensor, torch.Tensor)):
            return f"a {type(ours).__name__}, torch has a tensor"
        return _tensor_difference(ours, theirs, least)
    if isinstance(theirs, (tuple, list)):
        if not isinstance(ours, (tuple, list)) or len(ours) != len(theirs):
            return f"{ours!r:.2000}, torch has {theirs!r:.2000}"
        for index, (our, their) in enumerate(zip(ours, theirs)):
            if found := difference(our, their, least):
                return f"[{index}] {found}"
        return None
    if isinstance(theirs, dict):
        if not isinstance(ours, dict) or ours.keys() != theirs.keys():
            return f"{ours!r:.200}, torch has {theirs!r:.200}"
        return difference(list(ours.values()), [theirs[key] for key in ours], least)
    if isinstance(theirs, (bool, int, float)):
        tolerance = max(TOLERANCE["float64"], least)
        if not isinstance(ours, (bool, int, float)) or not same_numbers([ours], [theirs], tolerance):
            return f"{ours!r:.200}, torch has {theirs!r}"
        return None
    if isinstance(theirs, str):
        return None if ours == theirs.replace("torch", "norch") else f"{ours!r:.200}, torch has {theirs!r:.200}"
    for kind, parts in PARTS:
        if isinstance(theirs, kind) and ours is not None:
            return difference(parts(ours), parts(theirs), least)
    return None if (ours is None) == (theirs is None) else f"{ours!r:.200}, torch has {theirs!r:.200}"


def _tensor_difference(ours: Any, theirs: torch.Tensor, least: float) -> str | None:
    shape, dtype = tuple(theirs.shape), str(theirs.dtype)[6:]
    if tuple(ours.shape) != shape:
        return f"shape {tuple(ours.shape)}, torch has {shape}"
    if str(ours.dtype)[6:] != dtype:
        return f"dtype {ours.dtype}, torch has {dtype}"
    if not ours.requires_grad and theirs.requires_grad and theirs.grad_fn and "NotImpl" in theirs.grad_fn.name():
        return "no derivative, torch raises one that is not implemented"
    if theirs.requires_grad and not theirs.is_floating_point():
        return f"no gradient, torch wants one of {dtype}"
    if ours.requires_grad != theirs.requires_grad:
        return f"requires_grad {ours.requires_grad}, torch has {theirs.requires_grad}"
    if ours.is_leaf != theirs.is_leaf:
        return f"is_leaf {ours.is_leaf}, torch has {theirs.is_leaf}"
    if not same_elements(ours, theirs, dtype, least):
        return f"elements {ours.tolist()}, torch has {theirs.tolist()}"
    if theirs.is_leaf or theirs.retains_grad:  # norch keeps the gradients of all tensors
        our, their = ours.grad, theirs.grad
        if our is not None or their is not None:
            if our is None or their is None:
                return f".grad {our}, torch has {their}"
            if found := _tensor_difference(our, their, least):
                return f".grad {found}"
    return None


def same_elements(ours: Any, theirs: torch.Tensor, dtype: str, least: float) -> bool:
    """Whether elements agree within the tolerance of their dtype, a NaN with a NaN."""
    if not theirs.numel():
        return True
    first, second = _bytes(ours), _bytes(theirs)
    if first == second:
        return True
    if dtype == "bool" or dtype not in TOLERANCE:
        return False
    tolerance = max(TOLERANCE[dtype], least)
    if dtype not in NUMBERS:
        return same_numbers(_flat(ours.double()), _flat(theirs.double()), tolerance)
    numbers = NUMBERS[dtype]
    return same_numbers(memoryview(first).cast(numbers), memoryview(second).cast(numbers), tolerance)


def _bytes(x: Any) -> bytes:
    if not x.is_contiguous():
        x = x.detach().contiguous()
    elif has_no_memory(x):
        x = x.detach().clone()
    return ctypes.string_at(x.data_ptr(), x.numel() * x.element_size())


def _flat(x: Any) -> list[float]:
    return x.reshape(-1).tolist()


def same_numbers(first: Any, second: Any, tolerance: float) -> bool:
    largest = max((abs(b) for b in second if abs(b) < math.inf), default=0.0)
    bound = tolerance * max(1.0, largest)
    return all(abs(a - b) <= bound or a == b or (a != a and b != b) for a, b in zip(first, second))


# ---- Memory -----------------------------------------------------------------------------------------------------


def _strides(x: Any) -> list[int]:
    """How many elements to step, in the dimensions in which one can."""
    return [step for step, size in zip(x.stride(), x.shape) if size > 1] if x.numel() else []


def has_no_memory(x: Any) -> bool:
    """Whether torch only notes that the elements are zeros, as in tangents."""
    return isinstance(x, torch.Tensor) and x._is_zerotensor()


def _storage(x: Any) -> int:
    return x.untyped_storage().data_ptr()


def _sharing(world: dict[str, Any], names: list[str]) -> dict[str, str]:
    """Of each variable that is a tensor, the first one over the same memory."""
    first: dict[int, str] = {}
    tensors = {name: world[name] for name in names if isinstance(world[name], (torch.Tensor, norch.Tensor))}
    return {name: first.setdefault(_storage(x), name) for name, x in tensors.items() if x.numel()}
