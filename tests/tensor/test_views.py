"""Views beyond the table: what they share, what they refuse, and that writes through them are seen."""

from __future__ import annotations

import pytest
from compare import assert_close

import norch
from norch.autograd import gradcheck, gradgradcheck

# Each shows some of the elements of a tensor [4, 6] over the same storage.
VIEWS = {
    "unflatten": lambda x: x.unflatten(1, (2, 3)),
    "ravel": lambda x: x.ravel(),
    "view_as": lambda x: x.view_as(norch.zeros(6, 4)),
    "reshape_as": lambda x: x.reshape_as(norch.zeros(8, 3)),
    "movedim": lambda x: x.movedim(0, 1),
    "moveaxis": lambda x: x.moveaxis((0, 1), (1, 0)),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "swapdims": lambda x: x.swapdims(-1, 0),
    "mT": lambda x: x.mT,
    "narrow": lambda x: x.narrow(1, 2, 3),
    "narrow from the end": lambda x: x.narrow(0, -2, 2),
    "select": lambda x: x.select(1, -1),
    "split": lambda x: x.split(4, dim=1)[1],
    "split of sizes": lambda x: x.split([1, 3])[1],
    "chunk": lambda x: x.chunk(3, dim=1)[2],
    "unbind": lambda x: x.unbind(1)[3],
    "diagonal": lambda x: x.diagonal(),
    "diagonal above": lambda x: x.diagonal(offset=2),
    "diagonal below": lambda x: x.diagonal(-1, 1, 0),
    "as_strided": lambda x: x.as_strided((2, 3), (6, 2), 1),
    "squeeze": lambda x: x.unsqueeze(0).unsqueeze(-1).squeeze((0, -1)),
    "views of views": lambda x: x.T.unflatten(0, (3, 2)).select(1, 1).diagonal(),
}


@pytest.mark.parametrize("view", list(VIEWS.values()), ids=list(VIEWS))
def test_a_write_shows_in_the_base_and_the_other_way(view, device, no_leak):
    base = norch.arange(24, device=device).reshape(4, 6)
    shown = view(base)
    chosen = set(shown.reshape(-1).tolist())
    version = base._version
    shown.mul_(-1)
    assert base._version == version + 1
    assert base.reshape(-1).tolist() == [-i if i in chosen else i for i in range(24)]
    base.fill_(7)
    assert set(shown.reshape(-1).tolist()) == {7}


@pytest.mark.parametrize("view", list(VIEWS.values()), ids=list(VIEWS))
def test_autograd_notices_a_write_through_a_view(view, device):
    """A value saved for backward must not change behind its back, and a write must reach the graph."""
    x = norch.arange(24.0, device=device).reshape(4, 6).requires_grad_()
    base = x * 1
    product = base * base
    with norch.no_grad():
        view(base).fill_(0)
    with pytest.raises(RuntimeError, match="modified by an in-place operation"):
        product.sum().backward()

    base = x * 1
    view(base).fill_(0)
    shown = set(view(norch.arange(24).reshape(4, 6)).reshape(-1).tolist())
    base.sum().backward()
    assert x.grad.reshape(-1).tolist() == [0.0 if i in shown else 1.0 for i in range(24)]
    with pytest.raises(RuntimeError, match="leaf"):
        view(x).fill_(0)


@pytest.mark.parametrize("view", list(VIEWS.values()), ids=list(VIEWS))
def test_no_memory_for_a_view(view, device, no_leak):
    """It is an error, or tried again: never another tensor."""
    x = norch.arange(24, device=device).reshape(4, 6)
    expected = view(x).tolist()
    norch._C.fail_allocation(1)
    try:
        assert view(x).tolist() == expected
    except MemoryError as error:
        assert "allocate" in str(error)
    finally:
        norch._C.fail_allocation(0)


@pytest.mark.parametrize("view", list(VIEWS.values()), ids=list(VIEWS))
def test_gradients_of_views(view, device):
    x = norch.arange(24.0, dtype=norch.float64, device=device).reshape(4, 6).requires_grad_()
    assert gradcheck(lambda t: view(t * t), x) and gradgradcheck(lambda t: view(t * t), x)


def test_a_leaf_that_is_a_view_itself_refuses(device):
    base = norch.zeros(4, device=device)
    leaf = base.reshape(2, 2).requires_grad_()
    for write in (lambda: leaf.fill_(1), lambda: leaf[0].fill_(1), lambda: leaf.T.add_(1)):
        with pytest.raises(RuntimeError, match="leaf"):
            write()
    with norch.no_grad():
        leaf.T.add_(1)
    assert base.tolist() == [1.0, 1.0, 1.0, 1.0]


