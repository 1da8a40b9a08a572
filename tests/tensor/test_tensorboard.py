"""SummaryWriter: its files, decoded here field by field (tests/oracle reads them with TensorBoard)."""

from __future__ import annotations

import struct
import zlib

import pytest

import norch
from norch.utils.tensorboard import SummaryWriter


def checksum(data: bytes) -> int:
    """CRC-32C bit by bit, masked."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_the_checksum_is_the_known_one():
    assert checksum(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF


def events(folder):
    """The messages of the folder's files, after their lengths and checksums were compared."""
    found = []
    for path in sorted(folder.glob("events.out.tfevents.*")):
        data, place = path.read_bytes(), 0
        while place < len(data):
            length, of_length = struct.unpack_from("<QI", data, place)
            assert of_length == checksum(data[place : place + 8])
            content = data[place + 12 : place + 12 + length]
            assert struct.unpack_from("<I", data, place + 12 + length)[0] == checksum(content)
            found.append(fields(content))
            place += 16 + length
    return found


def fields(data: bytes) -> dict[int, list]:
    """The fields of a message by their numbers."""
    place, found = 0, {}

    def varint():
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while place < len(data):
        key = varint()
        if key & 7 == 0:
            value = varint()
        elif key & 7 == 2:
            size = varint()
            value, place = data[place : place + size], place + size
        else:
            kind, size = ("<d", 8) if key & 7 == 1 else ("<f", 4)
            value, place = struct.unpack_from(kind, data, place)[0], place + size
        found.setdefault(key >> 3, []).append(value)
    return found


def values(event):
    return [fields(each) for each in fields(event[5][0])[1]]


def test_numbers_are_in_the_file_at_once(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("loss", norch.tensor(0.5), 3)
    writer.add_scalar("loss", 2, 2**40, walltime=7.0)
    version, first, second = events(tmp_path)
    assert version[3] == [b"brain.Event:2"]
    assert first[2] == [3] and values(first) == [{1: [b"loss"], 2: [0.5]}]
    assert second[1] == [7.0] and second[2] == [2**40] and values(second)[0][2] == [2.0]
    writer.close()
    writer.add_scalar("later", 1)
    assert len(list(tmp_path.iterdir())) == 2 and values(events(tmp_path)[-1])[0][1] == [b"later"]
    writer.close()


def test_the_bins_of_a_histogram_hold_all_values(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("w", norch.tensor([1.0, 2.0, 2.0, 5.0, norch.nan]), 0, bins=4)
    histogram = fields(values(events(tmp_path)[1])[0][5][0])
    assert [histogram[i] for i in range(1, 6)] == [[1.0], [5.0], [4.0], [10.0], [34.0]]
    assert struct.unpack("<5d", histogram[6][0]) == (1, 2, 3, 4, 5)
    assert struct.unpack("<5d", histogram[7][0]) == (0, 1, 2, 0, 1)


SHAPES = {"CHW": (3, 2, 4), "HWC": (2, 4, 3), "HW": (2, 4), "NCHW": (3, 1, 2, 4)}


@pytest.mark.parametrize("dims, shape", SHAPES.items())
def test_images_are_png(dims, shape, tmp_path):
    pixels = norch.arange(24).reshape(3, 2, 4)[: 1 if dims == "HW" else 3].to(norch.uint8)
    pixels = pixels.permute(1, 2, 0) if dims == "HWC" else pixels.reshape(shape)
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("x", pixels, dataformats=dims)
    image = fields(values(events(tmp_path)[1])[0][4][0])
    channels, width = (3, 4) if dims in ("CHW", "HWC") else (1, 12 if dims == "NCHW" else 4)
    assert [image[i][0] for i in (1, 2, 3)] == [2, width, channels]
    data = image[4][0]
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack_from(">II", data, 16) == (width, 2)
    size = struct.unpack_from(">I", data, 33)[0]
    rows = zlib.decompress(data[41 : 41 + size])
    expected = {
        1: [list(range(4)), list(range(4, 8))] if dims == "HW" else [[0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19]],
        3: [[i + 8 * c for i in range(4) for c in range(3)]],
    }
    for i, row in enumerate(expected[channels]):
        assert list(rows[i * (1 + width * channels) :][: 1 + width * channels]) == [0, *row]


BAD = {
    "a vector for a number": (lambda w: w.add_scalar("x", norch.ones(2)), ValueError, "one element"),
    "no values": (lambda w: w.add_histogram("x", norch.ones(0)), ValueError, "no element"),
    "dimensions": (lambda w: w.add_image("x", norch.ones(2, 2)), ValueError, r"shape \[2, 2\] and dataformats .CHW."),
    "labels": (lambda w: w.add_embedding(norch.ones(3, 2), metadata=["a"]), ValueError, "and 1 labels, expected"),
    "settings": (lambda w: w.add_hparams([1], {}), TypeError, "hparam_dict is .* expected a dict"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name, tmp_path):
    call, kind, text = BAD[name]
    with SummaryWriter(tmp_path) as writer, pytest.raises(kind, match=text):
        call(writer)


def test_a_graph_is_not_written(tmp_path):
    with SummaryWriter(tmp_path) as writer, pytest.warns(UserWarning, match="no graph of a model"):
        writer.add_graph(norch.nn.Linear(2, 1), norch.ones(2))
