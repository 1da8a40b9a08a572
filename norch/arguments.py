"""What callers pass beside tensors, parsed once for all functions: sizes, dimensions, and where `to` goes."""

from __future__ import annotations

import functools
import operator
from typing import Any, Callable, Sequence, TypeVar, cast

from . import devices, operation
from ._C import RangeError, ShapeError, device_number, int64_array
from ._C import default as default_device
from .given import number_in
from .types import Size, check_dtype, default, dtype, shown


def sizes_of(args: Sequence[Any], name: str) -> list[int]:
    """Sizes or axes given one by one, or as one list or tuple."""
    values = list(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args)
    found = []
    for value in values:
        index = value if type(value) is int else index_of(value)
        if index is None:
            raise TypeError(f"{name}: expected integers, got {shown(tuple(values))}")
        if not -(2**63) <= index < 2**63:
            raise RangeError(f"{name}: expected integers of 64 bits, got {shown(tuple(values))}")
        found.append(index)
    return found


def sizes_in(given: Any, name: str) -> list[int]:
    """The integers of a list, or of another sequence but a text; no lone number."""
    is_listed = hasattr(given, "__len__") and hasattr(given, "__getitem__")
    if not is_listed or isinstance(given, (str, bytes, bytearray, dict)):
        raise TypeError(f"{name}: expected a sequence of integers, got {shown(given)}")
    return sizes_of((list(given),), name)


def is_size(value: object) -> bool:
    """Whether a lone argument of `Tensor` or `FloatTensor` is a size, as in PyTorch: a Size, or an integer, no bool."""
    kind = type(value)
    if kind is int or kind is Size:
        return True
    return kind is not bool and hasattr(value, "__index__") and not hasattr(value, "__len__")  # an array has both


@functools.lru_cache(1024, typed=True)  # a training loop repeats its shapes; True is not 1
def _packed(*sizes: int) -> tuple[bytes, int]:
    """For `packed`. Raises TypeError, which is not kept, for others than Python's own integers."""
    if any(type(size) is not int for size in sizes):
        raise TypeError
    return int64_array(sizes), len(sizes)


def packed(args: Sequence[Any], name: str) -> tuple[bytes, int]:
    """What `sizes_of` takes, as C does: an array, and how many they are."""
    try:
        return _packed(*(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args))
    except TypeError:
        sizes = sizes_of(args, name)
        return int64_array(sizes), len(sizes)


def packed_list(value: Any, name: str) -> tuple[bytes, int]:
    """The same of one list or tuple. Raises TypeError for anything else."""
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name}: expected a list of integers, got {shown(value)}")
    try:
        return _packed(*value)
    except TypeError:
        return packed((value,), name)


def place_of(
    name: str, sizes: tuple[Any, ...], size: Any, dtype: Any, device: Any, out: Any = None
) -> tuple[bytes, int, int, int]:
    """Where a new tensor goes, as C takes it: its sizes `packed`, and the numbers of its dtype and device.

    The sizes are given one by one, as a list, or as `size`. Dtype and device are the default ones, or those of `out`.
    """
    if size is not None:
        sizes = chosen(sizes, size, name, "size")
    elif not sizes:
        raise TypeError(f"{name}: expected sizes, got none; {name}(()) makes a scalar")
    if out is not None:
        operation.check_tensor(out, f"{name}: out")
        dtype, device = out.dtype if dtype is None else dtype, out.device if device is None else device
    try:
        array, rank = _packed(*(sizes[0] if isinstance(sizes[0], (list, tuple)) and len(sizes) == 1 else sizes))
    except TypeError:
        array, rank = packed(sizes, name)
    kind = default.dtype if dtype is None else check_dtype(dtype)
    return array, rank, kind.number, default_device.device if device is None else device_number(device)


