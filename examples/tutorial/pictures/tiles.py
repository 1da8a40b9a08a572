"""Draws tiles.svg: where numbers come from and at what price, and what a tile of the result uses."""

from __future__ import annotations

from norch.display.graph.svg import AMBER, BLUE, GREEN, GREY, INK, MUTED, ROSE, VIOLET, Color, Sheet

LEVELS = [  # typical of the processors of chapter 15: name, size, cycles to fetch from it
    ("registers", "32 vectors of 64 bytes", "0 cycles", GREEN, "the tile of the result"),
    ("first cache", "some 32 KB", "4 to 5", BLUE, "a panel of b, packed"),
    ("second cache", "some 1 MB", "15", VIOLET, "a block of a, packed"),
    ("third cache", "some 32 MB", "50", AMBER, "a block of b, packed"),
    ("memory", "gigabytes", "200 or more", ROSE, "a, b and the result"),
]
UNIT = 11


def grid(
    sheet: Sheet, x: float, y: float, columns: int, rows: int, marks: list[tuple[int, int, int, int, Color]]
) -> None:
    """A matrix of cells, with rectangles (column, row, width, height, color) in it."""
    sheet.rect(x, y, columns * UNIT, rows * UNIT, GREY, radius=0)
    for column, row, width, height, color in marks:
        for i in range(height):
            for j in range(width):
                sheet.rect(x + (column + j) * UNIT, y + (row + i) * UNIT, UNIT, UNIT, color, radius=0, stroke=0.6)


def draw() -> str:
    sheet = Sheet(790, 464, "caches and tiles")
    sheet.text(28, 32, "Where the numbers are", 14.5, INK, anchor="start", bold=True)
    for place, (name, size, cycles, color, holds) in enumerate(LEVELS):
        width, y = 180 + 40 * place, 52 + 34 * place
        sheet.rect(28, y, width, 30, color)
        sheet.text(40, y + 15, name, 12.5, INK, anchor="start", bold=True)
        sheet.text(396, y + 15, size, 12, MUTED, anchor="start")
        sheet.text(548, y + 15, cycles, 12, INK, anchor="start", mono=True)
        sheet.text(640, y + 15, holds, 10, MUTED, anchor="start")
    sheet.text(
        28,
        250,
        "One tile: 4 rows of a and 8 columns of b give 32 sums that stay in registers",
        14.5,
        INK,
        anchor="start",
        bold=True,
    )
    top, size = 290, 14
    sheet.text(28, 274, "a", 13, MUTED, anchor="start", mono=True)
    grid(sheet, 28, top, size, size, [(0, 4, size, 4, GREEN), (5, 4, 1, 4, AMBER)])
    sheet.text(204, top + size * UNIT / 2, "·", 24, INK, bold=True)
    sheet.text(228, 274, "b", 13, MUTED, anchor="start", mono=True)
    grid(sheet, 228, top, size, size, [(6, 0, 8, size, BLUE), (6, 5, 8, 1, AMBER)])
    sheet.text(404, top + size * UNIT / 2, "=", 22, INK, bold=True)
    sheet.text(428, 274, "out", 13, MUTED, anchor="start", mono=True)
    grid(sheet, 428, top, size, size, [(6, 4, 8, 4, VIOLET)])
    lines = [
        "for each p:",
        "load 4 numbers of a",
        "and 8 of b (amber),",
        "do 32 multiply-adds.",
        "12 loads, not 64:",
        "each number serves",
        "8 or 4 sums.",
    ]
    for place, line in enumerate(lines):
        sheet.text(
            604,
            top + 12 + 22 * place,
            line,
            12.5,
            INK if place in (0, 4) else MUTED,
            anchor="start",
            bold=place in (0, 4),
        )
    return str(sheet)
