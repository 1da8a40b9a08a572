"""Files that `torch.save` wrote: tensors, and the containers they are part of, read without torch and without its code.

Such a file is a zip archive, with its records stored as they are:

    archive/data.pkl     a pickle of the value; where a tensor stands, it names a storage, a shape and strides
    archive/data/0       the bytes of storage "0"
    archive/byteorder    "little" or "big"

A pickle is a program that may call whatever it names. Here it can name the functions and classes of `_ALLOWED` alone,
which build plain containers and descriptions of tensors; anything else is refused by its name. What the pickle made is
then copied, with tensors in the places of the descriptions.
"""

from __future__ import annotations

import os
import pickle
import re
import zipfile
from collections import Counter, OrderedDict
from typing import Any, Callable, NamedTuple

from .._C import MAX_DIMS, int64_array, lib
from ..devices import device
from ..given import given
from ..operation import wrap
from ..tensor import Tensor
from ..types import DTYPES, Size, dtype, shown
from .saved_kinds import made_of_parts

Place = Callable[[Tensor, str], Tensor]  # puts a tensor on the device that it was saved from, or another
Read = Callable[[Any, int, dtype, list[int], int, int], Tensor]  # serialization.read_tensor

_DTYPES = {str(kind).split(".")[-1]: kind for kind in DTYPES}
_STORAGES = {
    "BoolStorage": "bool",
    "ByteStorage": "uint8",
    "CharStorage": "int8",
    "ShortStorage": "int16",
    "IntStorage": "int32",
    "LongStorage": "int64",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
}

# ---- What a pickle may build ----------------------------------------------------------------------------------------


class _Kind(NamedTuple):
    """A class of storages, by the name of its elements' dtype."""

    name: str


class _Storage:
    __slots__ = ("count", "device", "key", "kind")

    def __init__(self, kind: str, key: str, device: str, count: int) -> None:
        self.kind, self.key, self.device, self.count = kind, key, device, count


class _Entry:
    """A tensor: its storage, and where its elements lie in it."""

    __slots__ = ("offset", "requires_grad", "shape", "storage", "strides")

    def __init__(
        self, storage: object, offset: object, shape: object, strides: object, requires_grad: object, *_: object
    ) -> None:
        if not isinstance(storage, _Storage):
            raise ValueError(f"a tensor has {given(storage)} for a storage")
        self.storage, self.requires_grad = storage, requires_grad is True
        self.offset, self.shape, self.strides = _sizes((offset,))[0], _sizes(shape), _sizes(strides)
        if len(self.shape) != len(self.strides) or len(self.shape) > MAX_DIMS:
            raise ValueError(f"a tensor has shape {list(self.shape)} and strides {list(self.strides)}")


def _sizes(values: Any) -> tuple[int, ...]:
    if not isinstance(values, tuple) or not all(type(value) is int and 0 <= value < 2**63 for value in values):
        raise ValueError(f"a tensor has {shown(values)} where sizes are expected")
    return tuple(values)


class _Made:
    """A value that `save` writes in parts, some of which are tensors: its kind and its parts."""

    __slots__ = ("kind", "parts")

    def __init__(self, kind: str, *parts: object) -> None:
        self.kind, self.parts = kind, parts


def _parameter(data: object, requires_grad: object, *_: object) -> _Made:
    if not isinstance(data, _Entry):
        raise ValueError(f"a parameter holds {given(data)}, expected a tensor")
    return _Made("Parameter", data, requires_grad is True)


def _sparse(layout: object, parts: object) -> _Made:
    """A sparse tensor: its indices, values and size, and whether it is coalesced (in torch's files since 2.1)."""
    if layout != "torch.sparse_coo" or not isinstance(parts, tuple) or not 3 <= len(parts) <= 4:
        raise ValueError(f"it holds a tensor of the layout {shown(layout)}, of which norch has sparse_coo alone")
    return _Made("SparseTensor", *parts[:3], parts[3:] == (True,), False)


