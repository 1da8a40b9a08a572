"""Activation functions that PyTorch has as methods of Tensor too."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING

from .._C import ShapeError
from ..autograd.derivatives import activations as kernels
from ..functions.promotion import fitting
from ..operation import check_floating, check_tensor
from ..types import bool_

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class ActivationMethods:
    """The activation functions among the methods; the others are in nn/functional/."""

    def prelu(self: Tensor, weight: Tensor) -> Tensor:
        """x where x > 0, weight * x elsewhere; a weight [1], or [C] for each channel of x [N, C, ...].

        In the shape of x; both have one floating dtype. Raises ShapeError for other shapes, RuntimeError for other
        dtypes.

        >>> norch.tensor([[-1.0, 2.0]]).prelu(norch.tensor([0.1, 0.2]))
        tensor([[-0.1000,  2.0000]])
        """
        check_floating(self, "prelu")
        if check_tensor(weight, "prelu").dtype is not self.dtype:
            raise RuntimeError(f"prelu: expected a weight of dtype {self.dtype}, got {weight.dtype}")
        channels = self.shape[1] if self.ndim > 1 else 1
        if weight.numel not in (1, channels) or weight.ndim > 1:
            raise ShapeError(
                f"prelu: weight has shape {list(weight.shape)}, expected [1] or [{channels}] for {list(self.shape)}"
            )
        if self.ndim == 0:
            weight = weight.reshape([])
        elif channels > 1 and self.ndim > 2 and weight.numel > 1:
            weight = weight.reshape([-1] + [1] * (self.ndim - 2))
        return kernels.prelu(self, weight)

    def hardshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
        """x where |x| > lambd, 0 elsewhere; in the shape and dtype of x. Raises RuntimeError if it is not floating.

        >>> norch.tensor([-0.3, 2.0]).hardshrink()
        tensor([0., 2.])
        """
        check_floating(self, "hardshrink")
        return kernels.hardshrink(self, lambd)

    def threshold(self: Tensor, threshold: float, value: float) -> Tensor:
        """x where x > threshold, `value` elsewhere; in the shape and dtype of x. Raises RuntimeError for bool.

        >>> norch.tensor([-1.0, 2.0]).threshold(0.5, 9.0)
        tensor([9., 2.])
        """
        return above(self, threshold, value)


def above(x: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where x > threshold, `value` elsewhere; `inplace` writes it into x."""
    kind = x.dtype
    if kind is bool_:
        raise RuntimeError("threshold: expected numbers, got norch.bool")
    limit, filling = fitting(threshold, kind, "threshold"), fitting(value, kind, "threshold")
    return kernels.threshold(x, limit, filling, inplace=inplace)
