"""Files in the safetensors format: `norch.save` and `norch.load`. Loading such a file runs no code.

A file is 8 bytes with the length of the header, the header in JSON, and the elements of all tensors, one after another:

    {"fc.weight": {"dtype": "F32", "shape": [10, 1], "data_offsets": [0, 40]}, ..., "__metadata__": {"norch": ...}}

The metadata holds, again as JSON, what the tensors were part of: lists, dicts, numbers. Other readers of safetensors
find the tensors in our files, and norch reads their files, as a dict.

What is more than that, such as a whole module, is pickled. Loading a pickle can run any code, so `load` refuses it
unless the caller says `weights_only=False`.
"""

from __future__ import annotations

import ctypes
import io
import json
import math
import os
import pickle
import struct
from collections import Counter, OrderedDict
from enum import Enum
from functools import partial
from itertools import accumulate
from typing import Any, Callable, Union

from .._C import MAX_DIMS
from ..arguments import flags
from ..files import File, OpenFile, check_open, written
from ..given import given
from ..methods.storage import Storage, restored_storage
from ..packing import uninitialized
from ..tensor import Tensor
from ..types import bfloat16, bool_, dtype, float16, float32, float64, int8, int16, int32, int64, shown, uint8
from .saved_kinds import SAVED_KINDS, kind_of, made_of_parts

__all__ = [
    "load",
    "save",
]

Entry = tuple[dtype, list[int], int, int]  # of a tensor: its dtype and shape, and where its elements begin and end
Location = Union[None, str, "dict[str, str]", Callable[[Any, str], Any]]  # the device to load to, or how to find it
Place = Callable[[Tensor, str], Tensor]  # puts a tensor on the device that it was saved from, or another

_NAMES = {bool_: "BOOL", uint8: "U8", int8: "I8", int16: "I16", int32: "I32", int64: "I64"}
_NAMES |= {float16: "F16", bfloat16: "BF16", float32: "F32", float64: "F64"}
_BY_NAME = {name: kind for kind, name in _NAMES.items()}

MAX_HEADER = 100_000_000  # bytes; the limit of the safetensors library
_KINDS = ("tensor", "float", "dtype", "bytes", "list", "tuple", "set", "dict", "OrderedDict")  # of what JSON has not
_METADATA, _STRUCTURE = "__metadata__", "norch"

# ---- Structure: what the tensors are part of, as JSON ---------------------------------------------------------------


def _encode(value: object, path: tuple[str, ...], tensors: dict[str, Tensor]) -> object:
    """JSON for a value; its tensors go into `tensors`, each under a name made of its path."""
    kind = kind_of(value)
    if kind is not None:
        return {kind: [_encode(part, path, tensors) for part in SAVED_KINDS[kind].parts(value)]}
    if (value is None or isinstance(value, (bool, int, str))) and not isinstance(value, Enum):
        return value
    if isinstance(value, float) and not isinstance(value, Enum):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, Tensor):
        name = _unused_name(".".join(path) or "tensor", tensors)
        tensors[name] = value
        encoded = {"tensor": name, "requires_grad": value.requires_grad, "device": value.device}
        return {key: entry for key, entry in encoded.items() if entry not in (False, "cpu")}
    if isinstance(value, dict) and type(value) in (dict, OrderedDict):
        pairs = [[_encode_key(key, path), _encode(item, (*path, str(key)), tensors)] for key, item in value.items()]
        if type(value) is dict:
            return {"dict": pairs}
        versions = getattr(value, "_metadata", None)  # of the modules whose state it is
        return {"OrderedDict": pairs, **({"versions": _encode(versions, path, tensors)} if versions else {})}
    if isinstance(value, (list, tuple, set)) and type(value) in (list, tuple, set):  # a namedtuple would lose its names
        return {type(value).__name__: [_encode(item, (*path, str(i)), tensors) for i, item in enumerate(value)]}
    if isinstance(value, dtype):
        return {"dtype": _NAMES[value]}
    if type(value) is bytes:
        return {"bytes": value.decode("latin-1")}
    expected = "tensors, numbers, strings, bytes, dtypes, None, lists, tuples, sets and dicts"
    hint = "; save its state_dict()" if hasattr(value, "state_dict") else ""
    raise _Pickled(f"save: expected {expected}, got {_place(path)} {given(value)}{hint}")


