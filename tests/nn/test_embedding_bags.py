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


def bags(starts, ends, scales=(1.0,) * 6, without=None):
    """The scaled rows of each bag, in plain Python."""
    for start, end in zip(starts, ends):
        yield [[scale * x for x in TABLE[i]] for i, scale in zip(INDEX[start:end], scales[start:end]) if i != without]


def joined(mode, rows):
    columns = list(zip(*rows)) if rows else [[], []]
    if mode == "max":
        return [max(column, default=0.0) for column in columns]
    return [math.fsum(column) / (max(len(column), 1) if mode == "mean" else 1) for column in columns]


@pytest.mark.parametrize("without", [None, 3])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags(mode, without):
    index, weight = norch.tensor(INDEX), table(requires_grad=True)
    starts, ends = [0, 2, 2, 5], [2, 2, 5, 6]
    expected = [joined(mode, rows) for rows in bags(starts, ends, without=without)]
    offsets = norch.tensor(starts)
    close(F.embedding_bag(index, weight, offsets, mode=mode, padding_idx=without), expected, 1e-12)
    ended = norch.tensor([*starts, 6])
    result = F.embedding_bag(index, weight, ended, mode=mode, padding_idx=without, include_last_offset=True)
    close(result, expected, 1e-12)
    rows = [joined(mode, bag) for bag in bags([0, 3], [3, 6], without=without)]
    close(F.embedding_bag(index.reshape(2, 3), weight, mode=mode, padding_idx=without), rows, 1e-12)
    module = nn.EmbeddingBag.from_pretrained(table(), mode=mode, padding_idx=without)
    close(module(index, offsets), expected, 1e-12)
    assert not module.weight.requires_grad

    def of(weight):
        return F.embedding_bag(index, weight, offsets, mode=mode, padding_idx=without)

    assert gradcheck(of, (weight,)) and gradgradcheck(of, (weight,))


def test_scaled_rows_of_bags():
    scales = norch.tensor([0.5, 2.0, -1.0, 3.0, 1.0, 0.25], dtype=norch.float64, requires_grad=True)
    index, weight, offsets = norch.tensor(INDEX), table(True), norch.tensor([0, 4])
    expected = [joined("sum", rows) for rows in bags([0, 4], [4, 6], scales.tolist())]
    close(F.embedding_bag(index, weight, offsets, mode="sum", per_sample_weights=scales), expected, 1e-12)

    def of(weight, scales):
        return F.embedding_bag(index, weight, offsets, mode="sum", per_sample_weights=scales)

    assert gradcheck(of, (weight, scales))
    with pytest.raises(NotImplementedError, match="'mean'"):
        F.embedding_bag(index, weight, offsets, per_sample_weights=scales)


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
    output, loss = model(x, target)
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
