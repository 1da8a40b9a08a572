"""One program, eager and compiled: everything that can be seen of it, in each step, must be the same bit for bit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import norch
from norch.functions import generator


def shown(value: Any) -> Any:
    """What can be seen of a value: of a tensor its elements, exactly, its kind, version and place in the graph."""
    if isinstance(value, norch.Tensor):
        graph = value.requires_grad, value.is_leaf, value._version
        return value.dtype, tuple(value.shape), value.stride(), graph, repr(value.tolist())
    if isinstance(value, (list, tuple)):
        return type(value), [shown(x) for x in value]
    if isinstance(value, dict):
        return type(value), [(key if isinstance(key, str) else 0, shown(x)) for key, x in value.items()]
    return type(value), repr(value)


def state_of(model: Any, optimizer: Any = None) -> dict[str, Any]:
    """Parameters, gradients, buffers, the state of the optimizer, and where the random numbers are."""
    state: dict[str, Any] = {"draws": list(generator.default_generator._state)}
    for name, x in [] if model is None else [*model.named_parameters(), *model.named_buffers()]:
        state[name] = shown(x)
        if x.is_leaf and x.requires_grad:
            state[f"{name}.grad"] = shown(x.grad)
    if optimizer is not None:
        state["optimizer"] = [shown(optimizer.state[p]) for p in optimizer.parameters if p in optimizer.state]
        state["groups"] = [shown({k: v for k, v in group.items() if k != "params"}) for group in optimizer.param_groups]
    return state


class World:
    """A program to run: `step(*arguments(i))` is call number i, `look()` what to compare after it."""

    def __init__(
        self,
        step: Callable[..., Any],
        arguments: Callable[[int], tuple[Any, ...]] = lambda i: (),
        look: Callable[[], Any] = lambda: None,
        before: Callable[[int], Any] = lambda i: None,
        after: Callable[[int, Any], Any] = lambda i, result: None,
    ) -> None:
        self.step, self.arguments, self.look, self.before, self.after = step, arguments, look, before, after

    def run(self, steps: int, compiled: bool, fullgraph: bool = False) -> tuple[list[Any], Any]:
        """What was seen in each step, and the function that was called."""
        function: Any = norch.compile(self.step, fullgraph=fullgraph) if compiled else self.step
        seen, kept = [], []
        for i in range(steps):
            self.before(i)
            result = function(*self.arguments(i))
            self.after(i, result)
            seen.append((shown(result), self.look()))
            kept.append(result)
        seen += [shown(result) for result in kept]  # after all later calls
        return seen, function


def training_step(model: Any, optimizer: Any) -> Callable[[Any], Any]:
    """A step of training on inputs alone, whose loss is the mean square of what the model makes of them."""

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


def beside_eager(make: Callable[[], World], steps: int = 12, seed: int = 7) -> tuple[Any, list[str]]:
    """Run a program eagerly and compiled, compare all that is seen, and return the compiled function and warnings."""
    runs = []
    for compiled in (False, True):
        norch.manual_seed(seed)
        world = make()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            runs.append(world.run(steps, compiled))
    (expected, _), (found, function) = runs
    for i, (x, y) in enumerate(zip(expected, found)):
        if x != y:
            raise AssertionError(f"call {i} differs from eager: {difference(x, y)}")
    return function, [str(x.message) for x in caught if "norch.compile" in str(x.message)]


def difference(x: Any, y: Any) -> str:
    """The first place where two nests differ."""
    if isinstance(x, dict) and isinstance(y, dict) and x.keys() == y.keys():
        return next(f"{key}: {difference(x[key], y[key])}" for key in x if x[key] != y[key])
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)) and len(x) == len(y):
        return next(difference(a, b) for a, b in zip(x, y) if a != b)
    return f"{x!r} (eager) != {y!r}"
