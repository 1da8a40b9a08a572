"""Writes the stubs of what norch makes at import: norch/tensor.pyi and norch/functions/of_methods.pyi.

Run `python tools/stubs.py` after a change of a method's signature or a new operation; a test compares the files.

Type checkers and editors read a stub in place of its source: there the methods that `unary` and `binary` make, and the
functions made of methods, are written out with their signatures and the first lines of their docstrings.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Iterator, Union

ROOT = Path(__file__).resolve().parents[1]
TENSOR, FUNCTIONS = "norch/tensor.py", "norch/functions/of_methods.py"
METHODS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "norch" / "methods").glob("*.py"))
SIGNATURES = {"unary": "(self) -> Tensor", "binary": "(self, other: Operand) -> Tensor"}
NOT_BOOL = "  # type: ignore[override]  # an object's == returns a bool"

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]


def tree_of(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def class_bodies(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements of class Tensor, or of the classes that it inherits its methods from."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and (node.name == "Tensor" or node.name.endswith("Methods")):
            yield from node.body


def is_overload(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "overload" for d in node.decorator_list)


def public_signatures(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements without those functions that only implement overloads."""
    overloaded = {node.name for node in body if is_overload(node)}
    for node in body:
        if is_overload(node) or getattr(node, "name", None) not in overloaded:
            yield node


def declaration(function: ast.FunctionDef) -> str:
    """A function with the first line of its docstring for a body."""
    first = (ast.get_docstring(function) or "").split("\n")[0]
    body = ast.Expr(ast.Constant(first or ...))
    text = ast.unparse(ast.FunctionDef(**{**vars(function), "body": [body]}))
    return text if first else text.replace(":\n    ...", ": ...")


def row_methods(names: list[str], call: ast.Call) -> Iterator[str]:
    """The methods that `unary` or `binary` makes."""
    doc = call.args[2].value.rstrip(".")
    for name in names:
        head = f"def {name}{SIGNATURES[call.func.id]}:"
        if name != "_":
            yield f'{head}{NOT_BOOL if name in ("__eq__", "__ne__") else ""}\n    """{doc}."""'


def members(body: list[ast.stmt]) -> Iterator[str]:
    """The members of a class, as text."""
    for node in public_signatures(body):
        if isinstance(node, ast.FunctionDef):
            yield declaration(node)
        elif isinstance(node, ast.AnnAssign):
            yield f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}"
        elif isinstance(node, ast.Assign):
            names = [name.id for target in node.targets for name in getattr(target, "elts", [target])]
            made = node.value.value if isinstance(node.value, ast.Subscript) else node.value
            if isinstance(made, ast.Call):
                yield from row_methods(names, made)
            else:
                values = getattr(node.value, "elts", [node.value] * len(names))
                yield from (f"{name} = {ast.unparse(value)}" for name, value in zip(names, values))


def tensor_stub() -> str:
    tree = tree_of(TENSOR)
    head = next(node for node in tree.body if isinstance(node, ast.ClassDef))
    bases = ", ".join(ast.unparse(base) for base in head.bases)
    text = f'class Tensor({bases}):\n    """{ast.get_docstring(head).splitlines()[0]}"""\n\n'
    text += indented("\n".join(members(head.body)))
    return finished(TENSOR, text, '__all__ = ["CTensor", "Tensor"]')


def functions_stub(tensor: str) -> str:
    """The stub of the functions made of methods; `tensor` is that of the class."""
    found: dict[str, list[ast.FunctionDef]] = {}
    other: dict[str, str] = {}  # names of methods that have two
    for tree in (ast.parse(tensor), *map(tree_of, METHODS)):
        for node in public_signatures(list(class_bodies(tree))):
            if isinstance(node, ast.FunctionDef):
                found.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                other.update({target.id: node.value.id for target in node.targets})
    from norch.functions import of_methods

    parts = []
    for name in of_methods.__all__:
        for method in found[other.get(name, name)]:
            method.name, method.args.args[0] = name, ast.arg("input", ast.Name("Tensor"))
            parts.append(declaration(method))
    listed = "".join(f'    "{name}",\n' for name in of_methods.__all__)
    return finished(FUNCTIONS, "\n".join(parts), f"__all__ = [\n{listed}]")


def indented(text: str) -> str:
    return "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())


def finished(source: str, text: str, exports: str) -> str:
    """The text of a stub behind the imports that it needs, of those that its source and methods/ have."""
    used = {node.id for node in ast.walk(ast.parse(f"{text}\n{exports}")) if isinstance(node, ast.Name)}
    used |= {node.value for node in ast.walk(ast.parse(exports)) if isinstance(node, ast.Constant)}
    used -= {node.name for node in ast.parse(text).body}
    lines = set()
    for path in (source, *METHODS):
        package = path.split("/")[:-1]
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom):
                module = ".".join([*package[: len(package) + 1 - node.level], *filter(None, [node.module])])
                for alias in node.names:
                    name = alias.asname or alias.name
                    if name in used:
                        used.discard(name)
                        lines.add(f"from {module if node.level else node.module} import {alias.name}")
            elif isinstance(node, ast.Import):
                lines.update(f"import {alias.name}" for alias in node.names if alias.name in used)
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and node.name in used:
                lines.add(f"from {path[:-3].replace('/', '.')} import {node.name}")
    imports = "\n".join(sorted(lines))
    return f"# Written by tools/stubs.py from {source}: do not edit.\n\n{imports}\n\n{exports}\n\n{text.strip()}\n"


def stubs() -> dict[Path, str]:
    tensor = tensor_stub()
    return {ROOT / f"{TENSOR}i": tensor, ROOT / f"{FUNCTIONS}i": functions_stub(tensor)}


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
