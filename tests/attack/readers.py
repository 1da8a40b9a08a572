"""What in norch reads files: for each reader valid files, how it may fail, and what a file that it takes must give."""

from __future__ import annotations

import array
import functools
import gzip
import importlib
import importlib.util
import io
import json
import math
import pickle
import struct
import warnings
import zipfile
from pathlib import Path
from random import Random
from typing import Any, Callable, NamedTuple

import mutations

import norch
from norch import nn, optim
from norch.utils.data import read_csv, read_idx

FILE = Path("fuzzed")  # for readers that take paths, in the current folder


class Reader(NamedTuple):
    """`code` reads a file of the name `fuzzed`; `errors` tells of an exception whether the docs name it; `check`
    raises AssertionError if the value is not what the bytes say."""

    files: Callable[[], list[bytes]]
    change: Callable[[Random, bytes], bytes]
    read: Callable[[bytes], Any]
    errors: Callable[[Exception], bool]
    check: Callable[[bytes, Any], None]
    code: str


def bytes_of(tensor: norch.Tensor) -> bytes:
    """The elements in row order."""
    file = io.BytesIO()
    norch.functions.serialization.write_elements(file, tensor)
    return file.getvalue()


def saved(value: object, **options: Any) -> bytes:
    file = io.BytesIO()
    norch.save(value, file, **options)
    return file.getvalue()


def load(data: bytes) -> Any:
    return norch.load(io.BytesIO(data), map_location="cpu")


def load_errors(error: Exception) -> bool:
    return isinstance(error, ValueError) and str(error).startswith("load: the file is not a ")


# ---- safetensors -----------------------------------------------------------------------------------------------------

ITEMSIZES = {"BOOL": 1, "U8": 1, "I8": 1, "I16": 2, "I32": 4, "I64": 8, "F16": 2, "BF16": 2, "F32": 4, "F64": 8}


def safetensors_files() -> list[bytes]:
    kinds = [norch.bool, norch.uint8, norch.int8, norch.int16, norch.int32, norch.float16, norch.float64]
    plain = {"x": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}}
    text = json.dumps(plain).encode()
    return [
        saved({"w": norch.arange(6.0).reshape(2, 3), "b": [norch.ones(2, dtype=norch.bool), None, 1.5, math.inf]}),
        saved({f"{kind}": norch.ones(2, dtype=kind) for kind in kinds}),
        saved([norch.ones(1, requires_grad=True), (norch.zeros(0, 3), norch.tensor(2)), {3: "x", None: {"y": True}}]),
        saved(nn.Linear(2, 1).state_dict()),
        struct.pack("<Q", len(text)) + text + struct.pack("<2f", 1, 2),
    ]


def check_safetensors(data: bytes, value: Any) -> None:
    length = int.from_bytes(data[:8], "little")
    header, content = json.loads(data[8 : 8 + length]), data[8 + length :]
    metadata = header.pop("__metadata__", {})
    left = set(header)

    def check(name: str, tensor: norch.Tensor) -> None:
        entry = header[name]
        begin, end = entry["data_offsets"]
        assert bytes_of(tensor) == content[begin:end] and list(tensor.shape) == entry["shape"]
        assert tensor.dtype.itemsize == ITEMSIZES[entry["dtype"]]
        assert tensor.dtype.is_floating_point == ("F" in entry["dtype"])
        left.remove(name)

    def walk(encoded: Any, found: Any) -> None:
        if isinstance(encoded, dict) and "tensor" in encoded:
            check(encoded["tensor"], found)
        elif isinstance(encoded, dict) and "float" not in encoded:
            ((kind, items),) = [pair for pair in encoded.items() if pair[0] in ("list", "tuple", "dict", "OrderedDict")]
            assert type(found).__name__ == kind and len(found) == len(items)
            for item, (key, other) in zip(items, found.items() if "ict" in kind else enumerate(found)):
                assert "ict" not in kind or item[0] == key
                walk(item[1] if "ict" in kind else item, other)
        elif not isinstance(encoded, dict):
            assert found == encoded and type(found) is type(encoded)

    if "norch" in metadata:
        walk(json.loads(metadata["norch"]), value)
    else:
        for name in header:
            check(name, value[name])
        assert list(value) == list(header)
    assert not left


