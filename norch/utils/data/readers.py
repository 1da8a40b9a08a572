"""Readers of files that the user has: MNIST's IDX format and CSV. Nothing is downloaded.

Every error is a ValueError that names the file and says what was found in it.
"""

from __future__ import annotations

import array
import gzip
import math
import os
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import norch
from norch._C import MAX_DIMS
from norch.tensor import Tensor
from norch.types import check_dtype

from .dataset import TensorDataset

# ---- IDX: http://yann.lecun.com/exdb/mnist ---------------------------------------------------------------------------

# type code -> the type of array.array that reads it, and the one of a dtype that norch has
_IDX_TYPES = {
    0x08: ("B", "B"),
    0x09: ("b", "i"),
    0x0B: ("h", "i"),
    0x0C: ("i", "i"),
    0x0D: ("f", "f"),
    0x0E: ("d", "d"),
}
_DTYPES = {"B": "uint8", "i": "int32", "f": "float32", "d": "float64"}


def read_idx(path: Any) -> Tensor:
    """The tensor in an IDX file, plain or compressed by gzip.

    Bytes come as uint8, signed bytes and shorts as int32, the other types (int, float, double) as they are. Raises
    ValueError for a wrong magic number and for a file that is longer or shorter than its header says.

    >>> with open("labels-idx1-ubyte", "wb") as file:
    ...     written = file.write(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
    >>> norch.utils.data.read_idx("labels-idx1-ubyte")
    tensor([7, 2, 1], dtype=norch.uint8)
    """
    data = _bytes_of(path)
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _IDX_TYPES:
        found = data[:4].hex(" ") or "nothing"
        codes = ", ".join(f"{code:02x}" for code in _IDX_TYPES)
        raise ValueError(f"{path}: magic number {found}, expected 00 00, a type of {codes}, and a number of dimensions")
    stored, kept = _IDX_TYPES[data[2]]
    ndim, start = data[3], 4 + 4 * data[3]
    if not 1 <= ndim <= MAX_DIMS:
        raise ValueError(f"{path}: {ndim} dimensions, expected 1 to {MAX_DIMS}")
    if len(data) < start:
        raise ValueError(f"{path}: {len(data)} bytes, expected at least the {start} of a header of {ndim} dimensions")
    shape = [int.from_bytes(data[i : i + 4], "big") for i in range(4, start, 4)]
    values = array.array(stored)
    expected = math.prod(shape) * values.itemsize
    if len(data) - start != expected:
        raise ValueError(f"{path}: {len(data) - start} bytes of data, expected {expected} for shape {shape}")
    kind = getattr(norch, _DTYPES[kept])
    if expected == 0:
        return norch.zeros(shape, dtype=kind)
    values.frombytes(memoryview(data)[start:])
    if sys.byteorder == "little":
        values.byteswap()
    values = values if stored == kept else array.array(kept, values)
    return norch.frombuffer(values, dtype=kind).reshape(shape)


def _bytes_of(path: Any) -> bytes:
    """A file's content, decompressed where it is gzip's."""
    data = Path(path).read_bytes()
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: no valid gzip file: {error}") from None


def mnist(root: Any, train: bool = True) -> TensorDataset:
    """MNIST's (or Fashion-MNIST's) images [N, 1, 28, 28], float32 from 0 to 1, and labels [N], int64.

    `root` is a folder with the four IDX files under their usual names, plain or as .gz, or torchvision's folder around
    MNIST/raw. Raises FileNotFoundError that names the files it looked for.

    >>> import os
    >>> data = norch.utils.data.mnist("mnist") if os.path.isdir("mnist") else None  # the folder of the downloaded files
    """
    prefix = "train" if train else "t10k"
    found = [_find(root, f"{prefix}-{what}") for what in ("images-idx3-ubyte", "labels-idx1-ubyte")]
    images, labels = (read_idx(path) for path in found)
    for path, tensor, ndim in zip(found, (images, labels), (3, 1)):
        if tensor.ndim != ndim or tensor.dtype is not norch.uint8:
            raise ValueError(
                f"{path}: {tensor.dtype} of shape {list(tensor.shape)}, expected bytes of {ndim} dimensions"
            )
    if len(images) != len(labels):
        raise ValueError(f"{found[1]}: {len(labels)} labels, expected one for each of {len(images)} images")
    return TensorDataset(images.float().div_(255.0).unsqueeze(1), labels.long())


