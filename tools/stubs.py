"""Writes the stubs of what norch makes at import: norch/tensor.pyi and norch/functions/of_methods.pyi.

    PYTHONPATH=. python tools/stubs.py    # after a new operation or another signature of a method; a test compares

Type checkers and editors read a stub in place of its source. Here the methods that `unary` and `binary` make, and the
functions made of methods, are written out with their signatures and the first lines of their docstrings.
"""

from __future__ import annotations

import ast
import copy
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parents[1]
TENSOR, FUNCTIONS = "norch/tensor.py", "norch/functions/of_methods.py"
METHODS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "norch" / "methods").glob("*.py"))
PARAMETERS = {"unary": "self", "binary": "self, other: Operand"}
NOT_BOOL = "  # type: ignore[override]  # an object's == returns a bool"


def tree_of(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


# ---- The members of a class, as text ----------------------------------------------------------------------------


def is_overload(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "overload" for d in node.decorator_list)


def signatures(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a class without the functions that implement overloads."""
    overloaded = {node.name for node in body if is_overload(node)}
    for node in body:
        if is_overload(node) or getattr(node, "name", None) not in overloaded:
            yield node


def declaration(function: ast.FunctionDef) -> str:
    """A function whose body is the first line of its docstring."""
    first = (ast.get_docstring(function) or "").split("\n")[0]
    body = ast.Expr(ast.Constant(first or ...))
    seen = [d for d in function.decorator_list if ast.unparse(d) != "flags"]  # a check leaves the signature as it is
    text = ast.unparse(ast.FunctionDef(**{**vars(function), "body": [body], "decorator_list": seen}))
    return text if first else text.replace(":\n    ...", ": ...")


def row_methods(names: list[str], call: ast.Call) -> Iterator[str]:
    """The methods that `unary` or `binary` makes."""
    doc = call.args[2].value.rstrip(".")
    for name in names:
        if name != "_":
            in_place = name.startswith("__i") or not name.endswith("__") and name.endswith("_")
            head = f"def {name}({PARAMETERS[call.func.id]}) -> {'Self' if in_place else 'Tensor'}:"
            yield f'{head}{NOT_BOOL if name in ("__eq__", "__ne__") else ""}\n    """{doc}."""'


def members(body: list[ast.stmt]) -> Iterator[str]:
    for node in signatures(body):
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
                values = [made] if len(names) == 1 else getattr(made, "elts", [made] * len(names))
                yield from (f"{name} = {ast.unparse(value)}" for name, value in zip(names, values))


# ---- The two stubs ----------------------------------------------------------------------------------------------


def tensor_stub() -> str:
    (tensor,) = (node for node in tree_of(TENSOR).body if isinstance(node, ast.ClassDef))
    bases = ", ".join(ast.unparse(base) for base in tensor.bases)
    text = f'class Tensor({bases}):\n    """{ast.get_docstring(tensor).splitlines()[0]}"""\n'
    for member in members(tensor.body):
        text += "".join(f"    {line}\n" for line in member.splitlines())
    return finished(TENSOR, text, ["CTensor", "Tensor"])


def functions_stub(tensor: str) -> str:
    """The stub of the functions; `tensor` is that of the class."""
    from norch.functions import of_methods

    found: dict[str, list[ast.FunctionDef]] = {}
    meaning: dict[str, str] = {}  # what other names of methods stand for
    for tree in (ast.parse(tensor), *map(tree_of, METHODS)):
        for node in (node for cls in tree.body if isinstance(cls, ast.ClassDef) for node in signatures(cls.body)):
            if isinstance(node, ast.FunctionDef):
                found.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                meaning.update({target.id: node.value.id for target in node.targets})
            elif isinstance(node, ast.Assign) and getattr(getattr(node.value, "func", None), "id", "") == "in_place":
                meaning.update({target.id: node.value.args[0].id for target in node.targets})
    text = ""
    for name in of_methods.__all__:
        for method in map(copy.deepcopy, found[meaning.get(name, name)]):
            first = "Operand" if name in of_methods.NUMBER_FIRST else "Tensor"
            for word in ast.walk(method):
                if isinstance(word, ast.Name) and word.id == "Self":
                    word.id = "Tensor"
            method.name, method.args.args[0] = name, ast.arg("input", ast.Name(first))
            if name not in of_methods.WITHOUT_OUT:
                method.args.kwonlyargs.append(ast.arg("out", ast.Name("Out")))
                method.args.kw_defaults.append(ast.Constant(None))
            text += declaration(method) + "\n"
    return finished(FUNCTIONS, text, of_methods.__all__)


def finished(source: str, text: str, exported: list[str]) -> str:
    """A stub's text after the imports that it needs, which its source or a file in methods/ has."""
    tree = ast.parse(text)
    needed = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | set(exported)
    needed -= {node.name for node in tree.body}
    # the words before the names -> the names
    imports = {"from typing_extensions import": {"Self"}} if "Self" in needed else {}
    for path in (source, *METHODS):
        package = path.split("/")[:-1]
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom):
                parents = package[: len(package) + 1 - node.level] if node.level else []
                where = f"from {'.'.join([*parents, *filter(None, [node.module])])} import"
                names = {alias.name for alias in node.names}
            elif isinstance(node, ast.Import):
                where, names = "import", {alias.name for alias in node.names}
            elif isinstance(node, ast.ClassDef) and path != source:
                where, names = f"from {path[:-3].replace('/', '.')} import", {node.name}
            else:
                continue
            if names & needed:
                imports.setdefault(where, set()).update(names & needed)
            needed -= names
    lines = [f"{where} {', '.join(sorted(names))}" for where, names in sorted(imports.items())]
    listed = "".join(f'    "{name}",\n' for name in exported)
    head = f"# Written by tools/stubs.py from {source}: do not edit."
    return "\n\n".join([head, "\n".join(lines), f"__all__ = [\n{listed}]", text])


def stubs() -> dict[Path, str]:
    """The path and text of each stub."""
    tensor = tensor_stub()
    return {ROOT / f"{TENSOR}i": tensor, ROOT / f"{FUNCTIONS}i": functions_stub(tensor)}


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
