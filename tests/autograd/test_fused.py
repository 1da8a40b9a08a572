"""Derivatives by one C call: each against its own formula; layers and losses against the operations they combine."""

import math
from functools import partial

import pytest
from derivatives import derivative_classes

import norch
import norch.nn.functional as F
from norch import nn
from norch.autograd import grad, gradcheck, gradgradcheck


def ramp(*shape, scale=0.3, shift=-0.7):
    count = norch.Size(shape).numel()
    values = [((i * 7919) % 31) * 0.1 * scale + shift for i in range(count)]
    return norch.tensor(values, dtype=norch.float64).reshape(shape).requires_grad_()


def log_softmax(x, dim):
    shifted = x - x.detach().max(axis=dim, keepdim=True)
    return shifted - shifted.exp().sum(axis=dim, keepdim=True).log()


def pick(x, target):
    """-log softmax of the target class of each row, by a mask."""
    chosen = target.unsqueeze(1) == norch.arange(x.shape[1])
    return -norch.where(chosen, log_softmax(x, 1), 0.0).sum(1)


def labels():
    return norch.tensor([2, 0, 1, 1])


def lists():
    return norch.tensor([[2, 0, -1], [1, -1, 0], [-1, 2, 1], [0, 1, 2]])


def images():
    return ramp(2, 2, 4, 3), ramp(2, 3, 2, 2, scale=1.031, shift=-1.77)


def transposed(x):
    return x.detach().T.requires_grad_()


def signs(*shape):
    return ramp(*shape).sign().detach().requires_grad_()


def two_probabilities():
    return probabilities(3, 2), transposed(probabilities(2, 3))


def probabilities(*shape):
    return ramp(*shape).sigmoid().detach().requires_grad_()


def layer(kind, **options):
    """A recurrent layer as a function, and its operands: the input and the parameters."""
    recurrent = getattr(nn, kind)(3, 2, **options).double()
    recurrent.load_state_dict({name: ramp(*p.shape, shift=-0.3) for name, p in recurrent.named_parameters()})

    def function(x, *parameters):
        outputs, state = recurrent(x)
        return norch.cat([t.flatten() for t in (outputs, *(state if kind == "LSTM" else [state]))])

    return function, ramp(4, 2, 3), *recurrent.parameters()


