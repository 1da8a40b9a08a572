"""Tables of vectors: options of embedding, bags by hand; Bilinear, Unflatten, the adaptive softmax."""

import math

import pytest
from compare import close

import norch
from norch import nn
from norch.autograd import gradcheck, gradgradcheck
from norch.nn import functional as F

TABLE = [[1.0, -2.0], [3.0, 4.0], [0.5, 0.25], [-1.0, 7.0]]
INDEX = [1, 0, 3, 3, 2, 1]


def table(requires_grad=False):
    return norch.tensor(TABLE, dtype=norch.float64, requires_grad=requires_grad)


def joined(mode, rows):
    columns = list(zip(*rows)) if rows else [[], []]
    if mode == "max":
        return [max(column, default=0.0) for column in columns]
    return [math.fsum(column) / (max(len(column), 1) if mode == "mean" else 1) for column in columns]


def expected_bags(mode, starts, ends, without=None, scales=(1.0,) * 6):
    """The scaled rows of each bag as one, and the gradient of TABLE that ones bring, in plain Python."""
    results, gradient = [], [[0.0, 0.0] for _ in TABLE]
    for start, end in zip(starts, ends):
        counted = [i for i in range(start, end) if INDEX[i] != without]
        rows = [[scales[i] * x for x in TABLE[INDEX[i]]] for i in counted]
        results.append(joined(mode, rows))
        for i in counted:
            for column in range(2):
                share = scales[i] / (len(rows) if mode == "mean" else 1)
                if mode == "max":
                    values = [each[column] for each in rows]
                    share = float(i == counted[values.index(max(values))])
                gradient[INDEX[i]][column] += share
    return results, gradient


BAGS = {  # the offsets, whether the last one ends the input, the ends
    "ragged": ([0, 2, 2, 5], False, [2, 2, 5, 6]),
    "first and last empty": ([0, 0, 4, 6], False, [0, 4, 6, 6]),
    "ended": ([0, 2, 2, 5, 6], True, [2, 2, 5, 6]),
    "ends early": ([0, 1, 4], True, [1, 4]),
    "rows": (None, False, [3, 6]),
}
TOLERANCE = {norch.float64: 1e-12, norch.float32: 1e-6, norch.float16: 4e-3, norch.bfloat16: 4e-2}


@pytest.mark.parametrize("kind", BAGS)
@pytest.mark.parametrize("without", [None, 3])
@pytest.mark.parametrize("mode, scaled", [("sum", False), ("sum", True), ("mean", False), ("max", False)])
def test_bags(mode, scaled, without, kind, device):
    offsets, ended, ends = BAGS[kind]
    scales = [0.5, 2.0, -1.0, 3.0, 1.0, 0.25] if scaled else [1.0] * 6
    values, gradient = expected_bags(mode, offsets or [0, 3], ends, without, scales)
    options = {"mode": mode, "padding_idx": without, "include_last_offset": ended}
    shape = (2, 3) if offsets is None else (6,)
    for dtype, tolerance in TOLERANCE.items():
        for numbers in (norch.int64, norch.int32, norch.uint8):
            weight = norch.tensor(TABLE, dtype=dtype, device=device, requires_grad=True)
            index = norch.tensor(INDEX, dtype=numbers, device=device).reshape(shape)
            starts = None if offsets is None else norch.tensor(offsets, dtype=numbers, device=device)
            factors = norch.tensor(scales, dtype=dtype, device=device).reshape(shape) if scaled else None
            result = F.embedding_bag(index, weight, starts, per_sample_weights=factors, **options)
            result.sum().backward()
            assert result.dtype is weight.grad.dtype is dtype
            close(result.double(), values, 8 * tolerance)
            close(weight.grad.double(), gradient, 8 * tolerance)


