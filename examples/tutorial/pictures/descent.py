"""Draws descent.svg: the steps of norch's SGD down a long valley, without and with momentum."""

from __future__ import annotations

import math

import norch
from norch import optim
from norch.display.graph.svg import AMBER, BLUE, INK, LINE, MUTED, ROSE, Sheet, number

CURVATURES = (1.0, 20.0)  # of the loss along the two parameters
START, STEPS, LR = (-4.0, 1.2), 24, 0.085
SCALE, LEVELS = 68, (0.1, 0.5, 1.5, 4, 8, 14)


def path(momentum: float) -> tuple[list[tuple[float, float]], list[float]]:
    """The parameters before each step, and the loss there."""
    p = norch.tensor(START, dtype=norch.float64, requires_grad=True)
    curvatures = norch.tensor(CURVATURES, dtype=norch.float64)
    optimizer = optim.SGD([p], lr=LR, momentum=momentum)
    points, losses = [], []
    for _ in range(STEPS + 1):
        loss = (curvatures * p * p).sum() / 2
        points.append(tuple(p.tolist()))
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return points, losses


def panel(sheet: Sheet, top: float, title: str, momentum: float, color: str) -> None:
    points, losses = path(momentum)
    middle, zero = top + 142, 28 + 340
    sheet.text(28, top, title, 13.5, INK, anchor="start", bold=True)
    sheet.text(
        28,
        top + 21,
        f"loss {losses[0]:.1f} → {losses[8]:.2f} after 8 steps → {losses[-1]:.3f} after {STEPS}",
        12.5,
        MUTED,
        anchor="start",
    )
    for level in LEVELS:  # ellipses on which the loss is equal
        a, b = (math.sqrt(2 * level / c) * SCALE for c in CURVATURES)
        around = [(zero + a * math.cos(t * math.pi / 36), middle + b * math.sin(t * math.pi / 36)) for t in range(73)]
        sheet.path("M" + " L".join(f"{number(x)} {number(y)}" for x, y in around), "#d5dce3", 1.1)
    at = [(zero + x * SCALE, middle - y * SCALE) for x, y in points]
    sheet.path("M" + " L".join(f"{number(x)} {number(y)}" for x, y in at), color, 1.8)
    for x, y in at:
        sheet.circle(x, y, 2.8, color)
    sheet.circle(zero, middle, 4.5, ROSE.line)
    sheet.text(zero + 12, middle + 16, "the minimum", 11.5, ROSE.line, anchor="start")
    sheet.text(at[0][0] + 8, at[0][1] - 12, "start", 11.5, LINE, anchor="start")


def draw() -> str:
    sheet = Sheet(740, 556, "two ways down a valley")
    title = f"loss = (p₀² + 20 p₁²) / 2, {STEPS} steps of SGD with lr = {LR}"
    sheet.text(28, 30, title, 14.5, INK, anchor="start", bold=True)
    panel(sheet, 66, "without momentum: across the valley it zigzags, along it it crawls", 0.0, AMBER.line)
    panel(sheet, 312, "momentum 0.6: what alternates cancels, what agrees adds up", 0.6, BLUE.line)
    return str(sheet)
