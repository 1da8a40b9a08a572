"""`out=`: the tensor that a function writes its result into; numbers in place of the first tensor."""

from __future__ import annotations

import pytest
from compare import assert_close

import norch


def test_the_result_is_written_into_out(device):
    x = norch.tensor([[1.0, 2.0], [3.0, 4.0]], device=device)
    out = norch.zeros(2, 2, device=device)
    address = out.data_ptr()
    assert norch.add(x, x, out=out) is out
    assert out.data_ptr() == address
    assert_close(out, [[2.0, 4.0], [6.0, 8.0]])
    assert norch.add(x, 1, out=x) is x  # an operand itself
    assert_close(x, [[2.0, 3.0], [4.0, 5.0]])
    assert_close(norch.mul(x, 2, out=out.T), [[4.0, 6.0], [8.0, 10.0]])
    assert_close(out, [[4.0, 8.0], [6.0, 10.0]])


def test_the_dtype_of_out_stays(device):
    out = norch.zeros(2, dtype=norch.float64, device=device)
    norch.add(norch.tensor([1, 2], device=device), 1, out=out)
    assert_close(out, [2.0, 3.0], "float64")
    with pytest.raises(RuntimeError, match="float32.*int64"):
        norch.exp(norch.ones(2, device=device), out=norch.tensor([1, 2], device=device))


def test_an_empty_out_is_resized_and_another_with_a_warning(device):
    x = norch.tensor([1.0, 2.0], device=device)
    out = norch.empty(0, device=device)
    assert_close(norch.cat([x, x], out=out), [1.0, 2.0, 1.0, 2.0])
    assert out.shape == (4,)
    with pytest.warns(UserWarning, match=r"\[4\].*\[2\]"):
        norch.neg(x, out=out)
    assert_close(out, [-1.0, -2.0])


def test_several_results_are_written_into_a_tuple(device):
    x = norch.tensor([[1.0, 5.0], [7.0, 3.0]], device=device)
    values, indices = norch.empty(0, device=device), norch.empty(0, dtype=norch.int64, device=device)
    result = norch.sort(x, 1, out=(values, indices))
    assert result[0] is values and result.indices is indices
    assert_close(values, [[1.0, 5.0], [3.0, 7.0]])
    assert_close(indices, [[0, 1], [1, 0]], "int64")
    with pytest.raises(TypeError, match="a tuple of 2 tensors"):
        norch.sort(x, 1, out=values)
    for wrong in ([values], (values,)):
        with pytest.raises(TypeError, match="a Tensor as out"):
            norch.neg(x, out=wrong)


def test_out_has_no_gradient():
    x, out = norch.ones(2, requires_grad=True), norch.zeros(2)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        norch.exp(x, out=out)
    with norch.no_grad():
        assert_close(norch.mul(x, 3, out=out), [3.0, 3.0])
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        norch.exp(out, out=x)


def test_views_have_no_out():
    with pytest.raises(TypeError, match="out"):
        norch.reshape(norch.ones(2), (2, 1), out=norch.ones(2, 1))
    with pytest.raises(TypeError, match="expected a Tensor"):
        norch.exp(norch.ones(2), out=1.0)


def test_a_number_in_place_of_the_first_tensor(device):
    x, whole = norch.tensor([1.0, 2.0], device=device), norch.tensor([1, 2], dtype=norch.int32, device=device)
    assert_close(norch.pow(2, x), [2.0, 4.0])
    assert_close(norch.pow(2.5, whole), [2.5, 6.25])
    assert_close(norch.sub(1, whole), [0, -1], "int32")
    assert norch.float_power(1.1, whole)[0].item() == norch.float_power(1.1, x)[0].item() == 1.1  # not by float32
    assert_close(norch.bitwise_and(3, other=whole), [1, 2], "int32")
    assert_close(norch.remainder(5, whole), [0, 1], "int32")
    with pytest.raises(TypeError, match="expected a Tensor"):
        norch.exp(2)


