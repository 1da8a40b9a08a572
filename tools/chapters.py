"""Makes a notebook of each chapter of the tutorial: `make notebook`, or python tools/chapters.py

A block of Python becomes a cell, a file of C++ a cell that writes it and one that compiles and runs it, a shell's line
a line after "!". Cells show what the chapter shows, which tests/docs/test_tutorial.py compares with what it prints.
Solutions are cells whose source is hidden until asked for. tests/docs/test_notebook.py checks that all are in step.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "docs"))

from documents import COMPILE, FENCE, USES, Block, blocks_of, file_of  # noqa: E402

FOLDER = ROOT / "examples" / "tutorial"
ERROR = re.compile(r"^([\w.]*(?:Error|Exception)): (.*)$")
SETUP = """\
# Finds norch, and works in a folder of its own
import os
import sys
import tempfile
from pathlib import Path

places = [Path.cwd(), *Path.cwd().parents]
NORCH = str(next(place for place in places if (place / "norch" / "csrc").is_dir()))
os.environ["NORCH"] = NORCH
sys.path.append(NORCH)
os.chdir(tempfile.mkdtemp())
"""
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

Cell = dict[str, Any]


def notebook_of(chapter: Path) -> dict[str, Any]:
    """The notebook of a chapter."""
    text = chapter.read_text(encoding="utf-8")
    cells = [code(SETUP)]
    for name, document in USES.findall(text):
        cells.append(code(f"%%writefile {name}\n{file_of(chapter.with_name(document), name)}", f"Writing {name}\n"))
    blocks = iter(blocks_of(text))
    end, solving = 0, False
    for fence in FENCE.finditer(text):
        between, end = text[end : fence.start()], fence.end()
        if fence[2] in ("", "text") and not re.search(r"<!-- (quote|shown): .*-->\n+$", between):
            continue  # the output of the block before
        solving = (solving or "<details>" in between) and "</details>" not in between
        block = next(blocks)
        if block.marker:
            cells.append(prose(between + fence.group()))
            continue
        cells.append(prose(between))
        made = of_block(block)
        for cell in made if solving else ():
            cell["metadata"]["jupyter"] = {"source_hidden": True}
        cells += made
    cells = [cell for cell in [*cells, prose(text[end:])] if cell["source"]]
    title = next(place for place, cell in enumerate(cells) if cell["cell_type"] == "markdown")
    cells.insert(0, cells.pop(title))
    number = 0
    for place, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{place}"
        if cell["cell_type"] == "code":
            cell["execution_count"] = number = number + 1
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def of_block(block: Block) -> list[Cell]:
    """The cells of a block that runs."""
    if block.language == "python":
        return [code(block.code, block.output)]
    if block.language == "bash":
        commands = block.code.replace("\\\n", " ").splitlines()
        return [code("".join(f"!{command}\n" for command in commands), block.output)]
    name = block.code[3 : block.code.index("\n")]
    written = code(f"%%writefile {name}\n{block.code}", f"Writing {name}\n")
    if name.endswith(".cpp") and "int main(" in block.code:
        return [written, code("!" + COMPILE.format(name[:-4]), block.output)]
    return [written]


def code(source: str, output: str = "") -> Cell:
    outputs: list[Any] = []
    *printed, last = output.splitlines(keepends=True) or [""]
    error = ERROR.match(last.rstrip("\n"))
    if error and not source.startswith(("!", "%%")):
        trace = {"output_type": "error", "ename": error[1], "evalue": error[2], "traceback": [last.rstrip("\n")]}
        return _code(source, [*stream("".join(printed)), trace], {"tags": ["raises-exception"]})
    outputs = stream(output)
    return _code(source, outputs, {})


def _code(source: str, outputs: list[Any], metadata: dict[str, Any]) -> Cell:
    lines = source.rstrip("\n").splitlines(keepends=True)
    return {"cell_type": "code", "metadata": metadata, "source": lines, "outputs": outputs}


def stream(text: str) -> list[Any]:
    lines = text.splitlines(keepends=True)
    return [{"output_type": "stream", "name": "stdout", "text": lines}] if lines else []


def prose(text: str) -> Cell:
    """Markdown, without the marks for tests and for hiding; its links lead on from the notebooks' folder."""
    text = re.sub(r"<!-- .*? -->\n+|</?details>\n*|<summary>.*?</summary>\n*", "", text)
    text = re.sub(r"\]\((?!\w+:|#)([^)\s#]+)(#L\d+)?", r"](../\1", text)
    return {"cell_type": "markdown", "metadata": {}, "source": text.strip("\n").splitlines(keepends=True)}


def text_of(notebook: dict[str, Any]) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def place_of(chapter: Path) -> Path:
    return FOLDER / "notebooks" / f"{chapter.stem}.ipynb"


def chapters() -> list[Path]:
    return sorted(FOLDER.glob("[0-9][0-9]-*.md"))


if __name__ == "__main__":
    (FOLDER / "notebooks").mkdir(exist_ok=True)
    for chapter in chapters():
        place_of(chapter).write_text(text_of(notebook_of(chapter)), encoding="utf-8")