class _Pickled(TypeError):
    """A value that JSON and safetensors cannot hold."""


def _encode_key(key: object, path: tuple[str, ...]) -> object:
    plain = key is None or isinstance(key, (bool, int, str)) or (isinstance(key, float) and math.isfinite(key))
    if plain and not isinstance(key, Enum):
        return key
    if type(key) is tuple:
        return {"tuple": [_encode_key(item, path) for item in key]}
    raise _Pickled(
        f"save: the keys of a dict must be strings, numbers or tuples of them, got {_place(path)} the key {shown(key)}"
    )


def _place(path: tuple[str, ...]) -> str:
    return f"at {'.'.join(path)}" if path else "as a whole"


def _unused_name(name: str, tensors: dict[str, Tensor]) -> str:
    """The name, with a number if it is taken, as in {"a": {"b": ...}, "a.b": ...}."""
    candidate, number = name, 2
    while candidate in tensors or candidate == _METADATA:
        candidate, number = f"{name}#{number}", number + 1
    return candidate


def _decode(encoded: object, tensors: dict[str, Tensor], place: Place) -> object:
    """The value that a structure stands for; it takes its tensors out of `tensors`."""
    if not isinstance(encoded, (dict, list)):
        return encoded
    kinds = [] if isinstance(encoded, list) else [key for key in encoded if key in _KINDS or key in SAVED_KINDS]
    if isinstance(encoded, list) or len(kinds) != 1:
        raise ValueError(f"its structure has {given(encoded)} where a tensor, number, list or dict is expected")
    kind, content = kinds[0], encoded[kinds[0]]
    if kind == "tensor":
        if not isinstance(content, str) or content not in tensors:
            raise ValueError(f"its structure names a tensor {shown(content)} that is missing or repeated")
        device = encoded.get("device", "cpu")
        if not isinstance(device, str):
            raise ValueError(f"its structure puts the tensor {shown(content)} on a device {shown(device)}")
        found = place(tensors.pop(content), device)
        return found.requires_grad_() if encoded.get("requires_grad") is True and found.is_floating_point() else found
    if kind == "float":
        if content not in ("nan", "inf", "-inf"):
            raise ValueError(f"its structure has a float {shown(content)}")
        return float(content)
    if kind == "dtype":
        if not isinstance(content, str) or content not in _BY_NAME:
            raise ValueError(f"its structure has a dtype {shown(content)}")
        return _BY_NAME[content]
    if kind == "bytes":
        if not isinstance(content, str) or not content.isascii() and max(content) > "\xff":
            raise ValueError(f"its structure has bytes {shown(content)}")
        return content.encode("latin-1")
    if not isinstance(content, list):
        raise ValueError(f"its structure has a {kind} of {type(content).__name__}")
    if kind in SAVED_KINDS:
        return made_of_parts(kind, [_decode(part, tensors, place) for part in content])
    if kind in ("list", "tuple", "set"):
        items = [_decode(item, tensors, place) for item in content]
        try:
            return items if kind == "list" else tuple(items) if kind == "tuple" else set(items)
        except TypeError as error:
            raise ValueError(f"its structure has a set whose element is an {error}") from None
    if kind == "dict":
        return _decode_dict({}, content, tensors, place)
    ordered: Any = _decode_dict(OrderedDict(), content, tensors, place)
    if "versions" in encoded:
        ordered._metadata = _decode(encoded["versions"], tensors, place)
        if not isinstance(ordered._metadata, dict):
            raise ValueError(f"its structure has versions of {given(ordered._metadata)}")
    return ordered


def _decode_dict(
    result: dict[object, object], pairs: list[object], tensors: dict[str, Tensor], place: Place
) -> dict[object, object]:
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise ValueError("its structure has a dict with an entry that is not a key and a value")
        result[_decode_key(pair[0])] = _decode(pair[1], tensors, place)
    if len(result) != len(pairs):
        raise ValueError("its structure has a dict with a key twice")
    return result


def _decode_key(key: object) -> object:
    if isinstance(key, dict) and list(key) == ["tuple"] and isinstance(key["tuple"], list):
        return tuple(_decode_key(item) for item in key["tuple"])
    if isinstance(key, (dict, list)):
        raise ValueError("its structure has a dict with an entry that is not a key and a value")
    return key


