"""What is called: the examples in the docstrings of every public callable of norch, found by walking the package.

The tests see to it that every public name has an example (tests/thorough/test_docstrings.py). A method without one
is called on an object that the example of its class makes.
"""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import pkgutil
import re
import warnings
from collections.abc import Iterator
from typing import Any

import norch

# Not called: they wait for others, end the process, start processes that outlive an attempt, or ask the network.
LEFT_OUT = re.compile(
    r"norch\.(distributed|multiprocessing|hub|utils\.model_zoo)\b"
    r"|norch\.nn\.parallel\."  # waits for the processes of MPI
    r"|norch\.optim\.\w+\.\w+\.(initial|decayed|update|remembered|fused|entries)$"  # for subclasses: step() calls them
)
HEADER = "import norch\nfrom norch import nn, optim\nimport norch.nn.functional as F\n"
OPERATORS = {"__call__", "__getitem__", "__setitem__", "__add__", "__pow__", "__matmul__", "__len__", "__contains__"}


@dataclasses.dataclass
class Program:
    """Statements that run: what a callable is, and the statement that calls it."""

    name: str
    statements: list[str]
    method: str | None = None  # of a class whose example this is: what to call on an object of it
    owner: Any = None

    def __str__(self) -> str:
        return HEADER + "".join(self.statements)


# A step that is recorded and replayed, then called with other arguments.
STEP = """\
@norch.compile
def step(x, y, scale=1.0, train=True):
    optimizer.zero_grad()
    loss = ((model(x) * scale - y) ** 2).mean()
    if train:
        loss.backward()
        optimizer.step()
    return loss, {"x": x[0] * 2}
-
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(4): step(norch.ones(3, 2), norch.zeros(3, 1), scale=2.0)
step(norch.ones(3, 2), norch.zeros(3, 1), 2.0, False)
step(norch.ones(3, 2), norch.zeros(3, 1), scale=2.0)[0].item()
"""


def step_program() -> Program:
    """The program of STEP, a statement each."""
    definition, after = STEP.split("-\n")
    return Program("norch.compile", [definition, *after.splitlines(keepends=True)])


def modules() -> Iterator[Any]:
    """norch and every public module in it that can be imported here."""
    yield norch
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for found in pkgutil.walk_packages(norch.__path__, "norch."):
            if not any(part.startswith("_") or part == "libnorch" for part in found.name.split(".")):
                try:
                    yield importlib.import_module(found.name)
                except ImportError:
                    pass  # it needs a package that is not here, and says so


def programs() -> list[Program]:
    """The examples, each once, by the name of what they are for."""
    found: dict[Any, Program] = {}
    seen: set[int] = set()
    for module in modules():
        for name, value in sorted(vars(module).items()):
            home = getattr(value, "__module__", None) or ""
            if name.startswith("_") or not callable(value) or not home.startswith("norch") or id(value) in seen:
                continue
            seen.add(id(value))
            path = f"{home}.{name}"
            add(found, path, value)
            if inspect.isclass(value):
                for member, function in sorted(vars(value).items()):
                    if not member.startswith("_") or member in OPERATORS:
                        add(found, f"{path}.{member}", function, value)
    found["step"] = step_program()
    return sorted(found.values(), key=lambda program: program.name)


def add(found: dict[Any, Program], name: str, value: Any, owner: Any = None) -> None:
    """The program of a callable, if it has an example or its class has one."""
    value = getattr(value, "__func__", value)
    statements = statements_of(value)
    if LEFT_OUT.match(name) or (not callable(value) and not isinstance(value, property)):
        return
    if statements:
        found.setdefault("".join(statements), Program(name, statements))
    elif owner is not None and callable(value) and (statements := statements_of(owner)):
        found.setdefault(id(value), Program(name, statements, name.rpartition(".")[2], owner))


def statements_of(value: Any) -> list[str]:
    """The statements of a docstring's example."""
    text = inspect.cleandoc(value.__doc__ or "")
    examples = doctest.DocTestParser().get_examples(text) if ">>>" in text else []
    return [example.source for example in examples if example.exc_msg is None]
