"""Layers and losses as functions of tensors. Shapes: N samples, C classes, ... any further dimensions."""

from __future__ import annotations

import math
import warnings

import norch
from norch._C import ShapeError
from norch.autograd import fused
from norch.tensor import Tensor

from ._activations import elu, gelu, hardtanh, leaky_relu, silu, softplus  # noqa: F401
from ._attention import scaled_dot_product_attention  # noqa: F401
from ._convolution import conv1d, conv2d, fold, unfold  # noqa: F401  (this module has every function)
from ._dropout import dropout, dropout1d, dropout2d  # noqa: F401
from ._embedding import embedding  # noqa: F401
from ._normalization import batch_norm, group_norm, layer_norm  # noqa: F401
from ._pooling import (  # noqa: F401
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    avg_pool1d,
    avg_pool2d,
    max_pool1d,
    max_pool2d,
)

REDUCTIONS = ("none", "mean", "sum")


# ---- Layers and activations -----------------------------------------------------------------------------------------


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W^T + b: rows [..., in] give [..., out] for a weight of [out, in] and a bias of [out].

    A column [..., in, 1] with in > 1, the article's form, gives W x + b of shape [..., out, 1].

    >>> F.linear(norch.tensor([[1.0, 2.0]]), norch.tensor([[3.0, 4.0]]), norch.tensor([0.5]))
    tensor([[11.5000]])
    """
    if not isinstance(x, Tensor) or not isinstance(weight, Tensor):
        _check_tensors("linear", x, weight)
    result = fused.linear(x, weight, bias)
    return _column_linear(x, weight, bias) if result is None else result


def _column_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """W x + b for columns, and what the one call into C refuses: the operations themselves say why."""
    if weight.ndim != 2:
        raise ShapeError(f"linear: weight has shape {list(weight.shape)}, expected [out, in]")
    inputs = weight.shape[1]
    if x.shape[-1:] == (inputs,):
        product = x @ weight.T
    elif inputs > 1 and x.shape[-2:] == (inputs, 1):
        product = weight @ x
        bias = None if bias is None else bias.unsqueeze(-1)
    else:
        raise ShapeError(
            f"linear: input has shape {list(x.shape)}, expected [..., {inputs}] or a column [..., {inputs}, 1]"
        )
    return product if bias is None else product + bias


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + e^(-x)) of each element.

    >>> F.sigmoid(norch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """
    if not isinstance(x, Tensor):
        _check_tensors("sigmoid", x)
    return x.sigmoid()


