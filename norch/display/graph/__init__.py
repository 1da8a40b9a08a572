"""`norch.draw_graph(loss)`: the autograd graph as text, in Graphviz's DOT language and as an SVG picture.

reading.py makes records of the graph's nodes, summary.py folds long graphs, layout.py places the boxes, formats.py
writes text, DOT and SVG, and svg.py is the sheet it draws on. Only values.py reads a tensor's values, if asked to.
"""

from __future__ import annotations

import os
from typing import Protocol, cast

from ...files import written
from ...tensor import Tensor
from ...types import shown
from . import formats
from .reading import Names, Node, read
from .summary import summarise

FORMATS = ("text", "dot", "svg")
_ENDINGS = {".txt": "text", ".dot": "dot", ".gv": "dot", ".svg": "svg"}


class _Program(Protocol):
    def graph_nodes(self) -> list[Node]: ...


class Drawing:
    """A graph that `norch.draw_graph` read, as `.text`, `.dot` and `.svg`; a notebook shows the picture.

    It holds only text, so it keeps no tensor and no part of the graph alive. `str(drawing)` is the text, or
    the format that `format` names.

    >>> x = norch.Tensor([3, 4], requires_grad=True)
    >>> drawing = norch.draw_graph((x * x).sum(), params={"x": x})
    >>> drawing
    2 operations, 1 leaf
    x  = leaf        [2]
    %1 = mul(x, x)   [2]
    %2 = sum(%1)     []
    >>> drawing.dot.splitlines()[0]
    'digraph autograd {'
    """

    def __init__(self, nodes: list[Node], shown: list[Node], format: str = "text") -> None:
        self.format = format
        self._nodes, self._shown = nodes, shown

    @property
    def text(self) -> str:
        """A line for each node, operands before their users: name, operation, shape."""
        return formats.text(self._nodes, self._shown)

    @property
    def dot(self) -> str:
        """The graph in the DOT language: `dot -Tpdf graph.dot -o graph.pdf` draws it if Graphviz is installed."""
        return formats.dot(self._shown)

    @property
    def svg(self) -> str:
        """The graph as a picture, without Graphviz: leaves at the top, the result at the bottom."""
        return formats.svg(self._shown)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing to a file whose ending names the format: .svg, .dot, .gv or .txt, else ValueError."""
        ending = os.path.splitext(path)[1].lower()
        if ending not in _ENDINGS:
            raise ValueError(f"save: the file is {shown(path)}, expected a name that ends in {', '.join(_ENDINGS)}")
        content = getattr(self, _ENDINGS[ending]) + "\n"
        with written(path, "save") as file:
            file.write(content.encode())

    def __str__(self) -> str:
        return getattr(self, self.format)

    __repr__ = __str__

    def _repr_svg_(self) -> str:
        return self.svg


def draw_graph(
    tensor: Tensor | _Program,
    format: str = "text",
    params: Names | None = None,
    max_nodes: int = 100,
    values: bool = False,
) -> Drawing:
    """The graph that `tensor.backward()` would walk, as a `Drawing`: print it, save it, or let a notebook show it.

    Args:
        tensor: a tensor that requires gradients, such as a loss; or a program of a compiled function, of which the
            operations are drawn that it replays. A program has the names that it knows, and no `values`.
        format: what `str(drawing)` gives: "text", "dot" or "svg". The drawing has all three.
        params: names for tensors: a Module, a dict {name: tensor}, or pairs as from `named_parameters()`.
        max_nodes: a graph of more nodes is summarised. Repeated operations become one box with a count, and if that is
            not enough, so does the middle of the graph.
        values: show the value of each node and its gradient. Gradients are there after `backward(retain_graph=True)`,
            for every tensor that your program holds; what it does not hold has no `.grad`. A tensor of more than nine
            elements shows the range of its values.

    Raises:
        TypeError: `tensor`, or a value of `params`, is not a Tensor (or program).
        ValueError: the format is unknown, `max_nodes` is below 4, or a program comes with `params` or `values`.
        RuntimeError: the tensor requires no gradients, or backward has freed its graph.

    >>> x = norch.Tensor([[1, 2, 3], [3, 2, 1]], requires_grad=True)
    >>> y = norch.Tensor([[3, 2, 1], [1, 2, 3]], requires_grad=True)
    >>> print(norch.draw_graph(((x - y) ** 3).sum(), params={"x": x, "y": y}))
    3 operations, 2 leaves
    x  = leaf         [2, 3]
    y  = leaf         [2, 3]
    %1 = sub(x, y)    [2, 3]
    %2 = pow(%1, 3)   [2, 3]
    %3 = sum(%2)      []

    >>> a, b = norch.Tensor([2.0], requires_grad=True), norch.Tensor([-3.0], requires_grad=True)
    >>> product = a * b
    >>> loss = product + a
    >>> loss.backward(retain_graph=True)
    >>> print(norch.draw_graph(loss, params={"a": a, "b": b}, values=True))
    2 operations, 2 leaves
    a  = leaf         [1]   value [2]    grad [-2]
    b  = leaf         [1]   value [-3]   grad [2]
    %1 = mul(a, b)    [1]   value [-6]   grad [1]
    %2 = add(%1, a)   [1]   value [-4]   grad [1]
    """
    if format not in FORMATS:
        raise ValueError(f"draw_graph: format is {shown(format)}, expected one of {', '.join(map(repr, FORMATS))}")
    if not isinstance(max_nodes, int) or isinstance(max_nodes, bool):
        raise TypeError(f"draw_graph: max_nodes is {shown(max_nodes)}, expected an int")
    if max_nodes < 4:
        raise ValueError(f"draw_graph: max_nodes is {max_nodes}, expected at least 4")
    if isinstance(tensor, Tensor) or not hasattr(tensor, "graph_nodes"):
        nodes = read(cast("Tensor", tensor), params, values)
    elif params is not None or values:
        raise ValueError("draw_graph: a program has names of its own and no values; expected neither params nor values")
    else:
        nodes = tensor.graph_nodes()
    return Drawing(nodes, summarise(nodes, max_nodes), format)