def formulas():
    """Each class with a `fused`: operations in which it is a node, and operands on the default device."""
    return {
        "TanhBackward": [(norch.tanh, ramp(3, 4))],
        "SigmoidBackward": [(norch.sigmoid, ramp(3, 4))],
        "ReluBackward": [(norch.relu, ramp(3, 4))],
        "GeluBackward": [(F.gelu, ramp(3, 4))],
        "GeluTanhBackward": [(lambda x: F.gelu(x, "tanh"), ramp(3, 4))],
        "SiluBackward": [(F.silu, ramp(3, 4))],
        "MishBackward": [(F.mish, ramp(3, 4))],
        "SeluBackward": [(F.selu, ramp(3, 4))],
        "LogsigmoidBackward": [(F.logsigmoid, ramp(3, 4))],
        "HardsigmoidBackward": [(F.hardsigmoid, ramp(3, 4, scale=3.0, shift=-4.05))],
        "HardswishBackward": [(F.hardswish, ramp(3, 4, scale=3.0, shift=-4.05))],
        "ClampBackward": [
            (lambda x: x.clamp(-0.5, 0.05), ramp(3, 4)),
            (lambda x: x.clamp(max=0.05), ramp(3, 4)),
            (lambda x: x.clamp(min=ramp(3, 1).detach() * 0.5), ramp(3, 4)),
        ],
        "NanToNumBackward": [(lambda x: norch.where(x > 0, x, math.inf).nan_to_num(posinf=1.0), ramp(3, 4))],
        "HardtanhBackward": [(lambda x: F.hardtanh(x, -0.5, 0.05), ramp(3, 4))],
        "ThresholdBackward": [(lambda x: F.threshold(x, -0.25, 3.0), ramp(3, 4))],
        "ShrinkBackward": [
            (lambda x: F.hardshrink(x, 0.35), ramp(3, 4)),
            (lambda x: F.softshrink(x, 0.35), ramp(3, 4)),
        ],
        "GluBackward": [(lambda x: F.glu(x, 0), ramp(4, 3)), (F.glu, ramp(3, 4))],
        "PReluBackward": [(F.prelu, ramp(3, 4), ramp(1)), (F.prelu, ramp(2, 3, 4), ramp(3))],
        "LeakyReluBackward": [(lambda x: F.leaky_relu(x, 0.1), ramp(3, 4))],
        "EluBackward": [(lambda x: F.elu(x, 1.5), ramp(3, 4))],
        "SoftplusBackward": [(lambda x: F.softplus(x, 1.0, 0.1), ramp(3, 4))],
        "SoftmaxBackward": [(lambda x: x.softmax(0), ramp(3, 4)), (lambda x: x.softmax(-1), ramp(2, 3, 4))],
        "LogSoftmaxBackward": [(lambda x: x.log_softmax(1), ramp(3, 4))],
        "ProdBackward": [(lambda x: x.prod(1), ramp(3, 4)), (lambda x: (x * (x > 0)).prod(0), ramp(3, 4))],
        "CumprodBackward": [
            (lambda x: x.cumprod(1), ramp(3, 4)),
            (lambda x: (x * (x > 0)).cumprod(0), ramp(3, 4)),
            (lambda x: (x * (x > 0)).flip(0).cumprod(0), ramp(3, 4)),
        ],
        "LinearBackward": [(F.linear, ramp(4, 3), ramp(2, 3), ramp(2)), (F.linear, ramp(2, 4, 3), ramp(2, 3))],
        "MSEBackward": [(F.mse_loss, ramp(3, 2), ramp(3, 2, shift=0.1))],
        "L1LossBackward": [(F.l1_loss, ramp(3, 2), ramp(3, 2, shift=0.1))],
        "HuberLossBackward": [(lambda x, y: F.huber_loss(x, y, delta=0.5), ramp(3, 2), transposed(ramp(2, 3)))],
        "SmoothL1LossBackward": [(lambda x, y: F.smooth_l1_loss(x, y, beta=0.5), ramp(3, 2), transposed(ramp(2, 3)))],
        "BCEBackward": [(lambda x, y: F.binary_cross_entropy(x, y, reduction="none"), *two_probabilities())],
        "BCELossBackward": [(F.binary_cross_entropy, *two_probabilities())],
        "BCEWithLogitsBackward": [
            (lambda x, y: F.binary_cross_entropy_with_logits(x, y, reduction="none"), ramp(3, 2), probabilities(3, 2))
        ],
        "BCEWithLogitsLossBackward": [(F.binary_cross_entropy_with_logits, ramp(3, 2), probabilities(3, 2))],
        "SoftMarginLossBackward": [(F.soft_margin_loss, ramp(3, 2), signs(3, 2))],
        "MarginLossBackward": [
            (lambda x, y: F.margin_ranking_loss(x, x.detach() * 0.5, y, 0.1), ramp(3, 2), signs(3, 2))
        ],
        "HingeEmbeddingLossBackward": [
            (lambda x: F.hinge_embedding_loss(x, signs(3, 2).detach(), 0.5), ramp(3, 2)),
            (lambda x: F.hinge_embedding_loss(x, 0.4 * signs(3, 2).detach(), 0.5, reduction="sum"), ramp(3, 2)),
        ],
        "PoissonNLLLossBackward": [(F.poisson_nll_loss, ramp(3, 2), probabilities(3, 2))],
        "KLDivLossBackward": [
            (lambda x: F.kl_div(x, probabilities(3, 2).detach(), reduction="sum"), ramp(3, 2)),
            (lambda x: F.kl_div(x, probabilities(3, 2).detach(), reduction="batchmean"), ramp(3, 2)),
        ],
        "NLLBackward": [
            (lambda x: F.nll_loss(x, labels()), ramp(4, 3)),
            (lambda x: F.nll_loss(x, labels(), 1 + labels()[:3].double(), ignore_index=0), ramp(4, 3)),
            (lambda x: F.nll_loss(x, labels().reshape(2, 2), reduction="none"), ramp(2, 3, 2)),
            (lambda x: F.nll_loss(x, labels()[0], reduction="sum"), ramp(3)),
        ],
        "CrossEntropyBackward": [
            (lambda x: F.cross_entropy(x, labels()), ramp(4, 3)),
            (lambda x: F.cross_entropy(x, labels(), ignore_index=0, reduction="sum"), ramp(4, 3)),
            (lambda x: F.cross_entropy(x, labels(), ignore_index=0, reduction="none"), ramp(4, 3)),
            (lambda x: F.cross_entropy(x, labels(), ignore_index=0, label_smoothing=0.2), ramp(4, 3)),
        ],
        "ClassMarginBackward": [
            (lambda x: F.multi_margin_loss(x, labels(), margin=0.37), ramp(4, 3)),
            (
                lambda x: F.multi_margin_loss(x, labels(), 2, 0.7, 1 + labels()[:3].double(), reduction="none"),
                ramp(4, 3),
            ),
            (lambda x: F.multi_margin_loss(x, labels()[0], reduction="sum"), ramp(3)),
            (lambda x: F.multilabel_margin_loss(x, lists()), ramp(4, 3)),
            (lambda x: F.multilabel_margin_loss(x, lists(), reduction="none"), ramp(4, 3)),
        ],
        "RowPairsBackward": [
            (F.cosine_similarity, ramp(3, 4), ramp(3, 4, shift=0.1)),
            (lambda x, y: F.cosine_similarity(x, y, dim=-1, eps=2.0), ramp(2, 3, 4), ramp(2, 3, 4, shift=0.1)),
            (lambda x, y: F.pairwise_distance(x, y), ramp(3, 4), ramp(3, 4, shift=0.1)),
            (
                lambda x, y: F.cosine_embedding_loss(x, y, signs(3, 1).flatten(), -0.9),
                ramp(3, 4),
                ramp(3, 4, shift=0.1),
            ),
        ],
        "GridSampleBackward": [
            (partial(F.grid_sample, mode=mode, padding_mode=border, align_corners=align), *images())
            for mode in ("bilinear", "nearest", "bicubic")
            for border in ("zeros", "border", "reflection")
            for align in (False, True)
        ]
        + [
            (
                partial(F.grid_sample, align_corners=False),
                ramp(2, 2, 3, 2, 4),
                ramp(2, 2, 1, 3, 3, scale=1.031, shift=-1.77),
            )
        ],
        "CTCBackward": [
            (lambda x: F.ctc_loss(x, lists()[:2].abs(), [5, 4], [3, 2], 3, zero_infinity=True), ramp(5, 2, 4)),
            (lambda x: F.ctc_loss(x, lists()[2:].abs(), [2, 3], [2, 3], 3, reduction="sum"), ramp(3, 2, 4)),
        ],
        "EmbeddingBagBackward": [
            (lambda x: F.embedding_bag(lists().flatten().abs(), x, norch.tensor([0, 0, 4])), ramp(5, 3)),
            (
                lambda x, w: F.embedding_bag(lists().abs(), x, mode="sum", per_sample_weights=w, padding_idx=0),
                *(ramp(5, 3), ramp(4, 3)),
            ),
            (lambda x: F.embedding_bag(lists().abs(), x, mode="max", padding_idx=1), ramp(5, 3)),
        ],
        "TransposedConvolutionBackward": [
            (
                lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1, groups=2),
                ramp(2, 4, 3, 4),
                ramp(4, 3, 3, 3),
            )
        ],
        "ConvolutionBackward": [
            (
                lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1, groups=2),
                ramp(2, 4, 5, 6),
                ramp(4, 2, 3, 3),
                ramp(4),
            )
        ],
        "NormalizeByBackward": [
            (lambda x, w, b: F.batch_norm(x, *(ramp(3).detach() ** 2,) * 2, w, b), ramp(4, 3, 2), ramp(3), ramp(3)),
            (lambda x, w, b: F.batch_norm(x, *(ramp(3).detach() ** 2,) * 2, w, b), ramp(4, 3), ramp(3), ramp(3)),
        ],
        "NormalizeBackward": [
            (lambda x, w, b: F.layer_norm(x, (3,), w, b), ramp(4, 3), ramp(3), ramp(3)),
            (lambda x: F.group_norm(x, 2), ramp(2, 4, 3)),
            (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), ramp(4, 3), ramp(3), ramp(3)),
        ],
        "AttentionBackward": [
            (F.scaled_dot_product_attention, ramp(2, 3, 4), ramp(5, 4, shift=0.1), ramp(2, 5, 2)),
            (
                lambda *x: F.scaled_dot_product_attention(*x, is_causal=True, scale=0.7),
                *(ramp(3, 4), ramp(5, 4, shift=0.1), ramp(2, 5, 2)),
            ),
        ],
        "MaxPoolBackward": [(lambda x: F.max_pool2d(x, 2, padding=1, ceil_mode=True), ramp(2, 3, 5, 4))],
        "RecurrentBackward": [
            layer("RNN"),
            layer("RNN", nonlinearity="relu", bidirectional=True),
            layer("LSTM", bidirectional=True),
            layer("GRU", num_layers=2),
        ],
    }


