"""The snippets of the texts that norch follows (shared/seeds 000 to 004), run with norch in torch's place.

The cells are written anew; what they must show is what the texts say. Storages, tensors and shapes that the book's
chapter (004) prints are compared to the white space. Its cells of NumPy and h5py are in tests/oracle.
"""

from __future__ import annotations

import ctypes

import pytest

import norch

POINTS = [[4.0, 1.0], [5.0, 3.0], [2.0, 1.0]]
POINTS_TEXT = """\
tensor([[4., 1.],
        [5., 3.],
        [2., 1.]])"""
TURNED_TEXT = """\
tensor([[4., 5., 2.],
        [1., 3., 1.]])"""


def memory_of(t):
    """The flat row of elements under a tensor, read as bytes from its address: the article's print_internal."""
    return norch.frombuffer(ctypes.string_at(t.data_ptr(), t.storage().nbytes()), dtype=t.dtype)


# ---- 000 and 001: the article ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(5, 4, 8), [5, 4, 8]])
def test_strides_of_a_block(sizes):
    block = norch.rand(sizes)
    assert block.stride() == (32, 8, 1) and list(block.shape) == [5, 4, 8]
    other = block.reshape((4, 5, 2, 2, 2))
    assert other.shape == (4, 5, 2, 2, 2) and other.stride() == (40, 8, 4, 2, 1)
    assert memory_of(block).tolist() == memory_of(other).tolist() == block.flatten().tolist()
    assert all(0 <= number < 1 for number in memory_of(other).tolist())


COUNTED = """\
tensor([[[ 0,  1,  2,  3],
         [ 4,  5,  6,  7],
         [ 8,  9, 10, 11]],

        [[12, 13, 14, 15],
         [16, 17, 18, 19],
         [20, 21, 22, 23]]])"""
SWAPPED = """\
tensor([[[ 0,  1,  2,  3],
         [12, 13, 14, 15]],

        [[ 4,  5,  6,  7],
         [16, 17, 18, 19]],

        [[ 8,  9, 10, 11],
         [20, 21, 22, 23]]])"""


def test_a_transposed_tensor_keeps_its_memory():
    counted = norch.arange(0, 24).reshape(2, 3, 4)
    swapped = counted.transpose(0, 1)
    assert (str(counted), counted.shape, counted.stride()) == (COUNTED, [2, 3, 4], (12, 4, 1))
    assert (str(swapped), swapped.shape, swapped.stride()) == (SWAPPED, [3, 2, 4], (4, 12, 1))
    assert memory_of(counted).tolist() == memory_of(swapped).tolist() == list(range(24))
    assert counted.is_contiguous() and not swapped.is_contiguous()


def test_contiguous_moves_the_elements_into_order():
    swapped = norch.arange(0, 24).reshape(2, 3, 4).transpose(0, 1)
    ordered = swapped.contiguous()
    assert ordered.is_contiguous() and str(swapped) == str(ordered) == SWAPPED
    rows = [[0, 1, 2, 3], [12, 13, 14, 15], [4, 5, 6, 7], [16, 17, 18, 19], [8, 9, 10, 11], [20, 21, 22, 23]]
    assert memory_of(ordered).tolist() == [number for row in rows for number in row]
    assert memory_of(swapped).tolist() == list(range(24))


def test_the_gradient_of_cubes():
    x = norch.tensor([[1.0, 2, 3], [3.0, 2, 1]], requires_grad=True)
    y = norch.tensor([[3.0, 2, 1], [1.0, 2, 3]], requires_grad=True)
    ((x - y) ** 3).sum().backward()
    assert x.grad.tolist() == [[12, 0, 12], [12, 0, 12]]
    assert y.grad.tolist() == [[-12, 0, -12], [-12, 0, -12]]
    moved = x - 0.1 * x.grad
    assert moved[0].tolist() == pytest.approx([-0.2, 2, 1.8])


class MyModel(norch.nn.Module):
    """The model with which the article opens."""

    def __init__(self):
        super().__init__()
        self.fc1 = norch.nn.Linear(1, 10)
        self.sigmoid = norch.nn.Sigmoid()
        self.fc2 = norch.nn.Linear(10, 1)

    def forward(self, x):
        return self.fc2(self.sigmoid(self.fc1(x)))


