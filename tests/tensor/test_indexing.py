"""Indexing by masks and integer arrays, selection by name, sorting: what the tables leave open."""

from __future__ import annotations

import math

import pytest
from arrays import DTYPES, Array, indices
from compare import assert_close
from draws import any_numbers, drawn
from operations import by_name
from tensors import LAYOUTS, operand

import norch
from norch.autograd import gradcheck

# ---- shapes ----------------------------------------------------------------------------------------------------------

SHAPES = {  # of x[index] for x of shape [2, 3, 4]
    "[1, 0, 1]": [3, 3, 4],
    "range(2)": [2, 3, 4],
    "(0, 1),": [2, 3, 4],
    "[],": [0, 3, 4],
    "[[0, 1], [1, 0]]": [2, 4],  # as in PyTorch, a list of lists is a tuple
    "norch.tensor([[0, 1], [1, 0]])": [2, 2, 3, 4],
    "[0, 1], [2, 0]": [2, 4],
    "[[0], [1]], [2, 0]": [2, 2, 4],
    "[0, 1], :, [2, 0]": [2, 3],
    ":, [0, 1], [2, 0]": [2, 2],
    ":, [0, 1]": [2, 2, 4],
    "..., [0, 1]": [2, 3, 2],
    "[0, 1], ..., [2, 3]": [2, 3],
    "[0, 1], None, [2, 0]": [2, 1, 4],
    "None, [0, 1]": [1, 2, 3, 4],
    "0, :, [2, 0, 1]": [3, 3],
    "0, [2, 0]": [2, 4],
    "[0, 1], 1:, ::2": [2, 2, 2],
    "[-1]": [1, 3, 4],
    "norch.tensor([1])": [1, 3, 4],
    "norch.tensor(1).reshape(())": [3, 4],
    "norch.tensor([1, 0], dtype=norch.int32)": [2, 3, 4],
    "True": [1, 2, 3, 4],
    "False": [0, 2, 3, 4],
    "..., True": [2, 3, 4, 1],
    "True, [0, 1]": [2, 3, 4],
    "norch.tensor(True).reshape(())": [1, 2, 3, 4],
    "[True, False]": [1, 3, 4],
    "x > 20": [3],
    "x[0] >= 0, 0": None,
    ":, [True, False, True]": [2, 2, 4],
    "[True, True], [True, False, True]": [2, 4],
    "[False, False]": [0, 3, 4],
}


@pytest.mark.parametrize("index", SHAPES)
def test_shape(index, device):
    x = norch.arange(24, device=device).reshape(2, 3, 4)
    if SHAPES[index] is None:
        with pytest.raises(IndexError, match=r"\[3, 4\].*\[2, 3\]"):
            eval(f"x[{index}]")
        return
    result = eval(f"x[{index}]")
    assert list(result.shape) == SHAPES[index]
    assert result.dtype == norch.int64 and result.is_contiguous()
    exec(f"x[{index}] = -5")
    assert (eval(f"x[{index}]") == -5).all() and int((x == -5).sum()[0]) <= 24
    assert int((x != -5).sum()[0]) >= 24 - result.numel


def test_an_integer_for_each_dimension_makes_a_view_of_no_dimensions(device):
    x = norch.tensor([[1.5, 2.5], [3.5, 4.5]], device=device)
    zero, one = norch.tensor(0), norch.tensor(1)
    for element in (x[0, 1], x[zero, one], x[0][1], x[..., 0, 1], x[-2, -1]):
        assert_close(element, 2.5, "float32")
    x[1, 1].mul_(2)
    x[0, 1] = -1
    assert_close(x, [[1.5, -1.0], [3.5, 9.0]])
    x[0, 1] = 2.5
    assert_close(x[0, [1]], [2.5])
    assert_close(x[[0], 1], [2.5])


def test_a_read_is_a_copy_and_a_write_goes_through(device):
    x = norch.zeros(3, 2, device=device)
    row = x.T[1, 1:]
    copy = x[[0, 1]]
    copy.fill_(9)
    assert_close(x, [[0.0, 0.0]] * 3)
    x[[2], 1] = 5
    x.T[[1], 1] = 4
    assert_close(x, [[0.0, 0.0], [0.0, 4.0], [0.0, 5.0]])
    assert_close(row, [4.0, 5.0])
    x[x == 0] = norch.tensor([1, 2, 3, 4], device=device)
    assert_close(x, [[1.0, 2.0], [3.0, 4.0], [4.0, 5.0]])


