"""Reading an autograd graph: the nodes that `backward` walks become records of names, shapes and operands.

A node of the graph does not hold its result, which may be gone. Its shape comes from an operation that used it: from an
operand that was kept, or because the operation changes no shape.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Callable, Iterable, Mapping, NamedTuple, Sequence, Union

from ..._C import Number
from ...autograd.node import Node as GradFn
from ...given import given
from ...operation import check_tensor
from ...prototypes import operations
from ...tensor import Tensor
from ...types import shown
from .values import notes

if TYPE_CHECKING:
    from ...nn import Module

Names = Union["Module", Mapping[str, Tensor], Iterable[tuple[str, Tensor]]]
Description = tuple[tuple[int, ...], str]  # a tensor's shape, and its dtype and device if they are unusual
Descriptions = dict[GradFn, Description]

OPERATION, LEAF, FREED, FOLDED = "operation", "leaf", "freed", "folded"

# Operations that drop their operand and give a result of its shape.
_KEEP_SHAPE = {*operations()["unary"], "softmax", "log_softmax", "clone", "to", "flip", "cumsum"}


class Operand(NamedTuple):
    """An operand of a node: another node, or a value without gradient (`source` is None)."""

    text: str
    source: int | None = None


class Node:
    """A line of the text, a box of the picture."""

    def __init__(
        self, kind: str, name: str, title: str, operation: str, shape: str, operands: Sequence[Operand] = ()
    ) -> None:
        self.kind = kind
        self.name = name  # "x", or "%3" if the tensor has no name
        self.title = title  # what the box says first: "sub", "fc1.weight"
        self.operation = operation  # "sub", "leaf", "parameter"
        self.shape = shape  # "[2, 3]", with a dtype other than float32 and a device other than the CPU; "" if unknown
        self.operands = operands
        self.notes: Sequence[str] = ()  # "value 6", "grad 1", if they were asked for and are known

    def call(self, operand: Callable[[Operand], str] = lambda o: o.text, most: int = 8) -> str:
        """The operation with its operands in parentheses, the middle of a long list left out."""
        texts = [operand(o) for o in self.operands]
        if len(texts) > most:
            texts[most - 2 : -1] = [f"{len(texts) - most + 1} more"]
        return f"{self.operation}({', '.join(texts)})" if texts else self.operation


def read(tensor: Tensor, params: Names | None = None, values: bool = False) -> list[Node]:
    """The graph behind a tensor: operands before their users, the tensor's own node last."""
    check_tensor(tensor, "draw_graph")
    root = tensor._edge
    if root is None:
        raise RuntimeError("draw_graph: this tensor does not require gradients and has no grad_fn: it has no graph")
    if root.freed:
        raise RuntimeError(
            "draw_graph: this graph was freed by a backward. Draw it before, or call backward(retain_graph=True)"
        )
    functions = _reachable(root)
    names = _Names(params)
    shapes: Descriptions = {root: _description(tensor), **names.shapes}
    _learn_all(shapes, functions)
    nodes: list[Node] = []
    places: dict[GradFn, int] = {}
    for function in reversed(functions):  # the oldest first; a leaf before the first that uses it
        for part in (*(function.edges or ()), function):
            if part is not None and part not in places:
                places[part] = len(nodes)
                nodes.append(_node(part, names, shapes, nodes, places))
    for function, lines in (notes(functions) if values else {}).items():
        nodes[places[function]].notes = lines
    return nodes


def _reachable(root: GradFn) -> list[GradFn]:
    """Every operation that a gradient reaches, the youngest first, as `backward` takes them; a lone leaf as it is."""
    found, waiting = {root}, [root]
    while waiting:
        for edge in waiting.pop().edges or ():
            if edge is not None and edge not in found:
                found.add(edge)
                waiting.append(edge)
    return sorted((f for f in found if not f.is_leaf), key=lambda f: -f.age) or [root]


# ---- Names ----------------------------------------------------------------------------------------------------------


class _Names:
    """The names given to tensors, and numbers for the others."""

    def __init__(self, params: Names | None) -> None:
        self.of_edge: dict[GradFn, str] = {}
        self.of_tensor: dict[int, str] = {}
        self.shapes: Descriptions = {}
        self.count = 0
        for name, tensor in _pairs(params):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"draw_graph: params[{shown(name)}] is {given(tensor)}, expected a Tensor")
            name = "".join(c if c.isprintable() else "?" for c in str(name))
            self.of_tensor.setdefault(id(tensor), name)
            if tensor._edge is not None:
                self.of_edge.setdefault(tensor._edge, name)
                self.shapes[tensor._edge] = _description(tensor)

    def next(self) -> str:
        self.count += 1
        return f"%{self.count}"


