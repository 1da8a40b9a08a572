"""The ONNX graph of a trace: names, constants, and sizes that depend on the inputs."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ..tensor import Tensor
from . import composed, layers, statistics  # noqa: F401  (they add their operators)
from .nodes import Nodes, Size, bytes_of, type_of
from .operators import emitter
from .trace import Call, Trace, Value


class Graph(Nodes):
    """The nodes of a trace."""

    def build(
        self,
        first: Trace,
        second: Trace,
        inputs: Sequence[str],
        outputs: Sequence[str],
        dynamic: Mapping[str, Mapping[int, str]],
        parameters: Mapping[str, Tensor],
    ) -> None:
        """Add the nodes of a trace; a second one, of longer inputs, says which sizes vary."""
        if len(inputs) != len(first.inputs):
            raise ValueError(f"onnx.export: {len(first.inputs)} tensors came in, {len(inputs)} names were given")
        for name, one, two in zip(inputs, first.inputs, second.inputs):
            self.names[one] = name
            self.sizes.update({(name, axis): (one.shape[axis], two.shape[axis]) for axis in dynamic.get(name, ())})
        self.parameters = {(x.data_ptr(), tuple(x.shape), tuple(x.stride())): name for name, x in parameters.items()}
        if [call.name for call in first.calls] != [call.name for call in second.calls]:
            raise RuntimeError(
                "onnx.export: with another size of a dynamic axis the model takes other steps (a loop over it, as in a "
                "recurrent layer, or a condition on it): leave that axis out of dynamic_axes"
            )
        for call, longer in zip(first.calls, second.calls):
            self._add_call(call, longer)
        self.inputs = [self._info(name, value, dynamic.get(name, {})) for name, value in zip(inputs, first.inputs)]
        self.outputs = []
        for name, one, two in zip(outputs, first.outputs, second.outputs):
            self._compare(one, two)
            self.nodes.append(self.onnx.helper.make_node("Identity", [self._known(one)], [name]))
            self.outputs.append(self._info(name, one, dynamic.get(name, {})))

    def _add_call(self, one: Call, two: Call) -> None:
        for x, y in zip(one.sources(), two.sources()):
            self._compare(x, y)
            self._known(x)
        for x, y in zip(one.results, two.results):
            if x is not None:
                self._compare(x, y)
        one.arguments = [self._varying(x, y) for x, y in zip(one.arguments, two.arguments)]
        emit = emitter(one.name)
        if emit is None:
            raise RuntimeError(f"onnx.export: {one.name} has no equivalent in ONNX that norch knows")
        names = emit(self, one)
        for value, name in zip(one.results, names if isinstance(names, list) else [names]):
            if value is not None:
                self.names[value] = name

    def _compare(self, one: Value, two: Value) -> None:
        """Mark the sizes of the first value that vary."""
        if one is not two:
            one.shape = tuple(self._varying(x, y) for x, y in zip(one.shape, two.shape))
            if one.constant is None or two.constant is None or one in self.names:
                return
            if any(isinstance(size, Size) for size in one.shape):
                self._add_varying(one, two.constant)
            elif _same(one.constant, two.constant):
                return
            elif one.constant.ndim == 0:  # a number that a program made of a size
                size = self._varying(int(one.constant.item()), int(two.constant.item()))
                self.names[one] = self.add("Cast", self.index(size), to=type_of(one.dtype))
            else:
                raise RuntimeError("onnx.export: a constant of the model varies with a dynamic axis")

    def _varying(self, one: Any, two: Any) -> Any:
        if isinstance(one, tuple):
            return tuple(self._varying(x, y) for x, y in zip(one, two))
        if one == two or isinstance(one, (Size, float)):
            return one
        for axis, (short, long) in self.sizes.items():
            if one * long == two * short and one % short == 0:
                return Size(axis, one // short)
        raise RuntimeError(f"onnx.export: a size of {one} becomes {two}, which is no multiple of a dynamic axis")

    def _add_varying(self, value: Value, longer: Tensor) -> None:
        """A constant whose shape varies: a block that repeats along an axis, or 0, s, 2 s, ..."""
        varying: list[tuple[int, Any]] = [(d, size) for d, size in enumerate(value.shape) if isinstance(size, Size)]
        axis, size = varying[0]
        blocks = longer.unflatten(axis, (-1, size.factor))
        block = blocks.select(axis, 0)
        if _same(blocks, block.unsqueeze(axis).expand(blocks.shape)) and block.shape[axis] == size.factor:
            repeats: list[Any] = [1] * len(value.shape)
            repeats[axis] = Size(size.axis, 1)
            self.names[value] = self.add("Tile", self.stored(block), self.joined_sizes(*repeats))
        elif longer.ndim == 1 and longer.tolist() == [int(longer[1]) * place for place in range(len(longer))]:
            step = self.integers(int(longer[1]))
            steps = self.add("Range", self.integers(0), self.add("Mul", self.index(size), step), step)
            self.names[value] = self.add("Cast", steps, to=type_of(value.dtype))
        else:
            raise RuntimeError("onnx.export: a constant of the model varies with a dynamic axis")

    def _known(self, value: Value) -> str:
        """The name of a value; a constant is added where it is met first."""
        if value not in self.names:
            assert value.constant is not None
            name = self.parameters.get(value.source, "")
            self.names[value] = name if name in self.constants else self.stored(value.constant, name)
        return self.names[value]

    def _info(self, name: str, value: Value, axes: Mapping[int, str]) -> Any:
        shape: list[Any] = [None if isinstance(size, Size) else size for size in value.shape]
        for axis, label in axes.items():
            shape[axis] = label
        return self.onnx.helper.make_tensor_value_info(name, type_of(value.dtype), shape)

    def serialized(self, name: str) -> bytes:
        used = {name for node in self.nodes for name in node.input}
        constants = [constant for name, constant in self.constants.items() if name in used]
        graph = self.onnx.helper.make_graph(self.nodes, name, self.inputs, self.outputs, constants)
        model = self.onnx.helper.make_model(
            graph, producer_name="norch", opset_imports=[self.onnx.helper.make_opsetid("", self.opset)], ir_version=10
        )
        self.onnx.checker.check_model(model)
        return bytes(model.SerializeToString())


def _same(x: Tensor, y: Tensor) -> bool:
    return x.dtype is y.dtype and bytes_of(x) == bytes_of(y)
