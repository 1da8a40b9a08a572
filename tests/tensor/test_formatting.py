"""How tensors print: as PyTorch prints them, character for character (tests/oracle compares thousands with torch)."""

from __future__ import annotations

import math

import pytest

import norch
from norch.display.formatting import set_printoptions

inf, nan = math.inf, math.nan


@pytest.fixture
def printoptions():
    """Lets a test change the options, and takes that back."""
    yield set_printoptions
    set_printoptions(precision=4, threshold=1000, edgeitems=3, linewidth=80)


def text(*lines):
    return "\n".join(lines)


@pytest.mark.parametrize(
    "data, expected",
    [
        ([1.0, 2.0, 3.0], "tensor([1., 2., 3.])"),
        ([3.0], "tensor([3.])"),
        (
            [[1.5, -2.25], [100.0, 0.0]],
            text("tensor([[  1.5000,  -2.2500],", "        [100.0000,   0.0000]])"),
        ),
        ([0.1 + 0.2], "tensor([0.3000])"),
        ([1.0, 1000.0], "tensor([   1., 1000.])"),
        ([1.0, 1001.0], "tensor([1.0000e+00, 1.0010e+03])"),
        ([1e-5, 1.0], "tensor([1.0000e-05, 1.0000e+00])"),
        ([1e8], "tensor([100000000.])"),
        ([2e8], "tensor([2.0000e+08])"),
        ([-1.0, -12345.678], "tensor([-1.0000e+00, -1.2346e+04])"),
        ([nan, 1.0, inf, -inf], "tensor([nan, 1., inf, -inf])"),
        ([nan, 1.5], "tensor([   nan, 1.5000])"),
        ([nan], "tensor([nan])"),
        ([inf, 1e10], "tensor([       inf, 1.0000e+10])"),
        ([0.0, -0.0], "tensor([0., -0.])"),
        ([], "tensor([])"),
    ],
    ids=repr,
)
def test_floats(data, expected):
    assert repr(norch.Tensor(data)) == expected
    assert str(norch.Tensor(data)) == expected
    assert f"{norch.Tensor(data)}" == expected


@pytest.mark.parametrize(
    "data, dtype, expected",
    [
        ([1, -20, 300], "int64", "tensor([  1, -20, 300])"),
        ([True, False], "bool", "tensor([ True, False])"),
        ([1.5], "float64", "tensor([1.5000], dtype=norch.float64)"),
        ([1], "int32", "tensor([1], dtype=norch.int32)"),
        ([255], "uint8", "tensor([255], dtype=norch.uint8)"),
        ([], "int64", "tensor([], dtype=norch.int64)"),
    ],
    ids=repr,
)
def test_other_dtypes(data, dtype, expected):
    assert repr(norch.tensor(data, dtype=getattr(norch, dtype))) == expected


def test_zero_dimensions_and_empty_shapes():
    assert repr(norch.tensor([3.0]).reshape(())) == "tensor(3.)"
    assert repr(norch.tensor([7]).reshape(())) == "tensor(7)"
    assert repr(norch.tensor([1e-45]).reshape(())) == "tensor(1.4013e-45)"
    assert repr(norch.zeros(0, 3)) == "tensor([], size=(0, 3))"
    assert repr(norch.zeros(2, 0, dtype=norch.float64)) == "tensor([], size=(2, 0), dtype=norch.float64)"


def test_blank_lines_between_blocks():
    assert repr(norch.arange(24.0).reshape(2, 3, 4)) == text(
        "tensor([[[ 0.,  1.,  2.,  3.],",
        "         [ 4.,  5.,  6.,  7.],",
        "         [ 8.,  9., 10., 11.]],",
        "",
        "        [[12., 13., 14., 15.],",
        "         [16., 17., 18., 19.],",
        "         [20., 21., 22., 23.]]])",
    )
    assert repr(norch.zeros(2, 1, 1, 2)) == text("tensor([[[[0., 0.]]],", "", "", "        [[[0., 0.]]]])")


def test_long_lines_wrap():
    assert repr(norch.arange(30)) == text(
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,",
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])",
    )


