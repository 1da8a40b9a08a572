"""Draws operation.svg: softplus composed of operations and as one Function: their graphs, and their derivatives."""

from __future__ import annotations

import norch
from norch.autograd import Function
from norch.display.graph.layout import arrange
from norch.display.graph.reading import LEAF, read
from norch.display.graph.svg import AMBER, BLUE, GREEN, INK, LINE, MUTED, ROSE, Sheet, number, text_width


class Softplus(Function):
    """As chapter 11 writes it."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return composed(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * x.sigmoid()


def composed(x: norch.Tensor) -> norch.Tensor:
    return x.clamp(min=0) + (-x.abs()).exp().log1p()


def graph(sheet: Sheet, left: float, top: float, result: norch.Tensor, x: norch.Tensor) -> None:
    """The nodes from the leaf downwards."""
    nodes = read(result, {"x": x})
    widths = [max(64, text_width(node.title, 12.5) + 22) for node in nodes]
    edges = [(o.source, target) for target, node in enumerate(nodes) for o in node.operands if o.source is not None]
    layout = arrange(widths, edges, set())
    places = [(left + x, top + 46 * layer) for x, layer in zip(layout.x, layout.layer)]
    for (source, target), points in zip(edges, layout.points):
        (x0, y0), (x1, y1) = places[source], places[target]
        bends = [(left + x, top + 46 * layer + 13) for x, layer in points]
        sheet.arrow([(x0, y0 + 26), *bends, (x1, y1)], LINE)
    for node, width, (a, b) in zip(nodes, widths, places):
        leaf = node.kind == LEAF
        sheet.rect(a - width / 2, b, width, 26, GREEN if leaf else BLUE, radius=12 if leaf else 5)
        sheet.text(a, b + 13, node.title, 12.5, INK, mono=True)


def slope(function, points: list[float]) -> list[float]:
    x = norch.tensor(points, dtype=norch.float64, requires_grad=True)
    function(x).sum().backward()
    return x.grad.tolist()


def draw() -> str:
    sheet = Sheet(780, 412, "softplus, composed and as one Function")
    sheet.text(28, 30, "softplus(x) = max(x, 0) + log(1 + exp(−|x|))", 14, INK, anchor="start", mono=True, bold=True)
    x = norch.ones(3, requires_grad=True)
    sheet.text(28, 62, "composed: six nodes", 12.5, MUTED, anchor="start")
    graph(sheet, 40, 82, composed(x), x)
    sheet.text(262, 62, "a Function: one", 12.5, MUTED, anchor="start")
    graph(sheet, 274, 82, Softplus.apply(x), x)

    left, top, width, height = 472, 96, 270, 220
    sheet.text(left - 24, 62, "their derivatives", 12.5, MUTED, anchor="start")

    def at(a: float, b: float) -> tuple[float, float]:
        return left + width * (a + 5) / 10, top + height * (1 - b)

    for value in (0, 0.5, 1):
        sheet.line([at(-5, value), at(5, value)], "#e4e8ec", 1)
        sheet.text(left - 8, at(0, value)[1], f"{value:g}", 11, MUTED, anchor="end")
    for value in (-5, 0, 5):
        sheet.text(at(value, 0)[0], top + height + 14, str(value).replace("-", "−"), 11, MUTED)
    points = [(k - 50) / 10 for k in range(101)]
    curve = [at(a, b) for a, b in zip(points, slope(Softplus.apply, points))]
    sheet.path("M" + " L".join(f"{number(a)} {number(b)}" for a, b in curve), BLUE.line, 2.2)
    (wrong,), (right,) = slope(composed, [0.0]), slope(Softplus.apply, [0.0])
    sheet.circle(*at(0, wrong), 5, ROSE.line)
    sheet.circle(*at(0, right), 5, BLUE.line)
    sheet.line(
        [at(0, right - 0.03), at(0, wrong + 0.03)] if wrong < right else [at(0, right + 0.03), at(0, wrong - 0.03)],
        AMBER.line,
        1.2,
        dashed=True,
    )
    sheet.text(
        at(0, wrong)[0] - 12,
        at(0, wrong)[1] + 22,
        f"composed: {wrong:g} at x = 0",
        12,
        ROSE.line,
        anchor="end",
        bold=True,
    )
    sheet.text(
        at(0, right)[0] + 12, at(0, right)[1] + 4, f"Function: {right:g}", 12, BLUE.line, anchor="start", bold=True
    )
    sheet.text(28, 392, "Everywhere else the two derivatives are equal.", 12.5, MUTED, anchor="start")
    return str(sheet)