# ---- torch's files ---------------------------------------------------------------------------------------------------

TENSOR = (
    b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\1\0\0\x000X\3\0\0\0cpuK\6tQ"
    b"K\0K\2K\3\x86K\3K\1\x86\x89ccollections\nOrderedDict\n)RtR"
)
VALUES = [b"\x80\2%s." % TENSOR, b"\x80\2}q\0(X\1\0\0\0w%sX\1\0\0\0n](K\1G?\xf0\0\0\0\0\0\0N\x88eu." % TENSOR]
VALUES += [b"\x80\2](%sctorch\nSize\nK\2K\3\x86\x85Rctorch\nint64\n)\x8f(K\1\x90e." % TENSOR]


@functools.lru_cache(None)
def find_torch() -> Any:
    """torch, or None: then there are fewer files, and nobody compares what norch reads of them."""
    return importlib.import_module("torch") if importlib.util.find_spec("torch") else None


def torch_files() -> list[bytes]:
    torch = find_torch()
    made = []
    for text in VALUES:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            records = {"data.pkl": text, "byteorder": b"little", "data/0": struct.pack("<6f", *range(6))}
            for name, content in records.items():
                archive.writestr(zipfile.ZipInfo(f"archive/{name}"), content)
        made.append(file.getvalue())
    if torch is not None:
        x = torch.arange(6.0).reshape(2, 3)
        kinds = [torch.bool, torch.uint8, torch.int16, torch.int64, torch.float16, torch.bfloat16, torch.float64]
        values = [x, [x.T, x[1], x[0, 0]], {"w": torch.nn.Parameter(x), "n": (1, "s", None)}, [x.to(k) for k in kinds]]
        for value in values:
            file = io.BytesIO()
            torch.save(value, file)
            made.append(file.getvalue())
    return made


def check_torch(data: bytes, value: Any) -> None:
    torch = find_torch()
    if torch is None:
        return
    file = io.BytesIO()
    try:
        # Where a record is, torch computes from others, ".storage_alignment" and ".format_version", if they are there.
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
            for info in old.infolist():
                if "/." not in info.filename:
                    new.writestr(zipfile.ZipInfo(info.filename), old.read(info))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = torch.load(io.BytesIO(file.getvalue()), map_location="cpu", weights_only=True)
    except Exception:  # torch refuses more: of damaged archives, and of strides that its storages do not hold
        return
    compare(value, expected)


def compare(found: Any, expected: Any) -> None:
    torch = find_torch()
    if isinstance(expected, torch.Tensor):
        assert tuple(found.shape) == tuple(expected.shape) and str(found.dtype)[6:] == str(expected.dtype)[6:]
        if found.numel() < 10**6:
            assert bytes_of(found) == expected.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for pair in zip(found, expected):
            compare(*pair)
    elif isinstance(expected, dict):
        assert len(found) == len(expected)
        for (_, one), (_, other) in zip(found.items(), expected.items()):
            compare(one, other)
    elif isinstance(expected, (int, str, bytes, bool, type(None))):
        assert found == expected and type(found) is type(expected)


# ---- Pickles ---------------------------------------------------------------------------------------------------------


def pickles() -> list[bytes]:
    return [saved(nn.Linear(2, 1)), saved({"set": {1, 2}, "x": norch.ones(2)}), saved(1j)]


def pickle_errors(error: Exception) -> bool:
    return load_errors(error) or isinstance(error, pickle.UnpicklingError) and "weights_only=False" in str(error)


def check_refused(data: bytes, value: Any) -> None:
    """A pickle may only come through as another kind of file."""
    assert not data.startswith((b"\x80\x04\x95", b"\x80\x05\x95"))


# ---- IDX and CSV -----------------------------------------------------------------------------------------------------

IDX_TYPES = {8: ("B", 1), 9: ("b", 1), 11: ("h", 2), 12: ("i", 4), 13: ("f", 4), 14: ("d", 8)}


