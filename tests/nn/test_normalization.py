"""Batch, layer and group normalization, dropout and embedding: values by hand, running statistics, modes, errors."""

import math

import pytest
from compare import close

import norch
from norch import nn
from norch.nn import functional as F

# ---- Batch normalization --------------------------------------------------------------------------------------------

BATCH = [[1.0, 10.0], [3.0, 30.0], [5.0, 20.0]]  # variances 8/3 and 200/3


def normalized(column, eps=1e-5):
    mean = sum(column) / len(column)
    variance = sum((x - mean) ** 2 for x in column) / len(column)
    return [(x - mean) / math.sqrt(variance + eps) for x in column]


def test_a_batch_by_hand(device):
    bn = nn.BatchNorm1d(2).to(device)
    x = norch.tensor(BATCH, device=device)
    columns = [normalized(column) for column in zip(*BATCH)]
    close(bn(x), [list(row) for row in zip(*columns)])
    close(bn.running_mean, [0.3, 2.0])
    close(bn.running_var, [0.9 + 0.1 * 4, 0.9 + 0.1 * 100])
    assert bn.num_batches_tracked.item() == 1 and bn.num_batches_tracked.dtype is norch.int64
    bn(x)
    close(bn.running_mean, [0.3 * 1.9, 2.0 * 1.9])
    bn.eval()
    mean, var = 0.57, 0.9 * 1.3 + 0.1 * 4
    close(bn(x)[:, 0], [(value - mean) / math.sqrt(var + 1e-5) for value in (1.0, 3.0, 5.0)])
    assert bn.num_batches_tracked.item() == 2


def test_columns_are_the_formula():
    """More channels than are worked on side by side, and more rows than are summed at a time."""
    x = (norch.randn(150, 300, dtype=norch.float64) * 2 + 100).requires_grad_()
    layer = nn.BatchNorm1d(300, dtype=norch.float64)
    weight, bias = (norch.randn(300, dtype=norch.float64, requires_grad=True) for _ in range(2))
    result = F.batch_norm(x, layer.running_mean, layer.running_var, weight, bias, training=True)
    centred = x - x.mean(0)
    expected = centred / ((centred * centred).mean(0) + 1e-5).sqrt() * weight + bias
    close(result, expected.tolist(), 1e-10)
    close(layer.running_mean, (x.detach().mean(0) * 0.1).tolist(), 1e-10)
    close(layer.running_var, (x.detach().var(0) * 0.1 + 0.9).tolist(), 1e-10)
    direction = norch.randn(150, 300, dtype=norch.float64)
    operands = [x, weight, bias]
    for one, other in zip(*(norch.autograd.grad(y, operands, direction) for y in (result, expected))):
        close(one, other.tolist(), 1e-9)


def test_without_momentum_the_average_of_all_batches(device):
    bn = nn.BatchNorm1d(1, momentum=None).to(device)
    for values in ([1.0, 3.0], [5.0, 7.0], [0.0, 0.0]):
        bn(norch.tensor([[value] for value in values], device=device))
    close(bn.running_mean, [(2 + 6 + 0) / 3])
    close(bn.running_var, [(2 + 2 + 0) / 3])


def test_state_and_gradients():
    bn = nn.BatchNorm2d(3)
    assert {name: list(tensor.shape) for name, tensor in bn.state_dict().items()} == {
        "weight": [3],
        "bias": [3],
        "running_mean": [3],
        "running_var": [3],
        "num_batches_tracked": [],
    }
    assert [name for name, _ in bn.named_parameters()] == ["weight", "bias"]
    assert list(nn.BatchNorm2d(3, affine=False, track_running_stats=False).state_dict()) == []
    bn(norch.rand(2, 3, 4, 4).requires_grad_())
    assert bn.running_mean.grad_fn is None and not bn.running_mean.requires_grad
    bn.double()
    assert bn.running_var.dtype is norch.float64 and bn.num_batches_tracked.dtype is norch.int64
    bn.reset_running_stats()
    assert bn.running_mean.tolist() == [0.0] * 3 and bn.running_var.tolist() == [1.0] * 3


