"""Activation functions. Each keeps its input's shape and device.

Those beyond sigmoid, tanh, relu and softmax are one kernel and one node of the graph too
(norch/autograd/derivatives/activations.py).
"""

from __future__ import annotations

from typing import Callable

from ...arguments import flag, plain_number
from ...autograd.derivatives import activations as kernels
from ...functions.out import Out, into
from ...functions.promotion import fitting
from ...given import warn
from ...operation import mode
from ...tensor import Tensor
from ...types import DType, bool_, shown
from .checks import check_floats, check_tensors

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
    "softmin",
    "softplus",
    "tanh",
]


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + e^(-x)) of each element x, in the shape of input; integers and bool become float32.

    Raises TypeError if input is not a tensor.

    >>> F.sigmoid(norch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """
    check_tensors("sigmoid", input)
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent of each element, in the shape of input; integers and bool become float32.

    Raises TypeError if input is not a tensor.

    >>> F.tanh(norch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    check_tensors("tanh", input)
    return input.tanh()


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0) of each element, in the shape and dtype of input; with `inplace` written into it.

    Raises RuntimeError for bool, TypeError if input is not a tensor.

    >>> F.relu(norch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    check_tensors("relu", input)
    return input.relu() if inplace is False or not flag(inplace, "relu: inplace") else input.relu_()


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Tensor:
    """e^x / sum(e^x) along `dim`, in the shape and dtype of input, or computed and returned in `dtype`.

    Without `dim` it warns and takes the one that old versions of PyTorch guess. Raises IndexError for a dim out of
    range, RuntimeError if the dtype is not floating.

    >>> F.softmax(norch.zeros(1, 2), dim=1)
    tensor([[0.5000, 0.5000]])
    """
    check_tensors("softmax", input)
    return _converted(input, dtype).softmax(_guessed_dim("softmax", input) if dim is None else dim)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Tensor:
    """softmax(-x) along `dim`: the smallest element gets the largest share. Otherwise as `softmax`.

    >>> F.softmin(norch.tensor([[0.0, 100.0]]), dim=1)
    tensor([[1.0000e+00, 3.7835e-44]])
    """
    check_tensors("softmin", input)
    return _converted(-input, dtype).softmax(_guessed_dim("softmin", input) if dim is None else dim)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Tensor:
    """x - log(sum(e^x)) along `dim`, in the shape and dtype of input; dims, dtypes and errors as for `softmax`.

    >>> F.log_softmax(norch.zeros(1, 2), dim=1)
    tensor([[-0.6931, -0.6931]])
    """
    check_tensors("log_softmax", input)
    return _converted(input, dtype).log_softmax(_guessed_dim("log_softmax", input) if dim is None else dim)


def _converted(x: Tensor, dtype: DType | None) -> Tensor:
    return x if dtype is None else x.to(dtype=dtype)


def _guessed_dim(name: str, x: Tensor) -> int:
    dim = 0 if x.ndim in (0, 1, 3) else 1
    warn(f"{name} was given no dim; {dim} is taken for an input of {x.ndim} dimensions")
    return dim


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where x > 0, negative_slope * x elsewhere.

    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype, TypeError if not a tensor.

    >>> F.leaky_relu(norch.tensor([-1.0, 2.0]))
    tensor([-0.0100,  2.0000])
    """
    check_floats("leaky_relu", input)
    return kernels.leaky_relu(input, negative_slope, inplace=inplace)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where x > 0, alpha * (e^x - 1) elsewhere (Clevert et al. 2015).

    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype, TypeError if not a tensor.

    >>> F.elu(norch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    check_floats("elu", input)
    return kernels.elu(input, alpha, inplace=inplace)


def gelu(input: Tensor, approximate: str = "none", *, out: Out = None) -> Tensor:
    """x * P(Z <= x) for a normal Z (Hendrycks and Gimpel 2016).

    "none" takes the exact probability, erfc(-x / sqrt(2)) / 2; "tanh" the paper's (1 + tanh(u)) / 2 with
    u = sqrt(2 / pi) * (x + 0.044715 x^3), here as sigmoid(2u), which is equal and stays precise for x < 0.
    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype or approximation.

    >>> F.gelu(norch.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """
    check_floats("gelu", input)
    if approximate == "none":
        return into(out, kernels.gelu(input), "gelu")
    if approximate == "tanh":
        return into(out, kernels.gelu_tanh(input), "gelu")
    raise RuntimeError(f"gelu: approximate is {shown(approximate)}, expected 'none' or 'tanh'")


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x), also known as swish.

    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype, TypeError if not a tensor.

    >>> F.silu(norch.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """
    check_floats("silu", input)
    return kernels.silu(input, inplace=inplace)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0, *, out: Out = None) -> Tensor:
    """log(1 + e^(beta x)) / beta, a smooth relu; x itself where beta * x > threshold, as there the two nearly agree.

    In the shape and dtype of x, which is floating. Raises RuntimeError for another dtype, TypeError if not a tensor.

    >>> F.softplus(norch.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """
    check_floats("softplus", input)
    beta = plain_number(beta, "softplus: beta")
    result = kernels.softplus(input, threshold) if beta == 1 else kernels.softplus(input * beta, threshold) / beta
    return result if out is None else into(out, result, "softplus")


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x moved into [min_val, max_val]; the gradient is 0 at and beyond the bounds (that of `clamp` is 1 at them).

    In the shape and dtype of x, a number of any kind. Raises ValueError if min_val > max_val, RuntimeError for bool.

    >>> F.hardtanh(norch.tensor([-3.0, 0.5, 3.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if not isinstance(input, Tensor):
        check_tensors("hardtanh", input)
    kind = input.dtype
    if kind is bool_:
        raise RuntimeError("hardtanh: expected numbers, got norch.bool")
    if kind.is_floating_point and -65504 <= min_val <= max_val <= 65504:  # most often
        return kernels.hardtanh(input, min_val, max_val, inplace=inplace)
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val is {min_val} and max_val is {max_val}, expected min_val <= max_val")
    low, high = fitting(min_val, kind, "hardtanh"), fitting(max_val, kind, "hardtanh")
    return kernels.hardtanh(input, low, high, inplace=inplace)


def apply_to(function: Callable[[Tensor], Tensor], x: Tensor, inplace: bool) -> Tensor:
    """function(x), written into x if `inplace`; backward then reads a copy of x, which nobody overwrites."""
    if inplace is False or not flag(inplace, "inplace"):
        return function(x)
    return x.copy_(function(x.clone() if x._edge is not None and mode.enabled else x))
