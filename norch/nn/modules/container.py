"""Modules that hold modules or parameters, in a list or a dict."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from ...given import given
from ...tensor import Tensor
from ..module import Module
from ..parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]

T = TypeVar("T", Module, Parameter)


class _Container(Module, Generic[T]):
    """What all containers share: values by name, which are modules unless a class says otherwise."""

    kind: type[T] = Module  # type: ignore[assignment]  # for messages
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # the values are attributes too

    def _values(self) -> dict[str, Any]:
        return self._modules

    def _checked(self, value: Any) -> Any:
        if not isinstance(value, Module) and not (value is None and isinstance(self, (_Dict, ModuleList))):
            raise TypeError(f"{self.get_name()}: given {given(value)}, expected a Module{self._hint(value)}")
        return value

    def _hint(self, value: Any) -> str:
        """What a beginner meant who gave `value` in place of a module."""
        if isinstance(value, type) and issubclass(value, Module):
            return f": call the class, {value.__name__}()"
        if isinstance(value, (list, tuple)) and isinstance(self, Sequential):
            return ": Sequential(*layers) gives it the elements of a list"
        if callable(value) and not isinstance(value, type):
            return ": a function becomes a layer by a Module whose forward calls it, such as nn.ReLU()"
        return ""

    def _set(self, name: str, value: T | Tensor) -> None:
        self._add("_modules", name, self._checked(value), Module)

    def __len__(self) -> int:
        return len(self._values())


class _Parameters(_Container[Parameter]):
    """What ParameterList and ParameterDict share: tensors become parameters, and other values are attributes."""

    kind = Parameter

    def _names(self) -> dict[str, None]:
        names: dict[str, None] = vars(self).setdefault("_own_names", {})
        return names

    def _values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._names()}

    def _set(self, name: str, value: Any) -> None:
        names = self._names()
        self._check_name("parameter", name, names)
        setattr(
            self, name, value if not isinstance(value, Tensor) or isinstance(value, Parameter) else Parameter(value)
        )
        names[name] = None

    def __delitem__(self, key: str) -> None:
        del self._names()[key]
        delattr(self, key)

    def extra_repr(self) -> str:
        shown = {name: list(x.shape) if isinstance(x, Tensor) else given(x) for name, x in self._values().items()}
        return ", ".join(f"{name}: {shown[name]}" for name in shown if name not in self._modules)


# ---- Lists ----------------------------------------------------------------------------------------------------------


class _List(_Container[T]):
    """What the lists share: values named "0", "1", ..."""

    def __init__(self, values: Iterable[T | Tensor] | None = None) -> None:
        super().__init__()
        self.extend(() if values is None else values)

    def _name(self, index: int) -> str:
        """The name of the value at `index`, which may count from the end."""
        names, position = list(self._values()), operator.index(index)
        if not -len(names) <= position < len(names):
            kind = self.kind.__name__.lower()
            raise IndexError(f"{self.get_name()}: index {position} is out of range for {len(names)} {kind}s")
        return names[position]

    def _slice(self, values: dict[str, T]) -> Self:
        return type(self)(values.values())

    def __iter__(self) -> Iterator[T]:
        return iter(list(self._values().values()))

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> T | Self:
        if isinstance(index, slice):
            return self._slice(dict(list(self._values().items())[index]))
        return self._values()[self._name(index)]

    def __setitem__(self, index: int, value: T | Tensor) -> None:
        self._set(self._name(index), value)

    def append(self, module: T | Tensor) -> Self:
        """Add a value at the end; returns self."""
        self._set(str(len(self)), module)
        return self

    def extend(self, values: Iterable[T | Tensor]) -> Self:
        """Add each of `values` at the end; returns self."""
        one = isinstance(values, (Module, Tensor)) and not isinstance(values, _List)
        if one or not isinstance(values, Iterable):
            raise TypeError(f"extend was given {given(values)}, expected an iterable of {self.kind.__name__}s")
        for value in list(values):
            self.append(value)
        return self

    __iadd__ = extend


class _Modules(_List[Any]):  # Any module: type checkers let `model[0].weight` pass
    """What Sequential and ModuleList share."""

    def _renumber(self, modules: Iterable[Module]) -> None:
        """Make `modules` the only children."""
        for name in list(self._modules):
            delattr(self, name)
        self.extend(modules)

    def __delitem__(self, index: int | slice) -> None:
        names = set(list(self._modules)[index]) if isinstance(index, slice) else {self._name(index)}
        self._renumber([module for name, module in self._modules.items() if name not in names])

    def insert(self, index: int, module: Module) -> Self:
        """Add a module before position `index`; returns self."""
        modules = list(self)
        if not -len(modules) <= operator.index(index) <= len(modules):
            raise IndexError(f"{self.get_name()}: insert at {index} is out of range for {len(modules)} modules")
        modules.insert(index, self._checked(module))
        self._renumber(modules)
        return self

    def pop(self, index: int = -1) -> Module:
        """Take the module at `index` out and return it."""
        module = self[index]
        del self[index]
        return module

    def __add__(self, other: Iterable[Module]) -> Self:
        if not isinstance(other, Iterable):
            raise ValueError(f"{self.get_name()}: expected modules to add, got {type(other).__name__}")
        return type(self)(*self._as_arguments([*self, *other]))

    def _as_arguments(self, modules: list[Module]) -> list[Any]:
        """What makes a container of these modules when it is given to the class."""
        return [modules]


class Sequential(_Modules):
    """Calls its modules one after the other. Takes modules, or a dict that names them.

    >>> model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    >>> model(norch.ones(4, 2)).shape
    norch.Size([4, 1])
    """

    @overload
    def __init__(self, *modules: Module) -> None: ...
    @overload
    def __init__(self, modules: dict[str, Module], /) -> None: ...
    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], dict):
            for name, module in modules[0].items():
                self._set(name, module)
        else:
            self.extend(modules)

    def _slice(self, values: dict[str, Module]) -> Self:
        return type(self)(values)

    def _as_arguments(self, modules: list[Module]) -> list[Any]:
        return modules

    def __mul__(self, times: int) -> Self:
        if not isinstance(times, int):
            raise TypeError(f"Sequential: expected an int to multiply it with, got {type(times).__name__}")
        if times <= 0:
            raise ValueError(f"Sequential: expected an int above 0 to multiply it with, got {times}")
        return type(self)(*(list(self) * times))

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Self:
        return self.extend(list(self * times)[len(self) :])

    def forward(self, input: Tensor) -> Tensor:
        for name, module in self._modules.items():
            try:
                input = module(input)
            except Exception as error:
                if hasattr(error, "add_note"):  # since Python 3.11
                    error.add_note(f"in {self.get_name()}, layer ({name}): {module._nested_repr()}")
                raise
        return input


class ModuleList(_Modules):
    """A list of modules, whose parameters the module around it finds; None holds a place. It has no forward.

    >>> layers = nn.ModuleList([nn.Linear(2, 3), nn.Linear(3, 1)])
    >>> len(layers), len(list(layers.parameters()))
    (2, 4)
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__(modules)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """A list does not say how its modules follow each other."""
        raise NotImplementedError(
            "ModuleList does not define forward(): call its modules one by one, or make them a Sequential"
        )


