"""The package's import graph: no circles, and no import hidden in a function but for the listed reasons."""

from __future__ import annotations

import ast
from pathlib import Path

import norch

PACKAGE = Path(norch.__file__).resolve().parent

# Imports inside functions: file -> modules. Optional packages, or a heavy part that starts when it is first used.
HIDDEN = {
    "distributed/mpi.py": {"mpi4py"},
    "functions/serialization.py": {"norch.functions.torch_files"},
    "linalg/lapack.py": {"numpy"},
    "methods/interop.py": {"ml_dtypes", "numpy"},
    "onnx/nodes.py": {"onnx"},
}


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imported(node: ast.AST, importer: str) -> list[str]:
    """The modules that an import statement names: the package's files in full, others by their first name."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            parents = importer.split(".")
            parents = parents[: len(parents) - node.level + FILES[importer].match("__init__.py")]
            base = ".".join([*parents, *filter(None, [node.module])])
        names = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in FILES else base for alias in node.names]
    else:
        return []
    # A stub without a source, as forward_declarations.pyi, imports nothing when norch runs: it counts as foreign.
    return [name if name.startswith("norch.") else name.split(".")[0] for name in names]


def statements(importer: str) -> tuple[list[str], list[str]]:
    """What a file imports when it loads or for its annotations, and what it imports inside functions."""
    at_load: list[str] = []
    inside: list[str] = []

    def visit(node: ast.AST, found: list[str]) -> None:
        found += imported(node, importer)
        for child in ast.iter_child_nodes(node):
            visit(child, inside if isinstance(node, (ast.FunctionDef, ast.Lambda)) else found)

    visit(ast.parse(FILES[importer].read_text(encoding="utf-8")), at_load)
    return at_load, inside


GRAPH = {name: {m for m in statements(name)[0] if m in FILES and m != name} for name in FILES}


def circle_in(graph: dict[str, set[str]]) -> list[str]:
    """The files of one circle of imports; empty if there is none."""
    left = {name: set(needs) for name, needs in graph.items()}
    while ready := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in ready:
            del left[name]
    if not left:
        return []
    path = [next(iter(left))]
    while path.count(path[-1]) == 1:
        path.append(min(left[path[-1]] & left.keys()))
    return path[path.index(path[-1]) :]


def test_a_circle_is_found():
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["b", "c", "b"]
    assert circle_in({"a": {"b"}, "b": set()}) == []


def test_no_file_imports_another_in_a_circle():
    assert circle_in(GRAPH) == []


def test_imports_inside_functions_are_listed():
    hidden = {name: set(statements(name)[1]) for name in FILES}
    found = {str(FILES[name].relative_to(PACKAGE)): modules for name, modules in hidden.items() if modules}
    assert found == HIDDEN


def test_tensors_slot_is_the_only_one():
    """Nothing is assigned to a name of another module, but the class Tensor, which operation.py is built with."""
    found = []
    for name, path in FILES.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if any(known.endswith("." + alias.name) for known in imported(node, name) if known in FILES)
        }
        for node in ast.walk(tree):
            for target in getattr(node, "targets", []) if isinstance(node, ast.Assign) else []:
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    if target.value.id in modules:
                        found.append(f"{name}: {ast.unparse(target)}")
    assert found == ["norch.tensor: operation.Tensor"]
