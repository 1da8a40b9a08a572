"""Draws attention.svg: queries, keys and values of three positions, and what norch makes of them."""

from __future__ import annotations

import math

from common import CELL, HEIGHT, heading

import norch
from norch.display.graph.svg import AMBER, BLUE, GREEN, INK, MUTED, VIOLET, Color, Sheet

Q = [[2, 0], [0, 2], [1, 1]]
K = [[0, 2], [2, 0], [1, 1]]
V = [[1, 0], [0, 1], [5, 5]]


def matrix(
    sheet: Sheet, x: float, y: float, title: str, note: str, tensor: norch.Tensor, color: Color, shares: bool = False
) -> None:
    """A matrix of numbers; of shares, the larger the deeper."""
    sheet.text(x, y - 30, title, 13, INK, anchor="start", mono=True, bold=True)
    sheet.text(x, y - 12, note, 11, MUTED, anchor="start")
    for i, row in enumerate(tensor.round(decimals=9).tolist()):
        for j, value in enumerate(row):
            fill = Color(mixed(value), color.line) if shares else color
            sheet.rect(x + j * CELL, y + i * HEIGHT, CELL, HEIGHT, fill, radius=0)
            text = f"{value:.2f}" if not value.is_integer() else f"{value:g}"
            sheet.text(x + (j + 0.5) * CELL, y + (i + 0.5) * HEIGHT, text, 13, INK, mono=True, bold=shares)


def mixed(share: float) -> str:
    """From white to amber."""
    ends = ((255, 255, 255), (240, 178, 94))
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(*ends))


def draw() -> str:
    q, k, v = (norch.tensor(rows, dtype=norch.float64) for rows in (Q, K, V))
    scores = q @ k.T / math.sqrt(q.shape[-1])
    weights = scores.softmax(dim=-1)
    out = weights @ v
    sheet = Sheet(784, 436, "attention")
    heading(sheet, 28, 32, "softmax(Q Kᵀ / √d) V", "three positions, d = 2; a row for each position")
    top, low = 124, 296
    matrix(sheet, 28, top, "Q", "what I look for", q, BLUE)
    matrix(sheet, 172, top, "K", "what I offer", k, GREEN)
    matrix(sheet, 316, top, "Q Kᵀ / √d", "how well they fit", scores, VIOLET)
    matrix(sheet, 28, low, "softmax, row by row", "shares of 1", weights, AMBER, shares=True)
    matrix(sheet, 316, low, "V", "what I pass on", v, GREEN)
    matrix(sheet, 508, low, "the result", "values, mixed", out, BLUE)
    sheet.text(250, low + 1.5 * HEIGHT, "·", 24, INK, bold=True)
    sheet.text(464, low + 1.5 * HEIGHT, "=", 22, INK, bold=True)
    row = weights[0].tolist()
    best = row.index(max(row))
    for place, line in enumerate(
        (
            f"Position 0 asks {Q[0]};",
            f"position {best} offers {K[best]},",
            "the best fit, and gets",
            f"{row[best]:.0%} of the mixture.",
        )
    ):
        sheet.text(548, top + 10 + 21 * place, line, 12.5, INK, anchor="start")
    return str(sheet)
