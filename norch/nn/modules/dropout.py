"""Dropout: while training, random elements or whole channels become 0."""

from __future__ import annotations

from ...tensor import Tensor
from .. import functional as F
from ..functional.checks import check_probability
from ..module import Module

__all__ = ["Dropout", "Dropout1d", "Dropout2d"]


class Dropout(Module):
    """While training, each element becomes 0 with probability `p`, or else is divided by 1 - p.

    See `functional.dropout` for dtypes and errors.

    >>> nn.Dropout(0.5).eval()(norch.ones(3))
    tensor([1., 1., 1.])
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = check_probability(p), inplace

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.p, self.training, self.inplace)

    def inner_repr(self) -> str:
        return f"p={self.p}" + (", inplace=True" if self.inplace else "")


class Dropout1d(Dropout):
    """Dropout of whole channels of [N, C, length] or [C, length]; see `functional.dropout1d`.

    >>> nn.Dropout1d(0.5).eval()(norch.ones(1, 1, 2))
    tensor([[[1., 1.]]])
    """

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout1d(x, self.p, self.training, self.inplace)


class Dropout2d(Dropout):
    """Dropout of whole channels of [N, C, height, width] or [C, height, width]; see `functional.dropout2d`.

    >>> nn.Dropout2d(0.5).eval()(norch.ones(1, 1, 1, 2))
    tensor([[[[1., 1.]]]])
    """

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout2d(x, self.p, self.training, self.inplace)
