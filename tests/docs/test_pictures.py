"""The tutorial's pictures and pages: each committed file is what its script draws, and what a picture says is so."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pictures
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "examples" / "tutorial" / "pages"
FOLDER = ROOT / "examples" / "tutorial" / "pictures"
NAMES = sorted(script.stem for script in FOLDER.glob("*.py") if script.stem != "common")


def drawn(name):
    return pictures.draw(FOLDER / f"{name}.py")


def committed(name):
    return (FOLDER / f"{name}.svg").read_text(encoding="utf-8")


def test_every_script_has_its_picture_and_every_picture_its_script():
    assert NAMES == sorted(picture.stem for picture in FOLDER.glob("*.svg"))


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_picture_is_what_the_script_draws(name):
    assert committed(name) == drawn(name), "run `make pictures`"


def test_the_picture_of_the_training_has_the_article_s_losses():
    assert "loss 1.7035 to 0.1297" in committed("sin2")


COMPUTED = [*(FOLDER / f"{name}.py" for name in ("attention", "descent", "operation", "start", "sin2"))]
COMPUTED += [PAGES / "backward.py", PAGES / "sin2.py"]


@pytest.mark.parametrize("isa", ["baseline", "avx2"])
@pytest.mark.parametrize("script", COMPUTED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_processor_draws_the_same(script, isa, monkeypatch):
    """What was computed with more than whole numbers; the test above has the widest instructions."""
    monkeypatch.setenv("NORCH_ISA", isa)
    if not runs(isa):
        pytest.skip(f"this processor does not run {isa}")
    assert pictures.result(script).read_text(encoding="utf-8") == pictures.draw(script)


@functools.cache
def runs(isa):
    environment = {**os.environ, "NORCH_ISA": isa, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-c", "import norch"], env=environment, capture_output=True).returncode == 0


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_well_formed_and_read_alike_on_light_and_dark_pages(name):
    root = ET.fromstring(committed(name))
    tags = {element.tag.split("}")[1] for element in root.iter()}
    assert tags <= {"svg", "title", "rect", "text", "path", "polygon", "circle"}  # nothing from elsewhere
    width, height = float(root.get("width")), float(root.get("height"))
    frame = root.find("{http://www.w3.org/2000/svg}rect")
    assert frame.get("fill") == "#ffffff" and float(frame.get("width")) == width - 1
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        letter = float(text.get("font-size")) * (0.602 if "monospace" in text.get("font-family")[:14] else 0.55)
        x, length = float(text.get("x")), letter * len(text.text)
        left = {None: x, "middle": x - length / 2, "end": x - length}[text.get("text-anchor")]
        assert 0 <= left and left + length <= width and 0 < float(text.get("y")) < height, text.text


@pytest.mark.parametrize("name", ["strides", "backward", "sin2"])
def test_the_committed_page_is_what_its_script_makes(name):
    """A browser looks at it in tests/thorough/test_moving_pages.py."""
    page = (PAGES / f"{name}.html").read_text(encoding="utf-8")
    assert page == pictures.draw(PAGES / f"{name}.py"), "run `make pictures`"
    assert page.startswith("<!doctype html>") and "{{" not in page
    elsewhere = r"\b(?:src|@import|fetch|import)\b|https?://(?!www\.w3\.org/)"
    assert re.findall(elsewhere, page) == []
    links = re.findall(r'href="([^"]+)"', page)
    assert [link for link in links if not link.startswith("data:") and not (PAGES / link).exists()] == []


def test_the_way_of_an_error_is_norch_s():
    """The calls and the files that the picture names."""
    texts = [text.text for text in ET.fromstring(committed("errors")).iter("{http://www.w3.org/2000/svg}text")]
    for call, name in (("reshaped(tensor, shape, ndim)", "norch/csrc/api/views.cpp"), ("build(", "norch/csrc/api.h")):
        assert name in texts and call.replace("tensor,", "*tensor,") in (ROOT / name).read_text(encoding="utf-8")
    assert "def raise_error" in (ROOT / "norch/_C.py").read_text(encoding="utf-8")
    assert "lib.reshape_tensor(" in (ROOT / "norch/methods/views.py").read_text(encoding="utf-8")


def test_the_layers_are_norch_s():
    texts = [text.text for text in ET.fromstring(committed("layers")).iter("{http://www.w3.org/2000/svg}text")]
    files = [text for text in texts if text.startswith("norch/")]
    assert len(files) == 8 and all((ROOT / name).is_file() for name in files)

    def source(name):
        return re.sub(r"\s+", " ", (ROOT / name).read_text(encoding="utf-8"))

    (row,) = [text for text in texts if text.startswith("OP(")]
    assert row in source("norch/csrc/ops/operations.h")
    assert 'binary("add", f.AddBackward, "x + y")' in source("norch/tensor.py")
    assert "kernel.launch(device, " in source("norch/csrc/api/elementwise.cpp")
    assert "def wrap(" in source("norch/operation.py")
    for name in ("api.h", "cpu.cpp", "cuda.cu"):  # where macros make the function
        assert "BINARY_OPS" in source(f"norch/csrc/{name}") or "add_tensor" in source(f"norch/csrc/{name}")