# ---- Saving -------------------------------------------------------------------------------------------------------


def save(obj: object, f: File, pickle_module: Any = pickle, pickle_protocol: int = 4, **_: object) -> None:
    """Write a tensor, or lists, tuples, sets and dicts of tensors, numbers, strings, bytes, dtypes and None to a file.
    Parameters, sparse tensors, Sizes, devices, bytearrays and Counters stay what they are.

    `f` is a path, or a binary file that is open for writing. A file at that path is replaced only when everything is
    written: if that fails, or the machine crashes, the old file is still there. The new one has its mode, and at no
    time can others read it who cannot read the old one. Tensors that share memory are written separately.

    Anything else, such as a whole module or a namedtuple, is pickled by `pickle_module`: such a file needs the classes
    of its objects, and `weights_only=False`, when it is loaded. Raises what pickle raises for an object that it cannot
    save; with `pickle_module=None`, TypeError for everything but the first kind.

    >>> norch.save(nn.Linear(2, 1).state_dict(), "linear.safetensors")
    >>> list(norch.load("linear.safetensors"))
    ['weight', 'bias']
    """
    tensors: dict[str, Tensor] = {}
    try:
        structure = json.dumps(_encode(obj, (), tensors), allow_nan=False)
    except _Pickled as error:
        if pickle_module is None:
            raise TypeError(str(error)) from None
        if not callable(getattr(pickle_module, "dump", None)):
            found = shown(pickle_module)
            raise TypeError(f"save: pickle_module is {found}, expected a module with a function dump") from None
        with written(f, "save") as file:
            pickle_module.dump(obj, file, protocol=max(pickle_protocol, 4))  # `load` knows a pickle by its beginning
        return
    # The largest elements first, so that each tensor begins at a multiple of its element size.
    order = sorted(tensors, key=lambda name: -tensors[name].dtype.itemsize)
    ends = accumulate(tensors[name].nbytes for name in order)
    spans = {name: [end - tensors[name].nbytes, end] for name, end in zip(order, ends)}
    header: dict[str, object] = {_METADATA: {_STRUCTURE: structure}}
    for name, tensor in tensors.items():
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": spans[name]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER:
        raise ValueError(f"save: the header takes {len(text)} bytes, expected at most {MAX_HEADER}: too many tensors")
    with written(f, "save") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            write_elements(file, tensors[name])


def write_elements(file: OpenFile, tensor: Tensor) -> None:
    """Write a tensor's elements in row order."""
    source = tensor.detach().cpu().contiguous()
    if source.nbytes:
        write_all(file, memoryview((ctypes.c_char * source.nbytes).from_address(source.data_ptr())).cast("B"))


def write_all(file: OpenFile, data: memoryview) -> None:
    """Write all bytes to a file, which may take less than it is given if it is not buffered."""
    while data:
        data = data[file.write(data) :]


# ---- Loading ------------------------------------------------------------------------------------------------------


