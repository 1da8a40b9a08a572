"""Random programs under norch.compile: what a replay leaves behind is what norch leaves without it, bit for bit.

    [ATTACK_DEVICE=cuda] python tests/attack/replays.py [--seconds 60] [--seed 0] [--only SEED.NUMBER]

The first statements of a random program (programs.py) make variables; the others become the body of a function, some of
the variables its arguments: by place, by keyword or in containers, with memory of their own, within more, or of each
other. Two worlds call it several times, one of them compiled, once or twice. Between the calls arguments, variables,
modules, optimizers and schedules change; after each, results, gradients, errors, all that is alive, the memory that it
shares and the generator are compared. What differs is shortened to a few lines.
"""

from __future__ import annotations

import ast
import dataclasses
import os
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from programs import Outcome, main
from programs import attack as attack_with
from random_programs.execution import NAMES, RUNNING, compiled
from random_programs.generator import Program
from report import Report

import norch

CALLS = 6  # two plain or recorded ones, one that becomes a program, and replays
DEVICE = os.environ.get("ATTACK_DEVICE", "cpu")  # of the tensors that the functions see
CASES = 1000  # programs of a short attack
LEFT_OUT = re.compile(r"set_default_dtype|inference_mode|set_num_threads|\bdel |Generator|seed\(|rng_state|\bcompile\b")
LEAF = re.compile(r"v\d+ = lib\.tensor\(")
PLAIN = torch.Tensor, int, float, bool, str
World = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Case:
    """A function, what is made before it, and how it is called."""

    seed: str
    setup: tuple[str, ...]
    body: tuple[str, ...]
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    later: bool  # whether what comes back is differentiated after the call
    way: str = "places"  # how it gets its arguments
    memory: str = "own"  # and what these lie in
    copies: int = 1  # how often it is compiled: the calls go to one after another

    @property
    def source(self) -> str:
        lines = [*self.body, f"return ({''.join(name + ', ' for name in self.results)})"]
        names = ", ".join(self.arguments)
        if not names:
            head = ["def function():"]
        elif self.way == "list":
            head = ["def function(given):", f"[{names}] = given"]
        elif self.way == "dict":
            head = ["def function(*, given):", f"[{names}] = [given['first'], *given['others'].values()]"]
        else:
            head = [f"def function({'*, ' if self.way == 'keywords' else ''}{names}):"]
        return "\n    ".join([*head, *lines])

    def call(self, function: Any, arguments: list[Any]) -> Any:
        if not arguments or self.way == "places":
            return function(*arguments)
        if self.way == "list":
            return function(arguments)
        if self.way == "dict":
            others = dict(zip(self.arguments[1:], arguments[1:]))
            return function(given={"first": arguments[0], "others": others})
        return function(**dict(zip(self.arguments, arguments)))

    def without(self, part: str, place: int) -> Case:
        """The case without a statement, a result or an argument."""
        items = getattr(self, part)
        fewer = dataclasses.replace(self, **{part: items[:place] + items[place + 1 :]})
        made = set().union(*map(stored, fewer.body))
        return dataclasses.replace(fewer, results=tuple(name for name in fewer.results if name in made))


def parses(line: str) -> bool:
    try:
        return bool(ast.parse(line))
    except SyntaxError:
        return False


def stored(line: str) -> set[str]:
    """The names that a statement assigns to."""
    names = (node for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Name))
    return {node.id for node in names if not isinstance(node.ctx, ast.Load)}


