"""Draws grid.svg: blocks and threads over ten elements, and what a warp reads from memory at two strides."""

from __future__ import annotations

from common import heading

import norch
from norch.display.graph.svg import AMBER, BLUE, GREEN, GREY, INK, MUTED, VIOLET, Sheet

BLOCK, SIZE, CELL = 4, 10, 46
WARP, LINE_BYTES, SMALL = 32, 128, 19
BLOCKS = -(-SIZE // BLOCK)


def blocks(sheet: Sheet, left: float, top: float) -> None:
    for block, color in zip(range(BLOCKS), (BLUE, GREEN, VIOLET)):
        x = left + block * (BLOCK * CELL + 24)
        sheet.rect(x - 8, top, BLOCK * CELL + 16, 88, color, stroke=1.4)
        sheet.text(x, top + 16, f"block {block}", 12.5, color.line, anchor="start", bold=True)
        for thread in range(BLOCK):
            i = block * BLOCK + thread
            idle = i >= SIZE
            sheet.rect(x + thread * CELL, top + 30, CELL, 48, GREY if idle else color, radius=0, dashed=idle)
            sheet.text(x + (thread + 0.5) * CELL, top + 44, f"thread {thread}", 9, MUTED)
            sheet.text(x + (thread + 0.5) * CELL, top + 64, "idle" if idle else f"i = {i}", 12, INK, mono=not idle)


def warp(sheet: Sheet, left: float, top: float, code: str, tensor: norch.Tensor) -> None:
    """The lines of memory that a warp touches, if thread k reads element k."""
    (step,) = tensor.stride()
    places = {(tensor.data_ptr() - tensor.storage().data_ptr()) // 4 + k * step for k in range(WARP)}
    per_line = LINE_BYTES // tensor.element_size()
    lines = sorted({place // per_line for place in places})
    used = len(places) / (per_line * len(lines))
    says = (
        f"{len(lines)} line{'s' if len(lines) > 1 else ''} of {LINE_BYTES} bytes, {used:.0%} of what is fetched is used"
    )
    sheet.text(left, top, code, 12.5, INK, anchor="start", mono=True, bold=True)
    sheet.text(left + 170, top, f"stride {step}: {says}", 12.5, MUTED, anchor="start")
    for row, line in enumerate(lines):
        for cell in range(per_line):
            hit = line * per_line + cell in places
            sheet.rect(
                left + cell * SMALL, top + 14 + row * 22, SMALL, 18, AMBER if hit else GREY, radius=0, stroke=0.7
            )


def draw() -> str:
    sheet = Sheet(28 * 2 + WARP * SMALL, 452, "grid, blocks and coalescing")
    heading(
        sheet,
        28,
        32,
        f"add_kernel<<<{BLOCKS}, {BLOCK}>>> over {SIZE} elements",
        "i = blockIdx.x * blockDim.x + threadIdx.x; if (i < size) out[i] = x[i] + y[i]",
    )
    blocks(sheet, 36, 76)
    sheet.text(28, 198, f"a warp of {WARP} threads reads", 13.5, INK, anchor="start", bold=True)
    warp(sheet, 28, 226, "a row of 32 floats", norch.zeros(WARP))
    warp(sheet, 28, 280, "a column of [32, 4]", norch.zeros(WARP, 4)[:, 1])
    sheet.text(
        28,
        400,
        "Amber: what a thread asked for. Grey: what came along; memory is fetched in whole lines.",
        12.5,
        MUTED,
        anchor="start",
    )
    sheet.text(
        28,
        424,
        "Neighbouring threads that read neighbouring addresses share a line: the access is coalesced.",
        12.5,
        MUTED,
        anchor="start",
    )
    return str(sheet)