def test_what_a_kernel_writes_straight_into_out_follows_the_same_rules():
    base = norch.zeros(3, 2, 2)
    x = norch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert norch.exp(x, out=base[1]).tolist() == x.exp().tolist()  # a view
    assert base.sum().item() == pytest.approx(x.exp().sum().item())
    assert norch.add(base[0], x, out=base[0]) is not base
    assert base[0].equal(x)
    assert_close(norch.neg(base.reshape(-1)[1:5], out=base.reshape(-1)[:4]), [-2.0, -3.0, -4.0, -x.exp()[0, 0].item()])
    with pytest.raises(RuntimeError, match="clone"):
        norch.exp(x, out=norch.zeros(2, 1).expand(2, 2))
    with pytest.raises(RuntimeError, match="float32.*int64"):
        norch.add(x, x, out=norch.zeros(2, 2, dtype=norch.int64))
    flags = norch.zeros(2, 2, dtype=norch.bool)
    assert norch.lt(x, 2.5, out=flags).tolist() == [[True, True], [False, False]]
    assert norch.gt(x, x.T, out=norch.zeros(2, 2)).tolist() == [[0.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize("make", [norch.arange, lambda n, **o: norch.linspace(0, n - 1, n, **o)])
def test_a_sequence_fills_an_out_of_as_many_elements_in_its_shape(make):
    whole = norch.zeros(2, 3)
    out = whole[:, 1:]
    assert make(4, out=out) is out
    assert whole.tolist() == [[0, 0, 1], [0, 2, 3]]
    with pytest.raises(RuntimeError, match="int64.*float32"):
        make(4, dtype=norch.int64, out=out)


def test_powers_of_evenly_spaced_numbers_fill_an_out_in_its_shape():
    assert norch.logspace(0, 3, 4, out=norch.zeros(2, 2)).tolist() == [[1, 10], [100, 1000]]
    with pytest.raises(RuntimeError, match="int64.*float32"):
        norch.zeros(2, dtype=norch.int64, out=norch.ones(2))


@pytest.mark.parametrize("kind", "float64 float32 float16 bfloat16 int64 int32 int16 uint8 bool".split())
def test_comparisons_in_place_write_zeros_and_ones_of_the_dtype(kind, device):
    x = norch.tensor([[0, 1, 2, 3], [3, 2, 1, 0]], device=device).repeat(3, 7).to(getattr(norch, kind))
    for name in ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"):
        for y in (x.flip(1), x[:1], x.T.contiguous().T, x.to(norch.int64)):
            compared, written = getattr(x, name)(y), getattr(x.clone(), f"{name}_")(y)
            assert written.dtype is x.dtype and norch.equal(written, compared.to(x.dtype)), name
    assert norch.equal(x.clone().le_(1), (x <= 1).to(x.dtype))
    assert norch.equal(x.clone().logical_not_(), x.logical_not().to(x.dtype))
    turned = x[:4, :4].clone()  # an operand that the result would overwrite
    assert norch.equal(turned.clone().T.lt(turned), (lambda t: t.T.lt_(t) > 0)(turned.clone()))


def test_clamp_and_nan_to_num_keep_their_numbers():
    nan, inf = float("nan"), float("inf")
    x = norch.tensor([nan, -inf, -2.0, -0.0, 0.5, 2.0, inf] * 5)
    assert norch.equal(x.clamp(-1, 1).nan_to_num(9), norch.tensor([9, -1, -1, 0, 0.5, 1, 1] * 5))
    assert x.clamp(2, 1).nan_to_num(9).unique().tolist() == [1, 9]
    assert x.clamp(nan, 1).isnan().all() and x.clamp(norch.zeros(35), norch.full((35,), nan)).isnan().all()
    assert norch.equal(x.nan_to_num(inf, -inf, 3), norch.tensor([inf, 3, -2, 0, 0.5, 2, -inf] * 5))


def test_a_large_result_of_another_dtype():
    x = norch.arange(400_000.0).view(500, 800)
    y = norch.arange(800.0) * 499.0
    expected = (x < y).float()
    for out in (norch.empty(500, 800), norch.empty(800, 500).T, norch.empty(500, 1600)[:, ::2]):
        assert norch.equal(norch.lt(x, y, out=out), expected)
    for written in (x.clone(), x.T.contiguous().T):
        assert norch.equal(written.lt_(y), expected)
    alone = norch.arange(300_000.0)
    assert norch.equal(alone.clone().gt_(150_000.0), (alone > 150_000.0).float())
    wide = norch.empty(500, 800, dtype=norch.float64)
    assert norch.equal(norch.add(x, y, out=wide), (x + y).double())
