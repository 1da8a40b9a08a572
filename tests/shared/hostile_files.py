"""Files that norch.load must refuse, each with a part of the message that says why."""

from __future__ import annotations

import json
import struct


def joined(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def split(content):
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def entry(shape=(2,), offsets=(0, 8), dtype="F32", **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


def structured(structure, **tensors):
    text = structure if isinstance(structure, str) else json.dumps(structure)
    return joined({"__metadata__": {"norch": text}, **tensors}, bytes(8 * len(tensors)))


X = {"x": entry()}
DEEP = b"[" * 100_000 + b"]" * 100_000
HOSTILE = {
    "empty": (b"", "it is empty"),
    "short": (b"1234", "4 bytes"),
    "length beyond the file": (struct.pack("<Q", 100) + b"{}", "claims 100 bytes, but only 2 follow"),
    "huge length": (struct.pack("<Q", 2**63) + b"{}", f"claims {2**63} bytes"),
    "length beyond the limit": (struct.pack("<Q", 10**8 + 1) + b"{}", "at most 100000000"),
    "a pickle": (b"\x80\x04\x95" + bytes(50), "pickled object.*weights_only=False"),
    "no JSON": (joined(b"{broken"), "not valid JSON"),
    "no dict": (joined(b"[1]"), "begin with {"),
    "nothing": (joined(b""), "begin with {"),
    "no UTF-8": (joined(b'{"\xff": 1}'), "not valid JSON"),
    "UTF-16": (joined('{"x": 1}'.encode("utf-16-le")), "not valid JSON"),
    "not a number": (joined(b'{"x": {"dtype": "F32", "shape": [NaN], "data_offsets": [0, 8]}}', bytes(8)), "NaN"),
    "deep header": (joined(b'{"x": ' + DEEP + b"}"), "nested too deeply"),
    "a long integer": (joined(b'{"x": ' + b"9" * 10_000 + b"}"), "JSON|'x' lacks"),
    "a name twice": (joined(b'{"x": {"shape": [2]}, "x": {"shape": [2]}}', bytes(8)), "'x' appears twice"),
    "a field twice": (joined(b'{"x": {"dtype": "F32", "dtype": "F32", "shape": [2]}}'), "'dtype' appears twice"),
    "an entry that is no dict": (joined({"x": 3}), "'x' lacks"),
    "a field missing": (joined({"x": {"dtype": "F32", "shape": [2]}}), "'x' lacks"),
    "unknown dtype": (joined({"x": entry(dtype="F8_E4M3", offsets=(0, 4))}, bytes(4)), "'x' has dtype 'F8_E4M3'"),
    "dtype of a wrong type": (joined({"x": entry(dtype=["F32"])}, bytes(8)), "has dtype"),
    "negative size": (joined({"x": entry(shape=(-2,))}, bytes(8)), "has shape"),
    "fractional size": (joined({"x": entry(shape=(2.0,))}, bytes(8)), "has shape"),
    "boolean size": (joined({"x": entry(shape=(True, 2))}, bytes(8)), "has shape"),
    "size beyond 64 bits": (joined({"x": entry(shape=(2**64, 0), offsets=(0, 0))}), "has shape"),
    "nine dimensions": (joined({"x": entry(shape=(1,) * 9, offsets=(0, 4))}, bytes(4)), "9 dimensions"),
    "huge shape": (joined({"x": entry(shape=(2**40, 2**20))}, bytes(8)), "takes"),
    "shape that wraps around": (joined({"x": entry(shape=(2**62, 4), offsets=(0, 0))}), "too large"),
    "a huge shape without elements": (joined({"x": entry(shape=(2**62, 4, 0), offsets=(0, 0))}), "is too large"),
    "huge and consistent": (joined({"x": entry(shape=(2**40,), offsets=(0, 2**42))}, bytes(8)), "truncated"),
    "shape and bytes differ": (joined({"x": entry(shape=(3,))}, bytes(8)), "takes 12 bytes.*span 8"),
    "offsets reversed": (joined({"x": entry(offsets=(8, 0))}, bytes(8)), "span -8"),
    "negative offset": (joined({"x": entry(offsets=(-8, 0))}, bytes(8)), "data_offsets"),
    "three offsets": (joined({"x": entry(offsets=(0, 8, 8))}, bytes(8)), "data_offsets"),
    "overlap": (joined({"x": entry(), "y": entry(offsets=(4, 12))}, bytes(12)), "'y'.*overlaps"),
    "the same place twice": (joined({"x": entry(), "y": entry()}, bytes(8)), "overlaps"),
    "a gap": (joined({"x": entry(), "y": entry(offsets=(12, 20))}, bytes(20)), "'y'.*gap"),
    "truncated": (joined(X, bytes(7)), "truncated: its tensors take 8 bytes, but 7 follow"),
    "trailing bytes": (joined(X, bytes(9)), "outside all tensors"),
    "a bool of 2": (joined({"x": entry(dtype="BOOL", offsets=(0, 2))}, b"\x01\x02"), "neither 0 nor 1"),
    "metadata of numbers": (joined({"__metadata__": {"norch": 3}, **X}, bytes(8)), "__metadata__"),
    "metadata that is a list": (joined({"__metadata__": []}), "__metadata__"),
    "structure: no JSON": (structured("{", **X), "structure is not valid JSON"),
    "structure: deep": (structured(DEEP.decode(), **X), "nested too deeply"),
    "structure: deep lists": (structured('{"list": [' * 900 + "1" + "]}" * 900), "nested too deeply"),
    "structure: a bare list": (structured({"list": [[{"list": []}]]}), "where a tensor, number, list or dict"),
    "structure: missing tensor": (structured({"tensor": "y"}, **X), "'y' that is missing"),
    "structure: unnamed tensor": (structured({"tensor": ["x"]}, **X), "missing or repeated"),
    "structure: a tensor twice": (structured({"list": [{"tensor": "x"}] * 2}, **X), "'x' that is missing or repeated"),
    "structure: a tensor left out": (structured({"list": []}, **X), "leaves out the tensors 'x'"),
    "structure: no device": (structured({"tensor": "x", "device": [0]}, **X), r"device \[0\]"),
    "structure: unknown kind": (structured({"code": "import os"}), "a tensor, number, list or dict is expected"),
    "structure: two kinds": (structured({"list": [], "tuple": []}), "a tensor, number, list or dict is expected"),
    "structure: plain list": (structured([1]), "a tensor, number, list or dict is expected"),
    "structure: list of a number": (structured({"list": 3}), "a list of int"),
    "structure: dict of no pairs": (structured({"dict": [["a"]]}), "not a key and a value"),
    "structure: key of a list": (structured({"dict": [[["a"], 1]]}), "not a key and a value"),
    "structure: key of a set": (structured({"dict": [[{"set": []}, 1]]}), "not a key and a value"),
    "structure: list in a key": (structured({"dict": [[{"tuple": [[]]}, 1]]}), "not a key and a value"),
    "structure: key twice": (structured({"dict": [["a", 1], ["a", 2]]}), "key twice"),
    "structure: versions of a list": (structured({"OrderedDict": [], "versions": {"list": []}}), "versions of a list"),
    "structure: unknown dtype": (structured({"dtype": "F8_E4M3"}), "dtype 'F8_E4M3'"),
    "structure: dtype of a list": (structured({"dtype": ["F32"]}), r"dtype \['F32'\]"),
    "structure: bytes of a list": (structured({"bytes": [1]}), r"bytes \[1\]"),
    "structure: bytes beyond 255": (structured({"bytes": "a\u0100"}), "bytes 'a"),
    "structure: set of lists": (structured({"set": [{"list": []}]}), "unhashable type: 'list'"),
    "structure: odd float": (structured({"float": "1e5"}), "float '1e5'"),
}