@flags
def load(
    f: File,
    map_location: Location = None,
    pickle_module: Any = pickle,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `save` wrote, any safetensors file (as a dict of its tensors), or tensors that `torch.save` wrote.

    `f` is a path or an open binary file, which is left behind what was read: several things that were saved into one
    file are read in turn. Of torch's files (since 1.6) tensors, numbers, strings and containers are
    read, which is what a state_dict is made of, without torch and without running code; anything else is refused.
    Tensors come back on the device they were saved from; `map_location` gives another for all ("cpu"), or for some
    ({"cuda:0": "cpu"}). If a file is truncated, corrupt or hostile, raises a ValueError that says what is wrong, before
    allocating what the file claims to hold. A pickle, such as a whole module, is refused with an UnpicklingError unless
    `weights_only` is False: loading it can run any code, so say that of files from a source you trust alone. (`mmap` is
    accepted as in PyTorch and changes nothing.)

    >>> norch.save({"weight": norch.ones(2)}, "weights.safetensors")
    >>> norch.load("weights.safetensors")
    {'weight': tensor([1., 1.])}
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _load(file, True, map_location, pickle_module, weights_only, pickle_load_args)
    check_open(f, "load", "read")
    if hasattr(f, "seekable") and f.seekable():
        return _load(f, False, map_location, pickle_module, weights_only, pickle_load_args)
    read = io.BytesIO(f.read())  # the size must be known first
    return _load(read, True, map_location, pickle_module, weights_only, pickle_load_args)


def _load(
    f: OpenFile,
    whole: bool,
    map_location: Location,
    pickle_module: Any,
    weights_only: bool | None,
    options: dict[str, Any],
) -> Any:
    """What stands in an open file; `whole` if nothing may follow."""
    name = getattr(f, "name", "the file")
    start = f.tell()
    beginning = f.read(9)
    f.seek(start)
    is_pickle = beginning.startswith((b"\x80\x04\x95", b"\x80\x05\x95"))
    if is_pickle and not beginning.endswith(b"{"):  # with which the header of a safetensors file begins
        return _load_pickle(f, name, map_location, pickle_module, weights_only, options)
    is_torch_file = beginning.startswith((b"PK\x03\x04", b"\x80\x02\x8a\nl\xfc\x9c"))  # a zip file, or before 1.6
    kind = "PyTorch" if is_torch_file else "safetensors"
    try:
        if is_torch_file:
            from . import torch_files  # with zipfile, and what that imports

            return torch_files.read(f, read_tensor, _placing(map_location))
        return _load_safetensors(f, whole, map_location)
    except ValueError as error:
        raise ValueError(f"load: {name} is not a {kind} file that norch can read: {error}") from None


class UntrustedPickle(pickle.UnpicklingError, ValueError):
    """A pickle that `load` was not told to trust."""


def _load_pickle(
    file: OpenFile,
    name: str,
    location: Location,
    pickle_module: Any,
    weights_only: bool | None,
    options: dict[str, Any],
) -> Any:
    if weights_only is not False:
        raise UntrustedPickle(
            f"load: {name} is not a safetensors file that norch can read: it holds a pickled object, such as a whole "
            "module, and loading a pickle can run any code. If you trust its source, load it with "
            "norch.load(..., weights_only=False); otherwise ask for a file of the state_dict"
        )

    if not isinstance(getattr(pickle_module, "Unpickler", None), type):
        raise TypeError(f"load: pickle_module is {shown(pickle_module)}, expected a module with a class Unpickler")

    class Unpickler(pickle_module.Unpickler):
        """Puts storages where `map_location` says."""

        def find_class(self, module: str, name: str) -> Any:
            if location is not None and (module, name) == (restored_storage.__module__, restored_storage.__name__):
                return partial(restored_storage, place=partial(_destination, location))
            return super().find_class(module, name)

    return Unpickler(file, **options).load()


def _destination(location: Location, device: str, storage: Storage | None = None) -> str:
    """The device for what was saved from `device`."""
    if isinstance(location, dict):
        return location.get(device, device)
    if location is None or isinstance(location, str):
        return device if location is None else location
    if not callable(location):
        raise TypeError(
            f"load: expected the name of a device, a dict or a function as map_location, got {shown(location)}"
        )
    found = location(storage, device)
    return device if found is None else found.device


def _placing(location: Location) -> Place:
    return lambda tensor, device: tensor.to(_destination(location, device, tensor.untyped_storage()))


def _load_safetensors(file: OpenFile, whole: bool, map_location: Location) -> object:
    start = file.tell()
    available = file.seek(0, os.SEEK_END) - start
    file.seek(start)
    header = _read_header(file, available)
    metadata = header.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("its __metadata__ is not a dict of strings")
    entries = {name: _checked_entry(name, entry) for name, entry in header.items()}
    size = _size_of(entries, available - file.tell() + start, whole)
    structure = _parse(metadata[_STRUCTURE], "its structure") if _STRUCTURE in metadata else None

    place, data = _placing(map_location), file.tell()
    tensors = {name: read_tensor(file, data, *entry) for name, entry in entries.items()}
    file.seek(data + size)
    if _STRUCTURE not in metadata:
        return {name: place(tensor, "cpu") for name, tensor in tensors.items()}
    try:
        result = _decode(structure, tensors, place)
    except RecursionError:
        raise ValueError("its structure is nested too deeply") from None
    if tensors:
        raise ValueError(f"its structure leaves out the tensors {', '.join(map(repr, tensors))}")
    return result


def _read_header(file: OpenFile, available: int) -> dict[str, Any]:
    """The JSON at the beginning; `available` is how many bytes the file has."""
    if not available:
        raise ValueError("it is empty")
    if available < 8:
        raise ValueError(f"it has {available} bytes, expected at least the 8 of the header's length")
    (length,) = struct.unpack("<Q", file.read(8))
    if length > MAX_HEADER:
        start = struct.pack("<Q", length)
        if start.isascii() and start.decode().isprintable():
            raise ValueError(f"it begins with {start.decode()!r}, as no file of weights does")
        raise ValueError(f"its header claims {length} bytes, expected at most {MAX_HEADER}")
    if length > available - 8:
        raise ValueError(f"its header claims {length} bytes, but only {available - 8} follow")
    text = file.read(length)
    if not text.startswith(b"{"):
        raise ValueError("its header does not begin with {")
    header = _parse(text, "its header")
    if not isinstance(header, dict):
        raise ValueError("its header is not a dict")
    return header


def _parse(text: str | bytes, what: str) -> object:
    """The value of a JSON text. Unlike Python's reader, refuses repeated keys, NaN and a depth that overflows."""
    try:
        text = text if isinstance(text, str) else text.decode()  # or the reader would take UTF-16 and UTF-32, too
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except RecursionError:
        raise ValueError(f"{what} is nested too deeply") from None
    except ValueError as error:  # UnicodeDecodeError and JSONDecodeError are ValueErrors too
        raise ValueError(f"{what} is not valid JSON: {error}") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {shown(repeated)} appears twice")
    return result


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number of JSON")


def _checked_entry(name: str, entry: object) -> Entry:
    """A tensor's entry in the header, if its parts agree with each other."""
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= set(entry):
        raise ValueError(f"tensor {shown(name)} lacks a dtype, a shape or data_offsets")
    kind = _BY_NAME.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if kind is None:
        raise ValueError(
            f"tensor {shown(name)} has dtype {shown(entry['dtype'])}, expected one of {', '.join(_BY_NAME)}"
        )
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        raise ValueError(
            f"tensor {shown(name)} has shape {shown(shape)} and data_offsets {shown(offsets)}, expected sizes"
        )
    if len(shape) > MAX_DIMS:
        raise ValueError(f"tensor {shown(name)} has {len(shape)} dimensions, expected at most {MAX_DIMS}")
    if math.prod(max(size, 1) for size in shape) >= 2**63:  # of which a 0 leaves no elements
        raise ValueError(f"tensor {shown(name)} has shape {shape}, which is too large")
    begin, end = offsets
    expected = math.prod(shape) * kind.itemsize
    if end - begin != expected:
        raise ValueError(
            f"tensor {shown(name)} of shape {shape} and dtype {entry['dtype']} takes {expected} bytes, but its "
            f"data_offsets {offsets} span {end - begin}"
        )
    return kind, shape, begin, end


def _are_sizes(values: object) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 2**63 for value in values)


