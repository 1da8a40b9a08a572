"""Activation functions with corners, made of a few tensor operations each, and forms in place of all of them.

At a corner the derivative is PyTorch's. Each keeps its input's shape, dtype and device.
"""

from __future__ import annotations

from ...arguments import flags
from ...autograd.derivatives import activations as kernels
from ...functions.creation import empty_like
from ...functions.out import Out, into
from ...methods.activations import above
from ...tensor import Tensor
from .activations import apply_to, elu, hardtanh, leaky_relu, relu
from .checks import check_floats, check_tensors

__all__ = [
    "celu",
    "celu_",
    "elu_",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh_",
    "leaky_relu_",
    "prelu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "softshrink",
    "threshold",
    "threshold_",
]


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x moved into [0, 6]: min(max(x, 0), 6); dtypes and errors as for `hardtanh`. Raises RuntimeError for bool.

    In the shape and dtype of input.

    >>> F.relu6(norch.tensor([-1.0, 2.0, 9.0]))
    tensor([0., 2., 6.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6, straight pieces near sigmoid.

    In the shape and dtype of input, which is floating. Raises RuntimeError for another dtype, TypeError if not a
    tensor.

    >>> F.hardsigmoid(norch.tensor([-4.0, 0.0, 4.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    check_floats("hardsigmoid", input)
    return kernels.hardsigmoid(input, inplace=inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * hardsigmoid(x) (Howard et al., "Searching for MobileNetV3", 2019).

    In the shape and dtype of input, which is floating. Raises RuntimeError for another dtype, TypeError if not a
    tensor.

    >>> F.hardswish(norch.tensor([-4.0, 0.0, 1.0, 4.0]))
    tensor([-0.0000,  0.0000,  0.6667,  4.0000])
    """
    check_floats("hardswish", input)
    return kernels.hardswish(input, inplace=inplace)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """1.0507 * elu(x, 1.6733), whose activations keep mean 0 and variance 1 (Klambauer et al. 2017).

    In the shape and dtype of input, which is floating. Raises RuntimeError for another dtype, TypeError if not a
    tensor.

    >>> F.selu(norch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    check_floats("selu", input)
    return kernels.selu(input, inplace=inplace)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where x > 0, alpha * (e^(x / alpha) - 1) elsewhere: elu with one slope at 0 (Barron 2017).

    In the shape and dtype of input, which is floating. Raises RuntimeError for another dtype or if alpha is 0,
    TypeError if not a tensor.

    >>> F.celu(norch.tensor([-1.0, 2.0]), alpha=2.0)
    tensor([-0.7869,  2.0000])
    """
    check_floats("celu", input)
    if alpha == 0:
        raise RuntimeError("celu: alpha is 0, expected another number")
    if alpha == 1:
        return kernels.elu(input, 1.0, inplace=inplace)
    return apply_to(lambda x: _celu(x, alpha), input, inplace)


def _celu(x: Tensor, alpha: float) -> Tensor:
    positive = x > 0
    return positive._choose(x, alpha * (positive._choose(0.0, x) / alpha).expm1())  # of 0: e^x would overflow


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where x > 0, weight * x elsewhere; a weight [1], or [C] for each channel of an input [N, C, ...].

    In the shape of input; both have one floating dtype. Raises ShapeError for other shapes, RuntimeError for other
    dtypes.

    >>> F.prelu(norch.tensor([[-1.0, 2.0]]), norch.tensor([0.1, 0.2]))
    tensor([[-0.1000,  2.0000]])
    """
    check_tensors("prelu", input, weight)
    return input.prelu(weight)


@flags
def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """x where x > 0, slope * x elsewhere: a random slope from [lower, upper] while training, else their mean.

    In the shape and dtype of input, which is floating. Raises RuntimeError for another dtype and if lower > upper.

    >>> F.rrelu(norch.tensor([-6.0, 2.0]), 0.0, 0.5)
    tensor([-1.5000,  2.0000])
    """
    check_floats("rrelu", input)
    if lower > upper:
        raise RuntimeError(f"rrelu: lower is {lower} and upper is {upper}, expected lower <= upper")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    slope = (input.detach() <= 0)._choose(empty_like(input, requires_grad=False).uniform_(lower, upper), 1.0)
    return apply_to(lambda x: x * slope, input, inplace)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where x > threshold, `value` elsewhere.

    In the shape and dtype of input, a number of any kind. Raises RuntimeError for bool, TypeError if not a tensor.

    >>> F.threshold(norch.tensor([-1.0, 2.0]), 0.5, 9.0)
    tensor([9., 2.])
    """
    check_tensors("threshold", input)
    return above(input, threshold, value, inplace)


def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Out = None) -> Tensor:
    """x where |x| > lambd, 0 elsewhere.

    In the shape and dtype of input, which is floating. Raises RuntimeError for another dtype, TypeError if not a
    tensor.

    >>> F.hardshrink(norch.tensor([-0.3, 2.0]))
    tensor([0., 2.])
    """
    check_floats("hardshrink", input)
    result = kernels.hardshrink(input, lambd)
    return result if out is None else into(out, result, "hardshrink")


def softshrink(input: Tensor, lambd: float = 0.5, *, out: Out = None) -> Tensor:
    """x moved towards 0 by lambd, and 0 where |x| <= lambd.

    In the shape and dtype of input, which is floating. Raises RuntimeError for another dtype or a negative lambd.

    >>> F.softshrink(norch.tensor([0.3, 2.0]))
    tensor([0.0000, 1.5000])
    """
    check_floats("softshrink", input)
    if not lambd >= 0:
        raise RuntimeError(f"softshrink: lambd is {lambd}, expected at least 0")
    result = kernels.softshrink(input, lambd)
    return result if out is None else into(out, result, "softshrink")


# ---- In place -------------------------------------------------------------------------------------------------------


def relu_(input: Tensor) -> Tensor:
    """`relu` written into its input, which is returned; shapes, dtypes and errors (RuntimeError for a leaf) as there.

    >>> F.relu_(norch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return relu(input, inplace=True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """`leaky_relu` written into its input, which is returned; shapes, dtypes and errors (RuntimeError) as there.

    >>> F.leaky_relu_(norch.tensor([-1.0, 2.0]))
    tensor([-0.0100,  2.0000])
    """
    check_floats("leaky_relu", input)
    return kernels.leaky_relu(input, negative_slope, inplace=True)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`elu` written into its input, which is returned; shapes, dtypes and errors (RuntimeError) as there.

    >>> F.elu_(norch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return elu(input, alpha, inplace=True)


def selu_(input: Tensor) -> Tensor:
    """`selu` written into its input, which is returned; shapes, dtypes and errors (RuntimeError) as there.

    >>> F.selu_(norch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    return selu(input, inplace=True)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`celu` written into its input, which is returned; shapes, dtypes and errors (RuntimeError) as there.

    >>> F.celu_(norch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return celu(input, alpha, inplace=True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`hardtanh` written into its input, which is returned; shapes, dtypes and errors (RuntimeError) as there.

    >>> F.hardtanh_(norch.tensor([-3.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """
    return hardtanh(input, min_val, max_val, inplace=True)


@flags
def rrelu_(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Tensor:
    """`rrelu` written into its input, which is returned; shapes, dtypes and errors (RuntimeError) as there.

    >>> F.rrelu_(norch.tensor([-6.0, 2.0]), 0.0, 0.5)
    tensor([-1.5000,  2.0000])
    """
    return rrelu(input, lower, upper, training, inplace=True)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """`threshold` written into its input, which is returned; shapes, dtypes and errors (RuntimeError) as there.

    >>> F.threshold_(norch.tensor([-1.0, 2.0]), 0.5, 9.0)
    tensor([9., 2.])
    """
    check_tensors("threshold_", input)
    return above(input, threshold, value, inplace=True)