def test_statistics_of_the_batch_where_none_are_kept(device):
    bn = nn.BatchNorm1d(2, track_running_stats=False).to(device).eval()
    x = norch.tensor(BATCH, device=device)
    close(bn(x)[:, 0], normalized([1.0, 3.0, 5.0]))


def test_no_digits_are_lost_where_the_mean_is_large(device):
    x = norch.tensor([[4096.0 + k] for k in range(-2, 3)], device=device)
    close(F.batch_norm(x, None, None, training=True).flatten(), normalized([-2.0, -1.0, 0.0, 1.0, 2.0]))


@pytest.mark.parametrize("shape", [(7, 5), (3, 40, 1), (64, 33), (3, 5, 17), (2, 3, 9, 11), (2, 1, 70, 70)])
def test_threads_do_not_change_a_result(shape):
    x, weight, bias = norch.rand(*shape), norch.rand(shape[1]), norch.rand(shape[1])
    results = []
    threads = norch.get_num_threads()
    try:
        for count in (1, 3):
            norch.set_num_threads(count)
            leaves = [t.clone().requires_grad_() for t in (x, weight, bias)]
            y = F.batch_norm(leaves[0], None, None, *leaves[1:], training=True)
            (y * y * y).sum().backward()
            results.append([t.flatten().tolist() for t in (y.detach(), *(leaf.grad for leaf in leaves))])
    finally:
        norch.set_num_threads(threads)
    assert results[0] == results[1]


# ---- Layer and group normalization ----------------------------------------------------------------------------------


def test_layers_and_groups_by_hand(device):
    x = norch.tensor([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0]], device=device)
    weight, bias = norch.tensor([1.0, 2.0, 3.0], device=device), norch.tensor([0.0, 1.0, 0.0], device=device)
    rows = [normalized(row) for row in x.tolist()]
    close(F.layer_norm(x, 3), rows)
    expected = [[a, 2 * b + 1, 3 * c] for a, b, c in rows]
    close(F.layer_norm(x, [3], weight, bias), expected)
    close(F.layer_norm(x, [3], None, bias), [[a, b + 1, c] for a, b, c in rows])
    flat = normalized([value for row in x.tolist() for value in row])
    close(F.layer_norm(x, x.shape), [flat[:3], flat[3:]])
    four = norch.tensor([[1.0, 2.0, 6.0, 4.0]], device=device)
    close(F.group_norm(four, 2), [normalized([1.0, 2.0]) + normalized([6.0, 4.0])])


def test_more_rows_than_are_summed_at_a_time(device):
    x = norch.tensor([[0.0, float(k % 2)] for k in range(600)], device=device)
    weight = norch.ones(2, device=device).requires_grad_()
    bias = norch.zeros(2, device=device).requires_grad_()
    F.layer_norm(x, 2, weight, bias, eps=0.25).sum().backward()
    close(bias.grad, [600.0, 600.0])
    rate = 0.5 / math.sqrt(0.5)  # of the 300 rows that are not constant
    close(weight.grad, [-300 * rate, 300 * rate])


def test_a_constant_row_is_zero_and_has_a_gradient(device):
    x = norch.full((2, 4), 3.0, device=device).requires_grad_()
    y = F.layer_norm(x, 4)
    assert y.tolist() == [[0.0] * 4] * 2
    y.sum().backward()
    assert x.grad.tolist() == [[0.0] * 4] * 2