def nodes_of(tensor):
    found, waiting = set(), [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting += node.edges
    return {type(node).__name__ for node in found}


def test_every_class_with_a_fused_form_has_a_row():
    assert set(formulas()) == {name for name, kind in derivative_classes().items() if getattr(kind, "fused", None)}


@pytest.mark.parametrize("name, row", [(name, row) for name, rows in formulas().items() for row in range(len(rows))])
def test_the_fused_form_is_the_formula(name, row):
    """For all operands, and for each alone. The engine takes the formula with create_graph, else the fused form."""
    function, *operands = formulas()[name][row]
    for wanted in (operands, *([x] for x in operands)):
        chosen = [x if any(x is y for y in wanted) else x.detach() for x in operands]
        result = function(*chosen)
        assert name in nodes_of(result)
        weights = ramp(*result.shape, shift=0.4).detach()
        fused = grad(result, wanted, weights, retain_graph=True)
        formula = grad(result, wanted, weights, create_graph=True)
        for one, other in zip(fused, formula):
            assert one.shape == other.shape and one.dtype is other.dtype
            assert one.flatten().tolist() == pytest.approx(other.flatten().tolist(), rel=1e-10, abs=1e-13)


# Layers and losses: the function, the operations it combines, and operands
FUSED = {
    "linear": (F.linear, lambda x, w, b: x @ w.T + b, lambda: (ramp(4, 3), ramp(2, 3, shift=0.2), ramp(2))),
    "linear without bias": (F.linear, lambda x, w: x @ w.T, lambda: (ramp(4, 3), ramp(2, 3, shift=0.2))),
    "linear of a batch": (F.linear, lambda x, w, b: x @ w.T + b, lambda: (ramp(2, 4, 3), ramp(2, 3), ramp(2))),
    "linear of a vector": (F.linear, lambda x, w, b: x @ w.T + b, lambda: (ramp(3), ramp(2, 3), ramp(2))),
    "linear transposed": (lambda x, w: F.linear(x.T, w.T), lambda x, w: x.T @ w, lambda: (ramp(3, 4), ramp(3, 2))),
    "softmax": (lambda x: x.softmax(1), lambda x: log_softmax(x, 1).exp(), lambda: (ramp(3, 5, scale=2.0),)),
    "softmax 0": (lambda x: x.softmax(0), lambda x: log_softmax(x, 0).exp(), lambda: (ramp(3, 5),)),
    "log_softmax": (lambda x: x.log_softmax(-1), lambda x: log_softmax(x, -1), lambda: (ramp(2, 3, 4),)),
    "mse": (F.mse_loss, lambda x, y: ((x - y) ** 2).mean(), lambda: (ramp(3, 2), ramp(3, 2, shift=0.1))),
    "mse sum": (
        lambda x, y: F.mse_loss(x, y, reduction="sum"),
        lambda x, y: ((x - y) ** 2).sum(),
        lambda: (ramp(4), ramp(4, shift=1.0)),
    ),
    "cross_entropy": (
        lambda x: F.cross_entropy(x, labels()),
        lambda x: pick(x, labels()).mean(),
        lambda: (ramp(4, 3, scale=3.0),),
    ),
    "cross_entropy none": (
        lambda x: F.cross_entropy(x, labels(), reduction="none"),
        lambda x: pick(x, labels()),
        lambda: (ramp(4, 3),),
    ),
    "cross_entropy sum, one ignored": (
        lambda x: F.cross_entropy(x, labels(), ignore_index=0, reduction="sum"),
        lambda x: norch.where(labels() != 0, pick(x, labels()), 0.0).sum(),
        lambda: (ramp(4, 3),),
    ),
}


@pytest.mark.parametrize("function, reference, inputs", FUSED.values(), ids=FUSED)
def test_fused(function, reference, inputs):
    values = inputs()
    result, expected = function(*values), reference(*values)
    assert result.shape == expected.shape and result.dtype is norch.float64
    assert result.flatten().tolist() == pytest.approx(expected.flatten().tolist(), rel=1e-12, abs=1e-14)
    assert gradcheck(function, values) and gradgradcheck(function, values)
    weights = ramp(*result.shape, shift=0.4).detach()
    for found, wanted in zip(grad(function(*values), values, weights), grad(reference(*values), values, weights)):
        assert found.shape == wanted.shape
        assert found.flatten().tolist() == pytest.approx(wanted.flatten().tolist(), rel=1e-10, abs=1e-14)


def test_only_wanted_gradients_are_computed():
    x, w, b = ramp(4, 3).detach(), ramp(2, 3), ramp(2).detach()
    F.linear(x, w, b).sum().backward()
    assert w.grad is not None and x.grad is None and b.grad is None


def test_a_saved_operand_changed_in_place_is_noticed():
    x, w = ramp(4, 3), ramp(2, 3)
    y = x * 1.0
    loss = F.linear(y, w).sum()
    y.add_(1.0)
    with pytest.raises(RuntimeError, match="in-place"):
        loss.backward()


def test_losses_at_extreme_logits():
    x = norch.tensor([[1000.0, 0.0], [-1000.0, 0.0]], requires_grad=True)
    loss = F.cross_entropy(x, norch.tensor([0, 1]))
    loss.backward()
    assert loss.item() == 0.0 and x.grad.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (2, 1)])
