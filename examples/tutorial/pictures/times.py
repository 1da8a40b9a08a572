"""Draws times.svg: how long calls take as they are and replayed, from the figures in benchmarks/replays.json."""

from __future__ import annotations

import json
from pathlib import Path

from common import heading

from norch.display.graph.svg import BLUE, GREEN, INK, MUTED, Sheet

FIGURES = Path(__file__).resolve().parents[3] / "benchmarks" / "replays.json"
LEFT, WIDTH, ROW = 250, 360, 40  # of the bars


def duration(seconds: float) -> str:
    """Two digits and a unit."""
    unit, scale = ("µs", 1e6) if seconds < 1e-3 else ("ms", 1e3)
    return f"{seconds * scale:.{1 if seconds * scale < 9.95 else 0}f} {unit}"


def draw() -> str:
    rows = [row for row in json.loads(FIGURES.read_text())["rows"] if row["seconds"]["eager"] > 1e-6]
    sheet = Sheet(LEFT + WIDTH + 150, 110 + ROW * len(rows), "the time of a call, plain and replayed")
    what = "of each pair the upper bar is a plain call, the lower one a replay; one thread"
    heading(sheet, 28, 32, "step(x, y)", what)
    for place, row in enumerate(rows):
        y, plain, replayed = 84 + ROW * place, row["seconds"]["eager"], row["seconds"]["norch"]
        sheet.text(LEFT - 12, y + 13, row["row"], 12.5, INK, anchor="end")
        for offset, seconds, color in ((0, plain, BLUE), (14, replayed, GREEN)):
            width = max(2.0, WIDTH * seconds / max(plain, replayed))
            sheet.rect(LEFT, y + offset, width, 11, color, radius=1, stroke=0.8)
            sheet.text(LEFT + width + 8, y + offset + 5.5, duration(seconds), 11, MUTED, anchor="start")
    return str(sheet)