def _pairs(params: object) -> list[tuple[str, object]]:
    if params is None:
        return []
    if hasattr(params, "named_parameters") and hasattr(params, "named_buffers"):
        return [*params.named_parameters(), *params.named_buffers()]
    if hasattr(params, "items"):
        return list(params.items())
    if isinstance(params, (Tensor, str)) or not isinstance(params, Iterable):
        raise TypeError(f"draw_graph: params is {given(params)}, expected a Module, a dict or pairs of name and tensor")
    pairs = list(params)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError("draw_graph: params has an element that is not a pair of name and tensor")
    return pairs


@cache
def operation_name(name: str) -> str:
    """The name of a node's class: log_softmax for LogSoftmaxBackward; other names stay."""
    if name.endswith("Backward"):
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name[: -len("Backward")]).lower()
    return "mul" if name == "elementwise_mul" else name


# ---- Nodes ----------------------------------------------------------------------------------------------------------


def _node(function: GradFn, names: _Names, shapes: Descriptions, nodes: list[Node], places: dict[GradFn, int]) -> Node:
    named = names.of_edge.get(function)
    shape = _shape_text(shapes.get(function))
    if function.is_leaf:
        kind = "parameter" if type(function.result()).__name__ == "Parameter" else "leaf"
        return Node(LEAF, named or names.next(), named or kind, kind, shape)
    operation = operation_name(type(function).__name__)
    freed = function.freed
    node = Node(FREED if freed else OPERATION, named or names.next(), operation, operation, shape)
    node.operands = [] if freed else _operands(function, names, nodes, places)
    if any(o.source is None for o in node.operands):  # values go into the title: pow(·, 3)
        node.title = node.call(lambda o: "·" if o.source is not None else o.text, most=5)
    if freed:
        node.title += " (freed)"
    if named:
        node.title = f"{named} = {node.title}"
    return node


def _operands(function: GradFn, names: _Names, nodes: list[Node], places: dict[GradFn, int]) -> list[Operand]:
    operands = []
    for edge, value in zip_longest(function.edges, function.input or ()):
        if edge is not None:
            operands.append(Operand(nodes[places[edge]].name, places[edge]))
        elif isinstance(value, Tensor):
            operands.append(Operand(names.of_tensor.get(id(value)) or _shape_text(_description(value))))
        elif isinstance(value, Number):
            operands.append(Operand(f"{value.value:g}" if isinstance(value.value, float) else str(value.value)))
    return operands


# ---- Shapes ---------------------------------------------------------------------------------------------------------


def _description(tensor: Tensor) -> Description:
    """A tensor's shape; its dtype if that is not float32, and its device if that is not the CPU."""
    kind = "" if tensor.dtype.name == "float32" else f" {tensor.dtype.name}"
    return tuple(tensor.shape), kind + ("" if tensor.device == "cpu" else f" {tensor.device}")


def _shape_text(description: Description | None) -> str:
    return "" if description is None else str(list(description[0])) + description[1]


def _learn_all(shapes: Descriptions, functions: list[GradFn]) -> None:
    """Add the known descriptions of results; `functions` are the youngest first."""
    for function in functions:
        _learn(shapes, function, function)
        for place, edge in enumerate(function.edges or ()):
            if edge is not None:
                _learn(shapes, edge, function, place)


def _learn(shapes: Descriptions, function: GradFn, user: GradFn, place: int = 0) -> None:
    """The shape of a function's result: from the result if it is kept, else from an operation that used it."""
    if function in shapes:
        return
    tensor = function.result() if function.is_leaf else function._output
    if tensor is not None:
        shapes[function] = _description(tensor)
    elif user is not function:
        found = _operand_shape(user, place, shapes.get(user))
        if found is not None:
            shapes[function] = found


def _operand_shape(user: GradFn, place: int, result: Description | None) -> Description | None:
    """The description of an operand, from what the operation that used it kept."""
    if user.input:
        return _description(user.input[place]) if isinstance(user.input[place], Tensor) else None
    if not type(user).__module__.startswith("norch.") or len(user.edges) > 1:
        return None
    shape = getattr(user, "shape", None)
    if shape is not None:
        return tuple(shape), "" if result is None else result[1]
    name = operation_name(type(user).__name__)
    if result is None or name not in (*_KEEP_SHAPE, "reverse", "transpose"):
        return None
    sizes = list(result[0])
    if name == "reverse":
        sizes.reverse()
    elif name == "transpose":
        first, second = vars(user)["axes"]
        sizes[first], sizes[second] = sizes[second], sizes[first]
    return tuple(sizes), result[1]
