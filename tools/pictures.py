"""Draws pictures and pages beside their scripts.

    PYTHONPATH=. python tools/pictures.py examples/tutorial/pictures/*.py    # make pictures

A script has a function `draw` that returns an SVG or a page of HTML: the same text on every processor, so scripts
compute in float64 and round what they write.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SHARED = ("common", "frame")  # what the scripts of a folder share draws nothing itself
PROGRAM = "import runpy, sys; sys.stdout.reconfigure(encoding='utf-8'); print(runpy.run_path(sys.argv[1])['draw']())"


def draw(script: Path) -> str:
    """What a script draws in a fresh process, where no other has seeded norch's generator."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(script.parent)!r}); {PROGRAM}", str(script)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout


def result(script: Path) -> Path:
    """The file of what a script draws: a page in the folder of the pages, else a picture."""
    return script.with_suffix(".html" if script.parent.name == "pages" else ".svg")


if __name__ == "__main__":
    for script in map(Path, sys.argv[1:]):
        if script.stem not in SHARED:
            result(script).write_text(draw(script), encoding="utf-8")
            print(result(script))
