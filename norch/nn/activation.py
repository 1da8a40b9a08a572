"""Activation functions as modules."""

from __future__ import annotations

from ..given import warn
from ..tensor import Tensor
from . import functional as F
from .module import Module

__all__ = [
    "ELU",
    "GELU",
    "Hardtanh",
    "LeakyReLU",
    "LogSoftmax",
    "ReLU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
]


class _InPlace(Module):
    """An activation that may be written into its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return ", ".join(filter(None, [super().extra_repr(), "inplace=True" if self.inplace else ""]))


class Sigmoid(Module):
    """1 / (1 + e^(-x)) of each element, the article's formula; shapes, dtypes and errors as for `functional.sigmoid`.

    >>> nn.Sigmoid()(norch.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class Tanh(Module):
    """Hyperbolic tangent of each element; shapes, dtypes and errors as for `functional.tanh`.

    >>> nn.Tanh()(norch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class ReLU(_InPlace):
    """max(x, 0) of each element; with `inplace` the input itself is changed. See `functional.relu`.

    >>> nn.ReLU()(norch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class LeakyReLU(_InPlace):
    """x where x > 0, negative_slope * x elsewhere, element by element; see `functional.leaky_relu`.

    >>> nn.LeakyReLU(0.1)(norch.tensor([-1.0, 2.0]))
    tensor([-0.1000,  2.0000])
    """

    _shown = ("negative_slope",)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class ELU(_InPlace):
    """x where x > 0, alpha * (e^x - 1) elsewhere, element by element; see `functional.elu`.

    >>> nn.ELU()(norch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    _shown = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class GELU(Module):
    """x * P(Z <= x) for a normal Z; approximate="tanh" approximates P; see `functional.gelu`.

    >>> nn.GELU()(norch.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """

    _shown = ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, self.approximate)


class SiLU(_InPlace):
    """x * sigmoid(x) of each element; see `functional.silu`.

    >>> nn.SiLU()(norch.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Softplus(Module):
    """log(1 + e^(beta x)) / beta of each element, x itself where beta * x > threshold; see `functional.softplus`.

    >>> nn.Softplus()(norch.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """

    _shown = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class Hardtanh(_InPlace):
    """Each element moved into [min_val, max_val]; see `functional.hardtanh`.

    Raises ValueError if min_val > max_val.

    >>> nn.Hardtanh()(norch.tensor([-3.0, 0.5, 3.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """

    _shown: tuple[str, ...] = ("min_val", "max_val")

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        for name, value in (("min_value", min_value), ("max_value", max_value)):
            if value is not None:
                message = f"keyword argument `{name}` is deprecated and renamed to `{name[:-2]}`"
                warn(message, FutureWarning)
        min_val = min_val if min_value is None else min_value
        max_val = max_val if max_value is None else max_value
        if min_val > max_val:
            raise ValueError(f"Hardtanh: min_val is {min_val}, max_val is {max_val}, expected min_val <= max_val")
        self.min_val, self.max_val = min_val, max_val

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class Softmax(Module):
    """e^x / sum(e^x) along `dim`: positive, with sum 1; see `functional.softmax`.

    >>> nn.Softmax(dim=1)(norch.zeros(1, 2))
    tensor([[0.5000, 0.5000]])
    """

    _shown = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class LogSoftmax(Module):
    """log(softmax(x)) along `dim`, finite where softmax would round to 0; see `functional.log_softmax`.

    >>> nn.LogSoftmax(dim=1)(norch.zeros(1, 2))
    tensor([[-0.6931, -0.6931]])
    """

    _shown = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)
