"""Small types: dtypes, Size and the integer that `numel` is; and names for annotations."""

from __future__ import annotations

import ctypes
import functools
import operator
import reprlib
from typing import TYPE_CHECKING, Any, Iterable, Optional, Protocol, Sequence, SupportsIndex, Union, overload

if TYPE_CHECKING:
    from types import EllipsisType

    from .forward_declarations import Tensor


class Array(Protocol):
    """An array of another library that shows its memory, as NumPy's do."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


# For annotations. (An int or a bool passes for a float.)
Operand = Union["Tensor", float, Array]  # of an elementwise operation
Sizes = Union[int, Sequence[int]]
Dims = Optional[Union[int, Sequence[int]]]  # None: all of them
DType = Union["dtype", type]  # a dtype, or Python's float, int or bool
Index = Union[None, SupportsIndex, slice, "EllipsisType", "Tensor", Array, list[Any], tuple[Any, ...]]  # of x[index]
Scalar = Union[int, Any]  # an element as a Python number; the dtype says which, so a checker accepts it for any


class dtype:
    """The type of a tensor's elements: `norch.float32`, `norch.int64` and so on.

    Attributes: `itemsize` in bytes, `is_floating_point`, `is_signed` and `is_complex` (never). The numbers are those of
    `DType` in csrc/tensor.h, in the order of promotion.

    >>> norch.float32.itemsize, norch.float32.is_floating_point
    (4, True)
    """

    __module__ = "norch"  # its public place, which `print(type(x))` shows

    __slots__ = ("name", "number", "ctype", "format", "itemsize", "is_floating_point", "is_signed")
    is_complex = False

    def __init__(self, name: str, number: int, ctype: type[ctypes._SimpleCData[Any]], format: str) -> None:
        self.name = name
        self.number = number
        self.ctype = ctype  # of 16 bits: a float that ctypes does not know
        self.format = format  # of the struct module, "" if it does not know the dtype
        self.itemsize = ctypes.sizeof(ctype)
        self.is_floating_point = "float" in name
        self.is_signed = name not in ("bool", "uint8")

    def __repr__(self) -> str:
        return f"norch.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # copies and pickles are the same object


bool_ = dtype("bool", 0, ctypes.c_bool, "?")
uint8 = dtype("uint8", 1, ctypes.c_uint8, "B")
int8 = dtype("int8", 2, ctypes.c_int8, "b")
int16 = dtype("int16", 3, ctypes.c_int16, "h")
int32 = dtype("int32", 4, ctypes.c_int32, "i")
int64 = dtype("int64", 5, ctypes.c_int64, "q")
float16 = dtype("float16", 6, ctypes.c_uint16, "e")
bfloat16 = dtype("bfloat16", 7, ctypes.c_uint16, "")
float32 = dtype("float32", 8, ctypes.c_float, "f")
float64 = dtype("float64", 9, ctypes.c_double, "d")
DTYPES = (bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64)
NAMES = {repr(kind)[len("norch.") :] for kind in DTYPES}
HALVES = (float16, bfloat16)  # floats of 16 bits, which Python and ctypes see as float32


class AbsentDtype(dtype):
    """A dtype that PyTorch has and norch has not. Tables of dtypes and comparisons know it; no tensor has it.

    >>> norch.ones(2).dtype == norch.complex64, norch.complex64.is_complex, norch.complex64.itemsize
    (False, True, 8)
    """

    __slots__ = ("is_complex", "reason")

    def __init__(self, name: str, itemsize: int, reason: str) -> None:
        self.name, self.itemsize, self.reason, self.format = name, itemsize, reason, ""
        self.is_complex, self.is_floating_point = "complex" in name, "float" in name
        self.is_signed = not name.startswith(("u", "bits", "quint", "float8_e8m0"))

    @property
    def number(self) -> int:  # type: ignore[override]  # where a kernel would be chosen for it
        raise TypeError(f"norch does not have torch.{self.name}: {self.reason}")


_ABSENT = {
    "norch has no complex dtypes": "complex32:4 complex64:8 complex128:16",
    "norch has no unsigned integers beyond uint8; use int32 or int64": "uint16:2 uint32:4 uint64:8",
    "norch has no dtypes of less than 8 bits, and no float8": (
        "bits1x8:1 bits2x4:1 bits4x2:1 bits8:1 bits16:2 float4_e2m1fn_x2:1 float8_e4m3fn:1 float8_e4m3fnuz:1 "
        "float8_e5m2:1 float8_e5m2fnuz:1 float8_e8m0fnu:1 int1:1 int2:1 int3:1 int4:1 int5:1 int6:1 int7:1 "
        "uint1:1 uint2:1 uint3:1 uint4:1 uint5:1 uint6:1 uint7:1"
    ),
    "norch has no quantized dtypes": "qint8:1 quint8:1 qint32:4 quint4x2:1 quint2x4:1",
}
ABSENT_DTYPES = {
    name: AbsentDtype(name, int(size), reason)
    for reason, names in _ABSENT.items()
    for name, size in (item.split(":") for item in names.split())
}
globals().update(ABSENT_DTYPES)  # where pickles find them
ABSENT_DTYPES.update(
    {alias: ABSENT_DTYPES[f"complex{bits}"] for alias, bits in (("chalf", 32), ("cfloat", 64), ("cdouble", 128))}
)


@functools.lru_cache(None)
def promoted(x: dtype, y: dtype) -> dtype:
    """The larger of two dtypes, in the order above; a dtype that holds both for the two pairs of which neither does."""
    both = {x, y}
    if both == {uint8, int8}:
        return int16
    return float32 if both == set(HALVES) else max(both, key=lambda kind: kind.number)


class _Default:
    dtype = float32  # of floats without a dtype; functions/promotion.py changes it


default = _Default()


class layout:
    """How the memory of a tensor is read: `norch.strided`, for sparse tensors `norch.sparse_coo`.

    PyTorch's others can be compared with these, and no tensor has them.

    >>> norch.ones(2).layout is norch.strided
    True
    """

    __module__ = "norch"  # its public place, which `print(type(x))` shows

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"norch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


strided, sparse_coo = layout("strided"), layout("sparse_coo")
ABSENT_LAYOUTS = {name: layout(name) for name in ("jagged", "sparse_bsc", "sparse_bsr", "sparse_csc", "sparse_csr")}
globals().update(ABSENT_LAYOUTS)  # known by name: programs ask whether a tensor has one of them


_shorter = reprlib.Repr()
_shorter.maxtuple = _shorter.maxlist = 10
_shorter.maxstring = _shorter.maxother = _shorter.maxlong = 200


def shown(value: object) -> str:
    """What was given, for a message: its repr, cut if it is long, and no error whatever the value is."""
    try:
        return _shorter.repr(value)
    except Exception:
        return f"an object of type {type(value).__name__}"


class RangeError(OverflowError, ValueError, TypeError, RuntimeError):
    """An integer beyond 64 bits, or beyond a dtype: an OverflowError as Python's own, and what PyTorch raises."""

    __module__ = "norch"  # its public place, which tracebacks show