def idx_files() -> list[bytes]:
    shapes = [(8, [3, 2]), (9, [4]), (11, [2, 2]), (12, [1, 2, 1]), (13, [3]), (14, [2, 1]), (8, [0, 5])]
    made = []
    for code, shape in shapes:
        letter, size = IDX_TYPES[code]
        content = array.array(letter, range(math.prod(shape)))
        content.byteswap()
        made.append(bytes([0, 0, code, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + content.tobytes())
    return [*made, *(gzip.compress(content, mtime=0) for content in made[:3])]


def path_read(read: Callable[[Path], Any]) -> Callable[[bytes], Any]:
    def from_bytes(data: bytes) -> Any:
        FILE.write_bytes(data)
        return read(FILE)

    return from_bytes


def path_errors(error: Exception) -> bool:
    return isinstance(error, ValueError) and str(error).startswith(str(FILE))


def check_idx(data: bytes, value: Any) -> None:
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    letter, size = IDX_TYPES[data[2]]
    start = 4 + 4 * data[3]
    shape = struct.unpack(f">{data[3]}I", data[4:start])
    assert tuple(value.shape) == shape and len(data) - start == size * math.prod(shape)
    expected = struct.unpack(f">{math.prod(shape)}{letter}", data[start:])
    found = tuple(value.flatten().tolist())
    assert str(found) == str(expected)  # NaN and -0 too


def csv_files() -> list[bytes]:
    return [b"a,b\n1,2\n3,4.5\n", b'"x, y",z\n"1",-2e3\n\n0, 7\n', b"a\n1\n2\n3"]


def check_csv(data: bytes, value: Any) -> None:
    text = data.decode()
    if '"' in text or "\r" in text:
        return
    rows = [line.split(",") for line in text.split("\n") if line][1:]
    expected = [[struct.unpack("f", array.array("f", [float(cell.strip())]))[0] for cell in row] for row in rows]
    assert str(value.tolist()) == str(expected)


# ---- Checkpoints -----------------------------------------------------------------------------------------------------


def targets() -> dict[str, Any]:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    return {"model": model, "optimizer": optimizer, "generator": norch.Generator()}


def checkpoints() -> list[bytes]:
    file, made = io.BytesIO(), targets()
    norch.manual_seed(0)
    made["model"](norch.ones(2, 2)).sum().backward()
    made["optimizer"].step()
    norch.utils.save_checkpoint(file, **made, epoch=3)
    return [file.getvalue()]


def load_checkpoint(data: bytes) -> Any:
    return norch.utils.load_checkpoint(io.BytesIO(data), map_location="cpu", **targets())


def checkpoint_errors(error: Exception) -> bool:
    """What `load_state_dict` may raise for a state that does not fit, too."""
    return isinstance(error, (ValueError, RuntimeError, TypeError, KeyError))


LOAD = 'import norch\nnorch.load("fuzzed", map_location="cpu")'
READERS = {
    "safetensors": Reader(safetensors_files, mutations.of_safetensors, load, load_errors, check_safetensors, LOAD),
    "torch": Reader(torch_files, mutations.of_zip, load, load_errors, check_torch, LOAD),
    "pickle": Reader(pickles, mutations.of_pickle, load, pickle_errors, check_refused, LOAD),
    "idx": Reader(
        idx_files,
        mutations.of_idx,
        path_read(read_idx),
        path_errors,
        check_idx,
        'import norch\nnorch.utils.data.read_idx("fuzzed")',
    ),
    "csv": Reader(
        csv_files,
        mutations.of_csv,
        path_read(read_csv),
        path_errors,
        check_csv,
        'import norch\nnorch.utils.data.read_csv("fuzzed")',
    ),
    "checkpoint": Reader(
        checkpoints,
        mutations.of_safetensors,
        load_checkpoint,
        checkpoint_errors,
        lambda data, value: None,
        "import norch, readers  # in tests/attack\nreaders.load_checkpoint(open('fuzzed', 'rb').read())",
    ),
}
