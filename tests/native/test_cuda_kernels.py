"""CUDA kernels in shapes that the tables are too small for: several blocks, tiles and stages, and where those end.

Elements are small integers wherever sums are compared, so that every order of adding them gives the same.
"""

from __future__ import annotations

import pytest
from compare import assert_close
from tensors import dtype_named

import norch
from norch.nn import functional as F

pytestmark = pytest.mark.skipif(not norch.cuda.is_available(), reason="no CUDA device, and no emulator in this build")


def numbers(*shape, dtype="float32", modulus=11):
    """Small integers of both signs, in no simple order."""
    count = 1
    for size in shape:
        count *= size
    return ((norch.arange(count) * 7919) % modulus - modulus // 2).to(dtype_named(dtype)).reshape(*shape)


def assert_equal(result, expected):
    """Shape, dtype and every element."""
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    assert bool((result.cpu() == expected).all())


# ---- Elementwise: packs of four, their ends, and layouts without them ------------------------------------------------

LAYOUTS = {
    "whole packs": lambda x: x,
    "a rest": lambda x: x.flatten()[:9001],
    "not aligned": lambda x: x.flatten()[1:],
    "rows of packs": lambda x: x[:, 4:52],
    "rows without": lambda x: x[:, 3:50],
    "every second": lambda x: x[:, ::2],
    "columns": lambda x: x.T,
    "three dimensions": lambda x: x.reshape(30, 10, 64)[1:, ::2, :40],
    "one element": lambda x: x[:1, :1].expand(200, 64),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "bool"])
def test_elementwise(layout, dtype):
    x = numbers(300, 64, dtype=dtype)
    there, here = LAYOUTS[layout](x.cuda()), LAYOUTS[layout](x)
    assert_equal(abs(there) if dtype != "bool" else ~there, abs(here) if dtype != "bool" else ~here)
    assert_equal(there == LAYOUTS[layout](x.cuda()), here == here)
    assert_equal(there * 3, here * 3)
    row, column = here[:1], here[..., :1]
    assert_equal(there + row.cuda(), here + row)
    assert_equal(norch.where(there > 0, column.cuda(), there), norch.where(here > 0, column, here))
    assert_equal(there.long(), here.long())
    if layout != "one element":
        target, expected = LAYOUTS[layout](norch.zeros_like(x).cuda()), LAYOUTS[layout](norch.zeros_like(x))
        assert_equal(target.add_(there), expected.add_(here))


@pytest.mark.parametrize("shape", [(64, 32), (33, 65), (100, 16), (3, 40, 50), (20, 30, 17)])
@pytest.mark.parametrize("dtype", ["bool", "int32", "float64"])
def test_transposed_copies(shape, dtype):
    x = numbers(*shape, dtype=dtype)
    for axes in [(0, 1), (-1, -2), (0, -1)]:
        assert_equal(x.cuda().transpose(*axes).contiguous(), x.transpose(*axes).contiguous())
    wide = norch.zeros(*shape[:-1], 2 * shape[-1], dtype=x.dtype, device="cuda")
    wide.transpose(-1, -2)[..., : shape[-1], :].copy_(x.cuda().transpose(-1, -2))
    assert_equal(wide[..., : shape[-1]], x)


# ---- Matrix product --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(130, 70, 65), (64, 64, 17), (1, 200, 65), (200, 1, 90)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_matmul_beyond_one_tile(shape, dtype):
    m, n, k = shape
    kind = dtype_named(dtype)
    a = (norch.arange(m * k) % 7 - 3).to(kind).reshape(m, k)
    b = (norch.arange(k * n) % 5 - 2).to(kind).reshape(k, n)
    expected = (a @ b).tolist()
    assert_close(a.cuda() @ b.cuda(), expected, dtype)
    assert_close(a.T.contiguous().cuda().T @ b.T.contiguous().cuda().T, expected, dtype)