def _find(root: Any, name: str) -> Path:
    folders = [Path(root), Path(root) / "MNIST" / "raw", Path(root) / "FashionMNIST" / "raw"]
    names = [name, name.replace("-idx", ".idx")]
    places = [folder / (given + end) for folder in folders for given in names for end in ("", ".gz")]
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError(f"no {name} or {name}.gz in {os.fspath(root)} (or in its MNIST/raw, FashionMNIST/raw)")


# ---- CSV -------------------------------------------------------------------------------------------------------------


def read_csv(
    path: Any,
    columns: Sequence[Any] | None = None,
    *,
    header: bool = True,
    delimiter: str = ",",
    dtype: Any = None,
    missing: float | None = None,
    converters: Mapping[Any, Any] | None = None,
    encoding: str = "utf-8",
) -> Tensor:
    """The numbers in a CSV file as a tensor [rows, columns], of float32 unless `dtype` says otherwise.

    `columns` chooses and orders columns, by the names in the header or by position; without a `header` by position.
    Empty cells count as `missing`, and are an error where it is None. `converters` maps a column to a function, or a
    dict, from its text to a number: {"species": {"setosa": 0, "virginica": 1}}. Empty lines are skipped. Raises
    ValueError with file and line for a cell that is no number and for a line with more or fewer cells than the first.

    >>> with open("table.csv", "w") as file:
    ...     written = file.write("height,width\\n1,2\\n3,4\\n")
    >>> norch.utils.data.read_csv("table.csv")
    tensor([[1., 2.],
            [3., 4.]])
    """
    import csv

    kind = norch.float32 if dtype is None else check_dtype(dtype)
    parse: Callable[[str], Any] = float if kind.is_floating_point else int
    values = array.array("d" if kind.is_floating_point else "q")
    with open(path, newline="", encoding=encoding) as file:
        rows = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            first: Any = next((row for row in rows if row), None)
            if first is None:
                raise ValueError(f"{path}: the file is empty, expected {'a header' if header else 'numbers'}")
            names = [name.strip() for name in first] if header else list(range(len(first)))
            chosen = [_place(path, names, column) for column in (range(len(names)) if columns is None else columns)]
            given = {_place(path, names, column): call for column, call in (converters or {}).items()}
            cells = [(i, names[i], _converter(given.get(i, parse))) for i in chosen]
            count = 0
            row: Any = [] if header else first
            while row is not None:
                if row:
                    if len(row) != len(names):
                        raise ValueError(f"{path}, line {rows.line_num}: {len(row)} cells, expected {len(names)}")
                    for i, name, convert in cells:
                        values.append(_number(path, rows.line_num, name, row[i].strip(), convert, missing, kind))
                    count += 1
                row = next(rows, None)
        except csv.Error as error:
            raise ValueError(f"{path}, line {rows.line_num}: {error}") from None
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: no text in {encoding}: {error}") from None
    if not values:
        return norch.zeros(count, len(cells), dtype=kind)
    whole = norch.float64 if kind.is_floating_point else norch.int64
    return norch.frombuffer(values, dtype=whole).to(kind).reshape(count, len(cells))


def _place(path: Any, names: list[Any], column: Any) -> int:
    """The position of a column given by name or position."""
    if isinstance(column, str):
        if names.count(column) != 1:
            found = "twice or more" if column in names else "not there"
            raise ValueError(f"{path}: column {column!r} is {found}, expected one of {', '.join(map(str, names))}")
        return names.index(column)
    if not isinstance(column, int) or not -len(names) <= column < len(names):
        raise ValueError(f"{path}: column {column!r}, expected a name or a position below {len(names)}")
    return column % len(names)


def _converter(given: Any) -> Callable[[str], Any]:
    return given.__getitem__ if isinstance(given, Mapping) else given


def _number(path: Any, line: int, name: Any, text: str, convert: Any, missing: Any, kind: Any) -> Any:
    if text == "":
        if missing is None:
            raise ValueError(f"{path}, line {line}: column {name!r} is empty, expected a number (or give `missing`)")
        return missing
    try:
        value = convert(text)
        return value if kind.is_floating_point else _whole(value, kind)
    except (ValueError, KeyError, TypeError, OverflowError):
        raise ValueError(f"{path}, line {line}: column {name!r} holds {text!r}, expected {kind.name}") from None


def _whole(value: Any, kind: Any) -> int:
    """An integer that the dtype has."""
    low, high = (0, 1) if kind is norch.bool else (norch.iinfo(kind).min, norch.iinfo(kind).max)
    if value != int(value) or not low <= value <= high:
        raise ValueError
    return int(value)
