"""Draws memory.svg: a tensor is bytes and a description of them. The bytes are read from the tensor's address."""

from __future__ import annotations

import ctypes

from common import CELL, heading

import norch
from norch.display.graph.svg import AMBER, BLUE, GREEN, GREY, INK, MUTED, Sheet

WIDE = 2 * CELL  # a float of four bytes


def draw() -> str:
    x = norch.Tensor([[1, 2, 3], [4, 5, 6]])
    raw = ctypes.string_at(x.data_ptr(), x.nbytes)
    sheet = Sheet(28 * 2 + 6 * WIDE, 356, "a tensor: bytes and a description of them")
    heading(
        sheet,
        28,
        32,
        "x = norch.Tensor([[1, 2, 3], [4, 5, 6]])",
        "one run of bytes, and a few values that say how to read it",
    )

    sheet.text(28, 92, "the description", 12.5, MUTED, anchor="start")
    rows = {
        "data": "an address",
        "shape": str(list(x.shape)),
        "strides": str(x.stride()),
        "dtype": f"{x.dtype.name}, {x.element_size()} bytes",
        "device": x.device,
    }
    for place, (name, value) in enumerate(rows.items()):
        y = 106 + 26 * place
        sheet.rect(28, y, 250, 26, AMBER if name == "data" else GREY, radius=0)
        sheet.text(38, y + 13, name, 12.5, INK, anchor="start", mono=True, bold=True)
        sheet.text(120, y + 13, value, 12.5, INK, anchor="start", mono=True)
    sheet.arrow([(278, 119), (300, 119), (300, 248), (40, 248), (40, 274)], AMBER.line, 1.6)

    sheet.text(320, 220, f"the storage: {x.nbytes} bytes in one row, {x.numel()} floats", 12.5, MUTED, anchor="start")
    for place, value in enumerate(x.flatten().tolist()):
        left, color = 28 + place * WIDE, BLUE if place < 3 else GREEN
        for k in range(4):
            sheet.rect(left + k * WIDE / 4, 274, WIDE / 4, 30, color, radius=0, stroke=0.6)
            sheet.text(left + (k + 0.5) * WIDE / 4, 289, f"{raw[4 * place + k]:02x}", 11.5, INK, mono=True)
        sheet.rect(left, 304, WIDE, 28, color, radius=0)
        sheet.text(left + WIDE / 2, 318, f"{value:.1f}", 14, INK, mono=True, bold=True)
        sheet.text(left + 8, 264, str(4 * place), 10, MUTED, mono=True) if place else None
    return str(sheet)