def test_large_tiles_and_batches():
    for k in (20, 19):
        a, b = numbers(2, 1030, k), numbers(k, 1032, modulus=3)
        assert_equal(a.cuda() @ b.cuda(), a @ b)  # 8 x 8 x 2 whole tiles of 128


@pytest.mark.parametrize("shape", [(33, 36, 1024), (5, 7, 4097), (4, 8, 300), (1, 100, 900)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_that_several_blocks_share(shape, dtype):
    m, n, k = shape
    a, b, bias = numbers(m, k, dtype=dtype), numbers(n, k, dtype=dtype), numbers(n, dtype=dtype)
    assert_equal(a.cuda() @ b.cuda().T, a @ b.T)
    assert_equal(F.linear(a.cuda(), b.cuda(), bias.cuda()), F.linear(a, b, bias))


def test_bias_in_a_tile_and_without_one():
    for m, n, k in [(130, 70, 65), (3, 5, 7)]:
        a, b, bias = numbers(m, k), numbers(n, k), numbers(2 * n)[::2]
        assert_equal(F.linear(a.cuda(), b.cuda(), bias.contiguous().cuda()), F.linear(a, b, bias))


# ---- Reductions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 2)])
@pytest.mark.parametrize("permuted", [(0, 1, 2), (2, 0, 1)])
def test_reductions_in_two_stages(axis, permuted):
    x = ((norch.arange(24 * 20 * 41) * 7919) % 1009 - 500).float().reshape(24, 20, 41).permute(*permuted)
    there = x.cuda()
    strided = norch.zeros(24, 20, 82, device="cuda")[:, :, ::2].permute(*permuted)
    strided.copy_(there)
    for name in ("sum", "nansum", "amax", "amin"):
        expected = getattr(x, name)(axis) if axis is not None else getattr(x, name)()
        for y in (there, strided):
            result = getattr(y, name)(axis) if axis is not None else getattr(y, name)()
            assert (result.cpu() - expected).abs().max()[0] == 0
    if not isinstance(axis, tuple):
        assert (strided.argmax(axis).cpu() == x.argmax(axis)).all()[0]


def test_a_sum_is_the_same_in_every_run_and_precise():
    x = norch.full([1 << 17], 0.1, device="cuda")
    first = x.sum()[0]
    assert first == x.sum()[0]
    assert abs(first - (1 << 17) * 0.10000000149011612) < 1e-3


def test_nan_wins_from_any_block():
    x = norch.zeros(1 << 16)
    x[12345] = float("nan")
    x[54321] = float("nan")
    there = x.cuda()
    assert there.max()[0] != there.max()[0] and there.min()[0] != there.min()[0]
    assert there.argmax()[0] == there.argmin()[0] == 12345


# ---- Rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(700, 3), (40, 33), (3, 300), (2, 5000)])
def test_rows_of_any_length(shape):
    x = numbers(*shape, dtype="float64") / 4
    labels = norch.arange(shape[0]) * 7 % shape[1]
    for function in (
        lambda x, labels: x.softmax(1),
        lambda x, labels: x.log_softmax(1),
        lambda x, labels: F.cross_entropy(x, labels, ignore_index=0),
        lambda x, labels: F.cross_entropy(x, labels, reduction="none"),
        lambda x, labels: F.mse_loss(x, x * 0.5),
    ):
        here, there = x.clone().requires_grad_(), x.cuda().requires_grad_()
        expected, result = function(here, labels), function(there, labels.cuda())
        assert norch.allclose(result.detach().cpu(), expected.detach(), 1e-12, 1e-14)
        weights = numbers(*expected.shape, dtype="float64")
        (expected * weights).sum().backward()
        (result * weights.cuda()).sum().backward()
        assert norch.allclose(there.grad.cpu(), here.grad, 1e-12, 1e-14)


# ---- Indexing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [50, 65, 600, 1300])
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bool"])
def test_index_put_at_places_that_repeat(count, accumulate, dtype):
    """The last of equal places wins, sums are in row order: as on a CPU, bit by bit."""
    places, columns = norch.arange(count) * 5 % 37, norch.arange(count) * 3 % 4
    for shape, index in [
        ((40,), (places,)),
        ((40, 6), (places,)),
        ((40, 6), (places, columns)),
        ((3, 40), (None, places)),
    ]:
        x = numbers(*shape, dtype=dtype)
        index = tuple(slice(None) if part is None else part for part in index)
        values = (numbers(*x[index].shape, modulus=97) / 8).to(x.dtype)
        there = x.cuda()
        moved = tuple(part.cuda() if isinstance(part, norch.Tensor) else part for part in index)
        if accumulate and shape == (3, 40):
            x.index_add_(1, places, values), there.index_add_(1, places.cuda(), values.cuda())
        elif accumulate:
            x.index_put_(index, values, accumulate=True), there.index_put_(moved, values.cuda(), accumulate=True)
        else:
            x[index], there[moved] = values, values.cuda()
        assert_equal(there, x)


@pytest.mark.parametrize("dim", [0, 1])
def test_scatter_along_either_axis(dim):
    index = norch.arange(90 * 80).reshape(90, 80) * 13 % 70
    source = numbers(90, 80, modulus=97) / 8
    for method in ("scatter_", "scatter_add_"):
        x = norch.zeros(90, 80)
        there = getattr(x.cuda(), method)(dim, index.cuda(), source.cuda())
        assert_equal(there, getattr(x, method)(dim, index, source))


def test_faulty_places_are_left_out_where_many_are_sorted():
    x = norch.zeros(100, device="cuda")
    x[norch.arange(-20, 130, device="cuda")] = 1.0
    with pytest.raises(IndexError, match="index 1[0-2][0-9] "):
        norch.cuda.synchronize()
    assert bool((x == 1).all())


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("count, size", [(20, 3), (700, 40), (1500, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_bags(dtype, count, size, mode):
    index, starts = numbers(count, dtype="int64", modulus=97) + 48, norch.arange(0, count, 4)
    table, gradient = numbers(97, size, dtype=dtype), numbers(len(starts), size, dtype=dtype) * 4  # a mean divides by 4
    found = []
    for move in (lambda x: x, lambda x: x.cuda()):
        rows, scales = (move(x).detach().requires_grad_() for x in (table, numbers(count, dtype=dtype, modulus=5)))
        factors = scales if mode == "sum" else None
        y = F.embedding_bag(move(index), rows, move(starts), mode=mode, per_sample_weights=factors, padding_idx=7)
        y.backward(move(gradient))
        found.append([y.detach(), rows.grad, *([scales.grad] if mode == "sum" else [])])
    for here, there in zip(*found):
        assert_close(there, here.tolist(), dtype)


@pytest.mark.parametrize(
    "integers, offsets, error, words",
    [
        ([0, 5], [0], IndexError, "index 5 is out of range for axis 0 of size 5"),
        ([-1, 0], [0], IndexError, "index -1 is out of range"),
        ([0, 1], [1], RuntimeError, "the first offset is 1, expected 0"),
        ([0, 1], [0, 3], RuntimeError, "an offset is 3, expected increasing ones up to 2"),
        ([0, 1, 2], [0, 2, 1], RuntimeError, "an offset is 1, expected increasing ones up to 3"),
        ([0, 1, 2], [0, -2], RuntimeError, "an offset is -2"),
    ],
)
def test_bags_that_are_wrong(integers, offsets, error, words):
    for device in ("cpu", "cuda"):
        table = norch.ones(5, 2, device=device)
        with pytest.raises(error, match=words):
            F.embedding_bag(norch.tensor(integers, device=device), table, norch.tensor(offsets, device=device)).tolist()


@pytest.mark.parametrize("shape", [(5000,), (70, 60), (1024,), (1025,), (3, 4, 500)])
def test_nonzero(shape):
    for modulus in (3, 2, 1000):
        x = numbers(*shape, modulus=modulus)
        assert_equal(x.cuda().nonzero(), x.nonzero())
        assert_equal(x.cuda()[x.cuda() > 0], x[x > 0])


# ---- Lines -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape, axis", [((2000,), 0), ((513,), 0), ((512,), 0), ((3, 1100), 1), ((600, 4), 0), ((200, 9), 1)]
)
def test_sort(shape, axis):
    x = numbers(*shape, modulus=499)
    x.flatten()[::50] = float("nan")
    for descending in (False, True):
        here, there = x.sort(axis, descending), x.cuda().sort(axis, descending)
        assert_equal(there[1], here[1])
        assert_equal(there[0].isnan(), here[0].isnan())
        assert_equal(norch.where(there[0].isnan(), 0.5, there[0]), norch.where(here[0].isnan(), 0.5, here[0]))
    assert_equal(x.cuda().topk(5, axis)[1], x.topk(5, axis)[1])


@pytest.mark.parametrize("shape, axis", [((9000,), 0), ((4097, 2), 0), ((3, 5000), 1), ((40, 4100), 0), ((5, 33), 1)])
def test_running_totals(shape, axis):
    x = numbers(*shape, dtype="int64")
    assert_equal(x.cuda().cumsum(axis), x.cumsum(axis))
    odd = x * 2 + 1
    assert_equal(odd.cuda().cumprod(axis), odd.cumprod(axis))  # wraps around, in any order
    y = x.double() / 8
    assert_equal(y.cuda().cumsum(axis), y.cumsum(axis))


# ---- Attention: rows of queries and of keys, forward and backward ----------------------------------------------------


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("swaps", [False, True])  # heads inside of rows, as a projection stores them
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_attention_and_its_gradients(dtype, swaps, causal):
    def run(device):
        operands = [
            (numbers(2, 3, length, width, dtype=dtype) / 8).to(device)
            for length, width in ((37, 20), (41, 20), (41, 12))
        ]
        if swaps:
            operands = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in operands]
        operands = [x.detach().requires_grad_() for x in operands]
        result = F.scaled_dot_product_attention(*operands, is_causal=causal)
        (result * numbers(*result.shape, dtype=dtype).to(device)).sum().backward()
        return [result.detach(), *[x.grad for x in operands]]

    tolerance = 1e-5 if dtype == "float32" else 1e-12
    for result, expected in zip(run("cuda"), run("cpu")):
        assert norch.allclose(result.cpu(), expected, rtol=tolerance, atol=tolerance)


# ---- Rows, borders and points: what the CPU computes, and its gradients ----------------------------------------------

BESIDE_THE_CPU = {
    "softmax of columns": lambda x: x.softmax(0),
    "log_softmax of columns": lambda x: x.reshape(3, 20, 10).log_softmax(1),
    "cross-entropy, smoothed": lambda x: F.cross_entropy(x, places(x), ignore_index=2, label_smoothing=0.2),
    "cross-entropy of columns": lambda x: F.cross_entropy(
        x.reshape(5, 12, 10), places(x, 5, 10), ignore_index=2, label_smoothing=0.2
    ),
    "negative log-likelihood": lambda x: F.nll_loss(x, places(x), ignore_index=2),
    "margins": lambda x: F.multi_margin_loss(x, places(x), p=2, margin=0.3),
    "lists of margins": lambda x: F.multilabel_margin_loss(x, places(x, *x.shape) - 1),
    "cosines": lambda x: F.cosine_similarity(x, x.flip(0)),
    "distances": lambda x: F.pairwise_distance(x, x.flip(1)),
    "triangles": lambda x: norch.linalg.solve_triangular(
        (0.01 * x @ x.T).tril() + norch.eye(60, dtype=x.dtype, device=x.device), x, upper=False
    ),
    "sequences of labels": lambda x: F.ctc_loss(x.reshape(6, 10, 10), places(x, 10, 2), [6] * 10, [2, 1] * 5, 9),
    "LSTM": lambda x: norch.autograd.derivatives.recurrent.run(
        "LSTM", x.reshape(5, 6, 20), (x[:6, :5], x[6:12, 5:]), x[:20, :5], None, True
    )[0],
    **{
        mode: lambda x, mode=mode: F.pad(x.reshape(5, 12, 10), (3, -1, 0, 2), mode)
        for mode in ("constant", "reflect", "replicate", "circular")
    },
    **{
        f"{mode}, {border}": lambda x, mode=mode, border=border: F.grid_sample(
            x.reshape(2, 3, 10, 10), x[:12].sin().reshape(2, 6, 5, 2) * 1.7, mode, border, align_corners=False
        )
        for mode in ("bilinear", "nearest", "bicubic")
        for border in ("zeros", "border", "reflection")
    },
    **{
        f"resampled, {mode} {options}": lambda x, mode=mode, options=options: F.interpolate(
            x.reshape(2, 3, 10, 10), (17, 4), mode=mode, **options
        )
        for mode, options in [
            ("nearest", {}),
            ("bilinear", {}),
            ("bicubic", {"align_corners": True}),
            ("bilinear", {"antialias": True}),
        ]
    },
    "the largest of windows": lambda x: F.max_pool2d(x.reshape(2, 3, 10, 10), 3, 2, 1),
    "means of windows": lambda x: F.avg_pool2d(x.reshape(2, 3, 10, 10), (3, 4), 2, 1),
    "windows of a grid": lambda x: F.adaptive_avg_pool3d(x.reshape(2, 3, 4, 5, 5), (3, 2, 4)),
    "clamped": lambda x: x.clamp(-0.7, 0.9),
    "normalized rows": lambda x: F.layer_norm(x, (10,), x[0], x[1]),
    "rows by their norm": lambda x: F.rms_norm(x, (10,), x[0]),
    "normalized columns": lambda x: F.batch_norm(x, None, None, x[0], x[1], training=True),
    "normalized channels": lambda x: F.batch_norm(x.reshape(2, 30, 10), None, None, x[:30, 0], x[:30, 1], True),
    "normalized groups": lambda x: F.group_norm(x.reshape(2, 30, 10), 3, x[:30, 0], x[:30, 1]),
    "normalized instances": lambda x: F.instance_norm(x.reshape(2, 30, 10), weight=x[:30, 0], bias=x[:30, 1]),
}


def places(x, *shape):
    shape = shape or x.shape[:1]
    return ((norch.arange(norch.Size(shape).numel()) * 7) % 5).reshape(*shape).to(x.device)


@pytest.mark.parametrize("name", BESIDE_THE_CPU)
def test_rows_borders_and_points(name):
    found = []
    for device in ("cpu", "cuda"):
        x = (numbers(60, 10, dtype="float64", modulus=31) * 0.1).to(device).requires_grad_()
        result = BESIDE_THE_CPU[name](x)
        assert result.device.startswith(device)
        (gradient,) = norch.autograd.grad(result, x, numbers(*result.shape, dtype="float64").to(device))
        found.append((result.detach().cpu(), gradient.cpu()))
    for one, other in zip(*found):
        assert_close(one, other.tolist(), "float64", rtol=1e-10, atol=1e-12)


def test_bins():
    edges, values = norch.arange(40.0).reshape(4, 10), numbers(4, 300, modulus=60)
    for right in (False, True):
        assert_equal(
            norch.searchsorted(edges.cuda(), values.cuda(), right=right), norch.searchsorted(edges, values, right=right)
        )


def test_random_counts():
    means, chances = norch.linspace(0, 60, 500), norch.linspace(0, 1, 500)
    for draw, operands in [(norch.poisson, (means,)), (norch.binomial, (means, chances))]:
        one, other = (
            draw(*(x.to(device) for x in operands), norch.Generator().manual_seed(3)) for device in ("cpu", "cuda")
        )
        assert other.device == "cuda:0" and other.cpu().equal(one)
