"""Draws sharing.svg: two tensors, each with sizes and strides of its own, over one storage that counts them.

Fields and their places are those of norch's struct, as Python's mirror has them.
"""

from __future__ import annotations

from common import CELL, HEIGHT, heading, storage

import norch
from norch.display.graph.svg import AMBER, BLUE, GREEN, INK, MUTED, VIOLET, Color, Sheet

FIELDS = ("data", "strides", "shape", "ndim", "size", "offset", "storage")


def struct(sheet: Sheet, x: float, y: float, title: str, tensor: norch.Tensor, color: Color) -> None:
    """The fields of a tensor's struct with their places in bytes."""
    mirror, kind = tensor.tensor.contents, norch.CTensor
    sheet.text(x, y - 14, title, 13, color.line, anchor="start", mono=True, bold=True)
    for place, name in enumerate(FIELDS):
        value = getattr(mirror, name)
        if name in ("data", "storage"):
            text = "→"
        elif name in ("shape", "strides"):
            text = ", ".join(str(value[d]) for d in range(mirror.ndim)) + ", …"
        else:
            text = str(value)
        top = y + 26 * place
        sheet.rect(x + 40, top, 220, 26, color, radius=0)
        sheet.text(x + 32, top + 13, str(getattr(kind, name).offset), 10.5, MUTED, anchor="end", mono=True)
        sheet.text(x + 50, top + 13, name, 12.5, INK, anchor="start", mono=True, bold=True)
        sheet.text(x + 150, top + 13, text, 12.5, INK, anchor="start", mono=True)


def draw() -> str:
    x = norch.Tensor([[1, 2, 3], [4, 5, 6]])[:, 1:]
    turned = x.T
    cells = [f"{value:g}" for value in x.storage().tolist()]
    sheet = Sheet(640, 466, "two tensors over one storage")
    heading(
        sheet,
        28,
        32,
        "x = norch.Tensor([[1, 2, 3], [4, 5, 6]])[:, 1:];  t = x.T",
        "places of the fields in bytes; the two structs differ in shape and strides alone",
    )
    top = 106
    struct(sheet, 20, top, "struct Tensor x", x, BLUE)
    struct(sheet, 340, top, "struct Tensor t", turned, VIOLET)

    left, row = 84, 376
    sheet.rect(left - 56, row - 42, 424, 116, GREEN, stroke=1.4)
    sheet.text(left - 44, row - 26, "struct Storage", 13, GREEN.line, anchor="start", mono=True, bold=True)
    sheet.text(left + 356, row - 26, f"references 2, {x.storage().nbytes()} bytes", 12, INK, anchor="end", mono=True)
    storage(sheet, left, row - 6, cells, [AMBER if place in (1, 2, 4, 5) else GREEN for place in range(6)])
    sheet.arrow([(160, top + 26 * 7), (160, row - 42)], GREEN.line)
    sheet.arrow([(480, top + 26 * 7), (480, row + 14), (left + 368 - 56 + 56, row + 14)], GREEN.line)
    sheet.text(492, row + 4, "both lead here;", 12, MUTED, anchor="start")
    sheet.text(492, row + 22, "the last one frees it", 12, MUTED, anchor="start")
    sheet.text(left + 1.5 * CELL, row + HEIGHT + 24, f"data: {x.storage_offset()} element after the start", 11, MUTED)
    return str(sheet)
