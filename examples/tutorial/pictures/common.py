"""What the scripts of this folder share: cells of memory, and arrows that bend.

`make pictures` draws them all, each with norch.display.graph.svg, as norch.draw_graph does: no package needed.
"""

from __future__ import annotations

from norch.display.graph.svg import BLUE, INK, LINE, MUTED, Color, Sheet, number

CELL = 52  # the width of a cell; its height is 40
HEIGHT = 40


def cell(
    sheet: Sheet, x: float, y: float, value: str, note: str = "", color: Color = BLUE, marked: bool = False
) -> None:
    """A cell with a number, and in small letters what it is."""
    sheet.rect(x, y, CELL, HEIGHT, color, radius=0, stroke=2.4 if marked else 1)
    sheet.text(x + CELL / 2, y + (14 if note else HEIGHT / 2), value, 15, mono=True, bold=True)
    if note:
        sheet.text(x + CELL / 2, y + 30, note, 10, MUTED, mono=True)


def matrix(sheet: Sheet, x: float, y: float, values: list[list[str]], colors: list[list[Color]], marks=()) -> None:
    """A matrix as a reader of indices sees it; cells in `marks` have a thick edge."""
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            if (i, j) not in marks:
                cell(sheet, x + j * CELL, y + i * HEIGHT, value, f"[{i}, {j}]", colors[i][j])
    for i, j in marks:  # last, so that no neighbour covers the edge
        cell(sheet, x + j * CELL, y + i * HEIGHT, values[i][j], f"[{i}, {j}]", colors[i][j], marked=True)


def storage(sheet: Sheet, x: float, y: float, values: list[str], colors: list[Color], marks=()) -> None:
    """Memory: cells in one row, their places under them."""
    for place, value in enumerate(values):
        cell(sheet, x + place * CELL, y, value, color=colors[place])
        sheet.text(x + (place + 0.5) * CELL, y + HEIGHT + 12, str(place), 11, MUTED, mono=True)
    for place in marks:
        cell(sheet, x + place * CELL, y, values[place], color=colors[place], marked=True)


def bend(sheet: Sheet, points: list[tuple[float, float]], color: str = LINE) -> None:
    """An arrow downwards along a cubic curve: where it starts, where it is drawn to and from, where it ends."""
    (x, y) = points[-1]
    start, *others = (f"{number(a)} {number(b)}" for a, b in [*points[:-1], (x, y - 5)])
    sheet.path(f"M{start} C{' '.join(others)}", color, 1.6)
    sheet.head(x, y, 0, 1, color)


def arc(sheet: Sheet, x0: float, x1: float, y: float, rise: float, label: str, color: str = LINE) -> None:
    """An arrow from above one cell to above another, with a label on top."""
    bend(sheet, [(x0, y), (x0, y - rise), (x1, y - rise), (x1, y)], color)
    sheet.text((x0 + x1) / 2, y - 0.75 * rise - 9, label, 12, color, mono=True, bold=True)


def heading(sheet: Sheet, x: float, y: float, code: str, facts: str) -> None:
    """A line of code, and under it what is so."""
    sheet.text(x, y, code, 14, INK, anchor="start", mono=True, bold=True)
    sheet.text(x, y + 21, facts, 12.5, MUTED, anchor="start")
