"""Models as ONNX files, for other programs to run: `norch.onnx.export(model, inputs, "model.onnx")`.

The model runs once, in evaluation mode, while the calls of the C library are noted (trace.py); those that depend on the
inputs become nodes (operators.py), all other tensors constants. With `dynamic_axes` it runs again with those axes one
longer: a size that differs between the two runs is computed from the inputs' in the file.
"""

from __future__ import annotations

import sys
from typing import Any, Mapping, Sequence, Union

from ..autograd import no_grad
from ..files import File, written
from ..functions.joining import cat
from ..given import given
from ..guards import Guard
from ..nn.module import Module
from ..tensor import Tensor
from .graph import Graph
from .trace import Trace, tracing

__all__ = ["export", "is_in_onnx_export"]

Axes = Union[Mapping[int, str], Sequence[int]]

_exporting = False


def is_in_onnx_export() -> bool:
    """Whether `export` is running the model.

    >>> norch.onnx.is_in_onnx_export()
    False
    """
    return _exporting


def export(
    model: Module,
    args: Tensor | tuple[Any, ...],
    f: File,
    kwargs: Mapping[str, Any] | None = None,
    *,
    export_params: bool = True,
    verbose: bool | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamic_axes: Mapping[str, Axes] | None = None,
    **ignored: Any,
) -> None:
    """Write a model to an ONNX file, as it computes with these inputs in evaluation mode.

    Args:
        model: a Module (or a function) of tensors that returns a tensor, or lists, tuples and dicts of tensors.
        args: its input, or a tuple of its inputs; those that are no tensors become part of the model.
        f: a path, or a binary file that is open for writing.
        kwargs: inputs by keyword.
        input_names, output_names: of the tensors, in order; numbered if left out.
        opset_version: the version of ONNX's operators, at least 20 (the default).
        dynamic_axes: for a name the axes whose size may vary, {"input": {0: "batch"}} or {"input": [0]}.

    What depends on values (`if loss > 1`, masks, `nonzero`) is fixed as it was in this run. PyTorch's other options
    are accepted and change nothing. Needs the packages numpy and onnx (`pip install onnx`): raises ImportError without
    them, and RuntimeError for an operation that ONNX cannot express, with its name.

    >>> norch.onnx.export(nn.Linear(2, 1), norch.ones(1, 2), "model.onnx")  # doctest: +SKIP
    """
    if not export_params:
        raise ValueError("onnx.export: export_params=False is not supported: the parameters are part of the file")
    if not isinstance(dynamic_axes, (dict, type(None))):
        raise TypeError(f"onnx.export: expected dynamic_axes as a dictionary, got {given(dynamic_axes)}")
    args = args if isinstance(args, tuple) else (args,)
    graph = Graph(max(opset_version or 20, 20))
    inputs = [*_tensors(args), *_tensors(kwargs or {})]
    names = _named("input", input_names, len(inputs))
    dynamic = {name: _axes(name, axes) for name, axes in (dynamic_axes or {}).items()}
    first = _run(model, args, kwargs or {}, {})
    longer = {number: list(dynamic[name]) for number, name in enumerate(names) if dynamic.get(name)}
    second = _run(model, args, kwargs or {}, longer) if longer else first
    graph.build(first, second, names, _named("output", output_names, len(first.outputs)), dynamic, _parameters(model))
    content = graph.serialized(getattr(model, "get_name", lambda: "model")())
    with written(f, "onnx.export") as file:
        file.write(content)


def _run(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], longer: Mapping[int, Sequence[int]]) -> Trace:
    """Trace the model on its inputs; the axes in `longer`, by the number of the input, are one longer."""
    inputs: list[Tensor] = []

    def own(value: Any) -> Any:
        if isinstance(value, Tensor):
            made = value.detach().clone()
            for axis in longer.get(len(inputs), ()):
                made = cat([made, made.narrow(axis, made.shape[axis] - 1, 1)], axis)
            inputs.append(made)
            return made
        if isinstance(value, (list, tuple)):
            return type(value)(own(item) for item in value)
        return {key: own(item) for key, item in value.items()} if isinstance(value, dict) else value

    own_args, own_kwargs = own(args), own(dict(kwargs))
    modules = list(model.modules()) if isinstance(model, Module) else []
    changes = [(sys.modules[__name__], {"_exporting": True}), *[(module, {"training": False}) for module in modules]]
    with Guard(*changes), no_grad(), tracing(inputs) as trace:
        trace.finish(_tensors(model(*own_args, **own_kwargs)))
        return trace


def _tensors(value: Any) -> list[Tensor]:
    """The tensors in lists, tuples and dicts, in order."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [found for item in value for found in _tensors(item)] if isinstance(value, (list, tuple)) else []


def _parameters(model: Any) -> dict[str, Tensor]:
    return {**dict(model.named_parameters()), **dict(model.named_buffers())} if isinstance(model, Module) else {}


def _named(kind: str, names: Sequence[str] | None, count: int) -> list[str]:
    given = list(names or ())
    if len(given) > count:
        raise ValueError(f"onnx.export: {len(given)} {kind}_names for {count} tensors")
    start = len(given)
    return given + [kind if count == 1 else f"{kind}_{number}" for number in range(start, count)]


def _axes(name: str, axes: Axes) -> dict[int, str]:
    return dict(axes) if isinstance(axes, Mapping) else {axis: f"{name}_{axis}" for axis in axes}
