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
    found = through(value)
    assert found == value and type(found["milestones"]) is Counter


@pytest.mark.parametrize(
    "make, named",
    [
        (lambda: torch.nn.Linear(1, 1), r"torch\."),
        (lambda: torch.ones(1, dtype=torch.complex64), r"torch\."),
        (lambda: torch.ones(2, 2).to_sparse_csr(), "tensor of the layout 'torch.sparse_csr'"),
    ],
)
@pytest.mark.filterwarnings("ignore")  # torch's, of a layout that may change
def test_what_is_more_than_tensors_is_named(make, named):
    with pytest.raises(ValueError, match=f"it holds a {named}"):
        through(make())


@pytest.mark.filterwarnings("ignore")
def test_parameters_sparse_tensors_and_devices_are_what_they_were():
    sparse = torch.sparse_coo_tensor([[0, 1, 1], [1, 0, 0]], [1.0, 2.0, 3.0], (2, 3))
    frozen = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    value = [torch.nn.Parameter(torch.ones(2)), frozen, sparse, sparse.coalesce(), torch.device("cuda", 1)]
    trained, still, loose, tight, place = through(value)
    assert type(trained) is type(still) is norch.nn.Parameter
    assert [trained.requires_grad, still.requires_grad, trained.tolist()] == [True, False, [1, 1]]
    assert [loose.is_coalesced(), tight.is_coalesced(), loose._nnz(), tight._nnz()] == [False, True, 3, 2]
    assert loose.to_dense().tolist() == tight.to_dense().tolist() == sparse.to_dense().tolist()
    assert (place.type, place.index) == ("cuda", 1)


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
