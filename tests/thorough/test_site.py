"""`make docs`: every public name has its place, every link leads somewhere, and nothing private is shown."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from test_docstrings import MODULES, NAMES, TENSOR

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "site"
sys.path.insert(0, str(SITE))
SECONDS = 1800  # it takes about two minutes of CPU time; machines under load take longer


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The text of each page by its path in the site."""
    target = tmp_path_factory.mktemp("site") / "docs"
    command = [sys.executable, str(SITE / "build.py"), str(target)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert run.returncode == 0, run.stderr  # a warning is an error
    return {path.relative_to(target): path.read_text(encoding="utf-8") for path in sorted(target.rglob("*.html"))}


@pytest.fixture(scope="module")
def anchors(pages):
    return {path: {*re.findall(r'\b(?:id|name)="([^"]+)"', text)} for path, text in pages.items()}


def test_every_public_name_is_in_the_reference(anchors):
    shown = {anchor for path, ids in anchors.items() if path.parts[0] == "reference" for anchor in ids}
    assert sorted({*NAMES, *TENSOR} - shown) == []


def test_the_modules_are_those_whose_docstrings_are_tested():
    import reference

    assert reference.MODULES == MODULES


def test_every_link_leads_somewhere(pages, anchors):
    lost = set()
    for path, text in pages.items():
        for link in map(html.unescape, re.findall(r'(?:href|src)="([^"]+)"', text)):
            if "://" in link or link.startswith(("#", "data:", "mailto:")):
                continue
            file, _, anchor = link.partition("#")
            target = Path(os.path.normpath(path.parent / unquote(file.partition("?")[0])))
            found = target in pages and (not anchor or unquote(anchor) in anchors[target])
            if target.suffix == ".html" and not found:
                lost.add((str(path), link))
    assert sorted(lost) == []


def test_nothing_private_is_described_and_no_class_shows_its_bases(pages):
    described = [ids for path, text in pages.items() for ids in re.findall(r'<dt class="sig[^>]*id="([^"]+)"', text)]
    assert len(described) > 1500
    assert [name for name in described if any(part.startswith("_") for part in name.split("."))] == []
    assert [path for path, text in pages.items() if path.parts[0] == "reference" and "Bases:" in text] == []


def test_a_reader_finds_the_tutorial_the_pages_that_move_and_a_search(pages):
    start = pages[Path("index.html")]
    for name in ("examples/tutorial/README.html", "examples/tutorial/steps/README.html", "reference/index.html"):
        assert f'href="{name}"' in start
    assert 'href="examples/tutorial/pages/strides.html"' in start and Path("search.html") in pages
    chapter = pages[Path("examples/tutorial/03-struct.html")]
    assert 'class="next-page"' in chapter and 'class="prev-page"' in chapter
    assert re.search(r'href="../../source/norch/csrc/tensor\.h\.html', pages[Path("examples/tutorial/01-memory.html")])


def test_formulas_are_drawn_without_a_script(pages):
    texts = {path: re.sub(r"<pre>.*?</pre>|<code.*?</code>", "", text, flags=re.DOTALL) for path, text in pages.items()}
    assert [path for path, text in texts.items() if "$$" in text and path.parts[0] != "source"] == []
    assert texts[Path("examples/tutorial/09-chain-rule.html")].count("<mfrac>") >= 4


def test_a_menu_leads_to_every_document(pages, tmp_path, monkeypatch):
    import build

    for path in map(Path, build.DOCUMENTS):
        around = pages[path.with_name("index" if str(path) == build.START else path.stem).with_suffix(".html")]
        (menu,) = re.findall(r'<div class="sidebar-tree">(.*?)</div>', around, re.DOTALL)
        assert "current-page" in menu or str(path) == build.START, path
    monkeypatch.setattr(build, "DOCUMENTS", [*build.DOCUMENTS, "docs/forgotten.md"])
    with pytest.raises(SystemExit, match="no menu leads to docs/forgotten.md"):
        build.Site(tmp_path).assemble()


def test_docstrings_become_markdown():
    import reference

    text = "A row x[i] * y.\n\n    p = p - lr * g\n\nThen `a * b`:\n\n>>> 1 + 1\n2"
    assert reference.markdown(text) == (
        "A row x\\[i\\] \\* y.\n\n```text\n    p = p - lr * g\n```\n\nThen `a * b`:\n\n```pycon\n>>> 1 + 1\n2\n```"
    )