def _size(sizes: Any = ()) -> Size:
    return Size(_sizes(tuple(sizes)))


def _device(kind: str, index: int | None = None) -> str:
    name = kind if index is None else f"{kind}:{index}"
    return device(name) if re.match("cpu|cuda|meta", name) else name  # a kind that norch lacks stays a name


def _bytes(text: str = "", encoding: str = "latin1") -> bytes:
    """Bytes, as Python 2 could read them: each a letter. (A number would ask for so much memory.)"""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise ValueError("it holds bytes in a way that is not known")
    return text.encode(encoding)


_ALLOWED: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): Counter,  # the milestones of a MultiStepLR
    ("builtins", "set"): set,
    ("__builtin__", "set"): set,
    ("_codecs", "encode"): _bytes,
    ("__builtin__", "bytes"): _bytes,
    ("torch", "Size"): _size,
    ("torch", "device"): _device,
    ("torch._utils", "_rebuild_tensor_v2"): _Entry,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    ("torch._utils", "_rebuild_sparse_tensor"): _sparse,
    ("torch.serialization", "_get_layout"): str,
    **{("torch", name): kind for name, kind in _DTYPES.items()},
    **{("torch", name): _Kind(kind) for name, kind in _STORAGES.items()},
}


_OPCODES = """
PROTO FRAME STOP MARK POP POP_MARK NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1 BINFLOAT BINUNICODE
SHORT_BINUNICODE BINBYTES SHORT_BINBYTES EMPTY_LIST APPEND APPENDS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_DICT
SETITEM SETITEMS EMPTY_SET ADDITEMS GLOBAL STACK_GLOBAL REDUCE BUILD BINPERSID BINGET LONG_BINGET BINPUT LONG_BINPUT
MEMOIZE
""".split()
_CODES = [getattr(pickle, name)[0] for name in _OPCODES]


_Base: Any = vars(pickle)["_Unpickler"]  # the one written in Python, whose opcodes can be chosen


class _Unpickler(_Base):
    dispatch = {code: _Base.dispatch[code] for code in _CODES}

    def load_build(self) -> None:
        """A state for the last object: attributes, which only the dicts of torch's state_dicts have."""
        attributes, built = self.stack.pop(), self.stack[-1]
        if type(built) is not OrderedDict:
            raise ValueError(f"it sets the state of {given(built)}")
        versions = attributes.get("_metadata") if isinstance(attributes, dict) else None
        if isinstance(versions, dict):  # those of the modules whose state it is
            built._metadata = versions  # type: ignore[attr-defined]

    dispatch[pickle.BUILD[0]] = load_build

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise ValueError(
                f"it holds a {module}.{name}, and only tensors, numbers, strings, lists, tuples, sets and dicts are "
                "read; save the state_dict() in its place"
            ) from None

    def persistent_load(self, name: Any) -> _Storage:
        if not isinstance(name, tuple) or len(name) != 5 or name[0] != "storage" or not isinstance(name[1], _Kind):
            raise ValueError("it names a storage in a way that is not known")
        _, kind, key, device, count = name
        if not isinstance(key, str) or not isinstance(device, str) or type(count) is not int or count < 0:
            raise ValueError("it names a storage in a way that is not known")
        return _Storage(kind.name, key, device, count)


# ---- Reading --------------------------------------------------------------------------------------------------------


def read(file: Any, read_tensor: Read, place: Place) -> object:
    """The value in a file of torch's. Raises ValueError for anything but tensors and containers."""
    start = file.tell()
    if file.read(2) != b"PK":
        raise ValueError("it was written by a torch before 1.6; save it again with a newer one")
    file.seek(start)
    try:
        with zipfile.ZipFile(file) as archive:
            first = min((record.header_offset for record in archive.infolist()), default=start)
            if first > start:  # zipfile looks for an archive from the end
                raise ValueError(f"another one follows, at byte {first}: each is read from a file of its own")
            records = _records(archive)
            if "byteorder" in records and archive.read(records["byteorder"]) != b"little":
                raise ValueError("its numbers are not in little-endian order")
            with archive.open(records["data.pkl"]) as text:
                value = _Unpickler(text).load()
            return _Restored(archive, records, read_tensor, place).restored(value)
    except RecursionError:
        raise ValueError("its value is nested too deeply") from None
    except ValueError:
        raise
    except Exception as error:  # a pickle can fail in any way
        raise ValueError(f"it is damaged: {error or type(error).__name__}") from None