def test_places_that_repeat(device):
    """Assignment keeps the last value, += adds once, accumulate adds all."""
    x = norch.zeros(3, dtype=norch.int64, device=device)
    x[[1, 1, 2]] = norch.tensor([5, 6, 7], device=device)
    assert_close(x, [0, 6, 7])
    x[[1, 1, 2]] += 1
    assert_close(x, [0, 7, 8])
    x.index_put_((norch.tensor([1, 1, -1], device=device),), norch.tensor([10, 10, 10], device=device), accumulate=True)
    assert_close(x, [0, 27, 18])
    truth = norch.tensor([False, True], device=device)
    both = norch.tensor([0, 0], device=device)
    truth.scatter_add_(0, both, norch.tensor([True, True], device=device))
    assert_close(truth, [True, True])


def test_values_that_share_memory_with_what_is_written(device):
    x = norch.arange(5, device=device)
    x[[0, 1, 2]] = x[1:4]
    assert_close(x, [1, 2, 3, 3, 4])
    x[x] = x.flatten()[:1]
    assert_close(x, [1, 1, 1, 1, 1])
    y = norch.arange(4, device=device)
    y[[0, 1, 2, 3]] = y[[3, 2, 1, 0]]
    assert_close(y, [3, 2, 1, 0])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_in_every_layout(dtype, layout, device, rng):
    tensor, array = operand(drawn(rng, any_numbers, dtype), (3, 4), dtype, layout, device)
    chosen, truth = operand(drawn(rng, any_numbers, "bool"), (3, 4), "bool", layout, device)
    picked = [x for x, keep in zip(array.flat, truth.flat) if keep]
    assert_close(tensor[chosen], Array(picked, (len(picked),)), dtype)
    places = [list(index) for index, x in zip(indices((3, 4)), array.flat) if x]
    assert_close(tensor.nonzero(), Array([i for place in places for i in place], (len(places), 2)), "int64")
    copy = tensor.clone()
    copy[chosen] = 1
    one = {"bool": True, "float32": 1.0, "float64": 1.0}.get(dtype, 1)
    assert_close(copy, Array([one if keep else x for x, keep in zip(array.flat, truth.flat)], (3, 4)), dtype)
    rows, columns = tensor.nonzero(as_tuple=True)
    assert_close(tensor[rows, columns], Array([x for x in array.flat if x], (len(places),)), dtype)


# ---- errors ----------------------------------------------------------------------------------------------------------

REFUSED = {
    "x[5]": (IndexError, "index 5 .* axis 0 of size 2"),
    "x[0, -4]": (IndexError, "index -4 .* axis 1 of size 3"),
    "x[[0, 5]]": (IndexError, "index 5 .* axis 0 of size 2"),
    "x[0, [-4]]": (IndexError, "index -4 .* axis 1 of size 3"),
    "x[None, :, [3]]": (IndexError, "index 3 .* axis 1 of size 3"),
    "x.__setitem__([2], 0)": (IndexError, "index 2 .* axis 0 of size 2"),
    "x[[0, 1], [0, 1, 2]]": (IndexError, r"\[2\] and \[3\]"),
    "x[0, 0, [0]]": (IndexError, "3 .* 2 dimensions"),
    "x[..., [0], ...]": (IndexError, "ellipsis"),
    "x[norch.tensor([True])]": (IndexError, r"mask .*\[1\].*axes 0 to 0.*\[2\]"),
    "x[norch.ones(2, 2) > 0]": (IndexError, r"mask .*\[2, 2\].*axes 0 to 1.*\[2, 3\]"),
    "x[norch.ones(2)]": (IndexError, "float32"),
    "x['a']": (TypeError, "'a'"),
    "x[1.5]": (IndexError, "1.5"),
    "x.__setitem__([0], norch.ones(2))": (ValueError, r"\[2\].*\[1, 3\]"),
    "x[[0]].expand(2, 3).__setitem__([0], 1)": (RuntimeError, "expanded"),
    "x.gather(0, norch.tensor([[2]]))": (RuntimeError, "index 2 .* axis 0 of size 2"),
    "x.gather(1, norch.tensor([[-1]]))": (RuntimeError, "index -1 .* axis 1 of size 3"),
    "x.gather(1, norch.tensor([0]))": (ValueError, r"\[1\].*\[2, 3\]"),
    "x.gather(3, norch.tensor([[0]]))": (IndexError, "axis 3"),
    "x.scatter_(0, norch.tensor([[0, 1]]), norch.ones(1, 1))": (ValueError, r"\[1, 2\].*\[1, 1\]"),
    "x.scatter_(0, norch.tensor([[0]]), norch.tensor([[1]]))": (RuntimeError, "float32.*int64"),
    "x.index_select(1, norch.tensor([3]))": (IndexError, "index 3 .* axis 1 of size 3"),
    "x.index_add_(0, norch.tensor([0]), norch.ones(1, 1))": (ValueError, r"\[1, 1\].*\[1, 3\]"),
    "x.index_put_((norch.tensor([0]),), norch.tensor([1]))": (RuntimeError, "float32.*int64"),
    "x.index_put_((), norch.ones(1))": (TypeError, "index tensors"),
    "x.masked_fill(x, 1)": (RuntimeError, "bool.*float32"),
    "x.masked_fill(x > 0, norch.ones(2))": (RuntimeError, r"\[2\]"),
    "x.masked_fill_(norch.ones(2, 2, 3) > 0, 1)": (ValueError, r"\[2, 3\].*\[2, 2, 3\]"),
    "x.take(norch.tensor([6]))": (IndexError, "index 6 .* size 6"),
    "x.topk(4)": (RuntimeError, "k is 4.* size 3"),
    "x.topk(-1)": (RuntimeError, "-1"),
    "x.sort(2)": (IndexError, "axis 2"),
    "x.cumsum()": (TypeError, "dim"),
    "x[0].tril()": (RuntimeError, r"\[3\]"),
    "x.reshape(2, 3, 1).diag()": (RuntimeError, r"\[2, 3, 1\]"),
}