@pytest.mark.parametrize("kind", BAGS)
@pytest.mark.parametrize("without", [None, 3])
@pytest.mark.parametrize("mode, scaled", [("sum", False), ("sum", True), ("mean", False), ("max", False)])
def test_derivatives_of_bags(mode, scaled, without, kind):
    offsets, ended, _ = BAGS[kind]
    index = norch.tensor(INDEX).reshape((2, 3) if offsets is None else (6,))
    starts = None if offsets is None else norch.tensor(offsets)
    scales = norch.tensor([0.5, 2.0, -1.0, 3.0, 1.0, 0.25], dtype=norch.float64, requires_grad=True)

    def of(weight, *scales):
        factors = scales[0].reshape(index.shape) if scales else None
        options = {"mode": mode, "padding_idx": without, "include_last_offset": ended}
        return F.embedding_bag(index, weight, starts, per_sample_weights=factors, **options)

    given = (table(True), scales) if scaled else (table(True),)
    assert gradcheck(of, given) and gradgradcheck(of, given)
    plain, recorded = (
        norch.autograd.grad((of(*given) ** 2).sum(), given, create_graph=create) for create in (False, True)
    )
    for one, other in zip(plain, recorded):  # in one call of C, and by the formula
        close(one, other.tolist(), 1e-12)


def test_bags_of_many_rows_do_not_depend_on_threads(device):
    norch.manual_seed(3)
    weight, index = norch.randn(300, 70, device=device), norch.randint(0, 300, (9000,), device=device)
    starts = norch.randint(0, 9000, (500,), device=device).sort().values
    starts[0] = 0
    counts, found = norch.get_num_threads(), []
    try:
        for threads in (1, 4):
            norch.set_num_threads(threads)
            rows = [weight.clone().requires_grad_() for _ in ("sum", "mean", "max")]
            scales = norch.arange(9000.0, device=device).requires_grad_()
            for row, mode in zip(rows, ("sum", "mean", "max")):
                factors = scales if mode == "sum" else None
                y = F.embedding_bag(index, row, starts, mode=mode, per_sample_weights=factors)
                y.backward(y.detach())
            found.append([x.grad.tolist() for x in (*rows, scales)])
    finally:
        norch.set_num_threads(counts)
    assert found[0] == found[1]


def test_a_nan_is_the_largest_of_a_bag():
    weight = norch.tensor([[1.0], [math.nan], [2.0]], requires_grad=True)
    for index in ([0, 1, 2], [1, 2, 0], [2, 0, 1]):
        weight.grad = None
        result = F.embedding_bag(norch.tensor([index]), weight, mode="max")
        result.sum().backward()
        assert math.isnan(result.item()) and weight.grad.tolist() == [[0.0], [1.0], [0.0]]


def test_bags_save_no_table_without_weights():
    weight, index = table(True), norch.tensor([[0, 1]])
    for mode in ("sum", "mean", "max"):
        result = F.embedding_bag(index, weight, mode=mode)
        with norch.no_grad():
            weight.mul_(2)
        result.sum().backward()
    scales = norch.ones(1, 2, dtype=norch.float64).requires_grad_()
    result = F.embedding_bag(index, weight, mode="sum", per_sample_weights=scales)
    with norch.no_grad():
        weight.mul_(2)
    with pytest.raises(RuntimeError, match="EmbeddingBagBackward needs a value that was modified"):
        result.sum().backward()


def test_a_module_of_bags():
    for mode in ("sum", "mean", "max"):
        module = nn.EmbeddingBag.from_pretrained(table(), mode=mode, padding_idx=3)
        found = module(norch.tensor(INDEX), norch.tensor([0, 2, 2, 5]))
        close(found, expected_bags(mode, [0, 2, 2, 5], [2, 2, 5, 6], 3)[0], 1e-12)
        assert not module.weight.requires_grad


def test_only_sums_are_scaled():
    with pytest.raises(NotImplementedError, match="'mean'"):
        F.embedding_bag(norch.tensor(INDEX), table(), norch.tensor([0]), per_sample_weights=norch.ones(6).double())


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_gradients_of_bags_by_frequency(mode, device):
    weight, index = table(True).to(device).detach().requires_grad_(), norch.tensor(INDEX, device=device)
    plain, scaled, again = (
        norch.autograd.grad(
            F.embedding_bag(index, weight, norch.tensor([0, 4], device=device), mode=mode, scale_grad_by_freq=by).sum(),
            weight,
            create_graph=create,
        )[0]
        for by, create in ((False, False), (True, False), (True, True))
    )
    expected = plain / norch.tensor([[1.0], [2.0], [1.0], [2.0]], device=device)
    close(scaled, expected.tolist(), 1e-12)
    close(again, expected.tolist(), 1e-12)


