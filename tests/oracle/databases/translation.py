"""From torch to norch and back: tensors, dtypes, functions, and whole samples of torch's databases."""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable
from enum import Enum
from typing import Any

import torch

import norch


class Missing(Exception):
    """norch has no such name."""


class Lacking(Exception):
    """A sample uses what norch has not at all: complex numbers, sparse tensors, names of dimensions ..."""


class Namespace:
    """Stands for torch, or a module of it, inside torch's own test functions, and gives what norch has."""

    def __init__(self, theirs: Any, path: str = ""):
        self.theirs, self.path = theirs, path

    def __getattr__(self, name: str) -> Any:
        path = f"{self.path}.{name}".lstrip(".")
        theirs = getattr(self.theirs, name)
        if isinstance(theirs, types.ModuleType):
            return Namespace(theirs, path)
        return to_norch(theirs) if isinstance(theirs, (torch.dtype, torch.layout)) else resolve(path)


def resolve(path: str) -> Any:
    """norch's object of this name, such as "nn.functional.relu" or "Tensor.add_"."""
    ours: Any = norch
    for name in path.split("."):
        try:
            ours = getattr(ours, name)
        except AttributeError:
            raise Missing(f"norch.{path}") from None
    return ours


@functools.lru_cache(None)
def names() -> dict[int, list[str]]:
    """The names of each public callable that torch has, by its id."""
    rooms = {
        "": torch,
        "nn.functional": torch.nn.functional,
        "linalg": torch.linalg,
        "special": torch.special,
        "fft": torch.fft,
        "Tensor": torch.Tensor,
        "masked": torch.masked,
        "signal.windows": torch.signal.windows,
        "sparse": torch.sparse,
    }
    found: dict[int, list[str]] = {}
    for path, room in rooms.items():
        for name in dir(room):
            value = getattr(room, name, None)
            if callable(value):
                KEPT.append(value)
                found.setdefault(id(value), []).append(f"{path}.{name}".lstrip("."))
    return found


KEPT: list[Any] = []  # an id is one object's while the object lives


def resolve_first(paths: list[str]) -> Any:
    """The first of these names that norch has."""
    for path in paths:
        try:
            return resolve(path)
        except Missing:
            pass
    raise Missing(f"norch.{paths[0]}")


def counterpart(function: Any) -> Callable[..., Any]:
    """What norch has for a function of torch, or for one of torch's test functions that calls torch's."""
    if isinstance(function, functools.partial):
        return functools.partial(
            counterpart(function.func), *to_norch(function.args, {}), **to_norch(function.keywords, {})
        )
    if id(function) in names():
        return resolve_first(names()[id(function)])
    if getattr(function, "__module__", None) in ("_operator", "operator", "builtins", "math", "itertools", "functools"):
        return function
    name = getattr(function, "__name__", "")
    if isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return resolve(f"Tensor.{name}")
    if not isinstance(function, types.FunctionType):
        raise Missing(str(function))
    if function.__module__ == "torch._tensor" or function.__qualname__.startswith("Tensor."):
        return resolve(f"Tensor.{name}")
    if not function.__module__.startswith("torch.testing"):
        raise Missing(f"{function.__module__}.{name}")
    return rebuilt(function, counterpart_of_value)


def unseeded(function: Any) -> Any:
    """torch's test function, without the seed that some of them set before each call."""
    if isinstance(function, types.FunctionType) and function.__module__.startswith("torch.testing"):
        return rebuilt(function, lambda value: value)
    return function


def rebuilt(function: types.FunctionType, translate: Callable[[Any], Any]) -> types.FunctionType:
    """A function with the same code, in which every global name and enclosed variable is translated."""
    used = {name for code in codes(function.__code__) for name in code.co_names}
    scope = {name: translate(value) for name, value in function.__globals__.items() if name in used}
    scope["__builtins__"] = function.__globals__["__builtins__"]
    if "wrapper_set_seed" in used:
        scope["wrapper_set_seed"] = lambda op, *args, **kwargs: op(*args, **kwargs)
    closure = function.__closure__
    if closure:
        closure = tuple(types.CellType(translate(cell.cell_contents)) for cell in closure)
    defaults = function.__defaults__ and tuple(map(translate, function.__defaults__))
    made = types.FunctionType(function.__code__, scope, function.__name__, defaults, closure)
    made.__kwdefaults__ = function.__kwdefaults__ and {
        key: translate(value) for key, value in function.__kwdefaults__.items()
    }
    return made


