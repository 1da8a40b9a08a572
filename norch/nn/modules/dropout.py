"""Dropout: while training, random elements or whole channels become 0."""

from __future__ import annotations

from ...tensor import Tensor
from .. import functional as F
from ..functional.checks import check_probability
from ..module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    """What the dropouts share."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = check_probability(p), inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """While training, each element becomes 0 with probability `p`, or else is divided by 1 - p.

    See `functional.dropout` for dtypes and errors.

    >>> nn.Dropout(0.5).eval()(norch.ones(3))
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Dropout of whole channels of [N, C, length] or [C, length]; see `functional.dropout1d`.

    >>> nn.Dropout1d(0.5).eval()(norch.ones(1, 1, 2))
    tensor([[[1., 1.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Dropout of whole channels of [N, C, height, width]; see `functional.dropout2d`.

    >>> nn.Dropout2d(0.5).eval()(norch.ones(1, 1, 1, 2))
    tensor([[[[1., 1.]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Dropout of whole channels of [N, C, depth, height, width] or without N; see `functional.dropout3d`.

    >>> nn.Dropout3d(0.5).eval()(norch.ones(1, 1, 1, 1, 2))
    tensor([[[[[1., 1.]]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance, for use with SELU; see `functional.alpha_dropout`.

    >>> nn.AlphaDropout(0.5).eval()(norch.ones(3))
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels of [N, C, ...]; see `functional.feature_alpha_dropout`.

    >>> nn.FeatureAlphaDropout(0.5).eval()(norch.ones(1, 1, 2))
    tensor([[[1., 1.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)
