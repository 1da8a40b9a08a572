"""Draws tree.svg: which ranks of a tree send to which, in the rounds of an all-reduce."""

from __future__ import annotations

from common import heading

from norch.display.graph.svg import AMBER, BLUE, GREEN, INK, MUTED, Sheet

RANKS = 8
GAP, LEFT, TOP, ROW = 74, 150, 104, 62


def rounds() -> list[list[tuple[int, int]]]:
    """The messages (from, to) of each round: first the sums, then the way back."""
    up = []
    distance = 1
    while distance < RANKS:
        up.append([(rank + distance, rank) for rank in range(0, RANKS, 2 * distance)])
        distance *= 2
    return up + [[(to, sender) for sender, to in messages] for messages in reversed(up)]


def draw() -> str:
    found = rounds()
    sheet = Sheet(LEFT + GAP * RANKS, TOP + ROW * len(found) + 44, "an all-reduce over a tree")
    heading(sheet, 28, 32, "tree(arrays)", "Each arrow is a message with the whole array. Time goes downwards.")

    def x(rank: int) -> float:
        return LEFT + GAP * rank

    for rank in range(RANKS):
        sheet.line([(x(rank), TOP - 18), (x(rank), TOP + ROW * len(found))], MUTED, 1)
        sheet.rect(x(rank) - 27, TOP - 38, 54, 24, BLUE)
        sheet.text(x(rank), TOP - 26, f"rank {rank}", 12, bold=True)
    for number, messages in enumerate(found):
        y = TOP + ROW * (number + 0.5)
        adds = number < len(found) // 2
        sheet.text(28, y - 8, f"round {number + 1}", 13, INK, anchor="start", bold=True)
        sheet.text(28, y + 10, "add" if adds else "copy", 12.5, MUTED, anchor="start")
        for sender, to in messages:
            color = (AMBER if adds else GREEN).line
            sheet.arrow([(x(sender), y - 12), (x(to), y + 12)], color, 1.8)
    sheet.text(x(0), TOP + ROW * len(found) + 18, "all ranks have the sum", 12.5, INK, anchor="start")
    return str(sheet)
