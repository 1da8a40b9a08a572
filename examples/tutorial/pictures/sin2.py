"""Draws sin2.svg: what the article's network learns of sin(x)^2, and its loss while it does. norch trains it here.

Ten epochs from the article's seed end near the mean of the curve. The same network with its sigmoids spread along the
axis (examples/sin2.py --spread --hidden 32 --lr 0.01 --epochs 300) finds the curve.
"""

from __future__ import annotations

import importlib.util
import math
import random
from pathlib import Path

import norch
from norch import nn, optim
from norch.display.graph.svg import AMBER, BLUE, INK, LINE, MUTED, Sheet, number

WIDTH, HEIGHT, TOP = 330, 230, 122
DENSE = [20 * i / 400 for i in range(401)]
LOWEST = -1  # of the fit's axis

_path = Path(__file__).parents[2] / "sin2.py"
_spec = importlib.util.spec_from_file_location("sin2_example", _path)
example = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(example)


def train(hidden: int, lr: float, epochs: int, spread: bool) -> tuple[list[float], list[float]]:
    """The curve learnt, at the points of DENSE, and the loss at the last point of each epoch.

    In float64, so that the picture does not depend on the last bits of a processor's float32.
    """
    random.seed(1)
    if hidden > 10:
        norch.manual_seed(1)
    model = example.MyModel(hidden)
    if spread:
        model.spread()
    model.double()
    criterion, optimizer = nn.MSELoss(), optim.SGD(model.parameters(), lr=lr)
    points = [
        [norch.tensor([[v]], dtype=norch.float64) for v in pair] for pair in zip(example.X_VALUES, example.Y_VALUES)
    ]
    losses = []
    for _ in range(epochs):
        for x, target in points:
            loss = criterion(model(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    with norch.no_grad():
        return model(norch.tensor(DENSE, dtype=norch.float64).reshape(-1, 1)).flatten().tolist(), losses


def curve(sheet: Sheet, points: list[tuple[float, float]], color: str, stroke: float = 2) -> None:
    sheet.path("M" + " L".join(f"{number(x)} {number(y)}" for x, y in points), color, stroke)


def frame(sheet: Sheet, left: float, title: str, across: list, up: list) -> None:
    """Axes with ticks: (place from 0 to 1, label)."""
    sheet.text(left, TOP - 20, title, 13.5, INK, anchor="start", bold=True)
    for place, label in up:
        y = TOP + HEIGHT * (1 - place)
        sheet.line([(left, y), (left + WIDTH, y)], "#e4e8ec", 1)
        sheet.text(left - 8, y, label, 11, MUTED, anchor="end")
    sheet.line([(left, TOP + HEIGHT), (left + WIDTH, TOP + HEIGHT)], LINE, 1)
    for place, label in across:
        sheet.line([(left + WIDTH * place, TOP + HEIGHT), (left + WIDTH * place, TOP + HEIGHT + 4)], LINE, 1)
        sheet.text(left + WIDTH * place, TOP + HEIGHT + 16, label, 11, MUTED)


def draw() -> str:
    article, article_losses = train(10, 0.001, 10, spread=False)
    fitted, fitted_losses = train(32, 0.01, 300, spread=True)

    sheet = Sheet(820, 408, "sin² and what the network learns of it")
    title = "A network with one hidden layer learns sin(x)², a point at a time"
    sheet.text(28, 30, title, 14.5, INK, anchor="start", bold=True)

    left = 58
    span = 1.05 - LOWEST
    heights = [((y - LOWEST) / span, f"{y:g}".replace("-", "−")) for y in (-1, -0.5, 0, 0.5, 1)]
    frame(sheet, left, "the fit", [(x / 20, str(x)) for x in (0, 5, 10, 15, 20)], heights)

    def at(x: float, y: float) -> tuple[float, float]:
        return left + WIDTH * x / 20, TOP + HEIGHT * (1 - (y - LOWEST) / span)

    curve(sheet, [at(x, y) for x, y in zip(DENSE, article)], AMBER.line)
    curve(sheet, [at(x, y) for x, y in zip(DENSE, fitted)], BLUE.line)
    for x, y in zip(example.X_VALUES, example.Y_VALUES):
        sheet.circle(*at(x, y), 2.6, INK)
    sheet.text(left + WIDTH / 2, TOP + HEIGHT + 36, "x", 12, MUTED)

    right = 462
    low, high = -6, 1  # powers of ten
    powers = {0: "1", -2: "10⁻²", -4: "10⁻⁴", -6: "10⁻⁶"}
    ticks = [((power - low) / (high - low), label) for power, label in powers.items()]
    frame(
        sheet, right, "the loss at the last point of each epoch", [(e / 300, str(e)) for e in (0, 100, 200, 300)], ticks
    )

    def place(epoch: int, loss: float) -> tuple[float, float]:
        return right + WIDTH * epoch / 300, TOP + HEIGHT * (1 - (math.log10(loss) - low) / (high - low))

    curve(sheet, [place(i + 1, loss) for i, loss in enumerate(fitted_losses)], BLUE.line, 1.6)
    curve(sheet, [place(i + 1, loss) for i, loss in enumerate(article_losses)], AMBER.line, 2.6)
    sheet.text(right + WIDTH / 2, TOP + HEIGHT + 36, "epoch", 12, MUTED)

    assert min(article) > LOWEST
    first, last = f"{article_losses[0]:.4f}", f"{article_losses[-1]:.4f}"
    for x, color, label in (
        (28, INK, "sin(x)²"),
        (118, AMBER.line, f"the article's 10 epochs: loss {first} to {last}"),
        (430, BLUE.line, "300 epochs of 32 sigmoids spread along the axis"),
    ):
        sheet.circle(x + 5, 58, 4, color)
        sheet.text(x + 16, 58, label, 12, INK, anchor="start")
    return str(sheet)
