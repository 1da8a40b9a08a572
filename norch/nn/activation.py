"""Activation functions as modules."""

from __future__ import annotations

from . import functional as F
from .module import Module


class Sigmoid(Module):
    """1 / (1 + e^(-x)) of each element; the article's formula, computed in one pass."""

    def forward(self, x):
        return F.sigmoid(x)


class Tanh(Module):
    """Hyperbolic tangent of each element."""

    def forward(self, x):
        return F.tanh(x)


class ReLU(Module):
    """max(x, 0) of each element; with `inplace` the input itself is changed."""

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace

    def forward(self, x):
        return F.relu(x, self.inplace)

    def inner_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Softmax(Module):
    """e^x / sum(e^x) along `dim`: positive, and of sum 1."""

    def __init__(self, dim: int | None = None):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return F.softmax(x, self.dim)

    def inner_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(Softmax):
    """log(softmax(x)) along `dim`, finite where softmax itself would round to 0."""

    def forward(self, x):
        return F.log_softmax(x, self.dim)