@pytest.mark.parametrize("line", REFUSED)
def test_refused(line):
    kind, message = REFUSED[line]
    x = norch.zeros(2, 3)
    with pytest.raises(kind, match=message):
        eval(line)
    assert_close(x, [[0.0] * 3] * 2)


# ---- autograd --------------------------------------------------------------------------------------------------------

CHANGES = {
    "x[index] = 5": lambda x, index: x.__setitem__(index, 5),
    "x[mask] = 5": lambda x, index: x.__setitem__(x > 0, 5),
    "index_put_": lambda x, index: x.index_put_((index,), norch.full([1], 9.0)),
    "scatter_": lambda x, index: x.scatter_(0, index, 5),
    "scatter_add_": lambda x, index: x.scatter_add_(0, index, norch.ones(1)),
    "index_fill_": lambda x, index: x.index_fill_(0, index, 5),
    "index_add_": lambda x, index: x.index_add_(0, index, norch.ones(1)),
    "masked_fill_": lambda x, index: x.masked_fill_(x > 0, 5),
    "view[index] = 5": lambda x, index: x[1:].__setitem__(index, 5),
    "the index": lambda x, index: index.add_(1),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_after_saving_are_noticed(name):
    start = norch.tensor([1.0, 2.0, 3.0]).requires_grad_()
    x, index = start * 1, norch.tensor([0])
    result = (x * x).sum() + x[index].sum() + x.gather(0, index).sum() + x.index_put((index,), x[:1]).sum()
    CHANGES[name](x, index)
    with pytest.raises(RuntimeError, match="modified by an in-place operation"):
        result.backward()


@by_name([name for name in CHANGES if name != "the index"])
def test_leaves_that_require_gradients_refuse(row):
    x = norch.tensor([1.0, 2.0, 3.0]).requires_grad_()
    with pytest.raises(RuntimeError, match="leaf"):
        CHANGES[row](x, norch.tensor([0]))
    assert_close(x, [1.0, 2.0, 3.0])
    with norch.no_grad():
        CHANGES[row](x, norch.tensor([0]))
    assert x.is_leaf and x.tolist() != [1.0, 2.0, 3.0]


def test_gradient_through_a_write_to_an_indexed_view():
    def function(x, y):
        copy = x * x
        copy[1:][[0, 1], [2, 0]] = y * y
        copy.T[0].masked_fill_(norch.tensor([True, False, False]), y[0:1].sum())
        copy[[0, 2]] += copy[[1, 1]]
        return copy

    x = norch.tensor([[0.5, 1.5, 2.5], [3.5, 4.5, 5.5], [6.5, 7.5, 8.5]], dtype=norch.float64).requires_grad_()
    y = norch.tensor([0.25, 0.75], dtype=norch.float64).requires_grad_()
    assert gradcheck(function, (x, y))


def test_gradient_of_repeated_reads_adds_up(device):
    x = norch.tensor([1.0, 2.0, 3.0], device=device).requires_grad_()
    x[[0, 0, 2]].sum().backward()
    assert_close(x.grad, [2.0, 0.0, 1.0])


@pytest.mark.parametrize("values", [[2.0, 3.0, 4.0], [2.0, 0.0, 4.0], [0.0, 3.0, 0.0], [0.0, 0.0, 5.0]])
def test_gradient_of_cumprod_beside_zeros(values):
    x = norch.tensor([values, values[::-1]], dtype=norch.float64).requires_grad_()
    for axis in (0, 1):
        assert gradcheck(lambda t: t.cumprod(axis), (x,))  # noqa: B023
        assert norch.autograd.gradgradcheck(lambda t: t.cumprod(axis), (x,))  # noqa: B023


# ---- sorting and running totals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sort(dtype, layout, descending, device, rng):
    tensor, array = operand(drawn(rng, any_numbers, dtype), (7, 5), dtype, layout, device)
    values, places = tensor.sort(1, descending)
    for row, line in enumerate(array.nested()):
        order = sorted(range(5), key=lambda i: -line[i] if descending else line[i])  # noqa: B023
        assert places[row].tolist() == order  # equals keep their order
        assert values[row].tolist() == [line[i] for i in order]
        assert tensor.topk(3, largest=descending).indices[row].tolist() == order[:3]
    assert_close(tensor.argsort(1, descending), places.tolist(), "int64")


def test_nan_sorts_as_the_largest(device):
    x = norch.tensor([2.0, math.nan, -math.inf, math.inf, math.nan, 0.0], device=device)
    assert_close(x.sort()[0], [-math.inf, 0.0, 2.0, math.inf, math.nan, math.nan])
    assert_close(x.sort().indices, [2, 5, 0, 3, 1, 4])
    assert_close(x.sort(descending=True).indices, [1, 4, 3, 0, 5, 2])
    assert_close(x.topk(2, largest=False).values, [-math.inf, 0.0])


def test_running_totals(device):
    assert_close(norch.tensor([True, False, True], device=device).cumsum(0), [1, 1, 2], "int64")
    assert_close(norch.tensor([2, 3, 4], dtype=norch.int32, device=device).cumprod(0), [2, 6, 24], "int64")
    assert_close(norch.tensor([2, 3], device=device).cumsum(0, dtype=norch.float32), [2.0, 5.0], "float32")
    tenths = norch.full([100_000], 0.1, device=device).cumsum(0)
    assert abs(tenths[-1] - 10_000) < 0.01  # added in double: plain floats would be off by more than 1


def test_tensors_without_elements_or_dimensions(device):
    empty, scalar = norch.zeros(0, 3, device=device), norch.tensor(3.0, device=device).reshape(())
    none = norch.tensor([], dtype=norch.int64, device=device)
    assert list(empty[[]].shape) == [0, 3] and list(norch.zeros(2, 3, device=device)[none].shape) == [0, 3]
    assert list(empty.sort(1)[0].shape) == [0, 3] and list(empty.sort(0)[0].shape) == [0, 3]
    assert list(empty.cumsum(0).shape) == list(empty.cumprod(1).shape) == [0, 3]
    assert list(empty.nonzero().shape) == [0, 2] and list(empty[empty > 0].shape) == [0]
    assert list(empty.gather(0, none.reshape(0, 1)).shape) == [0, 1]
    assert list(empty.topk(0, 0)[0].shape) == [0, 3]
    assert list(scalar[True].shape) == [1] and list(scalar[False].shape) == [0]
    assert scalar.sort()[0].item() == scalar.cumsum(0).item() == scalar.topk(1)[0].item() == 3.0
    assert list(scalar.nonzero().shape) == [1, 0] and scalar.nonzero(as_tuple=True)[0].tolist() == [0]
    zero = norch.tensor(0, device=device).reshape(())
    assert scalar.gather(0, zero).shape == () and scalar.scatter(0, zero, 4.0).item() == 4.0
    assert norch.zeros(2, device=device).index_put_((zero,), norch.ones(1, device=device)).tolist() == [1, 0]
    empty[[]] = 1
    empty.scatter_(0, none.reshape(0, 1), 1.0)
    assert list(empty.shape) == [0, 3]


def test_number_in_place_of_a_mask_has_a_gradient_for_x():
    x = norch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y[norch.tensor([True, False])] = 5
    y.sum().backward()
    assert x.grad.tolist() == [0, 3]


def test_numpy_arrays_assign(device):
    np = pytest.importorskip("numpy")
    x = norch.zeros(3, device=device)
    x[np.array([0, 2])] = norch.tensor([1.0, 2.0], device=device)
    assert x.tolist() == [1, 0, 2]


def test_where_takes_the_uint8_masks_of_old_programs(device):
    mask = norch.tensor([0, 1, 2], dtype=norch.uint8, device=device)
    x = norch.arange(3.0, device=device)
    assert norch.where(mask, x, -1.0).tolist() == [-1.0, 1.0, 2.0] and x.where(mask, -x).tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(RuntimeError, match="bool condition, got int64"):
        norch.where(mask.long(), x, x)


@pytest.mark.parametrize(
    "write",
    [
        lambda x, index, y: x.scatter(1, index, y),
        lambda x, index, y: x.scatter_add(1, index, y),
        lambda x, index, y: x.scatter_reduce(1, index, y, "amax"),
    ],
)
def test_an_empty_index_of_any_shape_writes_nothing(write, device):
    x, y = norch.tensor([[1.0, 2.0]], device=device), norch.ones(2, 3, device=device)
    assert write(x, norch.zeros(0, dtype=norch.int64, device=device), y).equal(x)