def drawn(seed: str) -> Case | None:
    """A random case; None if the program is too short for one."""
    norch.set_grad_enabled(True)  # which an earlier case may have left otherwise
    norch.set_default_device("cpu")
    program, rng = Program(seed), random.Random(f"{seed} replays")
    raised: list[str] = []
    step = program.pair.step

    def stepped(line: str) -> str | None:
        found = step(line)
        if program.pair.raised:
            raised.append(line)
        return found

    program.pair.step = stepped
    program.grow()
    lines = [x for x in program.lines if x not in raised or (parses(x) and rng.random() < 0.1)]
    lines = [x for x in lines if not LEFT_OUT.search(x)]
    if len(lines) < 4:
        return None
    first = rng.randint(1, len(lines) * 2 // 3)
    setup, body = lines[:first], lines[first:]
    if rng.random() < 0.85:  # leaves that a function makes and returns keep it from being replayed
        setup += [x for x in body if LEAF.match(x)]
        body = [x for x in body if not LEAF.match(x)]
    variables = sorted(set().union(*map(stored, setup)))
    world = program.pair.theirs
    tensors = [x for x in variables if isinstance(world.get(x), torch.Tensor) and program.is_alive(x)]
    if rng.random() < 0.8:  # likewise a graph that the backward of an earlier call freed
        for name in tensors:
            if not world[name].is_leaf:
                setup.append(f"{name} = {name}.detach().clone().requires_grad_({rng.random() < 0.5})")
    body = [x for x in body if stored(x).isdisjoint(variables)]
    results = dict.fromkeys(name for line in body for name in sorted(stored(line)) if is_plain(world.get(name)))
    arguments = rng.sample(tensors, min(len(tensors), rng.randint(0, 3)))
    way = rng.choice(["places", "places", "places", "keywords", "list", "dict"])
    memory, copies = rng.choice(["own", "own", "own", "within", "shared"]), rng.choice([1, 1, 1, 2])
    later = rng.random() < 0.5
    return Case(seed, tuple(setup), tuple(body), tuple(arguments), tuple(results), later, way, memory, copies)


def is_plain(value: Any) -> bool:
    """Whether a function that returns it can be replayed."""
    return isinstance(value, PLAIN) or (isinstance(value, (tuple, list)) and all(map(is_plain, value)))


# ---- Calls ----------------------------------------------------------------------------------------------------------


def played(case: Case, how: Callable[[Any], Any]) -> Iterator[tuple[dict[str, Any], int]]:
    """After each call what can be seen, and how many programs there are; `how` compiles the function, or does not."""
    norch.set_grad_enabled(True)
    norch.manual_seed(0)
    norch.set_default_device(DEVICE)
    world: World = {"lib": norch, "__name__": "case", **NAMES}
    for line in case.setup:
        attempted(lambda line=line: exec(compiled(line), world))
    exec(compile(case.source, "<case>", "exec"), world)
    functions = [how(world["function"]) for _ in range(case.copies)]
    del world["function"]
    rng = random.Random(f"{case.seed} calls")
    given = [world.get(name) for name in case.arguments]
    variables = sorted(set(world) - {"lib", "__name__", "__builtins__", *NAMES})
    adds_once = case.source.count("backward") < 2  # else the sum is taken in another order (docs/compile.md)
    kept: list[Any] = []
    for number in range(CALLS * case.copies):
        attempted(lambda: change(world, variables, rng))
        function = functions[number % case.copies]
        arguments = fresh(given, rng, adds_once, case.memory)
        result: list[Any] = []
        error = attempted(lambda f=function, a=arguments, result=result: result.append(case.call(f, a)))
        later = attempted(lambda result=result: differentiate(result)) if case.later else None
        everything = [("result", result), ("arguments", arguments), *[(name, world[name]) for name in variables]]
        yield (
            {
                "error": error,
                "error of a later backward": later,
                **{name: seen(value) for name, value in everything},
                "shared memory": shared(everything),
                "generator": norch.get_rng_state().tolist(),
                "grad mode": norch.is_grad_enabled(),
            },
            len(getattr(function, "programs", ())),
        )
        kept.append(result)
        if rng.random() < 0.5:
            kept.clear()


def attempted(action: Callable[[], Any]) -> str | None:
    """The kind of error that an action raises."""
    try:
        action()
    except Exception as error:
        return type(error).__name__
    return None


def fresh(given: list[Any], rng: random.Random, with_gradients: bool, memory: str) -> list[Any]:
    """Arguments for one call: other elements, the same form; some come with a gradient."""
    made = [x.detach().clone() if isinstance(x, norch.Tensor) else x for x in given]
    tensors = [x for x in made if isinstance(x, norch.Tensor)]
    for y in tensors:
        if y.dtype.is_floating_point:
            y.mul_(rng.choice([1, 1, 2, 0.5, -1]))
    blocks: dict[Any, Any] = {}  # of a dtype, in which arguments lie
    for place, (x, y) in enumerate(zip(given, made)):
        if not isinstance(y, norch.Tensor):
            continue
        if memory != "own" and y.numel():
            if y.dtype not in blocks or memory == "within":
                most = max(z.numel() for z in tensors) + len(given)
                blocks[y.dtype] = y.flatten().repeat(1 + most // y.numel())
            y = made[place] = blocks[y.dtype][place : place + y.numel()].view(y.shape)
        if y.dtype.is_floating_point:
            y.requires_grad_(x.requires_grad)
        if y.requires_grad and with_gradients and rng.random() < 0.3:
            y.grad = norch.ones_like(y)
    return made


def change(world: World, variables: list[str], rng: random.Random) -> None:
    """Change something between two calls, or nothing."""

    def one(kind: type) -> str:
        return rng.choice([name for name in variables if isinstance(world[name], kind)])

    turn = rng.randrange(20)
    if turn == 0:
        with norch.no_grad():
            world[one(norch.Tensor)].mul_(2)
    elif turn == 1:
        x = world[one(norch.Tensor)]
        x.requires_grad_(not x.requires_grad)
    elif turn == 2:
        world[one(norch.Tensor)].grad = None
    elif turn == 3:
        name = one(norch.Tensor)
        world[name] = world[name].detach().clone().requires_grad_(world[name].requires_grad)
    elif turn in (4, 5):
        module = world[one(norch.nn.Module)]
        module.train(not module.training)
    elif turn in (6, 7):
        for group in world[one(norch.optim.Optimizer)].param_groups:
            group["lr"] *= 0.5
    elif turn == 9:
        world[one(norch.optim.lr_scheduler.LRScheduler)].step()
    elif turn == 8:
        norch.set_grad_enabled(not norch.is_grad_enabled())


def differentiate(result: list[Any]) -> None:
    """Backward of what came back."""
    ends = [x for _, x in tensors_in("", result) if x.requires_grad and not x.is_leaf]
    if ends:
        sum((x * x).sum() for x in ends).backward()


# ---- What is compared -----------------------------------------------------------------------------------------------


def tensors_in(name: str, value: Any) -> Iterator[tuple[str, norch.Tensor]]:
    if isinstance(value, norch.Tensor):
        yield name, value
    elif isinstance(value, (list, tuple)):
        for place, x in enumerate(value):
            yield from tensors_in(f"{name}[{place}]", x)


def seen(value: Any, with_gradient: bool = True) -> Any:
    """All that can be seen of a value."""
    if isinstance(value, norch.Tensor):
        steps = [step for step, size in zip(value.stride(), value.shape) if size > 1 and value.numel()]
        kind = type(value).__name__, str(value.dtype), tuple(value.shape), steps, value.requires_grad
        gradient = value.grad if with_gradient and value.is_leaf else None
        return [*kind, value.is_leaf, repr(value.detach().tolist()), seen(gradient, False)]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *[seen(x, with_gradient) for x in value]]
    if isinstance(value, dict):
        return {key: seen(x, with_gradient) for key, x in value.items()}
    if isinstance(value, norch.nn.Module):
        return [seen(dict(value.state_dict())), seen(list(value.parameters())), value.training]
    if isinstance(value, norch.optim.Optimizer):
        return seen(value.state_dict(), False)
    return repr(value) if isinstance(value, (int, float, str, type(None))) else type(value).__name__


def shared(everything: list[tuple[str, Any]]) -> list[tuple[str, str, int]]:
    """Of each tensor the first one in the same memory, and where in it it begins."""
    first: dict[int, str] = {}
    found = []
    for whole, value in everything:
        for name, x in tensors_in(whole, value):
            if x.numel():
                memory = x.untyped_storage().data_ptr()
                found.append((name, first.setdefault(memory, name), x.storage_offset()))
    return found


def difference(case: Case) -> tuple[str | None, int]:
    """What a compiled function did otherwise, None if nothing; and how many programs it had."""
    programs = 0
    RUNNING[0] = 1
    plain, replayed = played(case, lambda function: function), played(case, norch.compile)
    for number, ((ours, _), (other, programs)) in enumerate(zip(list(plain), replayed)):
        for name in ours:
            if ours[name] != other[name]:
                RUNNING[0] = 0
                return f"{name} of call {number}: {other[name]!r:.400}, not {ours[name]!r:.400}", programs
    RUNNING[0] = 0
    return None, programs


# ---- The attacker ---------------------------------------------------------------------------------------------------


def kind(found: str) -> str:
    return re.sub(r"\bv\d+", "v", found.split(" of call")[0])


def shrunk(case: Case, found: str) -> tuple[Case, str]:
    """The shortest case that differs in the same way."""
    shorter = True
    while shorter:
        shorter = False
        for part in ("body", "setup", "results", "arguments"):
            for place in reversed(range(len(getattr(case, part)))):
                candidate = case.without(part, place)
                told, _ = difference(candidate)
                if told and kind(told) == kind(found):
                    case, found, shorter = candidate, told, True
    return case, found


def attempt(seed: str, seen_before: set[str]) -> Outcome:
    """One case: what was tried, the kind of what it found, and the finding."""
    case = drawn(seed)
    if case is None:
        return {"programs that are too short": 1}, "", ""
    found, programs = difference(case)
    tried = {"functions": 1, "calls": CALLS, "functions that were replayed": int(programs > 0)}
    if found is None or kind(found) in seen_before:
        return tried, "", ""
    label = kind(found)
    case, found = shrunk(case, found)
    return (
        tried,
        label,
        "\n".join(
            [
                f"function {seed}: {found}",
                *case.setup,
                case.source,
                f"{case.way}, {case.memory}, copies: {case.copies}, later: {case.later}",
            ]
        ),
    )


def attack(seconds: float, cases: int, seed: int, tell: Callable[[str], None] = lambda finding: None) -> Report:
    """Compile random functions until the time is up, or so many were tried; each finding is told at once."""
    return attack_with(seconds, cases, seed, tell, attempt)


if __name__ == "__main__":
    main(__doc__, attempt)