class ParameterList(_Parameters, _List[Parameter]):
    """A list of parameters, named "0", "1", ...; tensors become parameters that share their memory.

    It also holds other values, of which parameters of modules and lists count as this one's.

    >>> weights = nn.ParameterList([nn.Parameter([1.0]), nn.Parameter([2.0])])
    >>> sum(weights)
    tensor([3.], grad_fn=<AddBackward>)
    """


# ---- Dicts ----------------------------------------------------------------------------------------------------------


class _Dict(_Container[T], MutableMapping[str, T]):
    """What the dicts share; `keys`, `items`, `pop`, `update` and so on come from MutableMapping."""

    __eq__, __hash__ = Module.__eq__, Module.__hash__  # not a Mapping's: a module equals itself alone

    def __init__(self, parameters: Mapping[str, T | Tensor] | Iterable[tuple[str, T | Tensor]] | None = None) -> None:
        super().__init__()
        try:
            values = dict({} if parameters is None else parameters)
        except (TypeError, ValueError):
            kind = type(parameters).__name__
            name = type(self).__name__
            raise TypeError(f"{name}: given a {kind}, expected a dict, or pairs of a name and a value") from None
        for name, value in values.items():
            self[name] = value

    def __getitem__(self, key: str) -> T:
        return self._values()[key]

    def __setitem__(self, key: str, value: T | Tensor) -> None:
        self._set(key, value)

    def __delitem__(self, key: str) -> None:
        del self._values()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._values()))

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._values()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value under a name, after `default` was put there if there was none: as the dict holds it."""
        if key not in self:
            self[key] = default
        return self[key]


class ModuleDict(_Dict[Any]):
    """A dict of modules, in the order given, whose parameters the module around it finds. It has no forward.

    >>> layers = nn.ModuleDict({"in": nn.Linear(2, 3), "out": nn.Linear(3, 1)})
    >>> layers["out"](layers["in"](norch.ones(4, 2))).shape
    norch.Size([4, 1])
    """

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__(modules)


class ParameterDict(_Parameters, _Dict[Parameter]):
    """A dict of parameters, in the order given, but those of a plain dict by name, as PyTorch takes them.

    Tensors become parameters that share their memory. It also holds other values, of which parameters of modules and
    lists count as this one's.

    >>> weights = nn.ParameterDict({"a": nn.Parameter([1.0]), "b": nn.Parameter([2.0])})
    >>> weights["a"] + weights["b"]
    tensor([3.], grad_fn=<AddBackward>)
    """

    def __init__(
        self, parameters: Mapping[str, Parameter | Tensor] | Iterable[tuple[str, Parameter | Tensor]] | None = None
    ) -> None:
        super().__init__(_by_name(parameters))

    def update(self, other: Any = (), /, **named: Parameter | Tensor) -> None:
        """Set all of them; those of a plain dict by name."""
        super().update(_by_name(other), **named)

    def copy(self) -> ParameterDict:
        """Another ParameterDict of the same parameters."""
        return ParameterDict(self)

    @classmethod
    def fromkeys(cls, keys: Iterable[str], default: Parameter | Tensor | None = None) -> ParameterDict:
        """A ParameterDict with one parameter under each of the names; None keeps the name for one to come."""
        return cls(OrderedDict.fromkeys(keys, default))  # type: ignore[arg-type]

    def __or__(self, other: Mapping[str, Parameter]) -> ParameterDict:
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Mapping[str, Parameter]) -> ParameterDict:
        return ParameterDict(OrderedDict([*other.items(), *self.items()]))

    def __ior__(self, other: Mapping[str, Parameter]) -> Self:
        self.update(other)
        return self


def _by_name(given: Any) -> Any:
    """The values of a plain dict sorted by name, all else as it is."""
    is_plain = isinstance(given, Mapping) and not isinstance(given, (OrderedDict, ParameterDict))
    return sorted(given.items()) if is_plain else given