def test_as_strided_gradients_of_any_layout(device):
    """Elements that the view shows twice count twice, for any strides of its base."""
    x = norch.arange(12.0, dtype=norch.float64, device=device).reshape(3, 4).requires_grad_()
    for function in (
        lambda t: (t * t).as_strided((4, 4), (2, 1)),
        lambda t: (t * t).T.as_strided((2, 5), (3, 1), 2),
        lambda t: (t * t)[1:].as_strided((3,), (0,), 5),
        lambda t: (t * t)[:, ::2].as_strided((2, 2), (2, 2)),
    ):
        assert gradcheck(function, x) and gradgradcheck(function, x)
    row = x.detach()[:, :1].requires_grad_()  # expanded: a place shares its gradient among its elements

    def part(x):
        return x.expand(3, 4).as_strided((2, 2), (4, 1))

    assert gradcheck(part, row) and gradgradcheck(lambda x: part(x).exp(), row)


def test_sizes_of_parts(device):
    x = norch.arange(10, device=device)
    assert [part.tolist() for part in x.split(4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [len(part) for part in x.chunk(4)] == [3, 3, 3, 1]
    assert [len(part) for part in x.chunk(20)] == [1] * 10
    assert [part.shape for part in norch.zeros(0, 2).split(3)] == [[0, 2]]
    assert [part.shape for part in norch.zeros(0, 2).chunk(2)] == [[0, 2], [0, 2]]
    assert [len(part) for part in norch.split(x, [3, 0, 7])] == [3, 0, 7]
    assert norch.zeros(2, 0).unbind(1) == ()
    assert x.reshape(2, 5).diagonal(7).shape == [0] and x.reshape(2, 5).diagonal(-2).shape == [0]


def test_view_of_another_dtype(device):
    ones = norch.ones(2, 3, device=device)
    bits = ones.view(norch.int32)
    assert bits.shape == [2, 3] and bits[0, 0] == 0x3F800000
    bits.fill_(0x40000000)
    assert_close(ones, [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]])
    assert ones.view(norch.uint8).shape == [2, 12] and ones[1:, 1:].view(norch.uint8).tolist() == [[0, 0, 0, 64] * 2]
    assert norch.zeros(2, 4).view(norch.int64).shape == [2, 2]
    for bad in (lambda: norch.zeros(2, 3).view(norch.int64), lambda: norch.zeros(2, 4).T.view(norch.uint8)):
        with pytest.raises(RuntimeError, match="view"):
            bad()


def test_joins_and_grids(device):
    a, b = norch.tensor([1, 2], device=device), norch.tensor([3, 4], device=device)
    assert norch.hstack((a, b)).tolist() == [1, 2, 3, 4] and norch.vstack((a, b)).tolist() == [[1, 2], [3, 4]]
    assert norch.column_stack((a, b)).tolist() == [[1, 3], [2, 4]]
    assert norch.dstack((a, b)).tolist() == [[[1, 3], [2, 4]]]
    assert norch.hstack((a.reshape(2, 1), b.reshape(2, 1))).tolist() == [[1, 3], [2, 4]]
    rows, columns = norch.meshgrid(a, norch.arange(3), indexing="ij")
    assert rows.tolist() == [[1, 1, 1], [2, 2, 2]] and columns.tolist() == [[0, 1, 2], [0, 1, 2]]
    columns, rows = norch.meshgrid(a, norch.arange(3), indexing="xy")
    assert rows.tolist() == [[0, 0], [1, 1], [2, 2]] and columns.tolist() == [[1, 2]] * 3
    assert [grid.shape for grid in norch.meshgrid([a, norch.arange(3), b], indexing="xy")] == [[3, 2, 2]] * 3
    wide, tall = norch.broadcast_tensors(norch.zeros(1, 3), norch.zeros(2, 1))
    assert wide.shape == tall.shape == [2, 3]
    zero_d = a[:1].reshape(())
    assert norch.atleast_1d(zero_d).shape == [1] and norch.atleast_2d(a).shape == [1, 2]
    assert [t.shape for t in norch.atleast_3d(zero_d, a, a.reshape(1, 2))] == [[1, 1, 1], [1, 2, 1], [1, 2, 1]]


def test_copies_in_another_order(device):
    x = norch.arange(6, device=device).reshape(2, 3)
    assert x.flip(1).tolist() == [[2, 1, 0], [5, 4, 3]] and x.flip(()).data_ptr() != x.data_ptr()
    assert x.T.flip(0, 1).tolist() == [[5, 2], [4, 1], [3, 0]] and x[:0].flip(0).shape == [0, 3]
    assert x.fliplr().tolist() == x.flip(1).tolist() and x.flipud().tolist() == x.flip(0).tolist()
    assert x.roll((1, -1), (0, 1)).tolist() == [[4, 5, 3], [1, 2, 0]]
    assert x.roll(0).data_ptr() != x.data_ptr() != x.repeat(1, 1).data_ptr()
    assert x.repeat(2, 1, 0).shape == [2, 2, 0] and x.tile(2, 1).shape == [4, 3]
    assert x.repeat_interleave(2).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    eight = norch.ones([1] * 8)
    assert eight.repeat([2] * 8).shape == [2] * 8


def test_comparisons():
    x = norch.tensor([1.0, float("nan"), float("inf"), 1.0])
    y = norch.tensor([1.0 + 1e-6, float("nan"), float("inf"), 1.1])
    assert x.isclose(y).tolist() == [True, False, True, False]
    assert x.isclose(y, equal_nan=True).tolist() == [True, True, True, False]
    assert not norch.allclose(x, y) and norch.allclose(x[2:3], y[2:3]) and norch.allclose(x, y, 0.2, equal_nan=True)
    assert norch.tensor([2**62]).isclose(norch.tensor([2**62 + 1])).tolist() == [True]
    assert norch.equal(x[:1], x[:1]) and not norch.equal(x, x) and not norch.equal(x[:1], x[:2])


ERRORS = {
    "view of strides": (lambda x: x.T.view(24), RuntimeError, "view size|view: size .* stride"),
    "unflatten": (lambda x: x.unflatten(1, (4, 2)), RuntimeError, "multiply to 6"),
    "unflatten nothing": (lambda x: x.unflatten(1, ()), RuntimeError, "at least one"),
    "unflatten axis": (lambda x: x.unflatten(2, (2, 3)), IndexError, "axis 2"),
    "split sizes": (lambda x: x.split([1, 2]), RuntimeError, "add up to 4"),
    "split size": (lambda x: x.split(0), RuntimeError, "got 0"),
    "chunk": (lambda x: x.chunk(0), RuntimeError, "at least one"),
    "unbind": (lambda x: x.unbind(2), IndexError, "axis 2"),
    "movedim": (lambda x: x.movedim((0, 1), 0), TypeError, "two integers"),
    "movedim twice": (lambda x: x.movedim((0, 0), (0, 1)), RuntimeError, "different"),
    "diagonal of a vector": (lambda x: x[0].diagonal(), IndexError, "at least 2"),
    "diagonal of one axis": (lambda x: x.diagonal(0, 1, -1), RuntimeError, "the same"),
    "mT of a vector": (lambda x: x[0].mT, RuntimeError, "at least 2"),
    "flip twice": (lambda x: x.flip(0, 0), RuntimeError, "repeated"),
    "flip nothing": (lambda x: x.flip(), TypeError, "dims"),
    "meshgrid of two dtypes": (lambda x: norch.meshgrid(x[0], x[0].double()), RuntimeError, "one dtype"),
    "flip axis": (lambda x: x.flip(2), IndexError, "axis 2"),
    "roll": (lambda x: x.roll((1, 2), 0), RuntimeError, "as many shifts"),
    "repeat": (lambda x: x.repeat(2), RuntimeError, "each dimension"),
    "repeat negative": (lambda x: x.repeat(1, -1), RuntimeError, "negative"),
    "repeat_interleave": (lambda x: x.repeat_interleave(-1), RuntimeError, "negative"),
    "meshgrid": (lambda x: norch.meshgrid(x), RuntimeError, "vectors"),
    "broadcast_tensors": (lambda x: norch.broadcast_tensors(x, x.T), ValueError, "broadcast"),
    "as_strided outside": (lambda x: x.as_strided((5, 6), (6, 1)), RuntimeError, "outside"),
    "dot": (lambda x: x.dot(x), RuntimeError, "1 and 1 dimensions"),
    "dot lengths": (lambda x: x[0].dot(x[0, 1:]), ValueError, "6 and 5"),
    "bmm": (lambda x: x[None].bmm(x.T.expand(2, 6, 4)), ValueError, "1 and 2 matrices"),
    "flatten": (lambda x: x.flatten(2), IndexError, "axis 2"),
    "transpose": (lambda x: x.transpose(0, 2), IndexError, "axis 2"),
}


@pytest.mark.parametrize("call, error, text", list(ERRORS.values()), ids=list(ERRORS))
def test_errors(call, error, text, device):
    x = norch.arange(24.0, device=device).reshape(4, 6)
    new_class = type("New", (norch.nn.Parameter,), {})  # whose attributes were not looked up before
    for given in (x, new_class(x)):
        with pytest.raises(error, match=text):
            call(given)


def test_new_dimensions_of_size_one_have_strides_as_if_unsqueezed():
    assert norch.ones(5).expand(1, 1, 5).stride() == norch.ones(5)[None, None].stride()
    assert norch.ones(5).expand(1, 2, 5).stride() == (0, 0, 1)


def test_a_view_says_so():
    x = norch.ones(2, 3)
    with norch.no_grad():
        assert x[0]._is_view() and not x._is_view() and not (x + 1)._is_view()
