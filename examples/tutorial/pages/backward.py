"""Makes backward.html: a stepper through backward, with the value and the gradient of each node.

norch computes each expression, walks its graph and says in which order; what each grad_fn sends to its operands comes
from its own `backward`. The page shows these numbers and computes none.
"""

from __future__ import annotations

from typing import Callable

from frame import page, rows, words

import norch
from norch.display.graph.layout import Layout, arrange
from norch.display.graph.svg import number, text_width

Lines = dict[str, str]  # name -> code, in the order in which they run; leaves are given as lists

EXPRESSIONS: dict[str, tuple[str, Lines]] = {
    "a node used twice": (
        "h is used three times. It waits until all three gradients have arrived, and passes on their sum.",
        {"x": "[2]", "w": "[3]", "h": "x * w", "s": "h * h", "L": "s + h"},
    ),
    "a product and a sum": (
        "The smallest graph with every rule in it: a sum hands its gradient on, a product exchanges its factors.",
        {"a": "[2]", "b": "[-3]", "c": "[10]", "d": "[-2]", "e": "a * b", "f": "e + c", "L": "f * d"},
    ),
    "broadcasting": (
        "b is added to both rows of p. So b receives a gradient of two rows, which are summed to the shape of b.",
        {
            "x": "[[1, 2], [3, 4]]",
            "w": "[2, 1]",
            "b": "[-4, 1]",
            "p": "x * w",
            "y": "p + b",
            "q": "y ** 2",
            "L": "q.sum()",
        },
    ),
    "a neuron": (
        "Two inputs, two weights, a bias and the activation function tanh, whose slope scales all that flows back.",
        {
            "x1": "[2]",
            "w1": "[-3]",
            "x2": "[0]",
            "w2": "[1]",
            "b": "[6.8813735870195432]",
            "u": "x1 * w1",
            "v": "x2 * w2",
            "s": "u + v",
            "n": "s + b",
            "o": "n.tanh()",
        },
    ),
    "the article's cubes": (
        "The expression with which the article explains the chain rule: three operations on two matrices.",
        {"x": "[[1, 2, 3], [3, 2, 1]]", "y": "[[3, 2, 1], [1, 2, 3]]", "d": "x - y", "p": "d ** 3", "L": "p.sum()"},
    ),
}

LETTER, LINE, GAP, MARGIN = 14.0, 19.0, 40.0, 10.0  # sizes in the picture


