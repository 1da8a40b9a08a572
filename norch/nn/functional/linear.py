"""Linear as a function: the product with a weight, plus a bias."""

from __future__ import annotations

from ..._C import ShapeError
from ...autograd.derivatives import linear as kernels
from ...functions.out import into
from ...sparse.coo import SparseTensor
from ...tensor import Tensor
from ...types import float32, float64
from .checks import check_tensors
from .fused import fused_or

__all__ = ["bilinear", "linear"]

_CONVERT = {float32: ".float()", float64: ".double()"}


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """x W^T + b for an input x: rows [..., in] give [..., out] for a weight of [out, in] and a bias of [out].

    A column [..., in, 1] with in > 1, the article's form, gives W x + b of shape [..., out, 1]. A weight of [in] with a
    scalar bias gives [...]. Raises ShapeError if the shapes do not fit, RuntimeError for two dtypes.

    >>> F.linear(norch.tensor([[1.0, 2.0]]), norch.tensor([[3.0, 4.0]]), norch.tensor([0.5]))
    tensor([[11.5000]])
    """
    result = fused_or(kernels.linear, _linear, input, weight, bias)
    return result if out is None else into(out, result, "linear")


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """The same in tensor operations; columns too, and integers."""
    given = (x, weight) if bias is None else (x, weight, bias)
    check_tensors("linear", *(t for t in given if not isinstance(t, SparseTensor)))
    if weight.ndim not in (1, 2):
        raise ShapeError(f"linear: weight has shape {list(weight.shape)}, expected [out, in] or [in]")
    inputs = weight.shape[-1]
    if x.dtype is not weight.dtype:
        convert = _CONVERT.get(weight.dtype, f".to({weight.dtype})")
        raise RuntimeError(f"linear: input is {x.dtype}, the weight {weight.dtype}; {convert} converts the input")
    if x.shape[-1:] == (inputs,):
        product = x @ weight.T
    elif weight.ndim == 2 and inputs > 1 and x.shape[-2:] == (inputs, 1):
        product = weight @ x
        bias = None if bias is None else bias.unsqueeze(-1)
    else:
        column = f" or a column [..., {inputs}, 1]" if weight.ndim == 2 else ""
        raise ShapeError(f"linear: input has shape {list(x.shape)}, expected [..., {inputs}]{column}")
    if bias is None:
        return product
    result = product + bias
    if result.shape != product.shape:
        raise ShapeError(f"linear: bias has shape {list(bias.shape)}, expected {list(weight.shape[:-1])}")
    return result


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1^T W_k x2 + b_k for each output k: [..., in1] and [..., in2] give [..., out] for a weight [out, in1, in2].

    All have one dtype. Raises ShapeError if the shapes do not fit, RuntimeError for two dtypes.

    >>> x = norch.tensor([[1.0, 2.0]])
    >>> F.bilinear(x, x, norch.eye(2).unsqueeze(0), norch.tensor([0.5]))
    tensor([[5.5000]])
    """
    check_tensors("bilinear", input1, input2, weight)
    shapes = f"{list(input1.shape)}, {list(input2.shape)} and a weight {list(weight.shape)}"
    if weight.ndim != 3 or input1.shape[:-1] != input2.shape[:-1]:
        raise ShapeError(f"bilinear: expected [..., in1], [..., in2] and a weight [out, in1, in2], got {shapes}")
    outputs, size1, size2 = weight.shape
    if input1.shape[-1:] != (size1,) or input2.shape[-1:] != (size2,):
        raise ShapeError(f"bilinear: expected [..., {size1}] and [..., {size2}], got {shapes}")
    x = input1.reshape(-1, size1) @ weight.transpose(0, 1).reshape(size1, outputs * size2)
    product = (x.reshape(-1, outputs, size2) @ input2.reshape(-1, size2, 1)).reshape(*input1.shape[:-1], outputs)
    return product if bias is None else product + bias