class memory_format:
    """The order in which the elements of a tensor lie in memory: `norch.contiguous_format` is row order.

    In `channels_last`, [N, C, H, W] lies as [N, H, W, C] would, and in `channels_last_3d` [N, C, D, H, W] likewise.
    `preserve_format` is the order of the operand, the default of copies of its shape.

    >>> norch.zeros(1, 2, 3, 4).contiguous(memory_format=norch.channels_last).stride()
    (24, 1, 8, 2)
    """

    __module__ = "norch"  # its public place, which `print(type(x))` shows

    __slots__ = ("name", "ndim")

    def __init__(self, name: str, ndim: int | None = None) -> None:
        self.name, self.ndim = name, ndim

    def __repr__(self) -> str:
        return f"norch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


contiguous_format, preserve_format = memory_format("contiguous_format"), memory_format("preserve_format")
legacy_contiguous_format = contiguous_format  # the name that copies of PyTorch's gumbel_softmax use
channels_last, channels_last_3d = memory_format("channels_last", 4), memory_format("channels_last_3d", 5)


def order_of(order: memory_format | None, rank: int, name: str) -> list[int] | None:
    """The dimensions of a tensor of this rank in the order in which a format lays them, None for row order.

    Raises TypeError for what is no format, RuntimeError for channels_last and another rank.
    """
    if order is None:
        return None
    if not isinstance(order, memory_format):
        raise TypeError(f"{name}: expected a memory format such as norch.channels_last, got {shown(order)}")
    if order.ndim is None:
        return None
    if rank != order.ndim:
        raise RuntimeError(f"{name}: {order!r} needs {order.ndim} dimensions, got {rank}")
    return [0, *range(2, rank), 1]


