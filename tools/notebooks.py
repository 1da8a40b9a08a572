"""Runs a notebook's cells without Jupyter: what they print and show, as Jupyter would store it.

PYTHONPATH=. python tools/notebooks.py examples/quick_tour.ipynb    # runs it and stores what it shows (make notebook)

Outputs stay as they are if only the rounding of a picture's coordinates changed: the last bits of a trained weight
depend on the processor, and with them the last digit of a curve's coordinates.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

NUMBER = re.compile(r"(?<![\w#.])-?\d+(?:\.\d+)?")
ROUNDING = 0.11  # pixels: coordinates have one digit after the point
SHOWN_AS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}


def read(path: Any) -> dict[str, Any]:
    return json.loads(Path(path).read_text(encoding="utf-8"))


def source_of(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def run(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The outputs of each code cell, run one after the other in one namespace."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [run_cell(source_of(cell), namespace, number) for number, cell in enumerate(cells, 1)]


def run_cell(source: str, namespace: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """What a cell prints, then the value of its last line where that is an expression."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), f"cell {number}", "exec"), namespace)
        value = last and eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines_of(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines_of(repr(value))}
        for kind, method in SHOWN_AS.items():
            if hasattr(value, method):
                data[kind] = lines_of(getattr(value, method)())
        outputs.append({"output_type": "execute_result", "execution_count": number, "data": data, "metadata": {}})
    return outputs


def lines_of(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def same(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> bool:
    """Whether two lists of outputs show the same, but for the rounding of pictures."""
    return len(ours) == len(theirs) and all(map(same_output, ours, theirs))


def same_output(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    return without_picture(ours) == without_picture(theirs) and same_picture(picture_of(ours), picture_of(theirs))


def same_picture(ours: str, theirs: str) -> bool:
    """Whether two SVGs differ in nothing but the rounding of their coordinates."""
    pairs = zip(NUMBER.findall(ours), NUMBER.findall(theirs))
    return NUMBER.sub("#", ours) == NUMBER.sub("#", theirs) and all(
        abs(float(a) - float(b)) < ROUNDING for a, b in pairs
    )


def picture_of(output: dict[str, Any]) -> str:
    return "".join(output.get("data", {}).get("image/svg+xml", []))


def without_picture(output: dict[str, Any]) -> dict[str, Any]:
    data = {kind: value for kind, value in output.get("data", {}).items() if kind != "image/svg+xml"}
    return {**output, "data": data}


def store(path: Any) -> None:
    """Run the notebook and write it back with its outputs."""
    notebook = read(path)
    results = iter(enumerate(run(notebook), 1))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["execution_count"], outputs = next(results)
            if not same(outputs, cell["outputs"]):
                cell["outputs"] = outputs
    Path(path).write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        store(name)
