"""Activation functions beyond sigmoid, tanh, relu and softmax. Each keeps its input's shape, dtype and device.

Each is one kernel and one node of the graph (norch/autograd/derivatives/activations.py).
"""

from __future__ import annotations

from norch.autograd.derivatives import activations
from norch.tensor import Tensor


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where x > 0, negative_slope * x elsewhere.

    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype, TypeError for no tensor.

    >>> F.leaky_relu(norch.tensor([-1.0, 2.0]))
    tensor([-0.0100,  2.0000])
    """
    _check("leaky_relu", input)
    return _finish(input, inplace, lambda x: activations.leaky_relu(x, negative_slope))


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where x > 0, alpha * (e^x - 1) elsewhere (Clevert et al. 2015).

    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype, TypeError for no tensor.

    >>> F.elu(norch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    _check("elu", input)
    return _finish(input, inplace, lambda x: activations.elu(x, alpha))


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x * P(Z <= x) for a normal Z (Hendrycks and Gimpel 2016).

    "none" takes the exact probability, erfc(-x / sqrt(2)) / 2; "tanh" the paper's (1 + tanh(u)) / 2 with
    u = sqrt(2 / pi) * (x + 0.044715 x^3), here as sigmoid(2u), which is the same and keeps its digits for x < 0.
    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype or approximation.

    >>> F.gelu(norch.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """
    _check("gelu", input)
    if approximate == "none":
        return activations.gelu(input)
    if approximate == "tanh":
        return activations.gelu_tanh(input)
    raise RuntimeError(f"gelu: approximate is {approximate!r}, expected 'none' or 'tanh'")


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x), also known as swish.

    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype, TypeError for no tensor.

    >>> F.silu(norch.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """
    _check("silu", input)
    return _finish(input, inplace, activations.silu)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + e^(beta x)) / beta, a smooth relu; x itself where beta * x > threshold, as there they nearly agree.

    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype, TypeError for no tensor.

    >>> F.softplus(norch.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """
    _check("softplus", input)
    return activations.softplus(input, threshold) if beta == 1 else activations.softplus(input * beta, threshold) / beta


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x moved into [min_val, max_val]; the gradient is 0 from the bounds on (that of `clamp` is 1 on them).

    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype, ValueError where min_val >
    max_val.

    >>> F.hardtanh(norch.tensor([-3.0, 0.5, 3.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    _check("hardtanh", input)
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val is {min_val} and max_val is {max_val}, expected min_val <= max_val")
    return _finish(input, inplace, lambda x: activations.hardtanh(x, min_val, max_val))


def _finish(x: Tensor, inplace: bool, function) -> Tensor:
    """function(x), written into x if `inplace`; its graph is then that of a copy, which nobody overwrites."""
    return x.copy_(function(x.clone())) if inplace else function(x)


def _check(name: str, x) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} was given a {type(x).__name__}, expected a Tensor")
    if not x.is_floating_point():
        raise RuntimeError(f"{name} was given a tensor of {x.dtype}, expected a floating dtype")
