"""norch.save and norch.load: what comes back, what the file looks like, crashes while saving, and hostile files."""

from __future__ import annotations

import gc
import io
import json
import math
import os
import stat
import struct
from collections import Counter, OrderedDict, defaultdict
from enum import IntEnum
from typing import Any, NamedTuple

import pytest
from arrays import DTYPES
from hostile_files import HOSTILE, entry, joined, split
from tensors import dtype_named

import norch
from norch import nn, optim

pytestmark = pytest.mark.usefixtures("no_leak")


def same(x, y):
    """Equal in type, structure, order, dtype and shape."""
    assert type(x) is type(y), (x, y)
    if isinstance(x, norch.Tensor):
        assert (x.dtype, x.shape, x.requires_grad, x.tolist()) == (y.dtype, y.shape, y.requires_grad, y.tolist())
    elif isinstance(x, dict):
        assert [(type(key), key) for key in x] == [(type(key), key) for key in y]
        for key in x:
            same(x[key], y[key])
    elif isinstance(x, (list, tuple)):
        assert len(x) == len(y)
        for a, b in zip(x, y):
            same(a, b)
    else:
        assert x == y or (math.isnan(x) and math.isnan(y))


def through_a_file(value):
    file = io.BytesIO()
    norch.save(value, file)
    file.seek(0)
    return norch.load(file)


# ---- what comes back -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (0,), (2, 0, 3), (1, 2, 1, 2, 1, 2, 1, 2)])
def test_a_tensor(dtype, shape):
    x = norch.tensor([i % 2 for i in range(math.prod(shape))], dtype=dtype_named(dtype)).reshape(shape)
    same(x, through_a_file(x))


def test_views_are_saved_without_what_lies_around_them():
    whole = norch.arange(1000).reshape(10, 100)
    for view in (whole.T, whole[3:5, ::7], whole[2], whole[0, 0:1].expand(2, 3)):
        back = through_a_file(view)
        same(view, back)
        assert back.is_contiguous() and back.untyped_storage().nbytes() == back.nbytes


VALUES = {
    "list": [norch.ones(2), 1, "two", 3.5, True, None],
    "tuple": (norch.ones(2), (norch.zeros(1),), []),
    "dict": {"a": norch.ones(2), "b": {"c": norch.zeros(1), "d": [1, (2,)]}, "": norch.ones(1)},
    "keys": {0: norch.ones(1), "0": norch.zeros(1), 2.5: 1, None: 2, "__metadata__": norch.ones(2)},
    "tuples for keys": {(1, "a"): norch.ones(1), (): 2, ((None,), 2.5): [3]},
    "names that meet": {"a": {"b": norch.ones(1)}, "a.b": norch.zeros(1), "a.b#2": norch.ones(3)},
    "odd names": {"a b": norch.ones(1), 'q"\\\n': norch.ones(2), "é∂\U0001f600": norch.ones(3)},
    "order": OrderedDict((name, norch.ones(1)) for name in "zyxabc"),
    "numbers": [0, -1, 2**100, 0.1, -0.0, 1e300, math.inf, -math.inf, math.nan, True],
    "no tensors": {"lr": 0.1},
    "dtypes": {name: norch.ones(3, dtype=dtype_named(name)) for name in DTYPES},
    "gradients": [norch.ones(2, requires_grad=True), norch.ones(2)],
    "a configuration": {"dtype": norch.bfloat16, "seen": {1, "two", (3, None)}, "key": b"\x00a\xff", "no": b""},
    "a set of dtypes": {norch.float32, norch.bool},
    "bare": 3,
}


@pytest.mark.parametrize("name", VALUES)
def test_structure(name):
    same(VALUES[name], through_a_file(VALUES[name]))


