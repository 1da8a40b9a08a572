"""Draws pictures and pages beside their scripts, and keeps each picture that only rounding would change.

    PYTHONPATH=. python tools/pictures.py examples/tutorial/pictures/*.py    # make pictures

A script has a function `draw` that returns an SVG or a page of HTML.
The last bits of a trained weight depend on the processor, and with them the last digit of a curve's coordinates.
"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

NUMBER = re.compile(r"(?<![\w#.])-?\d+(?:\.\d+)?")
ROUNDING = 0.11  # pixels: coordinates have one digit after the point


def same(ours: str, theirs: str) -> bool:
    """Whether two SVGs differ in nothing but the rounding of their coordinates."""
    pairs = zip(NUMBER.findall(ours), NUMBER.findall(theirs))
    return NUMBER.sub("#", ours) == NUMBER.sub("#", theirs) and all(
        abs(float(a) - float(b)) < ROUNDING for a, b in pairs
    )


SHARED = ("common", "frame")  # what the scripts share draws nothing itself


def draw(script: Path) -> str:
    return runpy.run_path(str(script))["draw"]() + "\n"


def result(script: Path, drawn: str) -> Path:
    """The file of what a script drew."""
    return script.with_suffix(".svg" if drawn.startswith("<svg") else ".html")


def store(path: Path, picture: str) -> None:
    if path.suffix != ".svg" or not path.exists() or not same(picture, path.read_text(encoding="utf-8")):
        path.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    for script in map(Path, sys.argv[1:]):
        sys.path.insert(0, str(script.parent))  # for what the scripts share
        if script.stem not in SHARED:
            drawn = draw(script)
            store(result(script, drawn), drawn)
            print(result(script, drawn))
