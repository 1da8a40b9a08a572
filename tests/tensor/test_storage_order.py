"""Results lie in memory as their operands do; kernels read what repeats or has gaps as well as what is contiguous."""

from __future__ import annotations

import pytest

import norch

SIZES = (33, 70)  # more than a vector, and no multiple of one
LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.T.contiguous().T,
    "every second column": lambda x: norch.stack([x, x + 1], 2)[:, :, 0],
    "every third column": lambda x: norch.stack([x, x + 1, x + 2], 2)[:, :, 0],
    "repeated rows": lambda x: x[:1].expand(*SIZES),
    "repeated columns": lambda x: x[:, :1].expand(*SIZES),
    "one element": lambda x: x[:1, :1].expand(*SIZES),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("dim", [None, 0, 1], ids=str)
@pytest.mark.parametrize("lowest", [-5, 1], ids=["with zeros", "without"])
def test_reductions_do_not_depend_on_the_layout(layout, dtype, dim, lowest):
    whole = norch.arange(SIZES[0] * SIZES[1]).reshape(*SIZES) * 7 % 11 + lowest
    x = LAYOUTS[layout]((whole if dtype != "uint8" else whole.abs()).to(getattr(norch, dtype)))
    rows = x.contiguous()
    for name in ("sum", "prod", "amax", "amin", "any", "all"):
        found, expected = (getattr(t, name)(*([] if dim is None else [dim])) for t in (x, rows))
        assert found.dtype == expected.dtype and found.shape == expected.shape
        assert found.tolist() == expected.tolist() or name == "prod" and found.allclose(expected, rtol=1e-6), name
    names = ("argmax", "argmin", "logsumexp", "norm") if x.is_floating_point() else ("argmax", "argmin")
    for name in names:
        found, expected = (getattr(t, name)(dim=0 if dim is None else dim) for t in (x, rows))
        assert found.allclose(expected), name


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(5, 70), (2, 33, 70), (70, 3), (1, 4), (0, 4), (2, 3, 0)], ids=str)
def test_softmax_does_not_depend_on_the_layout(dtype, shape):
    x = (norch.randn(*shape) * 30).to(getattr(norch, dtype))
    rtol = 2**-10 if dtype == "float16" else 1e-5  # a last bit of float32 may round to the next float16
    for dim in range(len(shape)):
        for name in ("softmax", "log_softmax"):
            found = getattr(x, name)(dim)
            expected = getattr(x.movedim(dim, -1).contiguous(), name)(-1).movedim(-1, dim)
            assert found.shape == x.shape and found.allclose(expected, rtol, 1e-6), name
    assert norch.tensor([[norch.inf] * 4, [0.0] * 4]).softmax(0).isnan().sum() == 8


def test_a_repeated_element_counts_as_often_as_it_is_seen():
    tenth = norch.tensor([0.1], dtype=norch.float32)
    assert tenth.expand(1_000_000).sum().item() == pytest.approx(1_000_000 * tenth.item(), rel=6e-8)
    assert norch.tensor([2]).expand(62).prod().item() == 2**62
    assert norch.tensor([-1.0]).expand(3).prod().item() == -1.0 and norch.tensor([-1.0]).expand(4).prod().item() == 1.0
    infinite = norch.tensor([float("inf"), float("nan"), 0.0]).expand(5, 3)
    assert str(infinite.sum(0).tolist()) == "[inf, nan, 0.0]" and str(infinite.prod(0).tolist()) == "[inf, nan, 0.0]"
    assert norch.ones(1, 3).expand(0, 3).sum(0).tolist() == [0, 0, 0]
    assert norch.zeros(3, 1).expand(3, 0).prod(1).tolist() == [1, 1, 1]