@pytest.mark.parametrize(
    "attempt, kind, message",
    [
        (lambda: nn.BatchNorm1d(2)(norch.zeros(1, 2)), ValueError, "more than one value a channel"),
        (lambda: nn.InstanceNorm2d(2)(norch.zeros(4, 2, 1, 1)), ValueError, "more than one element a channel"),
        (lambda: nn.BatchNorm1d(2)(norch.zeros(3, 3)), ValueError, r"\[3, 3\], expected 2 channels"),
        (lambda: nn.BatchNorm1d(2)(norch.zeros(2, 2, 2, 2)), ValueError, r"expected \[N, C\] or \[N, C, length\]"),
        (lambda: nn.BatchNorm2d(2)(norch.zeros(2, 2)), ValueError, r"expected \[N, C, height, width\]"),
        (lambda: F.batch_norm(norch.zeros(2, 2), None, None), RuntimeError, "running_mean and running_var"),
        (lambda: F.batch_norm(norch.zeros(2, 2).long(), None, None, training=True), RuntimeError, "int64"),
        (lambda: F.batch_norm([1.0], None, None), TypeError, "given a list"),
        (lambda: F.batch_norm(norch.zeros(4, 2), None, None, norch.zeros(3), training=True), ValueError, "weight.*[3]"),
        (
            lambda: F.batch_norm(norch.zeros(4, 2), None, None, norch.zeros(2).double(), training=True),
            RuntimeError,
            "float32 and float64",
        ),
        (lambda: nn.LayerNorm(3)(norch.zeros(2, 4)), ValueError, r"\[2, 4\], expected one that ends in \[3\]"),
        (lambda: F.layer_norm(norch.zeros(2, 3), []), ValueError, "ends in"),
        (lambda: nn.GroupNorm(3, 4), ValueError, "4 channels do not divide into 3 groups"),
        (lambda: F.group_norm(norch.zeros(2, 4), 3), ValueError, "C in 3 groups"),
    ],
)
def test_what_does_not_fit_is_refused(attempt, kind, message, no_leak):
    with pytest.raises(kind, match=message):
        attempt()


@pytest.mark.parametrize("dtype", [norch.float16, norch.bfloat16])
def test_rms_norm_adds_the_eps_of_the_dtype_it_computes_in(dtype):
    assert F.rms_norm(norch.full((1, 2), 0.0625, dtype=dtype), [2]).tolist() == [[1.0, 1.0]]
    assert nn.RMSNorm(2, dtype=dtype)(norch.full((1, 2), 0.0625, dtype=dtype)).tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(
    "layer", [nn.BatchNorm1d(3), nn.BatchNorm1d(3).eval(), nn.RMSNorm(4), nn.LayerNorm(4), nn.GroupNorm(1, 3)]
)
def test_results_lie_in_row_order(layer):
    assert layer(norch.ones(2, 4, 3).mT).view(2, 12).shape == (2, 12)  # attention and heads view them so


def test_layers_of_nothing(device):
    assert nn.LayerNorm(3).to(device)(norch.zeros(0, 3, device=device)).shape == [0, 3]
    assert nn.GroupNorm(1, 2).to(device)(norch.zeros(0, 2, 4, device=device)).shape == [0, 2, 4]


def test_nothing_is_left_behind(device, no_leak):
    model = nn.Sequential(nn.BatchNorm1d(4), nn.LayerNorm(4), nn.GroupNorm(2, 4), nn.Dropout()).to(device)
    x = norch.rand(6, 4, device=device).requires_grad_()
    for _ in range(2):
        (gradient,) = norch.autograd.grad((model(x) ** 2).sum(), x, create_graph=True)
        (gradient * gradient).sum().backward()


# ---- Dropout --------------------------------------------------------------------------------------------------------


def test_dropout_scales_what_it_keeps(device):
    norch.manual_seed(4)
    x = norch.ones(100, 100, device=device).requires_grad_()
    y = nn.Dropout(0.25)(x)
    kept = [value for row in y.tolist() for value in row if value]
    assert 0.73 < len(kept) / 10000 < 0.77 and kept == [pytest.approx(4 / 3)] * len(kept)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    norch.manual_seed(4)
    assert nn.Dropout(0.25)(x).tolist() == y.tolist()
    assert nn.Dropout(0.25)(x).tolist() != y.tolist()


def test_dropout_at_its_ends_and_in_evaluation(device):
    x = norch.ones(3, 4, device=device)
    assert nn.Dropout(0.0)(x).tolist() == x.tolist() and nn.Dropout(1.0)(x).tolist() == [[0.0] * 4] * 3
    assert nn.Dropout(0.9).eval()(x) is x and F.dropout(x, training=False) is x
    assert F.dropout(x, 1.0, inplace=True) is x and x.tolist() == [[0.0] * 4] * 3


