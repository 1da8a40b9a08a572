"""Changes to files that keep some of their structure, so that what reads them gets past the first check."""

from __future__ import annotations

import gzip
import io
import json
import pickletools
import struct
import zipfile
import zlib
from random import Random
from typing import Any

LARGEST = 1 << 16  # bytes that a changed file may have

SIZES = [0, 1, 2, 3, 4, 7, 8, 9, 127, 128, 255, 256, 2**15, 2**16, 2**20, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40]
SIZES += [2**53, 2**61, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**25]
ODD_VALUES: list[Any] = [None, True, False, "", "cpu", "cuda:0", "x", "nan", 0.5, -0.0, 1e308, [], {}, [[]], [0, 0]]
ODD_VALUES += ["tensor", "F32", "F64", "BF16", "BOOL", "U8", "I64", "F8_E4M3", "\ud800", "\0", "__metadata__"]


def of_bytes(rng: Random, data: bytes) -> bytes:
    """Some bytes changed, put in, left out, or repeated."""
    content = bytearray(data[:LARGEST])
    at = rng.randrange(len(content) + 1)
    end = min(len(content), at + rng.choice([1, 1, 2, 4, 8, 16, 64]))
    kind = rng.randrange(8)
    if kind == 0 and at < len(content):
        content[at] ^= 1 << rng.randrange(8)
    elif kind == 1 and at < len(content):
        content[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    elif kind == 2:
        content[at:end] = b""
    elif kind == 3:
        content[at:at] = rng.randbytes(rng.choice([1, 2, 4, 8]))
    elif kind == 4:
        content[at:at] = content[at:end] * rng.choice([1, 2, 100])
    elif kind == 5:
        size, order = rng.choice([1, 2, 4, 8]), rng.choice(["little", "big"])
        content[at : at + size] = (rng.choice(SIZES) % 256**size).to_bytes(size, order)
    elif kind == 6:
        del content[at:]
    else:
        start = rng.randrange(len(content) + 1)
        content[at:end] = content[start : start + end - at]
    return bytes(content[:LARGEST])


# ---- JSON, and safetensors -------------------------------------------------------------------------------------------


def of_value(rng: Random, value: Any) -> Any:
    """A JSON value with one part changed, anywhere inside it."""
    if isinstance(value, (dict, list)) and value and rng.random() < 0.8:
        return _of_container(rng, value)
    kind = rng.randrange(5)
    if kind == 0 and isinstance(value, int):
        return value + rng.choice([-8, -4, -1, 1, 4, 8])
    if kind == 1:
        return rng.choice([-1, 1]) * rng.choice(SIZES)
    if kind == 2:
        return [value] * rng.choice([1, 2, 9])
    if kind == 3 and isinstance(value, str):
        try:
            return json.dumps(of_value(rng, json.loads(value)))  # the structure of norch's files is JSON in JSON
        except ValueError:
            return value[::-1] + rng.choice(["", "#2", "\n", value])
    return rng.choice(ODD_VALUES)


def _of_container(rng: Random, value: dict[str, Any] | list[Any]) -> Any:
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, kind, changed = rng.choice(keys), rng.randrange(10), value.copy()
    if kind == 0:
        del changed[key]  # type: ignore[arg-type]
    elif kind == 1 and isinstance(changed, list):
        changed[key:key] = rng.choice([[changed[key]], [changed[key]] * 8, [rng.choice(ODD_VALUES)]])
    elif kind == 1:
        changed[rng.choice([str(rng.choice(ODD_VALUES)), key + "#2"])] = changed[key]
    elif kind == 2:
        changed[key] = changed[rng.choice(keys)]  # type: ignore[index]
    else:
        changed[key] = of_value(rng, changed[key])  # type: ignore[index]
    return changed


def of_safetensors(rng: Random, data: bytes) -> bytes:
    """The header, the elements, or the bytes of both."""
    if rng.random() < 0.3:
        return of_bytes(rng, data)
    try:
        length = int.from_bytes(data[:8], "little")
        header, elements = json.loads(data[8 : 8 + length]), data[8 + length :]
    except (ValueError, RecursionError):
        return of_bytes(rng, data)
    if rng.random() < 0.2:
        elements = of_bytes(rng, elements)
    else:
        header = of_value(rng, header)
    text = json.dumps(header, ensure_ascii=rng.random() < 0.5).encode(errors="surrogatepass")
    return (struct.pack("<Q", len(text)) + text + elements)[:LARGEST]


# ---- IDX -------------------------------------------------------------------------------------------------------------


def of_idx(rng: Random, data: bytes) -> bytes:
    """The kind, the number of dimensions or a size, often with as many bytes as they ask for; plain or compressed."""
    compressed = data[:2] == b"\x1f\x8b"
    if rng.random() < 0.3:
        return of_bytes(rng, data)
    if compressed:
        try:
            data = zlib.decompressobj(31).decompress(data, LARGEST)
        except zlib.error:
            return of_bytes(rng, data)
    content = bytearray(data.ljust(8, b"\0"))
    if rng.random() < 0.3:
        content[2] = rng.choice([8, 9, 11, 12, 13, 14, 10, 0, 255])
    if rng.random() < 0.3:
        content[3] = rng.choice([0, 1, 2, 3, 8, 9, 255])
    place = 4 + 4 * rng.randrange(max(1, content[3]))
    content[place : place + 4] = (rng.choice(SIZES[:20]) % 2**32).to_bytes(4, "big")
    if rng.random() < 0.6:
        size, start = {8: 1, 9: 1, 11: 2, 14: 8}.get(content[2], 4), 4 + 4 * content[3]
        for i in range(4, start, 4):
            size *= int.from_bytes(content[i : i + 4], "big")
        if start + size <= LARGEST:
            content = bytearray(bytes(content[:start]).ljust(start, b"\0") + rng.randbytes(size))
    if rng.random() < 0.1:
        content += bytes(rng.choice([1, 1000]))
    if compressed and rng.random() < 0.02:
        content += bytes(10_000_000)
    result = bytes(content)
    if compressed != (rng.random() < 0.1):
        result = gzip.compress(result, mtime=0) + (gzip.compress(b"more", mtime=0) if rng.random() < 0.1 else b"")
    return result if compressed else result[:LARGEST]


# ---- Pickles, and torch's zip files ----------------------------------------------------------------------------------

# What a pickle must never be able to call; the attack watches whether anything of the kind happens.
CALLS = [b"cos\nsystem\n", b"cbuiltins\neval\n", b"cbuiltins\nexec\n", b"cbuiltins\n__import__\n", b"cnorch\nload\n"]
CALLS += [b"cctypes\nstring_at\n", b"ctorch._utils\n_rebuild_tensor_v2\n", b"ctorch\nSize\n", b"ctorch\ndevice\n"]
CALLS += [b"ccollections\nOrderedDict\n", b"cbuiltins\nset\n", b"ctorch\nfloat32\n", b"ctorch\nFloatStorage\n"]
PIECES = [b"(", b")", b"]", b"}", b"\x8f", b"0", b"1", b"2", b"N", b"K\x01", b"\x88", b"U\x01x", b"e", b"a", b"u", b"s"]
PIECES += [b"R", b"b", b"t", b"\x85", b"\x86", b"\x94", b"h\x00", b"Q", b"\x81", b"i", b"o", b"\x93", b"C\x02ab"]
PIECES += [b"X\x04\x00\x00\x00true", b"r\xff\xff\xff\x7f", b"\x8a\x08" + b"\xff" * 8, b"\x95" + b"\xff" * 8]
PIECES += [b"\x96" + b"\xff" * 7 + b"\x00"]


def of_pickle(rng: Random, data: bytes) -> bytes:
    """Whole instructions put in, left out, repeated, or swapped; their numbers and strings changed."""
    try:
        starts = [position for _, _, position in pickletools.genops(data)] + [len(data)]
    except Exception:  # a changed pickle need not be one any more
        return of_bytes(rng, data)
    parts = [data[start:end] for start, end in zip(starts, starts[1:])]
    at, kind = rng.randrange(len(parts)), rng.randrange(7)
    if kind == 0:
        del parts[at]
    elif kind == 1:
        parts.insert(at, rng.choice(parts))
    elif kind == 2:
        parts.insert(at, rng.choice(PIECES))
    elif kind == 3:
        parts.insert(at, rng.choice(CALLS) + rng.choice([b"", b"X\x04\x00\x00\x00true\x85R", b")R", b"0"]))
    elif kind == 4:
        other = rng.randrange(len(parts))
        parts[at], parts[other] = parts[other], parts[at]
    elif kind == 5:
        number = rng.choice([-1, 1]) * rng.choice(SIZES)
        parts[at] = b"\x8a\x09" + (number % 2**71).to_bytes(9, "little", signed=False)
    else:
        parts[at] = parts[at][:1] + of_bytes(rng, parts[at][1:])
    return b"".join(parts)[:LARGEST]


def of_zip(rng: Random, data: bytes) -> bytes:
    """A record, a name, the list of the records, or the archive's own fields."""
    if rng.random() < 0.2:
        return of_bytes(rng, data)
    if rng.random() < 0.2:
        return _of_directory(rng, data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            records = [[info.filename, archive.read(info)] for info in archive.infolist() if info.file_size < LARGEST]
    except Exception:  # a changed archive need not be one any more
        return of_bytes(rng, data)
    if not records:
        return of_bytes(rng, data)
    record, kind = rng.choice(records), rng.randrange(10)
    pickles = [found for found in records if found[0].endswith("data.pkl")]
    if kind < 6 and pickles:
        pickles[0][1] = of_pickle(rng, pickles[0][1])
    elif kind == 6:
        record[1] = of_bytes(rng, record[1])
    elif kind == 7:
        records.remove(record)
    elif kind == 8:
        records.append([record[0], rng.choice(records)[1]])
    else:
        names = [record[0][::-1], "", "/", "a/data.pkl", "archive/data/1", "../x", "archive/constants.pkl"]
        record[0] = rng.choice(names)
    file = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if rng.random() < 0.03 else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in records:
            archive.writestr(zipfile.ZipInfo(name or "x"), content, method)
    return file.getvalue()[:LARGEST]


def _of_directory(rng: Random, data: bytes) -> bytes:
    """A field of a header of the archive: sizes, offsets, counts, flags, methods."""
    marks = [b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"]
    places = [place for place in range(len(data)) if data[place : place + 4] in marks]
    if not places:
        return of_bytes(rng, data)
    place, size = rng.choice(places) + rng.randrange(4, 46), rng.choice([2, 4])
    old = int.from_bytes(data[place : place + size], "little")
    new = rng.choice([old + 1, old - 1, old + 64, rng.choice(SIZES), rng.choice(places)]) % 256**size
    return data[:place] + new.to_bytes(size, "little") + data[place + size :]


# ---- CSV -------------------------------------------------------------------------------------------------------------

CELLS = ["", "0", "-1", "1e999", "nan", "-inf", "1_0", " 1 ", "0x1", "1" * 5000, '"', '"a""b"', "\0", "٣", "é", "\r"]


def of_csv(rng: Random, data: bytes) -> bytes:
    """A cell, a line, or the bytes."""
    if rng.random() < 0.4:
        return of_bytes(rng, data)
    rows = [line.split(b",") for line in data.split(b"\n")]
    row, kind = rng.choice(rows), rng.randrange(4)
    if kind == 0:
        rows.insert(rng.randrange(len(rows) + 1), rng.choice(rows))
    elif kind == 1:
        rows.remove(row)
    elif kind == 2:
        row.insert(rng.randrange(len(row) + 1), rng.choice(CELLS).encode())
    else:
        row[rng.randrange(len(row))] = rng.choice(CELLS).encode()
    return b"\n".join(b",".join(cells) for cells in rows)[:LARGEST]
