"""Draws strides.svg: how two strides lead from an index to a place in memory."""

from __future__ import annotations

from common import CELL, HEIGHT, arc, heading, matrix, storage

import norch
from norch.display.graph.svg import AMBER, BLUE, GREEN, INK, MUTED, VIOLET, Sheet


def draw() -> str:
    x = norch.Tensor([[1, 2, 3], [4, 5, 6]])
    down, right = x.stride()
    values = [[f"{value:g}" for value in row] for row in x.tolist()]
    memory = [f"{value:g}" for value in x.storage().tolist()]
    colors = [[BLUE] * 3, [GREEN] * 3]

    sheet = Sheet(620, 372, "strides over storage")
    heading(sheet, 28, 32, "x = norch.Tensor([[1, 2, 3], [4, 5, 6]])", f"shape {list(x.shape)}, strides {x.stride()}")

    sheet.text(28, 92, "what an index sees", 12.5, MUTED, anchor="start")
    matrix(sheet, 28, 106, values, colors, marks=[(1, 2)])
    rows, columns = ([at + (place + 0.5) * size for place in (0, 1)] for at, size in ((106, HEIGHT), (28, CELL)))
    sheet.arrow([(200, rows[0]), (200, rows[1])], AMBER.line)
    sheet.text(212, 146, f"one row down: + {down}", 12.5, AMBER.line, anchor="start", bold=True)
    sheet.arrow([(columns[0], 202), (columns[1], 202)], VIOLET.line)
    sheet.text(columns[1] + 12, 202, f"one column right: + {right}", 12.5, VIOLET.line, anchor="start", bold=True)

    left, top = 28 + 158, 262
    sheet.text(28, top + HEIGHT / 2, "what lies in memory", 12.5, MUTED, anchor="start")
    storage(sheet, left, top, memory, colors[0] + colors[1], marks=[5])
    places = [left + (place + 0.5) * CELL for place in range(6)]
    arc(sheet, places[2], places[2 + down], top - 3, 44, f"+{down}", AMBER.line)
    arc(sheet, places[0], places[right], top - 3, 22, f"+{right}", VIOLET.line)

    i, j = 1, 2
    place = i * down + j * right
    text = f"x[{i}, {j}] is storage[{i} · {down} + {j} · {right}] = storage[{place}] = {memory[place]}"
    sheet.text(28, top + HEIGHT + 44, text, 13.5, INK, anchor="start", mono=True)
    return str(sheet)