def index_of(value: Any) -> int | None:
    """The integer that a value of Python, NumPy or a tensor stands for; None for others, and for bools, no sizes."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except (AttributeError, TypeError):
        return None


def chosen(args: tuple[Any, ...], named: Any, name: str, keyword: str) -> tuple[Any, ...]:
    """The arguments of a function that takes them one by one, as one list, or as this keyword."""
    if named is None:
        return args
    if args:
        raise TypeError(f"{name}: got {keyword} twice, as {shown(args)} and as {shown(named)}")
    return (named,) if isinstance(named, (list, tuple)) else ([named],)


def one_size(value: Any, name: str) -> int:
    """A size or an axis alone."""
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    if isinstance(value, (list, tuple)):
        raise TypeError(f"{name}: expected one integer, got {shown(value)}")
    return sizes_of((value,), name)[0]


def whole(value: Any, name: str, low: int = -(2**63), high: int = 2**63) -> int:
    """An integer alone, from `low` up to but without `high`. Raises TypeError for what is none, a bool included."""
    found = one_size(value, name)
    if not low <= found < high:
        raise RangeError(f"{name}: expected an integer in [{low}, {high - 1}], got {found}")
    return found


def plain_number(value: object, name: str) -> float:
    """A Python number; also out of a tensor or a NumPy scalar."""
    return value if type(value) is float or type(value) is int else number_in(value, name)


def axis_of(x: Any, dim: Any, name: str) -> int:
    """A dimension of x, counted from the front. Raises IndexError if x does not have it, TypeError for a bool."""
    rank = x.ndim or 1
    if type(dim) is int and 0 <= dim < rank:
        return dim
    axis = dim if type(dim) is int else one_size(checked_dim(dim, name), name)
    if not -rank <= axis < rank:
        raise IndexError(f"{name}: axis {axis} is out of range [{-rank}, {rank - 1}] for shape {list(x.shape)}")
    return axis % rank


def checked_dim(dim: Any, name: str) -> Any:
    """A dimension as it is. Raises TypeError for a bool, which is no dimension although it is an integer to Python."""
    if isinstance(dim, bool):
        raise TypeError(f"{name}: expected an integer as dim, got {dim}")
    return dim


def axes_of(name: str, dim: Any, axis: Any, empty_is_all: bool = True) -> list[int] | None:
    """The dimensions that `dim` or `axis` (the same argument) name. None is all, and so is () if `empty_is_all`."""
    if dim is not None and axis is not None:
        raise TypeError(f"{name}: dim and axis are the same argument, got both ({shown(dim)} and {shown(axis)})")
    chosen = axis if dim is None else dim
    if chosen is None:
        return None
    if not isinstance(chosen, (list, tuple)):
        return [one_size(chosen, name)]
    return [one_size(axis, name) for axis in chosen] if chosen or not empty_is_all else None


def one_axis(name: str, dim: Any, axis: Any) -> int:
    """The one dimension that `dim` or `axis` names."""
    if axis is None and type(dim) is int and -(2**63) <= dim < 2**63:  # most often
        return dim
    axes = axes_of(name, dim, axis)
    if axes is None or len(axes) != 1:
        raise TypeError(f"{name}: expected one dim, got {shown(dim if axis is None else axis)}")
    return axes[0]


# ---- Flags ------------------------------------------------------------------------------------------------------

Function = TypeVar("Function", bound=Callable[..., Any])


def flag(value: Any, name: str, numbers: bool = False) -> bool:
    """A bool, or NumPy's; with `numbers` also 0, 1 or None. Raises TypeError for others: "False" would be true."""
    if value is True or value is False:
        return value is True
    if type(value).__module__ == "numpy" and type(value).__name__.startswith("bool"):
        return bool(value)
    if numbers and (value is None or (type(value) is int and value in (0, 1))):
        return bool(value)
    if numbers and isinstance(value, operation.Tensor):
        raise TypeError(f"{name}: expected True or False, got a Tensor: {name.split(':')[0]}() first, then call it")
    raise TypeError(f"{name}: expected True or False, got {shown(value)}")


_NUMPYS = [("axis", "dim"), ("keepdims", "keepdim")]


