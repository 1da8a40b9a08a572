"""Readers of the user's files: MNIST's IDX format and CSV. Nothing is downloaded.

A malformed file is a ValueError that names the file and says what was found in it.
"""

from __future__ import annotations

import array
import csv
import gzip
import math
import os
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Union

from ..._C import MAX_DIMS
from ...functions.creation import zeros
from ...functions.promotion import iinfo
from ...methods.interop import frombuffer
from ...tensor import Tensor
from ...types import DType, bool_, check_dtype, dtype, float32, float64, int32, int64, shown, uint8
from .dataset import TensorDataset

StrPath = Union[str, "os.PathLike[str]"]
Parser = Union[Callable[[str], float], Mapping[str, float]]  # from a cell's text to a number

# ---- IDX: http://yann.lecun.com/exdb/mnist ---------------------------------------------------------------------------

# type code -> the type of array.array that reads it, and that of norch's dtype
_IDX_TYPES = {
    0x08: ("B", "B"),
    0x09: ("b", "i"),
    0x0B: ("h", "i"),
    0x0C: ("i", "i"),
    0x0D: ("f", "f"),
    0x0E: ("d", "d"),
}
_DTYPES = {"B": uint8, "i": int32, "f": float32, "d": float64}

_EXPANSION = 1032  # how many bytes gzip makes of one, at most


def read_idx(path: StrPath) -> Tensor:
    """The tensor in an IDX file, plain or compressed by gzip.

    Bytes become uint8, signed bytes and shorts int32; the other types (int, float, double) stay. Raises ValueError for
    a wrong magic number and for a file that is longer or shorter than its header says.

    >>> with open("labels-idx1-ubyte", "wb") as file:
    ...     written = file.write(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
    >>> norch.utils.data.read_idx("labels-idx1-ubyte")
    tensor([7, 2, 1], dtype=norch.uint8)
    """
    with open(os.fspath(path), "rb") as file:
        compressed = file.peek(2)[:2] == b"\x1f\x8b"
        try:
            if not compressed:
                return _tensor_in(file, path)
            size = os.fstat(file.fileno()).st_size or math.inf  # a pipe has none
            return _tensor_in(gzip.GzipFile(fileobj=file), path, size * _EXPANSION)
        except (OSError, EOFError, zlib.error) as error:
            if not compressed:
                raise
            raise ValueError(f"{path}: not a valid gzip file: {error}") from None


def _tensor_in(file: Any, path: StrPath, most: float = math.inf) -> Tensor:
    """The tensor in an open file that cannot hold more than so many bytes."""
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _IDX_TYPES:
        codes = ", ".join(f"{code:02x}" for code in _IDX_TYPES)
        found = magic.hex(" ") or "nothing"
        raise ValueError(f"{path}: magic number {found}, expected 00 00, a type of {codes}, and a number of dimensions")
    stored, kept = _IDX_TYPES[magic[2]]
    ndim, start = magic[3], 4 + 4 * magic[3]
    if not 1 <= ndim <= MAX_DIMS:
        raise ValueError(f"{path}: {ndim} dimensions, expected 1 to {MAX_DIMS}")
    sizes = file.read(4 * ndim)
    if len(sizes) < 4 * ndim:
        found = f"{4 + len(sizes)} bytes"
        raise ValueError(f"{path}: {found}, expected at least the {start} of a header of {ndim} dimensions")
    shape = [int.from_bytes(sizes[i : i + 4], "big") for i in range(0, 4 * ndim, 4)]
    values = array.array(stored)
    expected = math.prod(shape) * values.itemsize
    if expected > most:  # before as much of it is read as a bomb has
        raise ValueError(f"{path}: {expected} bytes of data for shape {shape} do not fit into a gzip file of this size")
    data = _read(file, expected + 1)  # a byte more tells that there are more; they may be as many as a bomb has
    if len(data) != expected:
        least = "at least " if len(data) > expected else ""
        raise ValueError(f"{path}: {least}{len(data)} bytes of data, expected {expected} for shape {shape}")
    if math.prod(max(size, 1) for size in shape) >= 2**63:
        raise ValueError(f"{path}: shape {shape} is too large")
    if expected == 0:
        return zeros(shape, dtype=_DTYPES[kept], device="cpu")
    values.frombytes(data)
    if sys.byteorder == "little":
        values.byteswap()
    values = values if stored == kept else array.array(kept, values)
    return frombuffer(values, dtype=_DTYPES[kept]).reshape(shape)


def _read(file: Any, count: int) -> bytearray:
    """Up to `count` bytes, read in pieces: a file may be shorter than its header says, and memory too."""
    data = bytearray()
    while len(data) < count:
        piece = file.read(min(count - len(data), 2**20))
        if not piece:
            break
        data += piece
    return data


def mnist(root: StrPath, train: bool = True) -> TensorDataset:
    """MNIST's (or Fashion-MNIST's) images [N, 1, 28, 28], float32 from 0 to 1, and labels [N], int64.

    `root` is a folder with the four IDX files under their usual names, plain or as .gz, or torchvision's folder around
    MNIST/raw. Raises a FileNotFoundError that names the files it looked for.

    >>> import os
    >>> data = norch.utils.data.mnist("mnist") if os.path.isdir("mnist") else None  # the folder of the downloaded files
    """
    prefix = "train" if train else "t10k"
    found = [_find(root, f"{prefix}-{what}") for what in ("images-idx3-ubyte", "labels-idx1-ubyte")]
    images, labels = (read_idx(path) for path in found)
    for path, tensor, ndim in zip(found, (images, labels), (3, 1)):
        if tensor.ndim != ndim or tensor.dtype is not uint8:
            raise ValueError(
                f"{path}: {tensor.dtype} of shape {list(tensor.shape)}, expected bytes of {ndim} dimensions"
            )
    if len(images) != len(labels):
        raise ValueError(f"{found[1]}: {len(labels)} labels, expected one for each of {len(images)} images")
    return TensorDataset(images.float().div_(255.0).unsqueeze(1), labels.long())