def test_values_keep_their_classes():
    parameter, frozen = nn.Parameter(norch.ones(2)), nn.Parameter(norch.zeros(1), requires_grad=False)
    sparse = norch.sparse_coo_tensor([[0, 1, 1], [1, 0, 0]], [1.0, 2.0, 3.0], (2, 3))
    kept = {"shape": norch.Size([2, 3]), "place": norch.device("cuda", 1), "counts": Counter("aab")}
    kept["bytes"] = bytearray(b"\0a")
    found = through_a_file({**kept, "p": [parameter, frozen], "s": [sparse, sparse.coalesce()]})
    assert {name: found[name] for name in kept} == kept
    assert [type(found[name]) for name in kept] == [norch.Size, norch.device, Counter, bytearray]
    assert [type(p) for p in found["p"]] == [nn.Parameter] * 2
    assert [(p.requires_grad, p.tolist()) for p in found["p"]] == [(True, [1, 1]), (False, [0])]
    assert [(s.is_coalesced(), s._nnz()) for s in found["s"]] == [(False, 3), (True, 2)]
    assert found["s"][0].to_dense().tolist() == [[0, 1, 0], [5, 0, 0]]


class Step(NamedTuple):
    state: Any
    reward: float


class Mode(IntEnum):
    TRAIN = 1


@pytest.mark.parametrize("value", [Step(norch.ones(2), 0.5), defaultdict(list, a=[1]), Mode.TRAIN, {Mode.TRAIN: 1}])
def test_what_json_would_make_plainer_is_pickled(value):
    file = io.BytesIO()
    norch.save(value, file)
    with pytest.raises(ValueError, match="weights_only=False"):
        norch.load(io.BytesIO(file.getvalue()))
    found = norch.load(io.BytesIO(file.getvalue()), weights_only=False)
    assert type(found) is type(value) and repr(found) == repr(value)


@pytest.mark.parametrize(
    "structure",
    [
        {"Size": ["x"]},
        {"Bytearray": [2**60]},
        {"Device": ["moon"]},
        {"Parameter": [3, True]},
        {"SparseTensor": [1, 2, 3, True, False]},
    ],
)
def test_parts_that_make_no_value(structure):
    header = json.dumps({"__metadata__": {"norch": json.dumps(structure)}}).encode()
    header += b" " * (-len(header) % 8)
    with pytest.raises(ValueError, match="of wrong parts"):
        norch.load(io.BytesIO(struct.pack("<Q", len(header)) + header))


def test_deep_structure():
    value = norch.ones(1)
    for _ in range(50):
        value = [value, {"x": (value,)}] if not isinstance(value, list) else [value]
    same(value, through_a_file(value))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 1)
        self.register_buffer("steps", norch.tensor([0]))

    def forward(self, x):
        return self.second(self.first(x).tanh())


def trained(model, optimizer, steps):
    x = norch.arange(6).float().reshape(2, 3) / 6
    for _ in range(steps):
        optimizer.zero_grad()
        (model(x) ** 2).sum().backward()
        optimizer.step()
    return model


def test_training_goes_on_where_it_was_saved(tmp_path):
    model = Network()
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    trained(model, optimizer, 3)
    norch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, tmp_path / "checkpoint")
    trained(model, optimizer, 3)
    found = norch.load(tmp_path / "checkpoint")
    other = Network()
    other.load_state_dict(found["model"])
    again = optim.SGD(other.parameters(), lr=1.0)
    again.load_state_dict(found["optimizer"])
    assert found["epoch"] == 3 and again.param_groups[0]["lr"] == 0.05
    trained(other, again, 3)
    same(model.state_dict(), other.state_dict())


def test_a_state_dict_keeps_names_and_order(tmp_path):
    state = Network().state_dict()
    norch.save(state, tmp_path / "model")
    same(state, norch.load(tmp_path / "model"))
    header, _ = split((tmp_path / "model").read_bytes())
    assert [name for name in header if name != "__metadata__"] == list(state)