def flags(function: Function) -> Function:
    """A function that takes nothing but bools for its flags: the parameters whose default or annotation is a bool.

    Constructors also take what PyTorch's scripts give them for bools: 0, 1 and None. Their errors name the class that
    is made (Conv2d), not the one that the constructor is inherited from. NumPy's `axis` and `keepdims` stand for `dim`
    and `keepdim`.
    """
    code = function.__code__
    count = code.co_argcount
    parameters = code.co_varnames[: count + code.co_kwonlyargcount]
    numpys = [(new, old) for new, old in _NUMPYS if old in parameters and new not in parameters]
    positional = code.co_varnames[:count]
    defaults = dict(zip(positional[count - len(function.__defaults__ or ()) :], function.__defaults__ or ()))
    defaults.update(function.__kwdefaults__ or {})
    named = {key for key, default in defaults.items() if isinstance(default, bool)}
    kinds = ("bool", "bool | None", "builtins.bool")
    named |= {key for key, kind in function.__annotations__.items() if kind in kinds and key != "return"}
    optional = {key for key in named if defaults.get(key, False) is None}
    places = [place for place, key in enumerate(positional) if key in named]
    first = min(places, default=count)
    name = function.__name__
    numbers = name == "__init__"

    def check(args: Sequence[Any], key: str, value: Any) -> None:
        if value is not None or key not in optional:
            flag(value, f"{_made_by(checked, args[0]) if numbers else name}: {key}", numbers)

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and len(args) <= first and not numbers:  # most often
            return function(*args)
        for key, value in kwargs.items() if named else ():
            if value is not True and value is not False and key in named:
                check(args, key, value)
        if len(args) > first:
            for place in places:
                if place < len(args) and args[place] is not True and args[place] is not False:
                    check(args, positional[place], args[place])
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            entered = error.__traceback__ is not None and error.__traceback__.tb_next is not None
            renamed = {old: kwargs.pop(new) for new, old in numpys if new in kwargs and old not in kwargs}
            if renamed and not entered:
                return checked(*args, **kwargs, **renamed)
            if entered or not numbers:
                raise
            _, constructor, what = str(error).partition("__init__()")
            names = (*positional[1:], *(function.__kwdefaults__ or ()))
            takes = ", ".join(key for key in names if not key.startswith("_"))
            hint = f"; it takes {takes}" if "unexpected keyword" in what else ""
        raise TypeError(f"{_made_by(checked, args[0])}.{constructor}{what}{hint}")

    return cast(Function, checked)


def _made_by(constructor: Callable[..., None], instance: object) -> str:
    """The name of the class that called a constructor: the last that inherits it, or its own."""
    called = ""
    for owner in type(instance).__mro__:
        called = called or owner.__name__
        if "__init__" in vars(owner):
            if vars(owner)["__init__"] is constructor:
                break
            called = ""
    return called


# ---- Shapes and destinations ------------------------------------------------------------------------------------


def broadcast_shapes(*shapes: Any, name: str = "broadcast_shapes") -> list[int]:
    """The shape that shapes broadcast to, by NumPy's rules. Raises ShapeError if they do not fit each other."""
    rank = max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if result[axis] not in (1, size) and size != 1:
                given = ", ".join(str(list(s)) for s in shapes)
                raise ShapeError(f"{name}: shapes {given} cannot be broadcast together")
            result[axis] = size if result[axis] == 1 else result[axis]
    return result


def cuda_place(device: Any) -> Any:
    """The CUDA device that an argument of `cuda` names: the first one if it is None."""
    if device is not None and device_number(device) == 0:
        raise RuntimeError(f"cuda: expected a CUDA device, got {shown(device)}")
    return "cuda" if device is None else device


def parse_to(
    *args: Any,
    device: str | int | None = None,
    dtype: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> tuple[devices.device | None, dtype | None, bool, Any]:
    """(device, dtype, non_blocking, memory_format) of a call of `to`, for modules that have a `to` of their own."""
    blocking = [value for value in args if isinstance(value, bool)][:1] or [bool(non_blocking)]
    place, kind = destination(*(x for x in args if not isinstance(x, bool)), device=device, dtype=dtype)
    return None if place is None else devices.device(place), kind, blocking[0], memory_format


def destination(
    *args: Any, device: str | int | None = None, dtype: Any = None
) -> tuple[str | int | None, dtype | None]:
    """The device and dtype that the arguments of `to` name; None for what they leave as it is."""
    for value in args:
        if device is None and (isinstance(value, str) or (type(value) is int and value is args[0])):
            device = value
        elif isinstance(value, operation.Tensor):
            device, dtype = value.device, value.dtype
        elif value is not None and dtype is None:
            dtype = value
        elif value is not None:
            raise TypeError(f"to: expected a device and a dtype, got {shown(args)}")
    if device is not None:
        device_number(device)
    return device, None if dtype is None else check_dtype(dtype)