@pytest.mark.parametrize("step", [1, 2, 3, 5])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "uint8", "bool"])
def test_slices_with_steps_are_read_and_written(step, dtype):
    whole = (norch.arange(40 * 150).reshape(40, 150) * 7 % 5).to(getattr(norch, dtype))
    rows = whole.tolist()
    for flipped in (whole[:, ::step].flip(1), whole.flip(1)[:, (150 - 1) % step :: step]):
        assert flipped.tolist() == [line[::step][::-1] for line in rows]
    assert (whole[:, ::step] + 1).tolist() == [[value + 1 for value in line[::step]] for line in rows]
    target = norch.zeros(40, 150, dtype=whole.dtype)
    target[:, ::step] = whole[:, : len(range(0, 150, step))]
    for line, given in zip(target.tolist(), rows):
        assert line[::step] == given[: len(line[::step])]
        assert not any(value for i, value in enumerate(line) if i % step)


def test_a_result_in_another_order_is_an_ordinary_tensor():
    x = norch.arange(6.0).reshape(2, 3)
    y = x.T + 1
    assert y.stride() == (1, 3) and not y.is_contiguous() and y.tolist() == [[1, 4], [2, 5], [3, 6]]
    with pytest.raises(norch.ShapeError, match="view"):
        y.view(-1)
    assert y.flatten().tolist() == [1, 4, 2, 5, 3, 6]
    y += x.T
    assert y.stride() == (1, 3) and y.tolist() == [[1, 7], [3, 9], [5, 11]]
    assert norch.zeros_like(y).stride() == (1, 3) and y.to(norch.int64).stride() == (1, 3)
    assert norch.tensor(y).stride() == y.contiguous().stride() == (2, 1)


def test_gradients_pass_through_results_in_another_order():
    x = norch.arange(6.0).reshape(2, 3).requires_grad_()
    w = norch.arange(6.0).reshape(3, 2).requires_grad_()
    ((x.T * w).sin() * w).reshape(-1).cumsum(0).sum().backward()
    plain, weight = (t.detach().clone().requires_grad_() for t in (x, w))
    ((plain.T.contiguous() * weight).sin() * weight).reshape(-1).cumsum(0).sum().backward()
    assert x.grad.tolist() == plain.grad.tolist() and w.grad.tolist() == weight.grad.tolist()


PERMUTED = {
    "of two elements": lambda x: x.permute(1, 2, 3, 0).contiguous().permute(3, 0, 1, 2),
    "channels last": lambda x: x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2),
    "short rows": lambda x: norch.stack([x, x], 1)[:, 1],
    "repeated": lambda x: x[:1].expand(*x.shape),
}


@pytest.mark.parametrize("layout", PERMUTED)
def test_permuted_images_are_converted_filled_and_reduced_as_rows_are(layout):
    whole = (norch.arange(2 * 3 * 20 * 18) * 7 % 23).float().reshape(2, 3, 20, 18) / 4 - 2
    x = PERMUTED[layout](whole)
    rows = x.contiguous()
    for kind in (norch.bool, norch.int64, norch.float16, norch.float64):
        assert x.to(kind).tolist() == rows.to(kind).tolist()
    for dim in range(4):
        for name in ("sum", "amax", "argmin", "any"):
            assert getattr(x, name)(dim).tolist() == getattr(rows, name)(dim).tolist(), (name, dim)
    for name in ("sigmoid", "exp", "relu"):
        assert getattr(x, name)().tolist() == getattr(rows, name)().tolist()
    assert x.remainder(rows.abs() + 1).tolist() == rows.remainder(rows.abs() + 1).tolist()
    filled, expected = x.clone(), rows.clone()
    for t in (filled, expected):
        t[:, :, 3:9, ::2] = 5
        t[:, 1].copy_(whole[:, 0].double())
    assert filled.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "soft_margin_loss"])
def test_losses_do_not_depend_on_the_layout_of_their_operands(name):
    loss = getattr(norch.nn.functional, name)
    x = (norch.arange(40 * 33) * 7 % 23).double().reshape(40, 33) / 8 - 1
    y = (norch.arange(40 * 33) * 5 % 19).double().reshape(40, 33) / 8 - 1
    expected = x.clone().requires_grad_()
    total = loss(expected, y)
    total.backward()
    for given, target in ((x.T.contiguous().T, y.T.contiguous().T), (x.T.contiguous().T, y), (x, y.T.contiguous().T)):
        leaf = given.clone().requires_grad_()
        found = loss(leaf, target)
        found.backward()
        assert found.allclose(total) and leaf.grad.tolist() == expected.grad.tolist()
