"""Smooth activation functions and gates, made of a few tensor operations each."""

from __future__ import annotations

from ...arguments import axis_of, flags
from ...autograd.derivatives import activations as kernels
from ...functions.creation import empty_like
from ...functions.out import Out, into
from ...given import warn
from ...tensor import Tensor
from .checks import check_floats, check_tensors

__all__ = ["glu", "gumbel_softmax", "logsigmoid", "mish", "softsign", "tanhshrink"]


def logsigmoid(input: Tensor, *, out: Out = None) -> Tensor:
    """log(sigmoid(x)) = -log(1 + e^(-x)), exact for large x too.

    In the shape and dtype of input, which is floating. Raises RuntimeError for another dtype, TypeError if not a
    tensor.

    >>> F.logsigmoid(norch.tensor([-1000.0, 0.0]))
    tensor([-1.0000e+03, -6.9315e-01])
    """
    check_floats("logsigmoid", input)
    return into(out, kernels.logsigmoid(input.contiguous()), "logsigmoid")


@flags
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x)) (Misra 2019).

    In the shape and dtype of input, which is floating. Raises RuntimeError for another dtype, TypeError if not a
    tensor.

    >>> F.mish(norch.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """
    check_floats("mish", input)
    return kernels.mish(input, inplace=inplace)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """a * sigmoid(b) for the halves a and b of the input along `dim`, whose size is even (Dauphin et al. 2017).

    [..., 2 n, ...] gives [..., n, ...], in the dtype of input, which is floating. Raises RuntimeError for an odd size
    or another dtype, IndexError for a dim out of range.

    >>> F.glu(norch.tensor([1.0, 2.0, 0.0, 100.0]))
    tensor([0.5000, 2.0000])
    """
    check_floats("glu", input)
    if input.ndim == 0:
        raise RuntimeError("glu: input has no dimensions, expected one to halve")
    axis = axis_of(input, dim, "glu")
    if input.shape[axis] % 2:
        raise RuntimeError(f"glu: dimension {axis} has the odd size {input.shape[axis]}, expected halves")
    return kernels.glu(input, axis)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|), in the shape of input; integers become float32. Raises TypeError if not a tensor.

    >>> F.softsign(norch.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """
    check_tensors("softsign", input)
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x), in the shape of input; integers become float32. Raises TypeError if not a tensor.

    >>> F.tanhshrink(norch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2384])
    """
    check_tensors("tanhshrink", input)
    return input - input.tanh()


@flags
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A random sample of the classes along `dim`, of these logits, as numbers that sum to 1 and have a gradient.

    softmax((logits + g) / tau) for noise g of Gumbel's distribution; the smaller `tau`, the nearer to a single 1. With
    `hard` it is a single 1, and the gradient is that of the soft sample (Jang et al. 2016). In the shape and dtype of
    the logits, which is floating. Raises RuntimeError for another dtype, IndexError for a dim out of range.

    >>> F.gumbel_softmax(norch.zeros(2, 3), hard=True).sum(1)
    tensor([1., 1.])
    """
    check_floats("gumbel_softmax", logits)
    if eps != 1e-10:
        warn("gumbel_softmax: `eps` changes nothing and will be removed")
    uniform = empty_like(logits, requires_grad=False).uniform_()
    soft = ((logits - (-uniform.log()).log()) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.detach().argmax(dim, keepdim=True)
    one_hot = soft.detach().zeros_like().scatter(dim, index, 1.0)
    return one_hot - soft.detach() + soft
