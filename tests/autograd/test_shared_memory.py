"""What a write in place does to the graph of tensors over one memory, and which operations give memory of their own."""

from __future__ import annotations

import gc

import pytest

import norch
from norch.autograd.in_place import Views


def leaf(*values):
    return norch.tensor(values, dtype=norch.float64, requires_grad=True)


def test_views_taken_before_their_base_enters_the_graph_follow_it():
    w = leaf(3.0, 4.0)
    base = norch.zeros(2, 2, dtype=norch.float64)
    flat = base.view(-1)
    base[0] = w
    assert flat.requires_grad
    ((flat * flat).sum() + (w * 0).sum()).backward()
    assert w.grad.tolist() == [6, 8]


def test_a_detached_tensor_does_not_follow():
    base = norch.zeros(2, dtype=norch.float64)
    apart = base.detach()
    base.copy_(leaf(1.0, 2.0))
    assert base.requires_grad and not apart.requires_grad
    assert apart.tolist() == [1, 2]


@pytest.mark.parametrize("made_of", ["a transposed base", "a base with gaps"])
def test_writes_into_a_base_that_is_not_contiguous(made_of):
    w = leaf(3.0, 4.0)
    zeros = norch.zeros(4, 2, dtype=norch.float64)
    base = zeros[:3].t().detach() if made_of == "a transposed base" else norch.zeros(2, 6).double()[:, ::2].detach()
    assert not base.is_contiguous()
    columns = base[:, 1:]
    base[0, :2] = w * 2
    (columns.sum() + base[:, 0].sum() * 10).backward()
    assert w.grad.tolist() == [20, 2]


def test_a_view_made_under_no_grad_refuses_a_write_with_gradients():
    w = leaf(3.0, 4.0)
    base = norch.zeros(2, 2, dtype=norch.float64)
    with norch.no_grad():
        view = base.view(-1)
    view.mul_(2)  # without gradients it may be written to
    for part in (view, view[:2]):
        with pytest.raises(RuntimeError, match="no_grad"):
            part[:2] = w
    base[0] = w
    with pytest.raises(RuntimeError, match="no_grad"):
        view.sum().backward()


# ---- Memory of their own ---------------------------------------------------------------------------------------------

COPIES = {
    "repeat": lambda x: x.repeat(1, 1),
    "tile": lambda x: x.tile((1, 1)),
    "tile of nothing": lambda x: x.tile(()),
    "repeat_interleave": lambda x: x.repeat_interleave(1),
    "repeat_interleave of rows": lambda x: x.repeat_interleave(1, 0),
    "reshape": lambda x: x.t().reshape(-1),
    "flatten": lambda x: x.t().flatten(),
    "ravel": lambda x: x.t().ravel(),
    "ravel of a slice": lambda x: x[:, 0].ravel(),
}


@pytest.mark.parametrize("copy", list(COPIES.values()), ids=list(COPIES))
def test_a_write_into_a_copy_does_not_show_in_its_source(copy):
    x = leaf(1.0, 2.0, 3.0, 4.0)
    source = (x * 1).reshape(2, 2)
    result = copy(source)
    assert result.is_contiguous()
    result.mul_(10)
    assert source.tolist() == [[1, 2], [3, 4]]
    source.sum().backward()
    assert x.grad.tolist() == [1, 1, 1, 1]


def test_a_base_forgets_the_views_that_are_gone():
    base = norch.zeros(1000)
    for i in range(1000):
        base[i]
    gc.collect()
    assert len(base._views) <= Views.limit + 1


def test_a_write_without_a_derivative_passes_no_gradient():
    x = leaf(1.0, 2.0, 3.0)
    y = x.flip(0)
    y.lt_(x)
    (y * y).sum().backward()
    assert x.grad.tolist() == [0, 0, 0]

    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    y[:2].floor_divide_(2)
    (y * y).sum().backward()
    assert x.grad.tolist() == [0, 0, 6]


def test_an_expanded_tensor_takes_one_number():
    gradient = norch.ones(1).expand(3)
    assert gradient.fill_(2).tolist() == [2, 2, 2] and gradient.zero_().tolist() == [0, 0, 0]
    rows = norch.zeros(4, 1)
    rows[1:3].expand(2, 3).fill_(7)  # and nothing beside it
    assert rows.tolist() == [[0], [7], [7], [0]]
    with pytest.raises(RuntimeError, match="share one place"):
        gradient.copy_(norch.ones(3))


def test_what_changes_nothing_gives_the_tensor_itself():
    x = leaf(1.0, 2.0)
    assert x.flatten() is x and norch.broadcast_tensors(x, x)[0] is x


def test_a_result_that_was_computed_as_a_view_is_none():
    x = leaf(1.0, 2.0)
    result = x.logcumsumexp(0)
    assert result[1].requires_grad
    result[1].backward()
    assert x.grad.sum().item() == pytest.approx(1)