def test_bags_of_nothing():
    for mode in ("sum", "mean", "max"):
        for shape, starts in (((2, 0), None), ((0,), [0, 0]), ((4,), []), ((0, 3), None)):
            for size in (2, 0):
                weight = norch.ones(3, size).requires_grad_()
                offsets = None if starts is None else norch.tensor(starts, dtype=norch.int64)
                result = F.embedding_bag(norch.zeros(shape).long(), weight, offsets, mode=mode)
                assert result.tolist() == [[0.0] * size] * (shape[0] if starts is None else len(starts))
                (gradient,) = norch.autograd.grad(result.sum(), weight, create_graph=True)
                result.sum().backward()
                assert gradient.tolist() == weight.grad.tolist() == [[0.0] * size] * 3


def test_gradients_by_frequency():
    weight = table(True)
    F.embedding(norch.tensor(INDEX), weight, scale_grad_by_freq=True).sum().backward()
    assert weight.grad.tolist() == [[1.0, 1.0]] * 4
    weight = table(True)
    F.embedding(norch.tensor(INDEX), weight).sum().backward()
    assert weight.grad.tolist() == [[1.0, 1.0], [2.0, 2.0], [1.0, 1.0], [2.0, 2.0]]


def test_rows_that_are_read_are_scaled_to_max_norm():
    weight = nn.Parameter(table())
    result = F.embedding(norch.tensor([1, 1, 2]), weight, max_norm=1.0)
    close(result, [[0.6, 0.8], [0.6, 0.8], [0.5, 0.25]], 1e-6)
    close(weight[1], [0.6, 0.8], 1e-6)
    assert weight[3].tolist() == [-1.0, 7.0] and weight[0].tolist() == [1.0, -2.0]  # not read
    bag = nn.EmbeddingBag.from_pretrained(table(), max_norm=2.0, norm_type=1.0, mode="sum")
    close(bag(norch.tensor([[0, 2]])), [[2 / 3 + 0.5, -4 / 3 + 0.25]], 1e-6)


def test_modules_hold_what_torch_s_hold():
    layer = nn.Embedding(5, 3, padding_idx=-1, max_norm=2.0, dtype=norch.float64)
    assert layer.padding_idx == 4 and layer.weight.dtype is norch.float64 and layer.weight[4].tolist() == [0.0] * 3
    assert layer.inner_repr() == "5, 3, padding_idx=4, max_norm=2.0"
    assert nn.EmbeddingBag(5, 3).inner_repr() == "5, 3, mode='mean'"
    given = norch.ones(5, 3)
    made = nn.Embedding(5, 3, _weight=given, _freeze=True)
    assert made.weight.data_ptr() == given.data_ptr() and not made.weight.requires_grad
    assert nn.Embedding.from_pretrained(given, False, 2).padding_idx == 2


def test_a_table_of_integers_is_read_but_not_trained():
    numbers = norch.tensor([[1, 2], [3, 4]])
    read = nn.Embedding.from_pretrained(numbers)(norch.tensor([1, 0]))
    assert read.tolist() == [[3, 4], [1, 2]] and read.dtype is norch.int64
    with pytest.raises(RuntimeError, match="floating dtype"):
        nn.Embedding.from_pretrained(numbers, freeze=False)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda i, w: F.embedding_bag(i, w), ValueError, "offsets None"),
        (lambda i, w: F.embedding_bag(i.reshape(2, 3), w, i), ValueError, "no offsets"),
        (lambda i, w: F.embedding_bag(i, w, norch.tensor([1])), RuntimeError, "first offset is 1"),
        (lambda i, w: F.embedding_bag(i, w, norch.tensor([0, 7])), RuntimeError, "up to 6"),
        (lambda i, w: F.embedding_bag(i, w, norch.tensor([0]), mode="min"), ValueError, "'min'"),
        (lambda i, w: F.embedding_bag(i, w, norch.tensor([0]), scale_grad_by_freq=True, mode="max"), ValueError, "max"),
        (lambda i, w: F.embedding_bag(w, w, norch.tensor([0])), RuntimeError, "float64"),
        (lambda i, w: F.embedding(w, w), RuntimeError, "float64"),
        (lambda i, w: F.embedding_bag(i + 3, w, norch.tensor([0])), IndexError, "range"),
        (lambda i, w: nn.Embedding(-1, 3), RuntimeError, "-1"),
        (lambda i, w: nn.Embedding(2, 3, _weight=w), ValueError, r"\[4, 2\]"),
        (lambda i, w: F.bilinear(w, w, norch.ones(1, 2, 3).double()), ValueError, "bilinear"),
        (lambda i, w: nn.Bilinear(0, 1, 1), ValueError, "in1_features is 0"),
        (lambda i, w: nn.Unflatten("a", (1,)), TypeError, "'a'"),
        (lambda i, w: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [3, 2]), ValueError, "cutoffs"),
        (lambda i, w: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])(norch.ones(2, 4), i[:2] * 5), RuntimeError, "range"),
        (lambda i, w: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])(norch.ones(2, 4), i), RuntimeError, "shapes"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call(norch.tensor(INDEX), table())


