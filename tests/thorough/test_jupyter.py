"""The quick tour in Jupyter itself: valid by its schema, and run by its kernel it shows what is stored."""

from __future__ import annotations

import os
from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "examples" / "quick_tour.ipynb"


def plain(outputs):
    """What a cell printed, and the text of what it showed."""
    printed = "".join(output["text"] for output in outputs if output["output_type"] == "stream")
    return printed, [output["data"]["text/plain"] for output in outputs if output["output_type"] == "execute_result"]


CHAPTERS = sorted((ROOT / "examples" / "tutorial" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", [NOTEBOOK, *CHAPTERS], ids=lambda path: path.stem)
def test_valid(path):
    nbformat.validate(nbformat.read(path, as_version=4))


@pytest.mark.filterwarnings("ignore")  # Jupyter's own
@pytest.mark.parametrize("name", ["04-kernels", "06-errors", "10-walk"])
def test_a_chapter_runs_in_jupyter(name):
    """One that writes and compiles files, one that raises, one of Python alone."""
    (path,) = [path for path in CHAPTERS if path.stem == name]
    stored, fresh = (nbformat.read(path, as_version=4) for _ in range(2))
    resources = {"metadata": {"path": str(path.parent)}}
    nbclient.NotebookClient(fresh, timeout=300, kernel_name="python3", resources=resources).execute()
    for expected, cell in zip(stored.cells, fresh.cells):
        if cell.cell_type == "code":
            assert shown(cell) == shown(expected), cell.source


def shown(cell):
    """What a cell prints, but for what goes to stderr, and the exceptions that it raises."""
    texts = [output.get("text", output.get("evalue", "")) for output in cell.outputs if output.get("name") != "stderr"]
    return "".join(texts).replace("\r", "").rstrip()


@pytest.mark.filterwarnings("ignore")  # Jupyter's own
def test_runs_in_jupyter(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    stored = nbformat.read(NOTEBOOK, as_version=4)
    fresh = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(fresh, timeout=300, kernel_name="python3", coalesce_streams=True).execute()  # or in parts
    cells = [cell for cell in fresh.cells if cell.cell_type == "code"]
    expected = [cell for cell in stored.cells if cell.cell_type == "code"]
    assert cells and [plain(cell.outputs) for cell in cells] == [plain(cell.outputs) for cell in expected]
    assert [sorted(o.get("data", {})) for c in cells for o in c.outputs] == [
        sorted(o.get("data", {})) for c in expected for o in c.outputs
    ]
