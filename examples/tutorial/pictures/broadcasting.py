"""Draws broadcasting.svg: a column and a row, repeated by strides of 0, add up to a table."""

from __future__ import annotations

from common import CELL, HEIGHT, heading, matrix, storage

import norch
from norch.display.graph.svg import AMBER, BLUE, GREEN, GREY, INK, MUTED, VIOLET, Color, Sheet


def operand(sheet: Sheet, x: float, name: str, tensor: norch.Tensor, wide: norch.Tensor, colors: list[Color]) -> None:
    """What lies in memory, and below it what the kernel sees: every cell in the color of the memory it reads."""
    code = f"{name}: shape {list(tensor.shape)}"
    sheet.text(x, 96, code, 13, INK, anchor="start", mono=True, bold=True)
    storage(sheet, x, 112, [f"{value:g}" for value in tensor.storage().tolist()], colors)
    sheet.text(x, 196, f"expanded: strides {wide.stride()}", 12.5, MUTED, anchor="start", mono=True)
    steps = wide.stride()
    seen = [[colors[i * steps[0] + j * steps[1]] for j in range(3)] for i in range(2)]
    matrix(sheet, x, 212, [[f"{value:g}" for value in row] for row in wide.tolist()], seen)


def draw() -> str:
    column, row = norch.Tensor([[1], [2]]), norch.Tensor([[10, 20, 30]])
    total = column + row
    sheet = Sheet(676, 330, "broadcasting by strides of 0")
    heading(
        sheet,
        28,
        32,
        "norch.Tensor([[1], [2]]) + norch.Tensor([[10, 20, 30]])",
        "A stride of 0 stays in one cell: nothing is copied, the same memory is read again.",
    )
    lefts = [28, 28 + 3 * CELL + 76, 28 + 6 * CELL + 152]
    operand(sheet, lefts[0], "column", column, column.expand(2, 3), [BLUE, VIOLET])
    operand(sheet, lefts[1], "row", row, row.expand(2, 3), [GREEN, AMBER, Color("#fbe9ec", "#b3394f")])
    for x, sign in ((lefts[1] - 38, "+"), (lefts[2] - 38, "=")):
        sheet.text(x, 212 + HEIGHT, sign, 24, INK, bold=True)
    sheet.text(lefts[2], 196, f"shape {list(total.shape)}", 12.5, MUTED, anchor="start", mono=True)
    matrix(sheet, lefts[2], 212, [[f"{value:g}" for value in line] for line in total.tolist()], [[GREY] * 3] * 2)
    return str(sheet)
