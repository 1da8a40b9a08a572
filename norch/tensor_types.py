"""The tensor types of scripts from before dtypes: FloatTensor, LongTensor and so on.

A type is a dtype and a kind of device under one name. Calling it makes a tensor, `isinstance(x, LongTensor)` asks for
both, and `x.type(FloatTensor)` converts, as does `x.type("torch.FloatTensor")`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import operation, types
from .arguments import is_size, sizes_of
from .packing import filled, tensor_of
from .types import DTYPES, check_dtype, default, dtype, shown

if TYPE_CHECKING:
    from .forward_declarations import Tensor

PREFIXES = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
}  # of the types' names, by dtype


DOC = """Tensors of dtype {kind} on {place}: `{name}(2, 3)` makes one of zeros, which PyTorch leaves unset.

`{name}([1, 2])` makes one of data. Raises TypeError for a lone float.

>>> {example}
{result}
"""


class TensorType(type):
    """The class of FloatTensor and its kin."""

    dtype: types.dtype
    is_cuda: bool

    def __new__(cls, name: str, kind: types.dtype, is_cuda: bool) -> TensorType:
        made = super().__new__(cls, name, (), {"__module__": "norch.cuda" if is_cuda else "norch"})
        made.dtype, made.is_cuda = kind, is_cuda
        made.__doc__ = DOC.format(
            kind=kind.name,
            place="CUDA devices" if is_cuda else "the CPU",
            name=name,
            example=f"isinstance(norch.ones(2), norch.cuda.{name})" if is_cuda else f"norch.{name}([0, 1]).type()",
            result="False" if is_cuda else f"'torch.{name}'",
        )
        return made

    def __init__(cls, *_: object) -> None:
        pass

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, operation.Tensor) and value.dtype is cls.dtype and value.is_cuda == cls.is_cuda

    def __call__(cls, *args: Any, device: str | int | None = None) -> Tensor:
        place = ("cuda" if cls.is_cuda else "cpu") if device is None else device
        return legacy_tensor(args, cls.dtype, place, cls.__name__)


def legacy_tensor(args: tuple[Any, ...], kind: dtype, device: str | int, name: str) -> Tensor:
    """A tensor of sizes (one by one, or a Size), all zeros; or of data: a sequence, array or tensor."""
    if len(args) == 1 and not is_size(args[0]):
        if isinstance(args[0], (float, str)) or getattr(args[0], "shape", None) == ():
            raise TypeError(f"{name}: expected sizes or a sequence of data, got {shown(args[0])}")
        return tensor_of(args[0], kind, device)
    return filled(sizes_of(args, name) if args else [0], 0, kind, device)


def _types(is_cuda: bool) -> dict[str, TensorType]:
    names = {kind: PREFIXES[kind.name] + "Tensor" for kind in DTYPES if kind.name in PREFIXES}
    return {name: TensorType(name, kind, is_cuda) for kind, name in names.items()}


CPU_TYPES, CUDA_TYPES = _types(False), _types(True)


def type_name(kind: dtype, is_cuda: bool) -> str:
    """What `x.type()` returns: PyTorch's name of the type, which scripts compare with."""
    return f"torch.{'cuda.' if is_cuda else ''}{PREFIXES.get(kind.name, kind.name)}Tensor"


def type_of(value: Any) -> tuple[dtype, str | None]:
    """The dtype and device that the argument of `x.type` names; no device for a dtype alone."""
    if isinstance(value, TensorType):
        return value.dtype, "cuda" if value.is_cuda else "cpu"
    if value is operation.Tensor:
        return default.dtype, "cpu"
    if isinstance(value, str):
        package, _, name = value.partition(".")
        types = CUDA_TYPES if name.startswith("cuda.") else CPU_TYPES
        found = types.get(name.removeprefix("cuda."))
        if package not in ("torch", "norch") or (found is None and name != "Tensor"):
            raise ValueError(f"type: expected a name such as 'torch.FloatTensor', got {shown(value)}")
        return (default.dtype, "cpu") if found is None else type_of(found)
    if not isinstance(value, dtype):
        raise TypeError(f"type: expected a dtype, a type such as norch.FloatTensor, or its name, got {shown(value)}")
    return check_dtype(value), None


# Each by name, for type checkers.
BoolTensor, ByteTensor = CPU_TYPES["BoolTensor"], CPU_TYPES["ByteTensor"]
CharTensor, ShortTensor = CPU_TYPES["CharTensor"], CPU_TYPES["ShortTensor"]
HalfTensor, BFloat16Tensor = CPU_TYPES["HalfTensor"], CPU_TYPES["BFloat16Tensor"]
IntTensor, LongTensor = CPU_TYPES["IntTensor"], CPU_TYPES["LongTensor"]
FloatTensor, DoubleTensor = CPU_TYPES["FloatTensor"], CPU_TYPES["DoubleTensor"]
