"""Initial values, written into a tensor in place; each function returns that tensor.

Random numbers come from Python's `random`, so `random.seed` governs them. The formulas are, for xavier, from Glorot and
Bengio, "Understanding the difficulty of training deep feedforward neural networks" (2010); for kaiming, from He et al.,
"Delving deep into rectifiers" (2015).
"""

from __future__ import annotations

import math

from ..autograd import no_grad
from ..functions import creation
from ..operation import check_tensor
from ..tensor import Tensor
from ..utils import utils

__all__ = [
    "calculate_gain",
    "constant_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Draw each element from `random.uniform(a, b)`, in row order, into a tensor of any shape and floating dtype.

    Raises ValueError if a > b, TypeError for another dtype.

    >>> x = nn.init.uniform_(norch.empty(100), -1.0, 1.0)
    >>> x.abs().max() <= 1
    tensor([True])
    """
    if a > b:
        raise ValueError(f"uniform_: a is {a} and b is {b}, expected a <= b")
    return _write(tensor, utils.uniform_numbers(_floating("uniform_", tensor).numel, a, b))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Draw each element from `random.gauss(mean, std)`, in row order, into a tensor of any shape and floating dtype.

    Raises ValueError for a negative std, TypeError for another dtype.

    >>> nn.init.normal_(norch.empty(2), mean=5.0, std=0.0)
    tensor([5., 5.])
    """
    if std < 0:
        raise ValueError(f"normal_: std is {std}, expected at least 0")
    return _write(tensor, utils.normal_numbers(_floating("normal_", tensor).numel, mean, std))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Set each element to `val`, in a tensor of any shape and dtype. Raises TypeError if it is not a tensor.

    >>> nn.init.constant_(norch.empty(2), 7.0)
    tensor([7., 7.])
    """
    with no_grad():
        return check_tensor(tensor, "constant_").fill_(val)


def zeros_(tensor: Tensor) -> Tensor:
    """Set each element to 0, in a tensor of any shape and dtype. Raises TypeError if it is not a tensor.

    >>> nn.init.zeros_(norch.empty(2))
    tensor([0., 0.])
    """
    return constant_(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Set each element to 1, in a tensor of any shape and dtype. Raises TypeError if it is not a tensor.

    >>> nn.init.ones_(norch.empty(2))
    tensor([1., 1.])
    """
    return constant_(tensor, 1)


def eye_(tensor: Tensor) -> Tensor:
    """Set a matrix [n, m] of any dtype to 1 on its diagonal and 0 elsewhere. Raises ValueError for other dimensions.

    >>> nn.init.eye_(norch.empty(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.ndim != 2:
        raise ValueError(f"eye_: tensor has shape {list(tensor.shape)}, expected two dimensions")
    rows, columns = tensor.shape
    with no_grad():
        return tensor.copy_(creation.eye(rows, columns, dtype=tensor.dtype, device=tensor.device))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps a signal's variance through a nonlinearity; `param` is the slope of leaky_relu.

    Raises ValueError for an unknown nonlinearity.

    >>> nn.init.calculate_gain("relu")
    1.4142135623730951
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"calculate_gain: negative slope is {param!r}, expected a number")
        return math.sqrt(2 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"calculate_gain: given {nonlinearity!r}, expected leaky_relu or one of {', '.join(_GAINS)}")
    return _GAINS[nonlinearity]


_GAINS = {
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "conv_transpose1d": 1.0,
    "conv_transpose2d": 1.0,
    "conv_transpose3d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
    "selu": 3 / 4,
}


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs each output sums over, and how many outputs each input feeds, for a weight [out, in, ...]."""
    if tensor.ndim < 2:
        raise ValueError(f"fan in and fan out need a tensor of at least 2 dimensions, given {list(tensor.shape)}")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Draw from [-a, a] evenly, a = gain * sqrt(6 / (fan_in + fan_out)), into a weight [out, in, ...].

    Its dtype is floating. Raises ValueError for fewer than two dimensions.

    >>> x = nn.init.xavier_uniform_(norch.empty(3, 3))
    >>> x.abs().max() <= 1  # sqrt(6 / (3 + 3))
    tensor([True])
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Draw from the normal distribution of std gain * sqrt(2 / (fan_in + fan_out)) into a weight [out, in, ...].

    Its dtype is floating. Raises ValueError for fewer than two dimensions.

    >>> nn.init.xavier_normal_(norch.empty(3, 4)).shape
    norch.Size([3, 4])
    """
    return normal_(tensor, 0.0, _xavier_std(tensor, gain))


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """Draw from [-b, b] evenly, b = gain * sqrt(3 / fan), into a weight [out, in, ...] of a floating dtype.

    `a` is the slope of leaky_relu, `mode` fan_in or fan_out. Raises ValueError for fewer than two dimensions.

    >>> x = nn.init.kaiming_uniform_(norch.empty(3, 6))
    >>> x.abs().max() <= 1  # gain sqrt(2), sqrt(3 / 6)
    tensor([True])
    """
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """Draw from the normal distribution of std gain / sqrt(fan) into a weight [out, in, ...] of a floating dtype.

    `a` is the slope of leaky_relu, `mode` fan_in or fan_out. Raises ValueError for fewer than two dimensions.

    >>> nn.init.kaiming_normal_(norch.empty(3, 4)).shape
    norch.Size([3, 4])
    """
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity))


def _xavier_std(tensor: Tensor, gain: float) -> float:
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return gain * math.sqrt(2.0 / max(1, fan_in + fan_out))


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fans = dict(zip(("fan_in", "fan_out"), _calculate_fan_in_and_fan_out(tensor)))
    if mode not in fans:
        raise ValueError(f"kaiming: mode is {mode!r}, expected 'fan_in' or 'fan_out'")
    return calculate_gain(nonlinearity, a) / math.sqrt(max(1, fans[mode]))


def _floating(name: str, tensor: Tensor) -> Tensor:
    """The tensor itself, if it is one of a floating dtype."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} was given a {type(tensor).__name__}, expected a Tensor")
    if not tensor.dtype.is_floating_point:
        raise TypeError(f"{name}: tensor has dtype {tensor.dtype}, expected a floating dtype")
    return tensor


def _write(tensor: Tensor, numbers: list[float]) -> Tensor:
    values = creation.tensor(numbers, dtype=tensor.dtype).reshape(tensor.shape)
    with no_grad():
        return tensor.copy_(values.to(tensor.device))
