"""Methods that change the shape or the memory of a tensor itself."""

from __future__ import annotations

import pytest

import norch
from norch.autograd import gradcheck

CHANGES = {
    "unsqueeze_": (lambda x: x.unsqueeze_(1), lambda x: x.unsqueeze(1)),
    "squeeze_": (lambda x: x.squeeze_(), lambda x: x.squeeze()),
    "squeeze_ of a dim": (lambda x: x.squeeze_(0), lambda x: x.squeeze(0)),
    "transpose_": (lambda x: x.transpose_(1, 2), lambda x: x.transpose(1, 2)),
    "swapaxes_": (lambda x: x.swapaxes_(axis0=0, axis1=2), lambda x: x.transpose(0, 2)),
    "swapdims_": (lambda x: x.swapdims_(0, 1), lambda x: x.transpose(0, 1)),
    "t_": (lambda x: x.squeeze_(0).t_(), lambda x: x.squeeze(0).t()),
    "as_strided_": (lambda x: x.as_strided_((2, 2), (1, 3)), lambda x: x.as_strided((2, 2), (1, 3))),
}


@pytest.mark.parametrize("change, view", list(CHANGES.values()), ids=list(CHANGES))
def test_a_tensor_becomes_its_view(change, view, no_leak):
    x = norch.arange(6.0, dtype=norch.float64).reshape(1, 2, 3).clone()
    expected, address = view(x), x.data_ptr()
    assert change(x) is x
    assert x.tolist() == expected.tolist() and x.shape == expected.shape and x.stride() == expected.stride()
    assert x.data_ptr() == address


@pytest.mark.parametrize("change, view", list(CHANGES.values()), ids=list(CHANGES))
def test_gradients_flow_through_the_change(change, view):
    x = norch.arange(6.0, dtype=norch.float64).reshape(1, 2, 3).requires_grad_()

    def changed(x):
        y = x * x
        change(y)
        return y * norch.arange(1.0, y.numel + 1, dtype=norch.float64).reshape(y.shape)

    assert gradcheck(changed, (x,))


def test_a_graph_notices_that_a_saved_tensor_has_another_shape():
    x = norch.ones(2, 3, requires_grad=True)
    y = x * 1
    product = y * y
    y.t_()
    with pytest.raises(RuntimeError, match="in-place"):
        product.sum().backward()


def test_views_follow_a_base_that_changed():
    w = norch.tensor([1.0, 2.0], requires_grad=True)
    base = norch.zeros(3, 2)
    row = base[1]
    base.t_()
    base[:, 1] = w
    row.sum().backward()
    assert row.tolist() == [1, 2] and w.grad.tolist() == [1, 1]


def test_leaves_refuse():
    x = norch.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        x.t_()
    with pytest.raises(RuntimeError, match="gradients"):
        x.resize_(2)
    with norch.no_grad():
        assert x.t_().shape == (3, 2) and x.requires_grad


def test_resize_keeps_what_there_was():
    x = norch.tensor([[1, 2], [3, 4]])
    assert x.resize_(3).tolist() == [1, 2, 3]
    assert x.resize_((2, 2)).tolist() == [[1, 2], [3, 4]]  # the memory still had it
    assert x.resize_(5, 2).shape == (5, 2) and x[:2].tolist() == [[1, 2], [3, 4]]
    row = norch.arange(6).reshape(2, 3)[1]
    assert row.resize_(4)[:3].tolist() == [3, 4, 5]
    assert norch.ones(1).resize_as_(norch.ones(0, 2)).shape == (0, 2)
    with pytest.raises(ValueError, match="negative"):
        x.resize_(-1)


def test_resize_lays_elements_in_a_memory_format():
    x = norch.empty(1).resize_(2, 3, 4, 5, memory_format=norch.channels_last)
    assert x.stride() == (60, 1, 15, 3)
    assert norch.empty(1).resize_as_(x, memory_format=norch.preserve_format).stride() == x.stride()
    assert norch.empty(1).resize_as_(x).stride() == (60, 20, 5, 1)
    assert x.resize_(2, 3, 4, 5).stride() == (60, 1, 15, 3)  # the same shape
    assert x.resize_(2, 3, 4, 5, memory_format=norch.contiguous_format).stride() == (60, 20, 5, 1)


def test_set_takes_the_memory_of_another():
    x, y = norch.zeros(3), norch.arange(6.0)
    assert x.set_(y) is x and x.data_ptr() == y.data_ptr()
    assert x.set_(y.storage(), 1, (2, 2), (2, 1)).tolist() == [[1, 2], [3, 4]]
    assert x.set_().shape == (0,)
    with pytest.raises(RuntimeError, match="float32.*int64"):
        x.set_(norch.arange(3))


def test_an_empty_view_begins_where_its_slice_does():
    x = norch.arange(6.0).reshape(2, 3)
    parts = [x[2:1], x[:, 1:1], x[:, 5:], x.narrow(1, 2, 0), x.split([2, 0, 1], 1)[1]]
    assert [part.storage_offset() for part in parts] == [6, 1, 3, 2, 2]
    assert parts[3].as_strided_([2], [3]).tolist() == [2, 5]