def _find(root: StrPath, name: str) -> Path:
    folders = [Path(root), Path(root) / "MNIST" / "raw", Path(root) / "FashionMNIST" / "raw"]
    names = [name, name.replace("-idx", ".idx")]
    places = [folder / (given + end) for folder in folders for given in names for end in ("", ".gz")]
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError(f"no {name} or {name}.gz in {os.fspath(root)} (or in its MNIST/raw, FashionMNIST/raw)")


# ---- CSV -------------------------------------------------------------------------------------------------------------


def read_csv(
    path: StrPath,
    columns: Sequence[str | int] | None = None,
    *,
    header: bool = True,
    delimiter: str = ",",
    dtype: DType | None = None,
    missing: float | None = None,
    converters: Mapping[str | int, Parser] | None = None,
    encoding: str = "utf-8",
) -> Tensor:
    """The numbers in a CSV file as a tensor [rows, columns], of float32 unless `dtype` says otherwise.

    `columns` chooses and orders columns, by the names in the header or by position; without a `header` by position.
    Empty cells count as `missing`; if that is None they are an error. `converters` maps a column to a function, or a
    dict, from its text to a number: {"species": {"setosa": 0, "virginica": 1}}. Empty lines are skipped. Raises
    ValueError with file and line if a cell is not a number or a line has more or fewer cells than the first.

    >>> with open("table.csv", "w") as file:
    ...     written = file.write("height,width\\n1,2\\n3,4\\n")
    >>> norch.utils.data.read_csv("table.csv")
    tensor([[1., 2.],
            [3., 4.]])
    """
    kind = float32 if dtype is None else check_dtype(dtype)
    if not isinstance(converters, (Mapping, type(None))):
        raise TypeError(f"read_csv: converters is {shown(converters)}, expected a dict of functions by column")
    values: array.array[Any] = array.array("d" if kind.is_floating_point else "q")
    with open(os.fspath(path), newline="", encoding=encoding) as file:
        rows = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            first = next((row for row in rows if row), None)
            if first is None:
                raise ValueError(f"{path}: the file is empty, expected {'a header' if header else 'numbers'}")
            names = [name.strip() for name in first] if header else list(range(len(first)))
            given = {_place(path, names, column): parser for column, parser in (converters or {}).items()}
            chosen = [_place(path, names, column) for column in (range(len(names)) if columns is None else columns)]
            cells = [(i, _parser(given.get(i), kind, missing)) for i in chosen]
            count = 0
            for row in chain([] if header else [first], filter(None, rows)):
                if len(row) != len(names):
                    raise ValueError(f"{path}, line {rows.line_num}: {len(row)} cells, expected {len(names)}")
                for i, parse in cells:
                    try:
                        values.append(parse(row[i].strip()))
                    except (ValueError, KeyError, TypeError, OverflowError):
                        place = f"{path}, line {rows.line_num}: column {shown(names[i])}"
                        if not row[i].strip():
                            raise ValueError(f"{place} is empty, expected a number (or give `missing`)") from None
                        raise ValueError(f"{place} holds {shown(row[i].strip())}, expected {kind.name}") from None
                count += 1
        except csv.Error as error:
            raise ValueError(f"{path}, line {rows.line_num}: {error}") from None
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: not text in {encoding}: {error}") from None
    if not values:
        return zeros(count, len(cells), dtype=kind, device="cpu")
    whole = float64 if kind.is_floating_point else int64
    return frombuffer(values, dtype=whole).to(kind).reshape(count, len(cells))


def _place(path: StrPath, names: Sequence[object], column: object) -> int:
    """The position of a column given by name or position."""
    if isinstance(column, str):
        if names.count(column) != 1:
            found = "repeated" if column in names else "missing"
            raise ValueError(f"{path}: column {shown(column)} is {found}, expected one of {', '.join(map(str, names))}")
        return names.index(column)
    if not isinstance(column, int) or not -len(names) <= column < len(names):
        raise ValueError(f"{path}: column {shown(column)}, expected a name or a position below {len(names)}")
    return column % len(names)


def _parser(given: Parser | None, kind: dtype, missing: float | None) -> Callable[[str], float]:
    """The function from a cell's text to a number; it raises an exception if there is none of the dtype."""
    convert = given.__getitem__ if isinstance(given, Mapping) else given or (float if kind.is_floating_point else int)

    def parse(text: str) -> float:
        if text:
            return convert(text) if kind.is_floating_point else _whole(convert(text), kind)
        if missing is None:
            raise ValueError
        return missing

    return parse


def _whole(value: float, kind: dtype) -> int:
    """An integer that the dtype holds."""
    low, high = (0, 1) if kind is bool_ else (iinfo(kind).min, iinfo(kind).max)
    if value != int(value) or not low <= value <= high:
        raise ValueError
    return int(value)