@pytest.mark.parametrize(
    "layer, shape",
    [
        (nn.Dropout1d(), (40, 5, 3)),
        (nn.Dropout1d(), (60, 3)),
        (nn.Dropout2d(), (40, 5, 2, 2)),
        (nn.Dropout2d(), (40, 5, 3)),
        (nn.Dropout3d(), (40, 5, 2, 2, 2)),
        (nn.Dropout3d(), (100, 2, 2, 2)),
    ],
)
@pytest.mark.filterwarnings("ignore:dropout2d. Received a 3-D input")
def test_whole_channels_are_dropped(layer, shape, device):
    norch.manual_seed(2)
    y = layer(norch.ones(*shape, device=device))
    leading = 1 if shape in [(60, 3), (100, 2, 2, 2)] else 2  # without and with N
    channels = y.reshape(math.prod(shape[:leading]), -1).tolist()
    assert {tuple(sorted(set(channel))) for channel in channels} == {(0.0,), (2.0,)}


@pytest.mark.parametrize(
    "layer, shapes, words",
    [
        (nn.Dropout2d(), [(2, 3, 4)], "3-D input, taken as"),
        (nn.Dropout2d(), [(2, 3), (2, 3, 4, 5, 6)], "-D input, expected"),
        (nn.Dropout3d(), [(2, 3), (2, 3, 4), (1,) * 6], "-D input, expected"),
    ],
)
def test_channels_of_an_input_of_other_dimensions(layer, shapes, words):
    for shape in shapes:
        with pytest.warns(UserWarning, match=words):
            layer.eval()(norch.ones(*shape))


@pytest.mark.parametrize("p", [-0.1, 1.5, "half", True, math.nan])
def test_a_probability_outside_0_and_1_is_refused(p):
    with pytest.raises((TypeError, ValueError), match="probability"):
        nn.Dropout(p)
    with pytest.raises((TypeError, ValueError), match="probability"):
        F.dropout(norch.ones(2), p)


# ---- Embedding ------------------------------------------------------------------------------------------------------


def test_embedding_by_hand(device):
    table = nn.Embedding.from_pretrained(norch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], device=device), False)
    x = norch.tensor([[2, 0], [2, 2]], device=device)
    y = table(x)
    close(y, [[[5.0, 6.0], [1.0, 2.0]], [[5.0, 6.0], [5.0, 6.0]]])
    (y * norch.tensor([1.0, 10.0], device=device)).sum().backward()
    close(table.weight.grad, [[1.0, 10.0], [0.0, 0.0], [3.0, 30.0]])


def test_the_padding_row_is_zero_and_stays_so(device):
    table = nn.Embedding(4, 3, padding_idx=-2).to(device)
    assert table.padding_idx == 2 and table.weight[2].tolist() == [0.0] * 3 and table.weight[1].tolist() != [0.0] * 3
    table(norch.tensor([2, 1, 2], device=device)).sum().backward()
    assert table.weight.grad.tolist() == [[0.0] * 3, [1.0] * 3, [0.0] * 3, [0.0] * 3]
    assert repr(table) == "Embedding(\n   (parameters): 4, 3, padding_idx=2\n)"
    assert list(table.state_dict()) == ["weight"]


def test_a_frozen_table_shares_its_tensor():
    rows = norch.rand(3, 2)
    table = nn.Embedding.from_pretrained(rows)
    assert not table.weight.requires_grad and table.weight.data_ptr() == rows.data_ptr()