def test_small_and_empty_batches(shape):
    x, w = norch.ones(*shape).requires_grad_(), norch.ones(2, shape[1]).requires_grad_()
    F.linear(x, w).sum().backward()
    assert x.grad.shape == x.shape and w.grad.tolist() == [[float(shape[0])] * shape[1]] * 2


VIEWS = {  # and how many gradients of zeros they take
    "indices": (lambda x: [x[i] for i in range(6)], 1),
    "unbind": (lambda x: x.unbind(1), 0),
    "chunks": (lambda x: x.chunk(3), 0),
    "rows of chunks": (lambda x: [chunk[i] for chunk in x.chunk(2) for i in range(3)], 2),
    "windows": (lambda x: [x[i : i + 2, ::2] for i in range(5)], 1),
    "mixed": (lambda x: [x[0], x * 2, x[1:3], x.diagonal(), x[1:]], 1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_one_tensor_add_to_one_gradient(monkeypatch, name):
    (views, zeros), made, place = VIEWS[name], [], norch.Tensor._placed
    monkeypatch.setattr(norch.Tensor, "_placed", lambda *args: made.append(1) or place(*args))
    x = ramp(6, 6)
    loss = sum((i + 1) * (part * part).sum() for i, part in enumerate(views(x)))
    loss.backward(retain_graph=True)
    assert len(made) == zeros
    (recorded,) = norch.autograd.grad(loss, x, create_graph=True)
    assert norch.allclose(x.grad, recorded)


def test_a_gradient_that_somebody_holds_is_not_added_to():
    x = ramp(4)
    y = x * 1.0
    seen = []
    y.register_hook(lambda gradient: seen.append(gradient.clone()))
    y[2:].register_hook(lambda gradient: seen.append(gradient))
    given = norch.ones(2)
    norch.autograd.backward([y[:2], y[1:3]], [given, given])
    assert given.tolist() == [1.0, 1.0] and x.grad.tolist() == [1.0, 2.0, 1.0, 0.0]
    assert seen[0].tolist() == x.grad.tolist()
