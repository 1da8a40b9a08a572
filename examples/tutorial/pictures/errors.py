"""Draws errors.svg: the way of a mistake from deep inside the library to a Python exception. The message is norch's."""

from __future__ import annotations

from common import heading

import norch
from norch.display.graph.svg import AMBER, BLUE, GREEN, GREY, INK, LINE, MUTED, ROSE, Color, Sheet

WIDTH, HEIGHT, GAP = 300, 50, 24

STEPS = [  # what happens on the way in, on the way out, and where
    ("x.reshape(5)", "your script: except ValueError", "", GREY),
    ("wrap(lib.reshape_tensor(...))", "raise_error: null was returned", "norch/_C.py", BLUE),
    ("build([&] { ... })", "catch: keeps kind and message,", "norch/csrc/api.h", AMBER),
    ("reshaped(tensor, shape, ndim)", "fail: throw Error(kind, message)", "norch/csrc/api/views.cpp", GREEN),
]


def message() -> str:
    try:
        norch.ones(2, 3).reshape(5)
    except norch.ShapeError as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("reshape took a shape that does not fit")


def box(sheet: Sheet, x: float, y: float, text: str, note: str, color: Color, mono: bool) -> None:
    sheet.rect(x, y, WIDTH, HEIGHT, color)
    sheet.text(x + 14, y + (18 if note else HEIGHT / 2), text, 12.5, INK, anchor="start", mono=mono)
    if note:
        sheet.text(x + 14, y + 36, note, 11, MUTED, anchor="start", mono=mono)


def draw() -> str:
    sheet = Sheet(2 * WIDTH + 120, 454, "an error's way across the boundary")
    heading(sheet, 28, 32, "norch.ones(2, 3).reshape(5)", message())
    left, right, top = 28, 28 + WIDTH + 60, 104
    sheet.text(left, top - 18, "the call goes in", 12.5, MUTED, anchor="start")
    sheet.text(right, top - 18, "the error comes out", 12.5, MUTED, anchor="start")
    ys = [top + place * (HEIGHT + GAP) + (18 if place > 1 else 0) for place in range(len(STEPS))]
    for place, ((call, error, file, color), y) in enumerate(zip(STEPS, ys)):
        box(sheet, left, y, call, file, color, True)
        note = "returns null: an ordinary value" if error.startswith("catch") else ""
        box(sheet, right, y, error, note, ROSE if place else color, False)
    for above, below in zip(ys, ys[1:]):
        sheet.arrow([(left + 40, above + HEIGHT), (left + 40, below)], LINE)
        sheet.arrow([(right + 40, below), (right + 40, above + HEIGHT)], ROSE.line, 1.8)
    sheet.arrow([(left + WIDTH, ys[-1] + HEIGHT / 2), (right, ys[-1] + HEIGHT / 2)], ROSE.line, 1.8)
    border = (ys[1] + HEIGHT + ys[2]) / 2
    sheet.line([(28, border), (2 * WIDTH + 92, border)], LINE, 1.2, dashed=True)
    sheet.text(2 * WIDTH + 88, border - 10, "Python", 11, MUTED, anchor="end")
    sheet.text(2 * WIDTH + 88, border + 11, "C: no exception passes", 11, MUTED, anchor="end")
    sheet.text(
        28,
        428,
        "An exception may fly inside the library. It stops at the boundary, and Python starts another.",
        12.5,
        INK,
        anchor="start",
    )
    return str(sheet)
