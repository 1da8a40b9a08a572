"""Draws recording.svg: who works when in a training step of sin², called plainly and replayed."""

from __future__ import annotations

import re

from common import heading

import norch
from norch.display.graph.svg import AMBER, BLUE, GREEN, INK, LINE, MUTED, VIOLET, Color, Sheet

LEFT, LANE, PYTHON, LAUNCH = 96, 34, 44, 11  # the heights and widths of lanes and boxes

# What Python calls in a plain step, and the launches in each call.
CALLS = [
    ("forward", GREEN, [["linear"], ["sigmoid"], ["linear"], ["mse"]]),
    (
        "backward",
        AMBER,
        [["assign"], ["mse_backward"], ["matmul", "matmul", "sum"], ["sigmoid_backward"], ["matmul", "sum"]],
    ),
    ("optimizer", VIOLET, [["sgd"] * 4]),
]


def launches() -> list[str]:
    """The names of the kernels that the recorded step of chapter 17 launches."""
    model = norch.nn.Sequential(norch.nn.Linear(1, 10), norch.nn.Sigmoid(), norch.nn.Linear(10, 1))
    optimizer = norch.optim.SGD(model.parameters(), lr=0.01)

    @norch.compile
    def step(x: norch.Tensor, y: norch.Tensor) -> norch.Tensor:
        loss = norch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(4):
        step(norch.Tensor([[0.5]]), norch.Tensor([[0.2]]))
    return re.findall(r"^%\d+ += (\w+)\(", str(step.programs[0]), re.MULTILINE)


def draw() -> str:
    names = [name for _, _, calls in CALLS for call in calls for name in call]
    assert names == launches(), "the step launches other kernels: CALLS has to follow"
    sheet = Sheet(LEFT + 10 * PYTHON + 16 * LAUNCH + 28, 372, "a training step, plain and replayed")
    code = "loss = step(x, y)"
    heading(sheet, 28, 32, code, "time goes to the right; widths are a sketch, boxes are the launches of a step")

    x = lanes(sheet, 94, "a plain call: Python asks and calls for each operation")
    for phase, color, calls in CALLS:
        start = x
        for call in calls:
            x = python(sheet, x, 94, "ask")
            x = launch(sheet, x, 94, color, len(call))
        sheet.line([(start + 4, 184), (x - 4, 184)], color.line, 2)
        sheet.text((start + x) / 2, 198, phase, 12, color.line)
    plain = x

    x = lanes(sheet, 246, "a replay: Python compares once, and C walks the list")
    x = python(sheet, x, 246, "same?")
    for _, color, calls in CALLS:
        x = launch(sheet, x, 246, color, sum(map(len, calls)))
    x = python(sheet, x, 246, "wrap")
    sheet.arrow([(plain, 318), (x + 6, 318)], LINE)
    sheet.text((plain + x) / 2, 306, "the time that is left", 12, MUTED)
    sheet.text(28, 350, f"{len(names)} launches in both, in the same order: same kernels, same numbers.", 12.5, INK,
               anchor="start")  # fmt: skip
    return str(sheet)


def lanes(sheet: Sheet, y: float, title: str) -> float:
    """Two empty lanes; returns where they begin."""
    sheet.text(28, y - 14, title, 12.5, INK, anchor="start", bold=True)
    for place, name in enumerate(("Python", "C")):
        sheet.text(28, y + (place + 0.5) * LANE, name, 12.5, MUTED, anchor="start", mono=True)
        sheet.line([(LEFT, y + (place + 1) * LANE), (sheet.width - 28, y + (place + 1) * LANE)], LINE, 0.6)
    return LEFT


def python(sheet: Sheet, x: float, y: float, word: str) -> float:
    sheet.rect(x, y + 5, PYTHON, LANE - 10, BLUE, radius=2)
    sheet.text(x + PYTHON / 2, y + LANE / 2, word, 11, INK)
    return x + PYTHON


def launch(sheet: Sheet, x: float, y: float, color: Color, count: int) -> float:
    for place in range(count):
        sheet.rect(x + place * LAUNCH, y + LANE + 5, LAUNCH, LANE - 10, color, radius=1, stroke=0.8)
    return x + count * LAUNCH