class Expression:
    """An expression, computed line by line, and everything that its backward did."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.tensors: dict[str, norch.Tensor] = {}
        self.leaves = [name for name, code in lines.items() if code[0] == "["]
        for name, code in lines.items():
            value = eval(code, {}, self.tensors)
            if name in self.leaves:
                value = norch.tensor(value, dtype=norch.float64, requires_grad=True)
            self.tensors[name] = value
        edges = {id(tensor._edge): name for name, tensor in self.tensors.items()}
        self.operands = {
            name: [edges.get(id(edge)) for edge in tensor.grad_fn.edges]
            for name, tensor in self.tensors.items()
            if tensor.grad_fn is not None
        }
        self.order: list[str] = []
        for name, tensor in self.tensors.items():
            tensor.register_hook(lambda gradient, name=name: self.order.append(name))
        self.result.backward(norch.ones_like(self.result), retain_graph=True)

    @property
    def last(self) -> str:
        return list(self.lines)[-1]

    @property
    def result(self) -> norch.Tensor:
        return self.tensors[self.last]

    def steps(self) -> list[dict]:
        """What each step shows: the node it is at, what it says, and the values and gradients that it changes."""
        leaves = {name: rows(self.tensors[name]) for name in self.leaves}
        steps = [step("forward", "", ["The leaves have their values. Nothing has run yet."], values=leaves)]
        for name, code in self.lines.items():
            if name not in self.leaves:
                value = self.tensors[name]
                steps.append(step("forward", name, [f"{name} = {code} = {words(value)}"], values={name: rows(value)}))
        last = self.last
        arrived = {last: norch.ones_like(self.result)}
        says = f"{last}.backward() starts with d{last}/d{last} = 1."
        steps.append(step("backward", last, [says], gradients={last: ["1"]}))
        steps += [self.passed_on(name, arrived) for name in self.order if name not in self.leaves]
        for name, gradient in arrived.items():
            assert norch.allclose(gradient, self.tensors[name].grad), name
        grads = [f"{name}.grad is {words(self.tensors[name].grad)}" for name in self.leaves]
        return [*steps, step("backward", "", ["Leaves come last: what has arrived is added to their .grad.", *grads])]

    def passed_on(self, name: str, arrived: dict[str, norch.Tensor]) -> dict:
        """A node hands the gradient that has arrived at it on to its operands."""
        node = self.tensors[name].grad_fn
        rule = (type(node).__doc__ or "").splitlines()[0].rstrip(".")
        says, gradients = [f"{type(node).__name__}: {rule}"], {}
        with norch.no_grad():
            for operand, part in zip(self.operands[name], node.backward(arrived[name])):
                if operand is None:  # a number, such as the exponent
                    continue
                target = self.tensors[operand]
                line = f"{operand} receives {words(part)}"
                if part.shape != target.shape:
                    part = part.sum(dim=0)  # as the engine does, after a broadcast along the first dimension
                    line += f", summed to the shape {list(target.shape)}: {words(part)}"
                if operand in arrived:
                    part = arrived[operand] + part
                    line += f"; with what was there that makes {words(part)}"
                arrived[operand] = part
                gradients[operand] = rows(part)
                says.append(line)
        return {**step("backward", name, says, gradients=gradients), "flows": True}

    def picture(self) -> dict:
        """Where the boxes and the lines between them go."""
        names = list(self.lines)
        titles = [name if name in self.leaves else f"{name} = {self.lines[name]}" for name in names]
        texts = [
            [title, *(f"{word:6}{row}" for word, t in (("value", x), ("grad", x.grad)) for row in rows(t))]
            for title, x in zip(titles, self.tensors.values())
        ]
        heights = [LINE * len(text) + 14 for text in texts]
        widths = [max(text_width(line, LETTER) for line in text) + 24 for text in texts]
        places = {name: place for place, name in enumerate(names)}
        edges = [(places[o], places[name]) for name, operands in self.operands.items() for o in operands if o]
        layout = arrange(widths, edges, {places[name] for name in self.leaves})
        rooms = [max(h for h, at in zip(heights, layout.layer) if at == layer) for layer in range(layout.layers)]
        tops = [MARGIN + sum(rooms[:layer]) + GAP * layer for layer in range(layout.layers)]
        at = [tops[layer] + (rooms[layer] - height) / 2 for layer, height in zip(layout.layer, heights)]
        boxes = {}
        for place, name in enumerate(names):
            box = [MARGIN + layout.x[place] - widths[place] / 2, at[place], widths[place], heights[place]]
            boxes[name] = {
                "title": titles[place],
                "box": [number(value) for value in box],
                "leaf": name in self.leaves,
                "rows": len(rows(self.tensors[name])),
            }
        lines = []
        for place, (source, target) in enumerate(edges):
            arriving = sorted(
                (other for other, edge in enumerate(edges) if edge[1] == target), key=layout_order(layout, edges)
            )
            port = layout.x[target] + 26 * (arriving.index(place) - (len(arriving) - 1) / 2)
            stops = [(x, tops[layer], tops[layer] + rooms[layer]) for x, layer in layout.points[place]]
            path = curve(layout.x[source], at[source] + heights[source], [*stops, (port, at[target], at[target])])
            lines.append({"from": names[source], "to": names[target], "path": path})
        size = [number(layout.width + 2 * MARGIN), number(tops[-1] + rooms[-1] + MARGIN)]
        return {"size": size, "boxes": boxes, "lines": lines}


def step(phase: str, node: str, says: list[str], **changes: dict[str, list[str]]) -> dict:
    return {"phase": phase, "node": node, "says": says, **changes}


def layout_order(layout: Layout, edges: list[tuple[int, int]]) -> Callable[[int], float]:
    """From left to right: where an edge comes from, last."""
    return lambda edge: layout.points[edge][-1][0] if layout.points[edge] else layout.x[edges[edge][0]]


def curve(x: float, y: float, stops: list[tuple[float, float, float]]) -> str:
    """A line downwards from (x, y), straight between the top and the bottom of each stop."""
    path = f"M{number(MARGIN + x)} {number(y)}"
    for next_x, top, bottom in stops:
        middle = (y + top) / 2
        bend = [MARGIN + x, middle, MARGIN + next_x, middle, MARGIN + next_x, top]
        path += " C" + " ".join(map(number, bend)) + (f" V{number(bottom)}" if bottom > top else "")
        x, y = next_x, bottom
    return path


def expressions() -> list[dict]:
    found = []
    for title, (note, lines) in EXPRESSIONS.items():
        expression = Expression(lines)
        found.append({"title": title, "note": note, **expression.picture(), "steps": expression.steps()})
    return found


def draw() -> str:
    return page("backward", "Backward, a node at a time", expressions())
