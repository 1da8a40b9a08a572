"""Layers and losses as functions of tensors. Shapes: N samples, C classes, ... any further dimensions."""

from __future__ import annotations

import warnings

import norch
from norch._C import ShapeError
from norch.autograd.derivatives import linear as derivatives
from norch.tensor import Tensor

from .activations import elu, gelu, hardtanh, leaky_relu, silu, softplus  # noqa: F401
from .attention import scaled_dot_product_attention  # noqa: F401
from .classification import check_integers, cross_entropy, nll_loss  # noqa: F401
from .convolution import conv1d, conv2d, fold, unfold  # noqa: F401  (this module has every function)
from .dropout import dropout, dropout1d, dropout2d  # noqa: F401
from .embedding import embedding  # noqa: F401
from .losses import (  # noqa: F401
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    smooth_l1_loss,
)
from .normalization import batch_norm, group_norm, layer_norm  # noqa: F401
from .pooling import (  # noqa: F401
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    avg_pool1d,
    avg_pool2d,
    max_pool1d,
    max_pool2d,
)
from .reduction import check_tensors

# ---- Layers and activations -----------------------------------------------------------------------------------------


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W^T + b: rows [..., in] give [..., out] for a weight of [out, in] and a bias of [out].

    A column [..., in, 1] with in > 1, the article's form, gives W x + b of shape [..., out, 1].
    All are of one dtype. Raises ShapeError where shapes do not fit, RuntimeError for two dtypes.

    >>> F.linear(norch.tensor([[1.0, 2.0]]), norch.tensor([[3.0, 4.0]]), norch.tensor([0.5]))
    tensor([[11.5000]])
    """
    if not isinstance(x, Tensor) or not isinstance(weight, Tensor):
        check_tensors("linear", x, weight)
    result = derivatives.linear(x, weight, bias)
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
    """1 / (1 + e^(-x)) of each element, in the shape of x; integers and bool become float32.

    Raises TypeError for what is no tensor.

    >>> F.sigmoid(norch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """
    if not isinstance(x, Tensor):
        check_tensors("sigmoid", x)
    return x.sigmoid()


def tanh(x: Tensor) -> Tensor:
    """Hyperbolic tangent of each element, in the shape of x; integers and bool become float32.

    Raises TypeError for what is no tensor.

    >>> F.tanh(norch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    check_tensors("tanh", x)
    return x.tanh()


def relu(x: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0) of each element, in the shape and dtype of x; with `inplace` written into x.

    Raises RuntimeError for bool, TypeError for what is no tensor.

    >>> F.relu(norch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    check_tensors("relu", x)
    return x.relu_() if inplace else x.relu()


def softmax(x: Tensor, dim: int | None = None) -> Tensor:
    """e^x / sum(e^x) along `dim`, in the shape and dtype of x.

    Without `dim` PyTorch's old guess is taken, and warned of. Raises IndexError for a dim out of
    range, RuntimeError for a dtype that is not floating.

    >>> F.softmax(norch.zeros(1, 2), dim=1)
    tensor([[0.5000, 0.5000]])
    """
    check_tensors("softmax", x)
    return x.softmax(_implicit_dim(x) if dim is None else dim)


def log_softmax(x: Tensor, dim: int | None = None) -> Tensor:
    """x - log(sum(e^x)) along `dim`, in the shape and dtype of x.

    Without `dim` PyTorch's old guess is taken, and warned of. Raises IndexError for a dim out of
    range, RuntimeError for a dtype that is not floating.

    >>> F.log_softmax(norch.zeros(1, 2), dim=1)
    tensor([[-0.6931, -0.6931]])
    """
    check_tensors("log_softmax", x)
    return x.log_softmax(_implicit_dim(x) if dim is None else dim)


def _implicit_dim(x: Tensor) -> int:
    dim = 0 if x.ndim in (0, 1, 3) else 1
    warnings.warn(f"softmax was given no dim; {dim} is taken for an input of {x.ndim} dimensions", stacklevel=3)
    return dim


def one_hot(target: Tensor, num_classes: int = -1) -> Tensor:
    """Integers [...] as rows [..., num_classes] (int64) with a single 1; num_classes -1 means the largest plus 1.

    Raises RuntimeError for a class out of range, TypeError for a dtype that is no integer.

    >>> F.one_hot(norch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    check_tensors("one_hot", target)
    check_integers("one_hot", target)
    low, high = (target.min().item(), target.max().item()) if target.numel else (0, num_classes - 1)
    classes = high + 1 if num_classes == -1 else num_classes
    if low < 0 or high >= classes:
        wrong = low if low < 0 else high
        raise RuntimeError(f"one_hot: class {wrong} is out of range, expected 0 to {classes - 1}")
    if classes < 1:
        raise RuntimeError(f"one_hot: num_classes is {num_classes}, expected at least 1 for an empty tensor")
    return (target.unsqueeze(-1) == norch.arange(classes, device=target.device)).long()
