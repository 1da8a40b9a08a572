"""Parameters in a list or dict, which the module around it finds."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

from ...tensor import Tensor
from ..module import Module
from ..parameter import Parameter

__all__ = ["ParameterDict", "ParameterList"]


class ParameterList(Module):
    """A list of parameters, named "0", "1", ...; tensors become parameters over the same memory.

    >>> weights = nn.ParameterList([nn.Parameter([1.0]), nn.Parameter([2.0])])
    >>> sum(weights)
    tensor([3.], grad_fn=<AddBackward>)
    """

    def __init__(self, values: Iterable[Any] = ()):
        super().__init__()
        self.extend(() if values is None else values)

    def _name(self, index) -> str:
        position, count = operator.index(index), len(self)
        if not -count <= position < count:
            raise IndexError(f"ParameterList: index {position} is out of range for {count} parameters")
        return str(position % count)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(list(self._parameters.values()))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._parameters[self._name(index)]

    def __setitem__(self, index, value) -> None:
        self.register_parameter(self._name(index), _parameter(value))

    def append(self, value):
        """Add a parameter at the end; returns self."""
        self.register_parameter(str(len(self)), _parameter(value))
        return self

    def extend(self, values: Iterable[Any]):
        """Add each of `values` at the end; returns self."""
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise TypeError(f"extend was given a {type(values).__name__}, expected an iterable of parameters")
        for value in list(values):
            self.append(value)
        return self

    __iadd__ = extend

    def inner_repr(self) -> str:
        return ", ".join(f"{name}: {list(value.shape)}" for name, value in self._parameters.items())


class ParameterDict(Module):
    """A dict of parameters, in the order given; tensors become parameters over the same memory.

    >>> weights = nn.ParameterDict({"a": nn.Parameter([1.0]), "b": nn.Parameter([2.0])})
    >>> weights["a"] + weights["b"]
    tensor([3.], grad_fn=<AddBackward>)
    """

    def __init__(self, values=None):
        super().__init__()
        self.update({} if values is None else values)

    def __getitem__(self, key: str) -> Parameter:
        return self._parameters[key]

    def __setitem__(self, key: str, value) -> None:
        self.register_parameter(key, _parameter(value))

    def __delitem__(self, key: str) -> None:
        if key not in self._parameters:
            raise KeyError(key)
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._parameters))

    def __contains__(self, key) -> bool:
        return key in self._parameters

    def keys(self):
        """The names."""
        return self._parameters.keys()

    def values(self):
        """The parameters."""
        return self._parameters.values()

    def items(self):
        """Pairs of a name and a parameter."""
        return self._parameters.items()

    def pop(self, key: str) -> Parameter:
        """Take the parameter of this name out and return it."""
        value = self[key]
        del self[key]
        return value

    def update(self, values) -> None:
        """Add parameters from a dict, another ParameterDict or pairs of a name and a parameter."""
        pairs = values.items() if hasattr(values, "items") else values
        for key, value in list(pairs):
            self[key] = value

    def inner_repr(self) -> str:
        return ", ".join(f"{name}: {list(value.shape)}" for name, value in self._parameters.items())


def _parameter(value) -> Parameter:
    if isinstance(value, Parameter):
        return value
    if isinstance(value, Tensor):
        return Parameter(value)
    raise TypeError(f"given a {type(value).__name__}, expected a Parameter or a Tensor")
