"""examples/quick_tour.ipynb runs from top to bottom and shows what is stored in it: a code host shows the truth.

Here a small runner of our own takes the place of Jupyter; tests/thorough/test_jupyter.py runs it in Jupyter itself.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import chapters
import pytest
from documents import blocks_of
from notebooks import read, run, run_cell, same, source_of, store

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "quick_tour.ipynb"


def code_cells():
    return [cell for cell in read(NOTEBOOK)["cells"] if cell["cell_type"] == "code"]


def test_it_shows_what_is_stored():
    for cell, outputs in zip(code_cells(), run(read(NOTEBOOK))):
        assert same(outputs, cell["outputs"]), f"run `make notebook`\n{source_of(cell)}"


@pytest.mark.parametrize("chapter", chapters.chapters(), ids=lambda path: path.stem)
def test_the_notebook_of_a_chapter_is_in_step(chapter):
    made = chapters.notebook_of(chapter)
    assert read(chapters.place_of(chapter)) == made, "run `make notebook`"
    sources = [source_of(cell) for cell in made["cells"]]
    for block in blocks_of(chapter.read_text(encoding="utf-8")):
        if not block.marker and block.language != "bash":
            assert any(block.code.strip("\n") in source for source in sources)


def test_there_is_no_notebook_without_a_chapter():
    found = {path.stem for path in (chapters.FOLDER / "notebooks").glob("*")}
    assert found == {path.stem for path in chapters.chapters()}


def test_a_notebook_of_a_chapter_writes_compiles_and_hides():
    cells = chapters.notebook_of(chapters.FOLDER / "04-kernels.md")["cells"]
    sources = [source_of(cell) for cell in cells]
    assert sources[0].startswith("# 4. ") and sources[2].startswith("%%writefile mini.h\n")
    (place,) = [place for place, source in enumerate(sources) if source.startswith("%%writefile flat.cpp\n")]
    assert sources[place + 1].startswith("!g++ ") and cells[place + 1]["outputs"][0]["text"] == ["0 2 4 6\n"]
    hidden = [source_of(cell) for cell in cells if cell["metadata"].get("jupyter") == {"source_hidden": True}]
    assert len(hidden) == 4 and hidden[0].startswith("%%writefile column.cpp\n")
    assert not any(mark in source for source in sources for mark in ("<details>", "<!--", "](../../norch"))


@pytest.mark.parametrize("path", [NOTEBOOK, *map(chapters.place_of, chapters.chapters())], ids=lambda path: path.stem)
def test_it_is_a_notebook(path):
    """The parts of nbformat 4.5 that a reader of notebooks relies on; tests/thorough has the whole schema."""
    notebook = read(path)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    identities = [cell["id"] for cell in notebook["cells"]]
    assert len(set(identities)) == len(identities)
    counts = [cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert notebook["cells"][0]["cell_type"] == "markdown"
    for cell in notebook["cells"]:
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | (
            {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        )


def test_it_shows_tables_pictures_and_the_losses_of_the_article():
    kinds = [kind for cell in code_cells() for output in cell["outputs"] for kind in output.get("data", {})]
    assert kinds.count("text/html") >= 3 and kinds.count("image/svg+xml") == 3
    text = json.dumps(read(NOTEBOOK))
    assert "1.7035 0.7193 0.3068 0.1742 0.1342 0.1232 0.1220 0.1241 0.1270 0.1297" in text
    assert " at 0x" not in text  # no addresses: they differ from run to run
    for cell in code_cells():
        for output in cell["outputs"]:
            if "image/svg+xml" in output.get("data", {}):
                ET.fromstring("".join(output["data"]["image/svg+xml"]))


def test_the_runner_stores_what_a_cell_prints_and_shows(tmp_path):
    assert run_cell("a = 3", {}, 1) == []
    assert run_cell("print(1)\n2", {}, 4) == [
        {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
        {"output_type": "execute_result", "execution_count": 4, "data": {"text/plain": ["2"]}, "metadata": {}},
    ]
    with pytest.raises(ZeroDivisionError):
        run_cell("1 / 0", {}, 1)
    copy = tmp_path / "copy.ipynb"
    notebook = read(NOTEBOOK)
    notebook["cells"] = [cell for cell in notebook["cells"] if "norch.nn" not in source_of(cell)][:3]
    copy.write_text(json.dumps(notebook))
    store(copy)
    assert [cell.get("outputs") for cell in read(copy)["cells"]] == [c.get("outputs") for c in notebook["cells"]]


def test_pictures_that_differ_in_rounding_show_the_same():
    def shown(svg, text="Graph"):
        return [{"output_type": "execute_result", "data": {"text/plain": [text], "image/svg+xml": [svg]}}]

    assert same(shown("<path d='M1 2'/>"), shown("<path d='M1 2.1'/>"))
    assert not same(shown("<path d='M1 2'/>"), shown("<path d='M1 2.2'/>"))
    assert not same(shown("<path d='M1 2'/>"), shown("<path d='L1 2'/>"))
    assert not same(shown("<path d='M1 2'/>"), shown("<path d='M1 2'/>", "Tensor"))
    assert not same(shown("<path d='M1 2'/>"), [])
