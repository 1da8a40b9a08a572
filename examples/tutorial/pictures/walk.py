"""Draws walk.svg: the order in which backward takes the nodes, and the gradients that meet at a shared one.

The numbers are norch's: hooks write down what arrives, in the order in which it does.
"""

from __future__ import annotations

from common import heading

import norch
from norch.display.graph.svg import AMBER, BLUE, GREEN, INK, MUTED, PAPER, Sheet

WIDTH, HEIGHT = 136, 50
CENTRES = {"x": (150, 128), "w": (402, 128), "h": (276, 254), "s": (168, 388), "L": (276, 514)}


def walk() -> tuple[list[str], dict[str, float], dict[str, float]]:
    """The order in which backward takes the tensors; the gradient of each; the value of each."""
    x = norch.Tensor([2], requires_grad=True)
    w = norch.Tensor([3], requires_grad=True)
    h = x * w
    s = h * h
    L = s + h
    tensors = {"x": x, "w": w, "h": h, "s": s, "L": L}
    order: list[str] = []
    for name, tensor in tensors.items():
        tensor.register_hook(lambda gradient, name=name: order.append(name))
    L.backward()
    return order, {n: t.grad[0] for n, t in tensors.items()}, {n: t[0] for n, t in tensors.items()}


def draw() -> str:
    order, gradients, values = walk()
    g, v = ({name: f"{number:g}" for name, number in table.items()} for table in (gradients, values))
    to_h = [gradients["L"], gradients["s"] * values["h"], gradients["s"] * values["h"]]
    assert sum(to_h) == gradients["h"] and gradients["x"] == gradients["h"] * values["w"]

    sheet = Sheet(700, 566, "the walk of backward")
    heading(
        sheet,
        28,
        32,
        "h = x * w;  s = h * h;  L = s + h;  L.backward()",
        "Values were computed from above downwards. Gradients go upwards, the youngest node first.",
    )
    for user, operand, start, end, label, place in (
        ("L", "s", -36, 24, g["L"], (-28, 4)),
        ("L", "h", 40, 52, g["L"], (14, 30)),
        ("s", "h", -24, -46, f"{g['s']} · {v['h']}", (-50, 2)),
        ("s", "h", 20, -6, f"{g['s']} · {v['h']}", (42, 10)),
        ("h", "x", -44, 20, f"{g['h']} · {v['w']} = {g['x']}", (-64, 6)),
        ("h", "w", 44, -20, f"{g['h']} · {v['x']} = {g['w']}", (62, 6)),
    ):
        x0, y0 = CENTRES[user][0] + start, CENTRES[user][1] - HEIGHT / 2
        x1, y1 = CENTRES[operand][0] + end, CENTRES[operand][1] + HEIGHT / 2
        sheet.arrow([(x0, y0), (x1, y1)], AMBER.line, 1.6)
        sheet.text((x0 + x1) / 2 + place[0], (y0 + y1) / 2 + place[1], label, 13, AMBER.line, mono=True, bold=True)

    titles = {"x": "x", "w": "w", "h": "h = x * w", "s": "s = h * h", "L": "L = s + h"}
    for name, (x, y) in CENTRES.items():
        leaf = name in "xw"
        left, top = x - WIDTH / 2, y - HEIGHT / 2
        sheet.rect(left, top, WIDTH, HEIGHT, GREEN if leaf else BLUE, radius=14 if leaf else 5)
        sheet.text(x, y - 9, titles[name], 14, mono=True, bold=True)
        sheet.text(x, y + 11, f"value {v[name]}, gradient {g[name]}", 10, MUTED, mono=True)
        sheet.circle(left, top, 11, AMBER.line)
        sheet.text(left, top, str(order.index(name) + 1), 12.5, PAPER, bold=True)

    notes = {
        "L": ["the start: dL/dL = 1"],
        "h": [
            "a shared node: it waits until all",
            "three gradients have arrived, and",
            f"passes on their sum: {' + '.join(f'{part:g}' for part in to_h)} = {g['h']}",
        ],
        "w": ["leaves come last: what arrives", "is added to their .grad"],
    }
    for name, lines in notes.items():
        x, y = CENTRES[name][0] + WIDTH / 2 + 18, CENTRES[name][1]
        for i, line in enumerate(lines):
            sheet.text(x, y + 18 * (i - (len(lines) - 1) / 2), line, 12.5, INK, anchor="start")
    return str(sheet)