def test_large_tensors_show_their_edges():
    assert repr(norch.arange(1000)).count("\n") == 71
    assert repr(norch.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    assert repr(norch.arange(3000).reshape(2, 1500)) == text(
        "tensor([[   0,    1,    2,  ..., 1497, 1498, 1499],",
        "        [1500, 1501, 1502,  ..., 2997, 2998, 2999]])",
    )
    assert repr(norch.arange(1001).reshape(1001, 1)) == text(
        "tensor([[   0],",
        "        [   1],",
        "        [   2],",
        "        ...,",
        "        [ 998],",
        "        [ 999],",
        "        [1000]])",
    )
    hidden = norch.zeros(2000)
    hidden[1000:1001] = 1e30  # not shown, so it does not widen the rest
    assert repr(hidden) == "tensor([0., 0., 0.,  ..., 0., 0., 0.])"


def test_a_huge_expanded_tensor_prints_without_being_read():
    wide = norch.tensor([1.5]).expand(1_000_000, 1_000_000)
    assert repr(wide).startswith("tensor([[1.5000, 1.5000, 1.5000,  ..., 1.5000, 1.5000, 1.5000],\n")


def test_views_print_their_own_elements():
    x = norch.arange(6).reshape(2, 3)
    assert repr(x.T) == text("tensor([[0, 3],", "        [1, 4],", "        [2, 5]])")
    assert repr(x[:, ::2]) == text("tensor([[0, 2],", "        [3, 5]])")


def test_requires_grad_and_grad_fn():
    x = norch.ones(3).requires_grad_()
    assert repr(x) == "tensor([1., 1., 1.], requires_grad=True)"
    assert repr(x + 1) == "tensor([2., 2., 2.], grad_fn=<AddBackward>)"
    assert repr(x.detach()) == "tensor([1., 1., 1.])"


def test_long_suffixes_go_onto_the_next_line():
    x = norch.ones(12, dtype=norch.float64).requires_grad_()
    assert repr(x + 1) == text(
        "tensor([2., 2., 2., 2., 2., 2., 2., 2., 2., 2., 2., 2.], dtype=norch.float64,",
        "       grad_fn=<AddBackward>)",
    )


def test_printing_does_not_touch_the_graph():
    x = norch.ones(2).requires_grad_()
    y = x * 2
    repr(y)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_set_printoptions(printoptions):
    x = norch.tensor([1.23456, 2.0])
    printoptions(precision=2)
    assert repr(x) == "tensor([1.23, 2.00])"
    printoptions(sci_mode=True)
    assert repr(x) == "tensor([1.23e+00, 2.00e+00])"
    printoptions(precision=4)  # sci_mode goes back to automatic
    assert repr(x) == "tensor([1.2346, 2.0000])"
    printoptions(sci_mode=False)
    assert repr(norch.tensor([1e-5, 1.0])) == "tensor([0.0000, 1.0000])"
    printoptions(threshold=4, edgeitems=1)
    assert repr(norch.arange(5)) == "tensor([0,  ..., 4])"
    printoptions(threshold=inf, linewidth=20)
    assert repr(norch.arange(5)) == text("tensor([0, 1, 2, 3,", "        4])")
    printoptions(edgeitems=0, threshold=1, linewidth=80)
    assert repr(norch.arange(5)) == "tensor([...], size=(5,))"


@pytest.mark.parametrize(
    "options, error",
    [
        ({"precision": -1}, ValueError),
        ({"edgeitems": -3}, ValueError),
        ({"precision": 1.5}, TypeError),
        ({"linewidth": "wide"}, TypeError),
        ({"threshold": nan}, ValueError),
        ({"edgeitems": True}, TypeError),
        ({"sci_mode": 1}, TypeError),
    ],
    ids=repr,
)
def test_set_printoptions_refuses(options, error, printoptions):
    name, value = next(iter(options.items()))
    with pytest.raises(error, match=f"{name} is {value!r}.*expected"):
        printoptions(**options)
    assert repr(norch.tensor([1.5, 2.0])) == "tensor([1.5000, 2.0000])"
