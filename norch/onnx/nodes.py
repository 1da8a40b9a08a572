"""Nodes and constants of an ONNX graph, as they are added."""

from __future__ import annotations

import ctypes
from typing import Any, Sequence

from ..tensor import Tensor
from ..types import dtype, int64
from .trace import Value

# ONNX's numbers for dtypes (TensorProto.DataType).
_TYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "float64": 11,
    "bfloat16": 16,
}


def type_of(kind: dtype) -> int:
    return _TYPES[str(kind).split(".")[-1]]


class Size:
    """A size that differs between the runs: a multiple of a dynamic size of an input, which is computed by a node."""

    def __init__(self, axis: tuple[str, int], factor: int) -> None:
        self.axis, self.factor = axis, factor


class Nodes:
    """What the operators add to."""

    def __init__(self, opset: int) -> None:
        try:
            import onnx  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            raise ImportError("norch.onnx.export needs the package onnx: pip install onnx") from None
        self.onnx, self.opset = onnx, opset
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.names: dict[Value, str] = {}
        self.parameters: dict[Any, str] = {}  # by address, shape and strides
        self.sizes: dict[tuple[str, int], tuple[int, int]] = {}  # of the inputs' dynamic axes, in either run

    def add(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """A node; the name of its output, or a list of several."""
        names = [f"v{len(self.nodes)}_{number}" for number in range(outputs)]
        self.nodes.append(
            self.onnx.helper.make_node(kind, inputs, names, name=f"{kind}_{len(self.nodes)}", **attributes)
        )
        return names[0] if outputs == 1 else names

    def integers(self, values: Sequence[int] | int) -> str:
        """A constant of int64: a vector, or a number."""
        flat = [values] if isinstance(values, int) else list(values)
        shape = [] if isinstance(values, int) else [len(flat)]
        return self.constant(f"ints_{'x'.join(map(str, flat))}_{len(shape)}", int64, shape, flat)

    def number(self, value: float, kind: dtype) -> str:
        """A constant of no dimensions."""
        return self.constant(f"{value}_{kind}", kind, [], [value])

    def constant(self, name: str, kind: dtype, shape: list[int], values: list[Any]) -> str:
        """A constant with elements in row order; one of the same name is the same."""
        if name not in self.constants:
            self.constants[name] = self.onnx.helper.make_tensor(name, type_of(kind), shape, values)
        return name

    def cast(self, name: str, before: dtype, kind: dtype) -> str:
        """The value of a name in another dtype."""
        return name if before is kind else self.add("Cast", name, to=type_of(kind))

    def shape(self, value: Value) -> str:
        """The shape of a value, as a vector of int64."""
        return self.joined_sizes(*value.shape)

    def joined_sizes(self, *sizes: Any) -> str:
        if not any(isinstance(size, Size) for size in sizes):
            return self.integers(sizes)
        return self.add("Concat", *self.vectors(*sizes), axis=0)

    def vectors(self, *sizes: Any) -> list[str]:
        """Each size as a vector of one int64."""
        return [self.size(size) if isinstance(size, Size) else self.integers([size]) for size in sizes]

    def index(self, place: Any) -> str:
        """A place along an axis, as a scalar."""
        return self.add("Squeeze", self.size(place)) if isinstance(place, Size) else self.integers(place)

    def sliced_to(self, start: Any, length: Any, step: int) -> Any:
        """Where a slice ends."""
        if not isinstance(length, Size):
            if isinstance(start, Size):
                raise RuntimeError("onnx.export: a slice begins at a place that varies with a dynamic axis")
            return start + length * step
        return 2**63 - 1 if start or step != 1 else length

    def size(self, size: Size) -> str:
        """A varying size, as a vector of one int64."""
        name, axis = size.axis
        found = self.add("Shape", name, start=axis, end=axis + 1)
        return found if size.factor == 1 else self.add("Mul", found, self.integers([size.factor]))

    def name(self, value: Value) -> str:
        return self.names[value]

    def stored(self, x: Tensor, name: str = "") -> str:
        name = name or f"constant_{len(self.constants)}"
        self.constants[name] = self.onnx.helper.make_tensor(
            name, type_of(x.dtype), list(x.shape), bytes_of(x), raw=True
        )
        return name


def bytes_of(x: Tensor) -> bytes:
    source = x.detach().cpu().contiguous()
    return ctypes.string_at(source.data_ptr(), source.nbytes) if source.nbytes else b""