def _records(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The records by the part of their names after the archive's own name."""
    records = {info.filename.partition("/")[2]: info for info in archive.infolist()}
    if len(records) != len(archive.infolist()):
        raise ValueError("it has two records of one name")
    if "constants.pkl" in records:
        raise ValueError("it is a TorchScript program, not a file of tensors")
    if "data.pkl" not in records:
        raise ValueError("it is a zip archive without data.pkl, which torch.save writes")
    size = archive.fp.seek(0, os.SEEK_END) if archive.fp else 0
    if any(info.compress_type != zipfile.ZIP_STORED for info in records.values()):
        raise ValueError("its records are compressed, which torch's are not")
    if sum(info.file_size for info in records.values()) > size:
        raise ValueError("its records claim more bytes than it has")
    return records


class _Restored:
    """Copies what a pickle made, with tensors in the places of their descriptions."""

    def __init__(
        self, archive: zipfile.ZipFile, records: dict[str, zipfile.ZipInfo], read_tensor: Read, place: Place
    ) -> None:
        self.archive, self.records, self.read_tensor, self.place = archive, records, read_tensor, place
        self.storages: dict[str, Tensor] = {}  # tensors that shared a storage do so again

    def restored(self, value: Any) -> Any:
        if isinstance(value, _Entry):
            return self.tensor(value)
        if isinstance(value, _Made):
            return made_of_parts(value.kind, [self.restored(part) for part in value.parts])
        if isinstance(value, dict):
            made: dict[Any, Any] = type(value)() if isinstance(value, (OrderedDict, Counter)) else {}
            for key, item in dict.items(value):
                made[self.restored(key)] = self.restored(item)
            if hasattr(value, "_metadata"):
                made._metadata = self.restored(value._metadata)  # type: ignore[attr-defined]
            return made
        if isinstance(value, Size) or value is None or isinstance(value, (bool, int, float, str, bytes, dtype)):
            return value
        if isinstance(value, (list, tuple, set)):
            return type(value)(self.restored(item) for item in value)
        raise ValueError(f"it holds {given(value)}")

    def tensor(self, entry: _Entry) -> Tensor:
        key = entry.storage.key
        if key not in self.storages:
            self.storages[key] = self.storage(entry.storage)
        storage, ndim = self.storages[key], len(entry.shape)
        shape, strides = int64_array(entry.shape), int64_array(entry.strides)
        found = wrap(lib.as_strided_tensor(storage._ptr, shape, strides, ndim, entry.offset))
        return found.requires_grad_() if entry.requires_grad and found.is_floating_point() else found

    def storage(self, named: _Storage) -> Tensor:
        kind, info = _DTYPES.get(named.kind), self.records.get(f"data/{named.key}")
        if kind is None:
            raise ValueError(f"it holds a tensor of dtype {named.kind}, which norch lacks")
        if info is None or info.file_size != named.count * kind.itemsize:
            size = "none" if info is None else f"one of {info.file_size} bytes"
            raise ValueError(
                f"storage {shown(named.key)} takes {named.count * kind.itemsize} bytes, the file has {size}"
            )
        with self.archive.open(info) as record:
            vector = self.read_tensor(record, 0, kind, [named.count], 0, info.file_size)
            if record.read(1):  # and so the record's checksum is compared
                raise ValueError(f"storage {shown(named.key)} is longer than the file says")
        return self.place(vector, named.device)
