"""Activation functions. Each keeps its input's shape and device.

Those beyond sigmoid, tanh, relu and softmax are one kernel and one node of the graph too
(norch/autograd/derivatives/activations.py).
"""

from __future__ import annotations

import warnings
from typing import Callable

from ...autograd.derivatives import activations as kernels
from ...tensor import Tensor
from .checks import check_floating, check_tensors

__all__ = [
    "elu",
    "gelu",
    "hardtanh",
    "leaky_relu",
    "log_softmax",
    "relu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "tanh",
]


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + e^(-x)) of each element, in the shape of x; integers and bool become float32.

    Raises TypeError if x is not a tensor.

    >>> F.sigmoid(norch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """
    check_tensors("sigmoid", x)
    return x.sigmoid()


def tanh(x: Tensor) -> Tensor:
    """Hyperbolic tangent of each element, in the shape of x; integers and bool become float32.

    Raises TypeError if x is not a tensor.

    >>> F.tanh(norch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    check_tensors("tanh", x)
    return x.tanh()


def relu(x: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0) of each element, in the shape and dtype of x; with `inplace` written into x.

    Raises RuntimeError for bool, TypeError if x is not a tensor.

    >>> F.relu(norch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    check_tensors("relu", x)
    return x.relu_() if inplace else x.relu()


def softmax(x: Tensor, dim: int | None = None) -> Tensor:
    """e^x / sum(e^x) along `dim`, in the shape and dtype of x.

    Without `dim` it warns and takes the one that old versions of PyTorch guess. Raises IndexError for a dim out of
    range, RuntimeError if the dtype is not floating.

    >>> F.softmax(norch.zeros(1, 2), dim=1)
    tensor([[0.5000, 0.5000]])
    """
    check_tensors("softmax", x)
    return x.softmax(_guessed_dim(x) if dim is None else dim)


def log_softmax(x: Tensor, dim: int | None = None) -> Tensor:
    """x - log(sum(e^x)) along `dim`, in the shape and dtype of x; dims and errors as for `softmax`.

    >>> F.log_softmax(norch.zeros(1, 2), dim=1)
    tensor([[-0.6931, -0.6931]])
    """
    check_tensors("log_softmax", x)
    return x.log_softmax(_guessed_dim(x) if dim is None else dim)


def _guessed_dim(x: Tensor) -> int:
    dim = 0 if x.ndim in (0, 1, 3) else 1
    warnings.warn(f"softmax was given no dim; {dim} is taken for an input of {x.ndim} dimensions", stacklevel=3)
    return dim


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where x > 0, negative_slope * x elsewhere.

    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype, TypeError if not a tensor.

    >>> F.leaky_relu(norch.tensor([-1.0, 2.0]))
    tensor([-0.0100,  2.0000])
    """
    check_floating("leaky_relu", input)
    return _apply(lambda x: kernels.leaky_relu(x, negative_slope), input, inplace)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where x > 0, alpha * (e^x - 1) elsewhere (Clevert et al. 2015).

    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype, TypeError if not a tensor.

    >>> F.elu(norch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    check_floating("elu", input)
    return _apply(lambda x: kernels.elu(x, alpha), input, inplace)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x * P(Z <= x) for a normal Z (Hendrycks and Gimpel 2016).

    "none" takes the exact probability, erfc(-x / sqrt(2)) / 2; "tanh" the paper's (1 + tanh(u)) / 2 with
    u = sqrt(2 / pi) * (x + 0.044715 x^3), here as sigmoid(2u), which is equal and stays precise for x < 0.
    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype or approximation.

    >>> F.gelu(norch.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """
    check_floating("gelu", input)
    if approximate == "none":
        return kernels.gelu(input)
    if approximate == "tanh":
        return kernels.gelu_tanh(input)
    raise RuntimeError(f"gelu: approximate is {approximate!r}, expected 'none' or 'tanh'")


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x), also known as swish.

    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype, TypeError if not a tensor.

    >>> F.silu(norch.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """
    check_floating("silu", input)
    return _apply(kernels.silu, input, inplace)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + e^(beta x)) / beta, a smooth relu; x itself where beta * x > threshold, as there the two nearly agree.

    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype, TypeError if not a tensor.

    >>> F.softplus(norch.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """
    check_floating("softplus", input)
    return kernels.softplus(input, threshold) if beta == 1 else kernels.softplus(input * beta, threshold) / beta


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x moved into [min_val, max_val]; the gradient is 0 at and beyond the bounds (that of `clamp` is 1 at them).

    In the shape and dtype of x, which is floating. Raises ValueError if min_val > max_val, RuntimeError for another
    dtype.

    >>> F.hardtanh(norch.tensor([-3.0, 0.5, 3.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    check_floating("hardtanh", input)
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val is {min_val} and max_val is {max_val}, expected min_val <= max_val")
    return _apply(lambda x: kernels.hardtanh(x, min_val, max_val), input, inplace)


def _apply(function: Callable[[Tensor], Tensor], x: Tensor, inplace: bool) -> Tensor:
    """function(x), written into x if `inplace`; backward then reads a copy of x, which nobody overwrites."""
    return x.copy_(function(x.clone())) if inplace else function(x)
