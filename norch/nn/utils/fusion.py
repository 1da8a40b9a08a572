"""A layer and the BatchNorm after it as one layer, and layers that start without initial values."""

from __future__ import annotations

import copy
import functools
from typing import Any, Callable, TypeVar

from ...arguments import flags
from ...operation import check_kind, check_tensor
from ...tensor import Tensor
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "skip_init",
]

M = TypeVar("M", bound=Module)


@flags
def fuse_conv_bn_eval(conv: M, bn: Module, transpose: bool = False) -> M:
    """A convolution that computes what `conv` and then `bn`, both in eval mode, compute.

    `transpose` is for transposed convolutions. Raises RuntimeError if one of them is training.

    >>> conv, bn = nn.Conv1d(1, 2, 3).eval(), nn.BatchNorm1d(2).eval()
    >>> x = norch.ones(1, 1, 5)
    >>> (nn.utils.fuse_conv_bn_eval(conv, bn)(x) - bn(conv(x))).abs().max() < 1e-6
    tensor(True)
    """
    return _fused(conv, bn, functools.partial(fuse_conv_bn_weights, transpose=transpose))


def fuse_linear_bn_eval(linear: M, bn: Module) -> M:
    """A Linear that computes what `linear` and then `bn`, both in eval mode, compute.

    Raises RuntimeError if one of them is training.

    >>> linear, bn = nn.Linear(2, 3).eval(), nn.BatchNorm1d(3).eval()
    >>> (nn.utils.fuse_linear_bn_eval(linear, bn)(norch.ones(1, 2)) - bn(linear(norch.ones(1, 2)))).abs().max() < 1e-5
    tensor(True)
    """
    return _fused(linear, bn, fuse_linear_bn_weights)


def _fused(layer: M, bn: Any, fuse: Callable[..., tuple[Parameter, Parameter]]) -> M:
    if check_kind(layer, Module, "fusing").training or check_kind(bn, Module, "fusing").training:
        raise RuntimeError("fusing a layer with a BatchNorm is for eval mode, one of them is training")
    fused: Any = copy.deepcopy(layer)
    weight, bias = fuse(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    fused.weight, fused.bias = weight, bias
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """The weight and bias of a convolution times the scale of a BatchNorm, plus its shift.

    >>> one = norch.ones(1)
    >>> weight, bias = nn.utils.fuse_conv_bn_weights(norch.ones(1, 1, 1), None, one, one * 3.0, 1.0, None, None)
    >>> weight.item(), bias.item()
    (0.5, -0.5)
    """
    for part in (conv_w, bn_rm, bn_rv):
        check_tensor(part, "fusing weights")
    shift = bn_rm.zeros_like() if bn_b is None else bn_b
    scale = (bn_rv + bn_eps).rsqrt() * (1.0 if bn_w is None else bn_w)
    shape = [1] * conv_w.ndim
    shape[1 if transpose else 0] = -1
    bias = (bn_rm.zeros_like() if conv_b is None else conv_b) - bn_rm
    requires = conv_w.requires_grad
    return (
        Parameter((conv_w * scale.reshape(shape)).detach(), requires),
        Parameter((bias * scale + shift).detach(), requires if conv_b is None else conv_b.requires_grad),
    )


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """The weight and bias of a Linear times the scale of a BatchNorm, plus its shift.

    >>> one = norch.ones(1)
    >>> weight, bias = nn.utils.fuse_linear_bn_weights(norch.ones(1, 1), one, one, one * 3.0, 1.0, one, one)
    >>> weight.item(), bias.item()
    (0.5, 1.0)
    """
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def skip_init(module_cls: type[M], *args: Any, **kwargs: Any) -> M:
    """A module of the class, whose initial values nobody should rely on; here they are its usual ones.

    >>> nn.utils.skip_init(nn.Linear, 2, 3).weight.shape
    norch.Size([3, 2])
    """
    return module_cls(*args, **kwargs)
