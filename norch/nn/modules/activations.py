"""More activation functions as modules; those of the article and their neighbours are in norch/nn/activation.py."""

from __future__ import annotations

from ...arguments import plain_number
from ...functions.creation import full
from ...operation import check_tensor
from ...tensor import Tensor
from ...types import DType
from .. import functional as F
from ..activation import Hardtanh, _InPlace
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "CELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "LogSigmoid",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU6",
    "Softmax2d",
    "Softmin",
    "Softshrink",
    "Softsign",
    "Tanhshrink",
    "Threshold",
]


class ReLU6(Hardtanh):
    """Each element moved into [0, 6]; see `functional.relu6`.

    >>> nn.ReLU6()(norch.tensor([-1.0, 2.0, 9.0]))
    tensor([0., 2., 6.])
    """

    _shown = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class Hardsigmoid(_InPlace):
    """relu6(x + 3) / 6 of each element; see `functional.hardsigmoid`.

    >>> nn.Hardsigmoid()(norch.tensor([-4.0, 0.0]))
    tensor([0.0000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Hardswish(_InPlace):
    """x * relu6(x + 3) / 6 of each element; see `functional.hardswish`.

    >>> nn.Hardswish()(norch.tensor([1.0, 4.0]))
    tensor([0.6667, 4.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


class SELU(_InPlace):
    """1.0507 * elu(x, 1.6733) of each element; see `functional.selu`.

    >>> nn.SELU()(norch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class Mish(_InPlace):
    """x * tanh(softplus(x)) of each element; see `functional.mish`.

    >>> nn.Mish()(norch.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class CELU(_InPlace):
    """x where x > 0, alpha * (e^(x / alpha) - 1) elsewhere; see `functional.celu`.

    >>> nn.CELU(2.0)(norch.tensor([-1.0, 2.0]))
    tensor([-0.7869,  2.0000])
    """

    _shown = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class PReLU(Module):
    """x where x > 0, weight * x elsewhere, for a learnt weight [num_parameters]; see `functional.prelu`.

    >>> nn.PReLU()(norch.tensor([-1.0, 2.0])).detach()
    tensor([-0.2500,  2.0000])
    """

    _shown = ("num_parameters",)

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: str | int | None = None, dtype: DType | None = None
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(
            full([num_parameters], float(plain_number(init, "PReLU: init")), dtype=dtype, device=device)
        )

    def reset_parameters(self) -> None:
        """Set the weight to its first value."""
        self.weight.detach().fill_(self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)


class RReLU(_InPlace):
    """x where x > 0, slope * x elsewhere, with a random slope while training; see `functional.rrelu`.

    >>> nn.RReLU(0.0, 0.5).eval()(norch.tensor([-6.0, 2.0]))
    tensor([-1.5000,  2.0000])
    """

    _shown = ("lower", "upper")

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower, self.upper = lower, upper

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Threshold(_InPlace):
    """x where x > threshold, `value` elsewhere; see `functional.threshold`.

    >>> nn.Threshold(0.5, 9.0)(norch.tensor([-1.0, 2.0]))
    tensor([9., 2.])
    """

    _shown = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold, self.value = threshold, value

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


class Hardshrink(Module):
    """x where |x| > lambd, 0 elsewhere; see `functional.hardshrink`.

    >>> nn.Hardshrink()(norch.tensor([-0.3, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softshrink(Module):
    """x moved towards 0 by lambd, and 0 where |x| <= lambd; see `functional.softshrink`.

    >>> nn.Softshrink()(norch.tensor([0.3, 2.0]))
    tensor([0.0000, 1.5000])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Tanhshrink(Module):
    """x - tanh(x) of each element; see `functional.tanhshrink`.

    >>> nn.Tanhshrink()(norch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class Softsign(Module):
    """x / (1 + |x|) of each element; see `functional.softsign`.

    >>> nn.Softsign()(norch.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class LogSigmoid(Module):
    """log(sigmoid(x)) of each element; see `functional.logsigmoid`.

    >>> nn.LogSigmoid()(norch.tensor([-1000.0, 0.0]))
    tensor([-1.0000e+03, -6.9315e-01])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class GLU(Module):
    """a * sigmoid(b) for the halves a and b of the input along `dim`; see `functional.glu`.

    >>> nn.GLU()(norch.tensor([1.0, 2.0, 0.0, 100.0]))
    tensor([0.5000, 2.0000])
    """

    _shown = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)


class Softmin(Module):
    """softmax(-x) along `dim`; see `functional.softmin`.

    >>> nn.Softmin(dim=1)(norch.tensor([[0.0, 100.0]]))
    tensor([[1.0000e+00, 3.7835e-44]])
    """

    _shown = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class Softmax2d(Module):
    """softmax over the channels of [N, C, height, width] or [C, height, width].

    In the shape and dtype of the input, which is floating. Raises ValueError for other dimensions.

    >>> nn.Softmax2d()(norch.zeros(2, 1, 1))
    tensor([[[0.5000]],
    <BLANKLINE>
            [[0.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        if check_tensor(input, "Softmax2d").ndim not in (3, 4):
            raise ValueError(f"Softmax2d: input has shape {list(input.shape)}, expected 3 or 4 dimensions")
        return input.softmax(-3)
