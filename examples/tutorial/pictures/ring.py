"""Draws ring.svg: what each rank of a ring has before an all-reduce, in the middle, and after it."""

from __future__ import annotations

from common import CELL, HEIGHT, cell, heading

from norch.display.graph.svg import AMBER, GREEN, GREY, INK, MUTED, Sheet

RANKS = 4
WIDTH = CELL * RANKS  # of a rank's array
LEFT, TOP, ROW = 86, 96, 58


def ring() -> list[list[list[list[int]]]]:
    """The arrays after each step: of each rank, for each part the ranks whose numbers are in it."""
    held = [[[rank] for _ in range(RANKS)] for rank in range(RANKS)]
    states = [[list(parts) for parts in held]]
    for step in range(2 * (RANKS - 1)):
        parts = [(rank - step) % RANKS for rank in range(RANKS)]
        messages = [held[rank][part] for rank, part in enumerate(parts)]
        for rank, (part, message) in enumerate(zip(parts, messages)):
            place = held[(rank + 1) % RANKS]
            place[part] = sorted(place[part] + message) if step < RANKS - 1 else message
        states.append([list(parts) for parts in held])
    return states


def draw() -> str:
    states = ring()
    shown = (0, 1, RANKS - 1, 2 * (RANKS - 1))
    titles = ("before", "after step 1", "after step 3: one sum each", "after step 6: all sums")
    assert all(part == list(range(RANKS)) for parts in states[-1] for part in parts)
    sheet = Sheet(LEFT + 2 * (WIDTH + 70), TOP + 2 * (ROW * RANKS + 70) - 20, "an all-reduce over a ring")
    heading(
        sheet,
        28,
        32,
        "ring(arrays)",
        "Cells name the ranks that they sum. In a step each sends one part to the next, 3 to 0.",
    )
    for panel, (step, title) in enumerate(zip(shown, titles)):
        left = LEFT + panel % 2 * (WIDTH + 70)
        top = TOP + panel // 2 * (ROW * RANKS + 70)
        sheet.text(left, top - 6, title, 13.5, INK, anchor="start", bold=True)
        for rank, parts in enumerate(states[step]):
            y = top + 12 + ROW * rank
            if panel % 2 == 0:
                sheet.text(28, y + HEIGHT / 2, f"rank {rank}", 12.5, MUTED, anchor="start")
            if rank < RANKS - 1:
                sheet.arrow([(left + WIDTH + 14, y + 14), (left + WIDTH + 14, y + ROW + 8)], MUTED, 1.4)
            for number, part in enumerate(parts):
                color = GREEN if len(part) == RANKS else AMBER if len(part) > 1 else GREY
                label = "all" if len(part) == RANKS else "+".join(map(str, part))
                cell(sheet, left + CELL * number, y, label, color=color)
    return str(sheet)
