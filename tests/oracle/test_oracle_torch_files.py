"""Files that torch wrote, read by norch: every dtype and layout bit for bit."""

from __future__ import annotations

import io
from collections import Counter

import pytest
import torch

import norch

NAMES = [
    name
    for name in "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()
    if hasattr(norch, name)
]
LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.T,
    "sliced": lambda x: x[1:, ::2],
    "expanded": lambda x: x[:, :1].expand(3, 5),
    "scalar": lambda x: x[1, 2],
    "empty": lambda x: x[:0],
}


def through(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return norch.load(file)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES)
def test_bit_for_bit(name, layout):
    x = LAYOUTS[layout](torch.randint(0, 2 if name == "bool" else 100, (3, 5)).to(getattr(torch, name)))
    found = through(x)
    assert found.dtype is getattr(norch, name) and found.shape == tuple(x.shape) and found.stride() == x.stride()
    assert found.tolist() == x.tolist()


def test_special_values_keep_their_bits():
    bits = torch.tensor([0x7FC00001, -0x400001, 1, 0x7F800000, -(2**31)], dtype=torch.int32)
    assert through(bits.view(torch.float32)).view(norch.int32).tolist() == bits.tolist()


def test_a_checkpoint():
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.LSTM(2, 3))
    optimizer = torch.optim.Adam(model.parameters())
    model[1](model[0](torch.randn(2, 1, 5, 5))).sum().backward()
    optimizer.step()
    found = through({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3})
    assert found["epoch"] == 3 and list(found["model"]) == list(model.state_dict())
    for name, value in model.state_dict().items():
        assert found["model"][name].tolist() == value.tolist()
    ours = norch.nn.Sequential(norch.nn.Conv2d(1, 2, 3), norch.nn.BatchNorm2d(2), norch.nn.LSTM(2, 3))
    ours.load_state_dict(found["model"])
    mine = norch.optim.Adam(ours.parameters())
    mine.load_state_dict(found["optimizer"])
    assert mine.state[ours[0].weight]["exp_avg"].tolist() == optimizer.state[model[0].weight]["exp_avg"].tolist()


def test_bytes_and_counts():
    value = {"text": b"ab\xff", "none": b"", "milestones": Counter([3, 3, 5])}
    assert through(value) == value


@pytest.mark.parametrize(
    "value", [torch.nn.Linear(1, 1), torch.ones(1, dtype=torch.complex64), torch.ones(2).to_sparse()]
)
def test_what_is_more_than_tensors_is_named(value):
    with pytest.raises(ValueError, match=r"it holds a torch\."):
        through(value)


def test_of_two_files_one_after_another_the_second_is_not_taken_for_the_first():
    file = io.BytesIO()
    torch.save({"a": torch.ones(2)}, file)
    second = file.tell()
    torch.save({"b": torch.zeros(3)}, file)
    file.seek(0)
    with pytest.raises(ValueError, match=f"another one follows, at byte {second}"):
        norch.load(file)
    file.seek(second)
    assert norch.load(file)["b"].tolist() == [0.0] * 3