def check_dtype(value: object) -> dtype:
    """Return a dtype given as such or as Python's `float`, `int` or `bool`; raise TypeError for anything else."""
    if isinstance(value, dtype):
        value.number  # noqa: B018  (which raises for a dtype that is there by name alone)
        return value
    by_type = {float: float64, int: int64, bool: bool_}
    if isinstance(value, type) and value in by_type:
        return by_type[value]
    names = ", ".join(repr(d) for d in DTYPES)
    name = value if isinstance(value, str) else getattr(value, "__name__", None) or shown(value).rpartition(".")[2]
    hint = f": write norch.{name}" if name in NAMES else ""  # also of NumPy's and PyTorch's
    if isinstance(value, (int, float)):
        hint = "; several numbers go into one list: norch.tensor([1, 2])"
    raise TypeError(f"expected a dtype ({names}), got {shown(value)}{hint}")


class Size(tuple[int, ...]):
    """A shape: a tuple that also equals the list of the same sizes, as the article's shapes are lists.

    Raises TypeError for what is no integer, RangeError for one beyond 64 bits.

    >>> norch.Size([2, 3]) == (2, 3), norch.Size([2, 3]) == [2, 3], norch.Size([2, 3]).numel()
    (True, True, 6)
    """

    __module__ = "norch"  # its public place, which `print(type(x))` shows

    __slots__ = ()

    def __new__(cls, iterable: Iterable[SupportsIndex] = ()) -> Size:
        size = super().__new__(cls, map(operator.index, iterable))
        if size and not -(2**63) <= min(size) <= max(size) < 2**63:
            raise RangeError(f"Size: expected integers of 64 bits, got {shown(tuple(size))}")
        return size

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return tuple.__ne__(self, tuple(other) if isinstance(other, list) else other)

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        return f"norch.Size({list(self)})"

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Size: ...

    def __getitem__(self, index: SupportsIndex | slice) -> int | Size:
        found: Any = tuple.__getitem__(self, index)
        return tuple.__new__(Size, found) if type(found) is tuple else found

    def __add__(self, other: Iterable[int]) -> Size:  # type: ignore[override]  # a list is welcome, strings are not
        return Size(tuple(self) + tuple(other))

    def __radd__(self, other: tuple[int, ...]) -> Size:
        return Size(other + tuple(self))

    def __mul__(self, count: SupportsIndex) -> Size:
        return Size(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def numel(self) -> int:
        """The product of the sizes."""
        product = 1
        for size in self:
            product *= size
        return product

    def copy(self) -> Size:
        """Itself: a Size cannot change (the article copies its lists)."""
        return self


def index_in(shape: Sequence[int], place: int) -> tuple[int, ...]:
    """The index of the element of this place in row order."""
    found = []
    for size in reversed(shape):
        place, part = divmod(place, size)
        found.append(part)
    return tuple(reversed(found))


class Count(int):
    """An int that may also be called: `t.numel` is the article's attribute, `t.numel()` PyTorch's method."""

    __slots__ = ()

    __call__ = int.conjugate  # an int itself, by the quickest of the methods that return it


class _Open:
    """What PyTorch's compiler leaves open until the program runs. norch has nothing like it: no value is one."""

    def __init__(self, node: object) -> None:
        self.node = node


class SymInt(_Open):
    """A size that PyTorch's compiler leaves open, of which norch has none: `isinstance(size, SymInt)` is False."""


class SymFloat(_Open):
    """A number that PyTorch's compiler leaves open, of which norch has none."""


class SymBool(_Open):
    """A condition that PyTorch's compiler leaves open, of which norch has none."""


# PyTorch's names, for annotations
Number = Union[int, float, bool]
Device = Union[str, int, None]
_size = Union[Size, "list[int]", "tuple[int, ...]"]
_dtype, _int, _float, _bool = DType, int, float, bool
