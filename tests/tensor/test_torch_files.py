"""Files of torch, written here by hand: reading takes no torch. (tests/oracle has files that torch wrote.)"""

from __future__ import annotations

import gc
import io
import pickle
import struct
import zipfile
from collections import OrderedDict

import pytest

import norch

FLOATS = struct.pack("<6f", 0, 1, 2, 3, 4, 5)


def archive(text, storages=(FLOATS,), byteorder=b"little", compression=zipfile.ZIP_STORED, **records):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        made.writestr("run/data.pkl", text)
        made.writestr("run/byteorder", byteorder)
        for number, storage in enumerate(storages):
            made.writestr(f"run/data/{number}", storage)
        for name, content in records.items():
            made.writestr(f"run/{name}.pkl", content)
    file.seek(0)
    return file


class Named:
    """Pickles as the name of something of torch's."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class Stored(tuple):
    """Pickles as the reference to a storage."""


class Called:
    """Pickles as the call of something by name, and then perhaps a state."""

    def __init__(self, function, *arguments, state=None):
        self.function, self.arguments, self.state = function, arguments, state


class Pickler(pickle._Pickler):
    dispatch = dict(pickle._Pickler.dispatch)

    def save_named(self, value):
        self.write(pickle.GLOBAL + f"{value.module}\n{value.name}\n".encode())

    def save_called(self, value):
        self.save(value.function)
        self.save(value.arguments)
        self.write(pickle.REDUCE)
        if value.state is not None:
            self.save(value.state)
            self.write(pickle.BUILD)

    def persistent_id(self, value):
        return tuple(value) if isinstance(value, Stored) else None

    dispatch[Named], dispatch[Called] = save_named, save_called


def pickled(value):
    file = io.BytesIO()
    Pickler(file, 2).dump(value)
    return file.getvalue()


def storage(kind="FloatStorage", key="0", count=6, device="cpu"):
    return Stored(("storage", Named("torch", kind), key, device, count))


REBUILD = Named("torch._utils", "_rebuild_tensor_v2")


def tensor(offset=0, shape=(2, 3), strides=(3, 1), requires_grad=False, stored=None, **more):
    stored = storage() if stored is None else stored
    return Called(REBUILD, stored, offset, shape, strides, requires_grad, OrderedDict(), **more)


def load(value, **options):
    return norch.load(archive(pickled(value), **options))


def test_tensors_and_containers():
    parameter = Called(Named("torch._utils", "_rebuild_parameter"), tensor(), True, OrderedDict())
    found = load({"w": parameter, "n": [1, 2.5, None, (True, "s")], 3: Called(Named("torch", "Size"), (2, 3))})
    assert found["w"].tolist() == [[0, 1, 2], [3, 4, 5]] and found["w"].requires_grad and found["w"].is_leaf
    assert found["n"] == [1, 2.5, None, (True, "s")] and found[3] == norch.Size([2, 3])


def test_views_share_their_storage_again():
    whole, column, scalar = load([tensor(), tensor(1, (2,), (3,)), tensor(5, (), ())])
    assert (column.tolist(), column.stride(), scalar.tolist(), scalar.shape) == ([1, 4], (3,), 5, ())
    whole[0, 1] = 7
    assert column.tolist() == [7, 4]


def test_a_state_dict_keeps_its_order_and_its_versions():
    made = Called(Named("collections", "OrderedDict"), state={"_metadata": {"": {"version": 1}}, "more": 2})
    assert load(made) == OrderedDict() and vars(load(made)) == {"_metadata": {"": {"version": 1}}}
    for state in (3, {"_metadata": 3}):
        assert vars(load(Called(Named("collections", "OrderedDict"), state=state))) == {}


def test_a_device_can_be_replaced():
    value = pickled(tensor(stored=storage(device="cuda:0")))
    assert norch.load(archive(value), map_location="cpu").device == "cpu"


HOSTILE = {
    "a call": (pickled(Called(Named("os", "system"), "true")), {}, "os.system"),
    "a builtin": (pickled(Called(Named("builtins", "eval"), "1")), {}, "builtins.eval"),
    "bytes of a number": (pickled(Called(Named("_codecs", "encode"), 2**40)), {}, "bytes in a way that is not known"),
    "a function of ours": (pickled(Named("norch", "zeros")), {}, "norch.zeros"),
    "a module": (pickled(Named("torch.nn.modules.linear", "Linear")), {}, "torch.nn.modules.linear.Linear"),
    "complex": (pickled(tensor(stored=storage("ComplexFloatStorage"))), {}, "ComplexFloatStorage"),
    "a state of a tensor": (pickled(tensor(state={"_ptr": 1})), {}, "state of a"),
    "a state of a dtype": (pickled([Named("torch", "float32")])[:-2] + b"}b.", {}, "state of a|damaged"),
    "beyond the storage": (pickled(tensor(3)), {}, "reach outside"),
    "negative strides": (pickled(tensor(0, (2,), (-1,))), {}, "where sizes are expected"),
    "huge": (pickled(tensor(0, (2**40, 2**40), (0, 0))), {}, "damaged|too large|elements"),
    "a storage too short": (pickled(tensor(stored=storage(count=7))), {}, "takes 28 bytes, the file has one of 24"),
    "a storage missing": (pickled(tensor(stored=storage(key="9"))), {}, "the file has none"),
    "a number as storage": (pickled(tensor(stored=3)), {}, "for a storage"),
    "nine dimensions": (pickled(tensor(0, (1,) * 9, (1,) * 9)), {}, "has shape"),
    "big-endian": (pickled(tensor()), {"byteorder": b"big"}, "little-endian"),
    "compressed": (pickled(tensor()), {"compression": zipfile.ZIP_DEFLATED}, "compressed"),
    "a program": (pickled(1), {"constants": b""}, "TorchScript"),
    "no pickle": (b"nonsense", {}, "damaged|read"),
    "cut": (pickled(tensor())[:-3], {}, "damaged|read"),
    "a list in itself": (b"\x80\x02]q\x00h\x00a.", {}, "nested too deeply"),
    "a long list": (b"\x80\x04\x96" + struct.pack("<Q", 2**40) + b".", {}, "damaged"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file(name):
    text, options, message = HOSTILE[name]
    gc.collect()  # what earlier tests left
    before = norch.memory_allocated()
    with pytest.raises((ValueError, MemoryError), match=message) as caught:
        norch.load(archive(text, **options))
    assert str(caught.value).startswith("load: the file is not a PyTorch file that norch can read: ")
    del caught
    gc.collect()
    assert norch.memory_allocated() == before


def test_two_records_of_one_name():
    content = archive(pickled(tensor()))
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(content, "a") as made:
        made.writestr("run/data/0", FLOATS)
    with pytest.raises(ValueError, match="two records of one name"):
        norch.load(io.BytesIO(content.getvalue()))


def test_another_zip_and_an_old_file():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("a/b", "c")
    with pytest.raises(ValueError, match="without data.pkl"):
        norch.load(io.BytesIO(file.getvalue()))
    with pytest.raises(ValueError, match="before 1.6"):
        norch.load(io.BytesIO(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."))