def test_a_state_dict_keeps_the_versions_of_its_modules():
    class Renamed(nn.Module):
        _version = 2

        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter([1.0])

        def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
            if local_metadata.get("version", 1) < 2:
                state_dict[prefix + "scale"] = 1 / state_dict[prefix + "scale"]
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    net = nn.Sequential(Renamed())
    with norch.no_grad():
        net[0].scale.fill_(4.0)
    file = io.BytesIO()
    norch.save({"model": net.state_dict(), "epoch": 3}, file)
    file.seek(0)
    state = norch.load(file)["model"]
    assert state._metadata == net.state_dict()._metadata
    net.load_state_dict(state)
    assert net[0].scale.item() == 4.0


def test_only_what_can_be_saved():
    for value, message in [
        ({"a": [object()]}, r"at a\.0 an object"),
        ({(1, object): 3}, "strings, numbers or tuples of them, got as a whole the key <class"),
        ({"x": {math.nan: 1}}, "at x the key nan"),
        (frozenset([1]), "as a whole a frozenset"),
        ([{1j}], r"at 0\.0 a complex"),
        (norch.nn.Linear(1, 1), r"a Linear; save its state_dict\(\)"),
        (1j, "complex"),
    ]:
        with pytest.raises(TypeError, match=message):
            norch.save(value, io.BytesIO(), pickle_module=None)


# ---- files -----------------------------------------------------------------------------------------------------------


def test_paths_and_open_files(tmp_path):
    x = norch.arange(3)
    for path in (tmp_path / "path", str(tmp_path / "text"), os.fsencode(tmp_path / "open")):
        if isinstance(path, bytes):
            with open(path, "wb") as file:
                norch.save(x, file)
            with open(path, "rb", buffering=0) as file:
                same(x, norch.load(file))
        else:
            norch.save(x, path)
            same(x, norch.load(path))


SEVERAL = [norch.ones(1), {"a": norch.zeros(2, 3), "b": 1}, norch.Size, "text", {}, norch.zeros(0, dtype=norch.int64)]


@pytest.mark.filterwarnings("ignore")
def test_several_things_in_one_stream_are_read_in_turn():
    file = io.BytesIO()
    for thing in SEVERAL:
        norch.save(thing, file)
    file.seek(0)
    for thing in SEVERAL:
        same(thing, norch.load(file, weights_only=False))
    with pytest.raises(ValueError, match="it is empty"):
        norch.load(file)


def test_what_follows_in_a_file_of_that_name_or_in_a_pipe_is_an_error(tmp_path):
    path = tmp_path / "two"
    with open(path, "wb") as file:
        norch.save(norch.ones(1), file)
        norch.save(norch.ones(1), file)
    with pytest.raises(ValueError, match="bytes outside all tensors"):
        norch.load(path)
    pipe = io.BytesIO(path.read_bytes())
    pipe.seekable = lambda: False
    with pytest.raises(ValueError, match="bytes outside all tensors"):
        norch.load(pipe)


def test_a_file_that_begins_where_the_stream_stands():
    file = io.BytesIO(b"before")
    file.seek(6)
    norch.save(norch.arange(3), file)
    file.seek(6)
    same(norch.arange(3), norch.load(file))


def test_a_stream_without_seek():
    file = io.BytesIO()
    norch.save([norch.arange(3)], file)
    reader, writer = os.pipe()
    with open(writer, "wb") as pipe:
        pipe.write(file.getvalue())
    with open(reader, "rb") as pipe:
        same([norch.arange(3)], norch.load(pipe))