def test_bilinear_by_hand():
    norch.manual_seed(8)
    x, y, weight, bias = (norch.randn(*shape, dtype=norch.float64) for shape in ((2, 3), (2, 4), (5, 3, 4), (5,)))
    expected = [
        [
            sum(x[n, i].item() * weight[k, i, j].item() * y[n, j].item() for i in range(3) for j in range(4))
            + bias[k].item()
            for k in range(5)
        ]
        for n in range(2)
    ]
    close(F.bilinear(x, y, weight, bias), expected, 1e-12)
    given = [t.requires_grad_() for t in (x, y, weight, bias)]
    assert gradcheck(F.bilinear, given) and gradgradcheck(F.bilinear, given)
    assert F.bilinear(x[0], y[0], weight).shape == [5]
    layer = nn.Bilinear(3, 4, 5, bias=False)
    assert (
        layer.bias is None
        and layer.weight.abs().max() <= 1 / math.sqrt(3)
        and layer(x[:, :].float(), y.float()).shape == [2, 5]
    )


def test_unflatten():
    assert nn.Unflatten(1, (2, -1))(norch.zeros(3, 6)).shape == [3, 2, 3]
    assert "dim=1, unflattened_size=(2, -1)" in repr(nn.Unflatten(1, (2, -1)))


def test_the_adaptive_softmax_is_one_distribution():
    norch.manual_seed(9)
    model = nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], div_value=2.0, head_bias=True).double()
    x, target = norch.randn(5, 8, dtype=norch.float64), norch.tensor([0, 5, 11, 2, 7])
    log_p = model.log_prob(x)
    close(log_p.exp().sum(1), [1.0] * 5, 1e-12)
    output, loss = found = model(x, target)
    assert repr(found) == f"_ASMoutput(output={output!r}, loss={loss!r})"
    close(output, [log_p[n, c].item() for n, c in enumerate(target.tolist())], 1e-12)
    close(loss, -sum(output.tolist()) / 5, 1e-12)
    assert model.predict(x).tolist() == log_p.argmax(1).tolist()
    assert [tuple(p.shape) for p in model.tail.parameters()] == [(4, 8), (4, 4), (2, 8), (5, 2)]
    loss.backward()
    assert all(p.grad is not None for p in model.parameters())
    single, _ = model(x[0], target[0])
    assert single.shape == () and single.item() == pytest.approx(output[0].item())


def test_the_loss_with_a_linear_of_its_own():
    loss = nn.LinearCrossEntropyLoss(3, 4, bias=True, reduction="sum", label_smoothing=0.1)
    x, target = norch.ones(2, 3), norch.tensor([1, 3])
    expected = F.cross_entropy(loss.linear(x), target, reduction="sum", label_smoothing=0.1)
    close(loss(x, target), expected.item())
    assert [name for name, _ in loss.named_parameters()] == ["linear.weight", "linear.bias"]


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_the_last_offset_may_end_before_the_input_does(mode):
    table, numbers = norch.arange(20.0).reshape(10, 2), norch.tensor([1, 2, 4, 5, 4, 3, 2, 9])
    bags = F.embedding_bag(numbers, table, norch.tensor([0, 4, 6]), include_last_offset=True, mode=mode)
    expected = F.embedding_bag(numbers[:6], table, norch.tensor([0, 4]), mode=mode)
    assert bags.tolist() == expected.tolist()


def test_weights_of_samples_are_a_tensor():
    with pytest.raises(TypeError, match="embedding_bag was given a list, expected a Tensor"):
        F.embedding_bag(norch.tensor([0]), norch.ones(1, 1), norch.tensor([0]), mode="sum", per_sample_weights=["a"])