def test_the_training_loop_that_the_article_opens_with():
    model, criterion = MyModel().to("cpu"), norch.nn.MSELoss()
    optimizer = norch.optim.SGD(model.parameters(), lr=0.001)
    losses = []
    for _ in range(3):
        outputs = model(norch.tensor([[0.5], [1.0]]).to("cpu"))
        loss = criterion(outputs, norch.tensor([[0.25], [0.7]]).to("cpu"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] > losses[1] > losses[2]


# ---- 002: notes on PyTorch's internals -------------------------------------------------------------------------------


def test_index_to_place_in_memory():
    x = norch.tensor([[1, 2], [3, 4]], dtype=norch.int32)
    assert (x.stride(), x.element_size(), x.layout, x.device, x.dtype) == ((2, 1), 4, norch.strided, "cpu", norch.int32)
    row, column = x[1, :], x[:, 0]
    assert (row.tolist(), row.storage_offset(), row.stride()) == ([3, 4], 2, (1,))
    assert (column.tolist(), column.storage_offset(), column.stride()) == ([1, 3], 0, (2,))
    row[0] = 30  # a view, not a new tensor: what it was taken from changes too
    assert x.tolist() == [[1, 2], [30, 4]] and column.tolist() == [1, 30]
    assert norch.mm(norch.ones(2, 2), norch.zeros(2, 2)).tolist() == [[0, 0], [0, 0]]


# ---- 003: notes on views and autograd --------------------------------------------------------------------------------


def numbers():
    return norch.Tensor([[1, 2, 3], [4, 5, 6]])


def test_rows_and_columns_are_views():
    x = numbers()
    row, column = x[1, :], x[:, 1]
    assert x.stride() == (3, 1)
    assert (row.tolist(), row.size(), row.storage_offset(), row.stride()) == ([4, 5, 6], (3,), 3, (1,))
    assert (column.tolist(), column.size(), column.storage_offset(), column.stride()) == ([2, 5], (2,), 1, (3,))


def test_views_point_at_one_memory():
    x = numbers()
    address = x.untyped_storage().data_ptr()
    for view in (x[1, :], x[:, 1], x.unsqueeze(dim=-1), x.permute(1, 0), x.flatten().unflatten(dim=0, sizes=(2, 3))):
        assert view.untyped_storage().data_ptr() == address
    assert x.unsqueeze(dim=-1).size() == (2, 3, 1) and x.unsqueeze(dim=-1).squeeze().size() == (2, 3)
    assert x.permute(1, 0).tolist() == [[1, 4], [2, 5], [3, 6]]


def test_flatten_and_unflatten():
    flat = numbers().flatten()
    assert flat.tolist() == [1, 2, 3, 4, 5, 6]
    assert flat.unflatten(dim=0, sizes=(2, 3)).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert flat.unflatten(dim=0, sizes=(2, 3, 1)).tolist() == [[[1], [2], [3]], [[4], [5], [6]]]


def test_frozen_parameters_get_no_gradients():
    model = MyModel()
    for parameter in model.parameters():
        parameter.requires_grad = False
    model.fc2.weight.requires_grad = True
    model(norch.ones(1, 1)).sum().backward()
    assert [name for name, parameter in model.named_parameters() if parameter.grad is not None] == ["fc2.weight"]


# ---- 004: the book's chapter -----------------------------------------------------------------------------------------


def points():
    return norch.tensor(POINTS)


def test_cell_20_a_storage_is_written():
    grid = points()
    beneath = grid.storage()
    beneath[0] = 2.0
    assert repr(grid) == POINTS_TEXT.replace("4.", "2.")


def test_a_storage_takes_one_index_only():
    with pytest.raises(TypeError):
        points().storage()[0, 1]


def test_cells_73_and_74_zero_in_place():
    a = norch.ones(3, 2)
    a.zero_()
    assert repr(a) == "tensor([[0., 0.],\n        [0., 0.],\n        [0., 0.]])"


def test_cells_21_to_27_a_view_of_the_second_point():
    grid = points()
    second = grid[1]
    assert second.storage_offset() == 2
    assert repr(second.size()) == repr(second.shape) == "norch.Size([2])"
    assert (repr(grid.stride()), repr(second.stride())) == ("(2, 1)", "(1,)")


def test_cell_28_a_write_to_the_view_shows():
    grid = points()
    second = grid[1]
    second[0] = 10.0
    assert repr(grid) == "tensor([[ 4.,  1.],\n        [10.,  3.],\n        [ 2.,  1.]])"


def test_cell_29_a_write_to_a_clone_does_not():
    grid = points()
    second = grid[1].clone()
    second[0] = 10.0
    assert repr(grid) == POINTS_TEXT


def test_cells_30_to_34_transposing_without_copying():
    grid = points()
    turned = grid.t()
    assert (repr(grid), repr(turned)) == (POINTS_TEXT, TURNED_TEXT)
    assert id(grid.storage()) == id(turned.storage())
    assert (grid.stride(), turned.stride()) == ((2, 1), (1, 2))


def test_cells_35_to_38_transposing_more_dimensions():
    block = norch.ones(3, 4, 5)
    turned = block.transpose(0, 2)
    assert (repr(block.shape), repr(turned.shape)) == ("norch.Size([3, 4, 5])", "norch.Size([5, 4, 3])")
    assert (block.stride(), turned.stride()) == ((20, 5, 1), (1, 5, 20))


def test_cells_39_to_46_contiguous_tensors():
    grid = points()
    turned = grid.t()
    assert (grid.is_contiguous(), turned.is_contiguous()) == (True, False)
    assert repr(turned) == TURNED_TEXT
    assert repr(turned.storage()) == " 4.0\n 1.0\n 5.0\n 3.0\n 2.0\n 1.0\n[norch.FloatStorage of size 6]"
    assert turned.stride() == (1, 2)
    ordered = turned.contiguous()
    assert repr(ordered) == TURNED_TEXT and ordered.stride() == (3, 1)
    assert repr(ordered.storage()) == " 4.0\n 5.0\n 2.0\n 1.0\n 3.0\n 1.0\n[norch.FloatStorage of size 6]"
    assert grid.contiguous() is grid
    with pytest.raises(RuntimeError, match=r"Use \.reshape"):
        turned.view(6)


def test_cells_64_to_70_devices():
    grid = norch.tensor(POINTS, device="cpu")
    assert grid.to(device="cpu") is grid and grid.cpu() is grid
    doubled = 2 * grid.to(device="cpu") + 4
    assert doubled.tolist() == [[12.0, 6.0], [14.0, 10.0], [8.0, 6.0]]
    assert grid.to(device="cpu", dtype=norch.float64).dtype is norch.float64


def test_cells_57_to_60_saving_and_loading(tmp_path):
    path = tmp_path / "ourpoints.t"
    norch.save(points(), path)
    assert repr(norch.load(path)) == POINTS_TEXT
    with open(path, "wb") as f:
        norch.save(points() * 2, f)
    with open(path, "rb") as f:
        assert norch.load(f).tolist() == [[8.0, 2.0], [10.0, 6.0], [4.0, 2.0]]


def test_the_exercises():
    a = norch.tensor(list(range(9)))
    assert (a.size(), a.storage_offset(), a.stride()) == (norch.Size([9]), 0, (1,))
    b = a.view(3, 3)
    assert b.storage() is a.storage()
    c = b[1:, 1:]
    assert (c.size(), c.storage_offset(), c.stride()) == (norch.Size([2, 2]), 4, (3, 1))
    assert c.tolist() == [[4, 5], [7, 8]]
    assert norch.sqrt(a).tolist() == pytest.approx([i**0.5 for i in range(9)], rel=1e-6)
    with pytest.raises(RuntimeError, match="float32.*int64"):  # the result is no integer
        a.sqrt_()
    floats = a.float()
    assert floats.sqrt_() is floats and floats.tolist() == norch.sqrt(a).tolist()
    assert floats.cos_()[0] == 1.0