def test_what_is_no_file(tmp_path):
    with pytest.raises(TypeError, match="path or an open binary file, got int"):
        norch.save(norch.ones(1), 3)
    with pytest.raises(TypeError, match="path or an open binary file, got NoneType"):
        norch.load(None)
    with open(tmp_path / "text", "w+") as file:
        with pytest.raises(TypeError, match="'wb'"):
            norch.save(norch.ones(1), file)
        with pytest.raises(TypeError, match="'rb'"):
            norch.load(file)
    with pytest.raises(FileNotFoundError):
        norch.load(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        norch.save(norch.ones(1), tmp_path / "no folder" / "file")


# ---- saving is atomic ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("culprit", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch, culprit):
    path = tmp_path / "weights"
    norch.save(norch.zeros(3), path)

    def fails(*arguments):
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(os, culprit, fails)
        with pytest.raises(OSError, match="disk is full"):
            norch.save(norch.ones(3), path)
    same(norch.zeros(3), norch.load(path))
    assert os.listdir(tmp_path) == ["weights"]


def test_what_cannot_be_saved_leaves_the_old_file(tmp_path):
    path = tmp_path / "weights"
    norch.save(norch.zeros(3), path)
    with pytest.raises(TypeError):
        norch.save([norch.ones(3), object()], path, pickle_module=None)
    same(norch.zeros(3), norch.load(path))
    assert os.listdir(tmp_path) == ["weights"]


def test_a_file_keeps_its_mode_and_a_link_its_place(tmp_path):
    path, link = tmp_path / "weights", tmp_path / "link"
    norch.save(norch.zeros(3), path)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path.chmod(0o640)
    link.symlink_to(path)
    norch.save(norch.ones(3), link)
    assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    same(norch.ones(3), norch.load(path))


# ---- devices ---------------------------------------------------------------------------------------------------------


def with_device(device):
    file = io.BytesIO()
    norch.save([norch.ones(2), 1], file)
    header, data = split(file.getvalue())
    moved = json.dumps({"tensor": "0", "device": device})
    structure = header["__metadata__"]["norch"].replace('{"tensor": "0"}', moved)
    assert device in structure
    return io.BytesIO(joined({**header, "__metadata__": {"norch": structure}}, data))


def test_map_location():
    for place in ("cpu", {"cuda:7": "cpu"}):
        same([norch.ones(2), 1], norch.load(with_device("cuda:7"), map_location=place))
    with pytest.raises(RuntimeError, match="cuda:7"):
        norch.load(with_device("cuda:7"))
    with pytest.raises(RuntimeError, match="banana"):
        norch.load(with_device("cpu"), map_location="banana")
    same([norch.ones(2), 1], norch.load(with_device("cpu"), weights_only=True))


# ---- hostile files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file(name, tmp_path):
    content, message = HOSTILE[name]
    (tmp_path / "hostile").write_bytes(content)
    gc.collect()
    before = norch.memory_allocated()
    with pytest.raises(ValueError, match=message) as caught:
        norch.load(tmp_path / "hostile")
    assert str(caught.value).startswith(f"load: {tmp_path / 'hostile'} is not a safetensors file that norch can read: ")
    del caught
    gc.collect()
    assert norch.memory_allocated() == before


def test_fields_of_a_later_format_do_no_harm():
    same({"x": norch.zeros(2)}, norch.load(io.BytesIO(joined({"x": entry(more=1)}, bytes(8)))))


def test_every_truncation_is_noticed():
    file = io.BytesIO()
    norch.save({"a": norch.arange(3), "b": [norch.ones(2), 1.5]}, file)
    content = file.getvalue()
    for length in range(len(content)):
        with pytest.raises(ValueError, match="norch can read"):
            norch.load(io.BytesIO(content[:length]))


def test_changed_bytes_never_do_worse_than_raise(rng):
    file = io.BytesIO()
    norch.save({"a": norch.arange(3), "b": [norch.ones(2, dtype=norch.bool), None], "c": {"d": 2.0}}, file)
    content, refused = file.getvalue(), 0
    for _ in range(1500):
        changed = bytearray(content)
        for _ in range(rng.choice([1, 1, 2, 5])):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        try:
            norch.load(io.BytesIO(bytes(changed)), map_location="cpu")
        except ValueError:
            refused += 1
    assert refused > 500
