"""start.svg: the values of ten layers of 100 tanh each, with weights from [-1, 1] and from ±1 / sqrt(100)."""

from __future__ import annotations

import norch
from norch.display.graph.svg import AMBER, BLUE, INK, LINE, MUTED, Color, Sheet

WIDTH, LAYERS, BINS = 100, 10, 16
PANEL, GAP, HEIGHT = 60, 18, 84


def layers(bound: float) -> list[list[float]]:
    """How often the values of each layer lie in each of the bins from -1 to 1, the most frequent as 1."""
    generator = norch.Generator().manual_seed(1)
    x = norch.randn(200, WIDTH, generator=generator, dtype=norch.float64)
    found = []
    for _ in range(LAYERS):
        weight = norch.rand(WIDTH, WIDTH, generator=generator, dtype=norch.float64) * (2 * bound) - bound
        x = (x @ weight.T).tanh()
        bins = ((x.flatten() + 1) * (BINS / 2)).clamp(0, BINS - 1).long().tolist()
        counts = [bins.count(place) for place in range(BINS)]
        found.append([count / max(counts) for count in counts])
    return found


def row(sheet: Sheet, top: float, title: str, color: Color, bound: float) -> None:
    sheet.text(28, top, title, 13.5, INK, anchor="start", bold=True)
    base = top + 22 + HEIGHT
    for number, shares in enumerate(layers(bound)):
        left = 28 + number * (PANEL + GAP)
        sheet.line([(left, base), (left + PANEL, base)], LINE, 1)
        for place, share in enumerate(shares):
            if round(share * HEIGHT):
                width = PANEL / BINS
                sheet.rect(
                    left + place * width, base - round(share * HEIGHT), width, round(share * HEIGHT), color, radius=0
                )
        for place, label in ((0, "−1"), (0.5, "0"), (1, "1")):
            sheet.text(left + place * PANEL, base + 13, label, 10, MUTED)
        sheet.text(left + PANEL / 2, base + 29, f"layer {number + 1}", 11, MUTED)


def draw() -> str:
    sheet = Sheet(824, 376, "The values of ten layers, with wide and with narrow initial weights")
    title = f"How the values of {WIDTH} tanh spread, layer after layer"
    sheet.text(28, 30, title, 14.5, INK, anchor="start", bold=True)
    row(sheet, 66, "weights from [−1, 1]: nearly every tanh is at an end, where its slope is 0", AMBER, 1)
    row(
        sheet, 218, "weights from ±1/√100: the signal gets smaller, but every tanh still has a slope", BLUE, WIDTH**-0.5
    )
    return str(sheet)
