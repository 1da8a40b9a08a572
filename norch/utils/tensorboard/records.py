"""The bytes of TensorBoard's files: a file is a row of records, a record an event, an event a protocol buffer.

A protocol buffer is a row of fields, each with its number and its kind. The functions here write one field, and the
numbers in their calls are those of TensorBoard's event.proto, summary.proto and tensor.proto.
"""

from __future__ import annotations

import struct
import zlib
from typing import Iterable


def integer(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value & (1 << 64) - 1)


def double(number: int, value: float) -> bytes:
    return _varint(number << 3 | 1) + struct.pack("<d", value)


def single(number: int, value: float) -> bytes:
    return _varint(number << 3 | 5) + struct.pack("<f", value)


def message(number: int, *parts: bytes | str) -> bytes:
    """A string, bytes, or a message of fields."""
    content = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def doubles(number: int, values: Iterable[float]) -> bytes:
    return message(number, *(struct.pack("<d", value) for value in values))


def _varint(value: int) -> bytes:
    """Seven bits a byte, the low ones first; the eighth says that more follow."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def plugin(name: str, content: bytes = b"") -> bytes:
    """The metadata of a value that one of TensorBoard's plugins shows."""
    return message(9, message(1, message(1, name), message(2, content)))


def record(data: bytes) -> bytes:
    """The data between its length and checksums of both."""
    length = struct.pack("<Q", len(data))
    return length + _checksum(length) + data + _checksum(data)


def _checksum(data: bytes) -> bytes:
    """CRC-32C, masked as TFRecord files have it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _crc_of(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


_CRC = [_crc_of(byte) for byte in range(256)]


def png(rows: list[bytes], width: int, channels: int) -> bytes:
    """An image of 8-bit gray, RGB or RGBA, a bytes object for each row."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, len(rows), 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
