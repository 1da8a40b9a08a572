"""Linear as a function: the product with a weight, plus a bias."""

from __future__ import annotations

from ..._C import ShapeError
from ...autograd.derivatives import linear as kernels
from ...tensor import Tensor
from .checks import check_tensors
from .fused import fused_or

__all__ = ["linear"]


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W^T + b: rows [..., in] give [..., out] for a weight of [out, in] and a bias of [out].

    A column [..., in, 1] with in > 1, the article's form, gives W x + b of shape [..., out, 1].
    All have one dtype. Raises ShapeError if the shapes do not fit, RuntimeError for two dtypes.

    >>> F.linear(norch.tensor([[1.0, 2.0]]), norch.tensor([[3.0, 4.0]]), norch.tensor([0.5]))
    tensor([[11.5000]])
    """
    return fused_or(kernels.linear, _linear, x, weight, bias)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """The same in tensor operations; columns too, and integers."""
    check_tensors("linear", x, weight)
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