def codes(code: types.CodeType) -> list[types.CodeType]:
    """A function's code, and that of the functions inside it."""
    inner = [codes(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return [code, *itertools.chain(*inner)]


def counterpart_of_value(value: Any) -> Any:
    """A global name of a test function: torch becomes norch, the rest what it is."""
    if value is torch or (isinstance(value, types.ModuleType) and value.__name__.startswith("torch.")):
        return Namespace(value, value.__name__.removeprefix("torch").lstrip("."))
    if isinstance(value, type):
        return resolve_first(names()[id(value)]) if id(value) in names() else value
    if hasattr(value, "sample_inputs_func"):
        return value  # an entry of the database, whose name a test function asks for
    if callable(value):
        try:
            return counterpart(value)
        except Missing as missing:
            return refusal(str(missing))
    return to_norch(value, {})


def refusal(name: str) -> Callable[..., Any]:
    """A function that raises Missing when it is called, and not before."""

    def call(*args: Any, **kwargs: Any) -> Any:
        raise Missing(name)

    return call


def to_norch(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """A copy of a value of torch for norch: tensors that share memory share it there too, with the same strides."""
    memo = {} if memo is None else memo
    if isinstance(value, torch.Tensor):
        return tensor_to_norch(value, memo)
    if isinstance(value, torch.dtype):
        name = str(value).removeprefix("torch.")
        if not hasattr(norch, name):
            raise Lacking(f"the dtype {name}")
        return getattr(norch, name)
    if isinstance(value, torch.device):
        if value.type != "cpu":
            raise Lacking(f"the device {value}")
        return norch.device("cpu")
    if isinstance(value, (torch.layout, torch.memory_format, torch.qscheme)):
        name = str(value).removeprefix("torch.")
        if not hasattr(norch, name):
            raise Lacking(name)
        return getattr(norch, name)
    if isinstance(value, torch.Generator):
        return norch.Generator()
    if isinstance(value, torch.Size):
        return norch.Size(value)
    if isinstance(value, complex):
        raise Lacking("complex numbers")
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        raise Lacking("symbolic numbers")
    if isinstance(value, slice):
        return slice(*(to_norch(part, memo) for part in (value.start, value.stop, value.step)))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(to_norch(item, memo) for item in value))
    if isinstance(value, (list, tuple, set)):
        return type(value)(to_norch(item, memo) for item in value)
    if isinstance(value, dict):
        return {key: to_norch(item, memo) for key, item in value.items()}
    if isinstance(value, type) and id(value) in names():
        return resolve_first(names()[id(value)])
    if isinstance(value, torch.nn.Module) and not list(value.parameters()):
        return resolve(f"nn.{type(value).__name__}")()  # such as a distance that a loss is given
    if callable(value) and not isinstance(value, (type, Enum, norch.nn.Module)):
        return counterpart(value)
    return value


def tensor_to_norch(x: torch.Tensor, memo: dict[int, Any]) -> Any:
    """A leaf over a copy of the memory of x."""
    if id(x) in memo:
        return memo[id(x)]
    if x.layout == torch.sparse_coo and hasattr(norch, "sparse_coo_tensor"):
        x = x.coalesce()
        parts = (tensor_to_norch(part.detach().clone(), memo) for part in (x.indices(), x.values()))
        return norch.sparse_coo_tensor(*parts, tuple(x.shape))
    if x.layout != torch.strided:
        raise Lacking(f"the layout {str(x.layout).removeprefix('torch.')}")
    if x.is_complex():
        raise Lacking("complex numbers")
    if x.device.type != "cpu":
        raise Lacking(f"the device {x.device}")
    if x.is_nested or x.is_quantized or x.is_conj() or x.is_neg():
        raise Lacking("nested, quantized or conjugated tensors")
    dtype = to_norch(x.dtype)
    storage = x.untyped_storage()
    key = (storage.data_ptr(), x.dtype) if storage.nbytes() else id(x)
    if key not in memo:
        flat = torch.tensor([], dtype=x.dtype).set_(storage, 0, (storage.nbytes() // x.itemsize,))
        memo[key] = norch.from_dlpack(flat.clone()) if flat.numel() else norch.empty(0, dtype=dtype)
    y = memo[key].as_strided(tuple(x.shape), x.stride(), x.storage_offset()).detach()
    if isinstance(x, torch.nn.Parameter):
        y = norch.nn.Parameter(y, requires_grad=x.requires_grad)
    elif x.requires_grad:
        y.requires_grad_()
    memo[id(x)] = y
    memo[id(x), "alive"] = x  # an id stays one tensor's while the tensor lives
    return y


def to_torch(x: Any) -> torch.Tensor:
    """The elements of a tensor of norch."""
    return torch.from_dlpack(x.detach()) if x.numel() else torch.empty(tuple(x.shape), dtype=dtype_to_torch(x.dtype))


def dtype_to_torch(dtype: Any) -> torch.dtype:
    return getattr(torch, dtype.name)


def leaves_of(value: Any, leaf: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The same nested value with each tensor replaced by leaf(tensor)."""
    if isinstance(value, torch.Tensor):
        return leaf(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(leaves_of(item, leaf) for item in value))
    if type(value) in (list, tuple) or type(value).__name__ == "TensorList":
        return (list if type(value) is not tuple else tuple)(leaves_of(item, leaf) for item in value)
    if isinstance(value, dict):
        return {key: leaves_of(item, leaf) for key, item in value.items()}
    return value


def tensors_in(value: Any, kind: type = torch.Tensor) -> list[Any]:
    """All tensors of a nested value, in order."""
    if isinstance(value, kind):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item, kind)]
    if isinstance(value, dict):
        return tensors_in(list(value.values()), kind)
    return []


def fresh(args: Any, kwargs: Any, leaves: bool) -> tuple[Any, Any]:
    """Copies of the arguments that an operation may write into, as leaves of a graph or without any."""

    def copy(x: torch.Tensor) -> torch.Tensor:
        if x.layout != torch.strided or not x.numel():
            return x.detach().requires_grad_(x.requires_grad and leaves)
        storage = x.untyped_storage().clone()
        y = torch.empty(0, dtype=x.dtype).set_(storage, x.storage_offset(), x.shape, x.stride())
        if x.is_conj():
            y = y.conj()
        if isinstance(x, torch.nn.Parameter):
            return torch.nn.Parameter(y, requires_grad=x.requires_grad and leaves)
        return y.requires_grad_(x.requires_grad and leaves)

    return leaves_of(args, copy), leaves_of(kwargs, copy)


def in_norch(args: Any, kwargs: Any) -> tuple[Any, Any]:
    memo: dict[int, Any] = {}
    return to_norch(args, memo), to_norch(kwargs, memo)


def fresh_like(value: Any) -> Any:
    """The same leaves of a graph again, with the same elements."""
    return fresh([value], {}, True)[0][0]


def graph_results(value: Any, kind: type) -> list[Any]:
    """The results that gradients flow from."""
    return [x for x in tensors_in(value, kind) if x.requires_grad]


def written(name: str, args: Any, kwargs: dict[str, Any]) -> str:
    """The call as Python code; of large tensors the shape alone."""
    parts = [word(value) for value in args]
    parts += [f"{key}={word(value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(parts)})"


def word(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        grad = ", requires_grad=True" if value.requires_grad else ""
        if value.layout != torch.strided:
            return f"{value.layout}{list(value.shape)}"
        if value.numel() <= 10:
            return f"tensor({value.tolist()}, dtype={dtype}{grad})"
        strides = "" if value.is_contiguous() else f" strides {value.stride()}"
        return f"<{dtype} {list(value.shape)}{strides}>"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(word, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {word(item)}" for key, item in value.items()) + "}"
    return "..." if value is ... else repr(value).replace("torch.", "norch.")
