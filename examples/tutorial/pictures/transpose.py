"""Draws transpose.svg: a transpose is the same memory, walked with its strides exchanged."""

from __future__ import annotations

from common import CELL, HEIGHT, bend, heading, matrix, storage

import norch
from norch.display.graph.svg import AMBER, BLUE, GREEN, MUTED, Sheet


def draw() -> str:
    x = norch.Tensor([[1, 2, 3], [4, 5, 6]])
    turned = x.T
    assert turned.storage().data_ptr() == x.storage().data_ptr()
    colors = [[BLUE] * 3, [GREEN] * 3]
    i, j = 1, 2  # the element that is followed

    sheet = Sheet(680, 400, "a transpose as a view")
    boxes = []
    for left, name, tensor, fill, mark in (
        (28, "x", x, colors, (i, j)),
        (380, "x.T", turned, [list(row) for row in zip(*colors)], (j, i)),
    ):
        heading(sheet, left, 32, name, f"shape {list(tensor.shape)}, strides {tensor.stride()}")
        matrix(sheet, left, 76, [[f"{v:g}" for v in row] for row in tensor.tolist()], fill, marks=[mark])
        boxes.append((left + (mark[1] + 0.5) * CELL, 76 + (mark[0] + 1) * HEIGHT))

    memory = [f"{value:g}" for value in x.storage().tolist()]
    left, top = 184, 266
    place = i * x.stride()[0] + j * x.stride()[1]
    assert place == j * turned.stride()[0] + i * turned.stride()[1]
    end = left + (place + 0.5) * CELL
    for (x0, y0), shift in zip(boxes, (-8, 8)):
        reach = 0.6 * (top - y0)
        bend(sheet, [(x0, y0), (x0, y0 + reach), (end + shift, top - reach), (end + shift, top - 2)], AMBER.line)
    sheet.text(28, top + HEIGHT / 2, "one storage for both", 12.5, MUTED, anchor="start")
    storage(sheet, left, top, memory, colors[0] + colors[1], marks=[place])

    for column, name, (row, step), tensor in ((28, "x", (i, j), x), (380, "x.T", (j, i), turned)):
        terms = f"{row} · {tensor.stride()[0]} + {step} · {tensor.stride()[1]}"
        text = f"{name}[{row}, {step}]: {terms} = {place}"
        sheet.text(column, top + HEIGHT + 42, text, 13, AMBER.line, anchor="start", mono=True)
    words = "No element was moved: a write through one shows in the other."
    sheet.text(28, top + HEIGHT + 70, words, 12.5, MUTED, anchor="start")
    return str(sheet)