def tanh(x: Tensor) -> Tensor:
    """Hyperbolic tangent of each element.

    >>> F.tanh(norch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    _check_tensors("tanh", x)
    return x.tanh()


def relu(x: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0) of each element; with `inplace` written into x.

    >>> F.relu(norch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    _check_tensors("relu", x)
    return x.relu_() if inplace else x.relu()


def softmax(x: Tensor, dim: int | None = None) -> Tensor:
    """e^x / sum(e^x) along `dim`; same shape. Without `dim` PyTorch's old guess is taken, and warned of.

    >>> F.softmax(norch.zeros(1, 2), dim=1)
    tensor([[0.5000, 0.5000]])
    """
    _check_tensors("softmax", x)
    return x.softmax(_implicit_dim(x) if dim is None else dim)


def log_softmax(x: Tensor, dim: int | None = None) -> Tensor:
    """x - log(sum(e^x)) along `dim`; same shape. Without `dim` PyTorch's old guess is taken, and warned of.

    >>> F.log_softmax(norch.zeros(1, 2), dim=1)
    tensor([[-0.6931, -0.6931]])
    """
    _check_tensors("log_softmax", x)
    return x.log_softmax(_implicit_dim(x) if dim is None else dim)


def _implicit_dim(x: Tensor) -> int:
    dim = 0 if x.ndim in (0, 1, 3) else 1
    warnings.warn(f"softmax was given no dim; {dim} is taken for an input of {x.ndim} dimensions", stacklevel=3)
    return dim


def one_hot(target: Tensor, num_classes: int = -1) -> Tensor:
    """Integers [...] as rows [..., num_classes] (int64) with a single 1; num_classes -1 means the largest plus 1.

    Raises RuntimeError for a class out of range.

    >>> F.one_hot(norch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    _check_tensors("one_hot", target)
    _check_integers("one_hot", target)
    low, high = (target.min().item(), target.max().item()) if target.numel else (0, num_classes - 1)
    classes = high + 1 if num_classes == -1 else num_classes
    if low < 0 or high >= classes:
        wrong = low if low < 0 else high
        raise RuntimeError(f"one_hot: class {wrong} is out of range, expected 0 to {classes - 1}")
    if classes < 1:
        raise RuntimeError(f"one_hot: num_classes is {num_classes}, expected at least 1 for an empty tensor")
    return (target.unsqueeze(-1) == norch.arange(classes, device=target.device)).long()


# ---- Losses ---------------------------------------------------------------------------------------------------------


def mse_loss(predictions: Tensor, labels: Tensor, reduction: str = "mean") -> Tensor:
    """(prediction - label)^2, reduced: "mean", "sum" or "none". Raises ValueError where the shapes differ.

    >>> F.mse_loss(norch.tensor([1.0, 2.0]), norch.tensor([1.0, 4.0]))
    tensor([2.])
    """
    if reduction not in REDUCTIONS:
        check_reduction(reduction)
    if not isinstance(predictions, Tensor) or not isinstance(labels, Tensor):
        _check_tensors("mse_loss", predictions, labels)
    result = None if reduction == "none" else fused.mse(predictions, labels, reduction)
    if result is not None:
        return result
    if labels.shape != predictions.shape:
        raise ShapeError(
            f"Labels and predictions shape does not match: {list(labels.shape)} and {list(predictions.shape)}"
        )
    return _reduce((predictions - labels) ** 2, reduction, predictions.numel)


def cross_entropy(
    logits: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """-sum over classes of target * log softmax(logits), for logits [N, C, ...] or [C].

    The target holds class indices (an integer dtype, [N, ...]) or probabilities (floating, [N, C, ...]). `weight` [C]
    scales each class; samples whose index is `ignore_index` count for nothing; `label_smoothing` mixes the target
    with the uniform distribution. "mean" divides by the sum of the targets' weights (indices) or by the number of
    samples (probabilities), as in PyTorch. Raises IndexError for a class out of range.

    >>> F.cross_entropy(norch.tensor([[2.0, 1.0], [0.0, 3.0]]), norch.tensor([0, 1]))
    tensor([0.1809])
    """
    check_reduction(reduction)
    check_smoothing(label_smoothing)
    _check_tensors("cross_entropy", logits, target)
    dim = _class_dim("cross_entropy", logits)
    if weight is None and label_smoothing == 0 and not target.dtype.is_floating_point:
        return fused.cross_entropy(logits, target, ignore_index, reduction)
    log_probabilities = logits.log_softmax(dim)
    if target.dtype.is_floating_point:
        return _probability_loss(log_probabilities, target, weight, reduction, label_smoothing)
    if label_smoothing == 0:
        return nll_loss(log_probabilities, target, weight, ignore_index=ignore_index, reduction=reduction)

    index, counted = _class_index("cross_entropy", target, logits, ignore_index)
    scale = _class_weights("cross_entropy", weight, logits)
    uniform = norch.full_like(logits, label_smoothing / logits.shape[dim])
    smooth = uniform.scatter_add(dim, index, norch.full_like(index, 1 - label_smoothing, dtype=logits.dtype))
    mixture = norch.where(counted, smooth * scale, 0.0)
    total = norch.where(counted, (norch.ones_like(logits) * scale).gather(dim, index), 0.0).sum()
    return _reduce(_expected_loss(mixture, log_probabilities, dim), reduction, total)


def nll_loss(
    log_probabilities: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """-log_probability[class] of each sample, for [N, C, ...] or [C] and class indices [N, ...]; see cross_entropy.

    >>> F.nll_loss(norch.tensor([[-0.1, -2.0]]), norch.tensor([0]))
    tensor([0.1000])
    """
    check_reduction(reduction)
    _check_tensors("nll_loss", log_probabilities, target)
    dim = _class_dim("nll_loss", log_probabilities)
    index, counted = _class_index("nll_loss", target, log_probabilities, ignore_index)
    chosen = log_probabilities.gather(dim, index)  # [N, 1, ...]
    if weight is None:
        loss = -norch.where(counted, chosen, 0.0).sum(dim=dim)
        return _reduce(loss, reduction, counted.sum() if reduction == "mean" else 1)
    # A class of weight 0 is left out, not multiplied: its log-probability may be -inf.
    scale = _class_weights("nll_loss", weight, log_probabilities).expand(log_probabilities.shape).gather(dim, index)
    loss = -norch.where(counted & (scale != 0), chosen * scale, 0.0).sum(dim=dim)
    return _reduce(loss, reduction, norch.where(counted, scale, 0.0).sum())


def _probability_loss(log_probabilities, target, weight, reduction, label_smoothing):
    if target.shape != log_probabilities.shape:
        raise ShapeError(
            f"cross_entropy: target of probabilities has shape {list(target.shape)}, expected that of the logits "
            f"{list(log_probabilities.shape)} (class indices have an integer dtype)"
        )
    dim = _class_dim("cross_entropy", log_probabilities)
    classes = log_probabilities.shape[dim]
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    mixture = target * _class_weights("cross_entropy", weight, log_probabilities)
    samples = math.prod(log_probabilities.shape) // classes if classes else 0
    return _reduce(_expected_loss(mixture, log_probabilities, dim), reduction, samples)


def _expected_loss(mixture, log_probabilities, dim):
    """-sum(mixture * log_probabilities) along `dim`, where 0 * -inf counts as 0, in the gradients too."""
    impossible = (mixture == 0) & (log_probabilities == -math.inf)
    return -(mixture * norch.where(impossible, 0.0, log_probabilities)).sum(dim=dim)


def _reduce(loss, reduction, count):
    if reduction == "none":
        return loss
    total = loss.sum()
    return total / count if reduction == "mean" else total


def _class_dim(name: str, scores) -> int:
    """The dimension of the classes: 1 in [N, C, ...], 0 in [C]."""
    if scores.ndim == 0:
        raise ShapeError(f"{name}: input has no dimensions, expected [C] or [N, C, ...]")
    if not scores.dtype.is_floating_point:
        raise TypeError(f"{name}: input has dtype {scores.dtype}, expected a floating dtype")
    return min(1, scores.ndim - 1)


def _classes(scores, values) -> Tensor:
    """A value for each class as a tensor that broadcasts with `scores`: [C] or [C, 1, ...]."""
    return values.reshape([-1] + [1] * (scores.ndim - 2)) if scores.ndim > 2 else values


def _class_weights(name: str, weight, scores):
    """The class weights, ready to broadcast with `scores`; 1 where there are none."""
    if weight is None:
        return 1.0
    classes = scores.shape[_class_dim(name, scores)]
    _check_tensors(name, weight)
    if weight.shape != (classes,):
        raise ShapeError(f"{name}: weight has shape {list(weight.shape)}, expected [{classes}], one for each class")
    return _classes(scores, weight)


def _class_index(name: str, target, scores, ignore_index: int) -> tuple[Tensor, Tensor]:
    """The class of each sample along the dimension of the classes, and whether the sample counts; both [N, 1, ...].

    A sample to be ignored gets class 0.
    """
    dim = _class_dim(name, scores)
    _check_integers(name, target)
    expected = list(scores.shape[:dim]) + list(scores.shape[dim + 1 :])
    # A lone sample's class is a scalar, which in norch has shape [1].
    if list(target.shape) != expected and not (scores.ndim == 1 and list(target.shape) == [1]):
        raise ShapeError(
            f"{name}: target has shape {list(target.shape)}, expected {expected} for an input of {list(scores.shape)}"
        )
    target = target.long()
    counted = target != ignore_index
    index = target.masked_fill(~counted, 0)
    _check_range(name, index, scores.shape[dim], ignore_index)
    one_each = list(scores.shape[:dim]) + [1] + list(scores.shape[dim + 1 :])
    return index.reshape(one_each), counted.reshape(one_each)


def _check_range(name: str, target, classes: int, ignore_index: int) -> None:
    if not target.numel or target.device != "cpu":  # a GPU finds it itself, in gather, and nobody waits for that
        return
    low, high = target.min().item(), target.max().item()
    if low < 0 or high >= classes:
        wrong = low if low < 0 else high
        raise IndexError(
            f"{name}: target {wrong} is out of range, expected 0 to {classes - 1} or ignore_index {ignore_index}"
        )


# ---- Checks ---------------------------------------------------------------------------------------------------------


def check_reduction(reduction: str) -> str:
    """`reduction` itself, or ValueError."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}, expected 'none', 'mean' or 'sum'")
    return reduction


def check_smoothing(label_smoothing: float) -> float:
    """`label_smoothing` itself, or ValueError."""
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing is {label_smoothing}, expected 0 to 1")
    return label_smoothing


def _check_tensors(name: str, *values) -> None:
    for value in values:
        if not isinstance(value, Tensor):
            raise TypeError(f"{name} was given a {type(value).__name__}, expected a Tensor")


def _check_integers(name: str, target) -> None:
    if target.dtype not in (norch.int64, norch.int32, norch.uint8):
        raise TypeError(f"{name}: target has dtype {target.dtype}, expected int64, int32 or uint8")
