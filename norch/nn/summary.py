"""A table of a model: its layers, the shapes they return, their parameters."""

from __future__ import annotations

from typing import NamedTuple

from ..autograd import no_grad
from ..given import given
from ..guards import Guard
from ..tensor import Tensor
from .module import Module

__all__ = ["summary"]


HEAD = ("layer", "type", "output shape", "parameters")


class Row(NamedTuple):
    """A module: its dotted name ("" for the model), class, output shapes ("" if never called), own parameters."""

    name: str
    kind: str
    output: str
    parameters: int


class Summary:
    """What `summary` returns; `print` shows the table."""

    def __init__(self, rows: list[Row], total: int, trainable: int) -> None:
        self.rows, self.total, self.trainable = rows, total, trainable

    def __str__(self) -> str:
        cells = [HEAD]
        for row in self.rows:
            depth = row.name.count(".") + (row.name != "")
            name = "  " * depth + (row.name.rsplit(".", 1)[-1] or "(model)")
            cells.append((name, row.kind, row.output, f"{row.parameters:,}" if row.parameters else ""))
        widths = [max(len(line[i]) for line in cells) for i in range(len(HEAD))]
        form = f"{{:{widths[0]}}}  {{:{widths[1]}}}  {{:{widths[2]}}}  {{:>{widths[3]}}}"
        lines = [form.format(*line).rstrip() for line in cells]
        rule = "-" * len(lines[0])
        total = f"{self.total:,} parameters, {self.trainable:,} of them trainable"
        return "\n".join([lines[0], rule, *lines[1:], rule, total])

    __repr__ = __str__


def summary(model: Module, *inputs: object, **kwargs: object) -> Summary:
    """The layers of a model, with the shapes that they return for `model(*inputs, **kwargs)`, and their parameters.

    The model runs once, in eval mode and without gradients; nothing about it changes. Without inputs it does not run,
    and the table shows no shapes. A parameter counts for the module that holds it; one that several share counts once
    in the total. A layer that is called more than once shows the last shape and the number of calls. Raises TypeError
    if the model is not a Module.

    >>> nn.summary(nn.Sequential(nn.Linear(2, 3), nn.Tanh()), norch.ones(4, 2))
    layer    type        output shape  parameters
    ---------------------------------------------
    (model)  Sequential  [4, 3]
      0      Linear      [4, 3]                 9
      1      Tanh        [4, 3]
    ---------------------------------------------
    9 parameters, 9 of them trainable
    """
    if not isinstance(model, Module):
        raise TypeError(f"summary was given {given(model)}, expected a Module")
    outputs = _run(model, inputs, kwargs) if inputs or kwargs else {}
    rows = []
    for name, module in model.named_modules():
        own = sum(parameter.numel for parameter in module.parameters(recurse=False))
        shapes = outputs.get(id(module), [])
        times = f" ({len(shapes)} calls)" if len(shapes) > 1 else ""
        rows.append(Row(name, module.get_name(), (shapes[-1] if shapes else "") + times, int(own)))
    counts = [(int(parameter.numel), parameter.requires_grad) for parameter in model.parameters()]
    return Summary(rows, sum(n for n, _ in counts), sum(n for n, trainable in counts if trainable))


def _run(model: Module, inputs: tuple[object, ...], kwargs: dict[str, object]) -> dict[int, list[str]]:
    """The shapes that each module returned, call by call, by the module's id."""
    outputs: dict[int, list[str]] = {}
    modules = list(model.modules())

    def note(module: Module, _: object, output: object) -> None:
        outputs.setdefault(id(module), []).append(_shape(output))

    handles = [module.register_forward_hook(note) for module in modules]
    try:
        with no_grad(), Guard(*[(module, {"training": False}) for module in modules]):
            model(*inputs, **kwargs)
    finally:
        for handle in handles:
            handle.remove()
    return outputs


def _shape(output: object) -> str:
    """The shapes in an output, as it is nested."""
    if isinstance(output, Tensor):
        return str(list(output.shape))
    if isinstance(output, (list, tuple)):
        return "(" + ", ".join(map(_shape, output)) + ")"
    if isinstance(output, dict):
        return "{" + ", ".join(f"{key}: {_shape(value)}" for key, value in output.items()) + "}"
    return type(output).__name__