@pytest.mark.parametrize(
    "attempt, kind, message",
    [
        (lambda: F.embedding(norch.tensor([3]), norch.zeros(3, 2)), IndexError, "3"),
        (lambda: F.embedding(norch.tensor([-1]), norch.zeros(3, 2)), IndexError, "-1"),
        (lambda: F.embedding(norch.tensor([1.0]), norch.zeros(3, 2)), RuntimeError, "float32"),
        (lambda: F.embedding([1], norch.zeros(3, 2)), TypeError, "list"),
        (lambda: F.embedding(norch.tensor([1]), norch.zeros(3)), ValueError, r"\[3\]"),
        (lambda: nn.Embedding(3, 2, padding_idx=3), ValueError, "padding_idx is 3, expected -3 to 2"),
        (lambda: nn.Embedding.from_pretrained(norch.zeros(3)), ValueError, r"\[3\]"),
    ],
)
def test_what_an_embedding_refuses(attempt, kind, message, no_leak):
    with pytest.raises(kind, match=message):
        attempt()


@pytest.mark.parametrize(
    "layer", [nn.BatchNorm1d(3), nn.BatchNorm1d(3, momentum=None), nn.InstanceNorm1d(3, track_running_stats=True)]
)
def test_statistics_move_together_or_not_at_all(layer):
    x, failures = norch.randn(4, 3, 5), 0
    before = {name: value.tolist() for name, value in layer.state_dict().items()}
    while True:
        norch._C.fail_allocation(failures + 1)
        try:
            layer(x)
            break
        except MemoryError:
            failures += 1
            norch._C.fail_allocation(0)
            assert {name: value.tolist() for name, value in layer.state_dict().items()} == before
        finally:
            norch._C.fail_allocation(0)
    assert failures > 5 and layer.running_mean.tolist() != before["running_mean"]


def test_an_empty_batch_is_counted():
    layer = nn.BatchNorm1d(3)
    layer(norch.zeros(0, 3))
    assert layer.num_batches_tracked.item() == 1 and layer.running_var.tolist() == [1.0] * 3


def test_group_norm_of_channels_of_one_element():
    x = norch.randn(3, 6, dtype=norch.float64, requires_grad=True)
    weight, bias = (norch.randn(6, dtype=norch.float64, requires_grad=True) for _ in range(2))
    groups = x.detach().reshape(3, 2, 3)
    plain = (groups - groups.mean(-1, keepdim=True)) / (groups.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()
    assert F.group_norm(x, 2).allclose(plain.reshape(3, 6))
    assert F.group_norm(x, 2, weight, bias).allclose(plain.reshape(3, 6) * weight + bias)
    assert norch.autograd.gradcheck(lambda *xs: F.group_norm(xs[0], 2, *xs[1:]), (x, weight, bias))


def test_a_group_of_one_element():
    with pytest.raises(ValueError, match="more than one element in each of the 4 groups"):
        F.group_norm(norch.ones(1, 4, 1), 4)
    assert F.group_norm(norch.ones(2, 4, 1), 4).shape == [2, 4, 1] and F.group_norm(norch.ones(1, 4, 1), 2).any() == 0


def test_batches_are_not_counted_where_statistics_are_not_tracked():
    layer = nn.BatchNorm1d(4)
    layer.track_running_stats = False
    layer(norch.rand(3, 4))
    assert layer.num_batches_tracked.item() == 0 and layer.running_mean.tolist() == [0.0] * 4


@pytest.mark.parametrize("learns", [(True, True), (True, False), (False, True), (False, False)], ids=str)
@pytest.mark.parametrize("shape", [(5, 3), (2, 3, 4, 4), (2, 3, 20, 20), (1, 3, 300)], ids=str)
def test_gradients_by_given_statistics(shape, learns, device):
    """Those of the fused rule and of the rule in tensor operations."""
    x = norch.randn(*shape, device=device).requires_grad_()
    mean, var = norch.tensor([1.0, -2.0, 0.5], device=device), norch.tensor([4.0, 0.5, 9.0], device=device)
    weight, bias = (norch.randn(3, device=device).requires_grad_(each) for each in learns)
    leaves = [leaf for leaf in (x, weight, bias) if leaf.requires_grad]
    slopes, found = norch.randn(*shape, device=device), []
    for create_graph in (False, True):
        result = F.batch_norm(x, mean, var, weight, bias)
        found.append(norch.autograd.grad(result, leaves, slopes, create_graph=create_graph))
    for fused, plain in zip(*found):
        assert fused.allclose(plain, 1e-5, 1e-5)
