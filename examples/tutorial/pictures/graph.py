"""Draws graph.svg: the autograd graph of the article's L = ((x - y) ** 3).sum()."""

from __future__ import annotations

import norch


def draw() -> str:
    x = norch.Tensor([[1, 2, 3], [3, 2, 1]], requires_grad=True)
    y = norch.Tensor([[3, 2, 1], [1, 2, 3]], requires_grad=True)
    loss = ((x - y) ** 3).sum()
    return norch.draw_graph(loss, params={"x": x, "y": y, "L": loss}).svg