def _size_of(entries: dict[str, Entry], available: int, whole: bool) -> int:
    """How many bytes follow the header. Raises ValueError unless each, or each `available` one, is of one tensor."""
    position = 0
    for name, (_, _, begin, end) in sorted(entries.items(), key=lambda item: item[1][2:]):
        if begin != position:
            what = "overlaps the tensor before it" if begin < position else "leaves a gap before it"
            raise ValueError(f"tensor {shown(name)} at data_offsets {[begin, end]} {what}: expected it at {position}")
        position = end
    if available < position or (whole and available > position):
        what = "is truncated" if available < position else "has bytes outside all tensors"
        raise ValueError(f"it {what}: its tensors take {position} bytes, but {available} follow the header")
    return position


def read_tensor(file: OpenFile, data: int, kind: dtype, shape: list[int], begin: int, end: int) -> Tensor:
    """A tensor whose elements are the bytes from `begin` to `end`, counted from `data`, of a file."""
    tensor = uninitialized(shape, kind, "cpu")
    if end > begin:
        file.seek(data + begin)
        memory = memoryview((ctypes.c_char * (end - begin)).from_address(tensor.data_ptr())).cast("B")
        while memory:
            count = file.readinto(memory)
            if not count:
                raise ValueError("it became shorter while it was read")
            memory = memory[count:]
    if kind is bool_ and (tensor.untyped_storage()._elements() > 1).any():
        raise ValueError("a bool is neither 0 nor 1")
    return tensor
