"""A valid program made hostile: one or two of its expressions become hostile values, or an argument is added."""

from __future__ import annotations

import ast
import inspect
import random
from collections.abc import Iterator
from typing import Any

import values
from seeds import Program
from values import HOSTILE

KINDS = list(HOSTILE)
# A flag, or a number, is spoiled by what is near to it more often than by what is far.
NEAR = {
    bool: ["flag", "flag", "type"],
    int: ["integer", "integer", "float", "type"],
    float: ["float", "integer", "type"],
}


class Spoiled:
    """A statement with hostile values in it: `line`; `named` is the callable whose argument the first one is."""

    def __init__(self, statement: str, names: dict[str, Any], program: Program, rng: random.Random):
        self.rng, self.names = rng, names
        self.named = program.name
        self.kinds: list[str] = []
        tree = ast.parse(statement)
        for _ in range(rng.choice((1, 1, 1, 2))):
            self.spoil(tree)
        self.line = ast.unparse(ast.fix_missing_locations(tree)) + "\n"

    def spoil(self, tree: ast.AST) -> None:
        nodes = list(visited(tree))
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        places = [(node, field, index) for node in nodes for field, index in places_in(node)]
        if calls and (not places or self.rng.random() < 0.4):
            call = self.rng.choice(calls)
            self.add_argument(call)
        elif places:
            node, field, index = self.rng.choice(places)
            held = getattr(node, field)
            old = held if index is None else held[index]
            new = self.hostile(self.kinds_near(old))
            if index is None:
                setattr(node, field, new)
            else:
                held[index] = new
            self.name(node)

    def add_argument(self, call: ast.Call) -> None:
        """One more argument: of those that the signature offers, or a position too many."""
        function = self.value(call.func)
        given = {keyword.arg for keyword in call.keywords}
        offered = [p for p in parameters(function)[len(call.args) :] if p.name not in given]
        if offered and self.rng.random() < 0.95:
            chosen = self.rng.choice(offered)
            kinds = NEAR.get(type(chosen.default), KINDS)
            call.keywords.append(ast.keyword(chosen.name, self.hostile(kinds)))
        else:
            call.args.append(self.hostile(KINDS))
        self.name(call)

    def hostile(self, kinds: list[str]) -> ast.expr:
        """A hostile value, or one of the program's own objects in a place that is not its own."""
        owned = [name for name, value in self.names.items() if not name.startswith("_") and name not in ("F", "optim")]
        if self.rng.random() < 0.04:
            self.kinds.append("object")
            return ast.Name(self.rng.choice(owned), ast.Load())
        kind = self.rng.choice(kinds)
        self.kinds.append(kind)
        return ast.parse(self.rng.choice(HOSTILE[kind]), mode="eval").body

    def kinds_near(self, node: Any) -> list[str]:
        if isinstance(node, ast.Constant):
            return NEAR.get(type(node.value), KINDS)
        if isinstance(node, (ast.List, ast.Tuple)):
            return ["sizes", "type", "liar", "tensor"]
        return KINDS

    def value(self, node: ast.expr) -> Any:
        """What a name or an attribute of a name is; None for what would have to be called."""
        if any(isinstance(part, (ast.Call, ast.Await, ast.NamedExpr)) for part in ast.walk(node)):
            return None
        try:
            return eval(compile(ast.Expression(node), "<name>", "eval"), self.names)
        except Exception:
            return None

    def name(self, node: ast.AST) -> None:
        """Notes the first callable of which an argument was spoiled."""
        if len(self.kinds) == 1 and isinstance(node, ast.Call):
            function = self.value(node.func)
            function = getattr(function, "__func__", function)
            path = getattr(function, "__qualname__", None)
            self.named = f"{function.__module__}.{path}" if path else ast.unparse(node.func)


def visited(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree but for those that make hostile values, and the range of a loop, which would never end."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        if hasattr(values, tree.func.id) or tree.func.id == "range":
            return
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from visited(child)


def places_in(node: ast.AST) -> list[tuple[str, int | None]]:
    """The fields of a node that hold an expression whose value a callable of norch may see."""
    if isinstance(node, ast.Call):
        return [("args", index) for index in range(len(node.args))]
    if isinstance(node, ast.keyword):
        return [("value", None)]
    if isinstance(node, ast.BinOp) and any(isinstance(part, ast.Name) for part in ast.walk(node)):  # no 2 ** 10**9
        return [("left", None), ("right", None)]
    if isinstance(node, ast.Subscript):
        return [("slice", None)]
    if isinstance(node, (ast.List, ast.Tuple)) and isinstance(node.ctx, ast.Load):
        return [("elts", index) for index in range(len(node.elts))]
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Attribute, ast.Subscript)):
        return [("value", None)]
    return []


def parameters(function: Any) -> list[inspect.Parameter]:
    """The parameters that can be given by name, in order."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def of_method(program: Program, names: dict[str, Any]) -> str | None:
    """A statement that calls a method on an object that the example of its class made, None if it made none."""
    for name, value in names.items():
        if isinstance(value, program.owner):
            bound = getattr(value, program.method or "", None)
            needed = [p for p in parameters(bound) if p.default is p.empty]
            return f"{name}.{program.method}({', '.join('None' for _ in needed)})\n"
    return None
