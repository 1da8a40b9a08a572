"""Initial values, written into a tensor in place; each function returns that tensor.

Random numbers come from `generator`, or from norch's own, which `norch.manual_seed` seeds. The formulas are, for
xavier, from Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks" (2010); for
kaiming, from He et al., "Delving deep into rectifiers" (2015).
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Callable

from ..autograd import no_grad
from ..functions import creation
from ..functions.creation import empty
from ..functions.generator import Generator, was_seeded
from ..given import given, warn
from ..linalg import qr
from ..operation import check_tensor
from ..tensor import Tensor
from ..types import float64, shown
from ..utils import utils

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw each element evenly from [a, b), into a tensor of any shape and floating dtype.

    Raises RuntimeError if a > b, and for another dtype.

    >>> x = nn.init.uniform_(norch.empty(100), -1.0, 1.0)
    >>> x.abs().max() <= 1
    tensor(True)
    """
    if a > b:
        raise RuntimeError(f"uniform_: a is {a} and b is {b}, expected a <= b")
    with no_grad():
        return _floating("uniform_", tensor).uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw each element from the normal distribution, into a tensor of any shape and floating dtype.

    Raises RuntimeError for a negative std, and for another dtype.

    >>> nn.init.normal_(norch.empty(2), mean=5.0, std=0.0)
    tensor([5., 5.])
    """
    if std < 0:
        raise RuntimeError(f"normal_: std is {std}, expected at least 0")
    with no_grad():
        return _floating("normal_", tensor).normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Draw each element from the normal distribution cut off outside [a, b], into a tensor of a floating dtype.

    Warns if the mean is more than two std outside [a, b]. Raises RuntimeError for another dtype.

    >>> x = nn.init.trunc_normal_(norch.empty(100), std=5.0)
    >>> x.abs().max() <= 2
    tensor(True)
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warn("trunc_normal_: the mean is more than two std from [a, b]; few draws fall there")
    low, high = (0.5 * math.erfc(-(bound - mean) / (std * math.sqrt(2))) for bound in (a, b))
    with no_grad():
        _floating("trunc_normal_", tensor).uniform_(2 * low - 1, 2 * high - 1, generator=generator)
        return tensor.erfinv_().mul_(std * math.sqrt(2)).add_(mean).clamp_(a, b)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Make the rows of a matrix [n, m, ...] (its columns if there are fewer), flattened to [n, -1], orthonormal.

    They are drawn evenly from all such matrices, and multiplied by `gain` (Saxe et al. 2013). Raises ValueError for
    fewer than two dimensions, RuntimeError if the dtype is not floating.

    >>> x = nn.init.orthogonal_(norch.empty(2, 5))
    >>> (x @ x.T - norch.eye(2)).abs().max() < 1e-5
    tensor(True)
    """
    if check_tensor(tensor, "orthogonal_").ndim < 2:
        raise ValueError(f"orthogonal_: tensor has shape {list(tensor.shape)}, expected at least two dimensions")
    if not _floating("orthogonal_", tensor).numel:
        return tensor
    with no_grad():
        drawn = empty(tensor.shape[0], tensor.numel // tensor.shape[0], dtype=float64, device=tensor.device)
        drawn.normal_(generator=generator)
        wide = drawn.shape[0] < drawn.shape[1]
        columns, upper = qr(drawn.T if wide else drawn)
        columns = columns * upper.diagonal().sign()  # evenly: reflections would prefer negative ones
        return tensor.copy_(((columns.T if wide else columns) * gain).reshape(tensor.shape))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Draw a matrix [n, m] from the normal distribution, then set that share of each column, at random, to 0.

    (Martens 2010.) Raises ValueError for other dimensions than two, RuntimeError if the dtype is not floating.

    >>> (nn.init.sparse_(norch.empty(10, 3), 0.2) == 0).sum(0)
    tensor([2, 2, 2])
    """
    if check_tensor(tensor, "sparse_").ndim != 2:
        raise ValueError(f"sparse_: tensor has shape {list(tensor.shape)}, expected two dimensions")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        normal_(tensor, 0.0, std, generator=generator)
        order = empty(rows, columns, dtype=float64, device=tensor.device).uniform_(generator=generator).argsort(0)
        return tensor.scatter_(0, order[:zeros], 0.0)


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Make a weight [out, in, ...] of a convolution keep its input: 1 in the middle of the kernel from i to i, else 0.

    Of any dtype; with `groups` in each group of outputs. Raises ValueError for other dimensions than 3, 4 or 5, and if
    groups do not divide the outputs.

    >>> nn.init.dirac_(norch.empty(2, 2, 3))
    tensor([[[0., 1., 0.],
             [0., 0., 0.]],
    <BLANKLINE>
            [[0., 0., 0.],
             [0., 1., 0.]]])
    """
    if check_tensor(tensor, "dirac_").ndim not in (3, 4, 5):
        raise ValueError(f"dirac_: tensor has shape {list(tensor.shape)}, expected 3, 4 or 5 dimensions")
    outputs, inputs = tensor.shape[:2]
    if outputs % groups:
        raise ValueError(f"dirac_: {outputs} outputs are not a multiple of {groups} groups")
    each = outputs // groups
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for i in range(min(each, inputs)):
                middle = group * each + i, i, *(size // 2 for size in tensor.shape[2:])
                tensor[middle] = 1
    return tensor


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
    if check_tensor(tensor, "eye_").ndim != 2:
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
            raise ValueError(f"calculate_gain: negative slope is {shown(param)}, expected a number")
        return math.sqrt(2 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(
            f"calculate_gain: given {shown(nonlinearity)}, expected leaky_relu or one of {', '.join(_GAINS)}"
        )
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
    if check_tensor(tensor, "fan in and fan out").ndim < 2:
        raise ValueError(f"fan in and fan out need a tensor of at least 2 dimensions, given {list(tensor.shape)}")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """The one of them that `mode` names, "fan_in" or "fan_out"."""
    fans = dict(zip(("fan_in", "fan_out"), _calculate_fan_in_and_fan_out(tensor)))
    if mode not in fans:
        raise ValueError(f"kaiming: mode is {shown(mode)}, expected 'fan_in' or 'fan_out'")
    return fans[mode]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw from [-a, a] evenly, a = gain * sqrt(6 / (fan_in + fan_out)), into a weight [out, in, ...].

    Its dtype is floating. Raises ValueError for fewer than two dimensions.

    >>> x = nn.init.xavier_uniform_(norch.empty(3, 3))
    >>> x.abs().max() <= 1  # sqrt(6 / (3 + 3))
    tensor(True)
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw from the normal distribution of std gain * sqrt(2 / (fan_in + fan_out)) into a weight [out, in, ...].

    Its dtype is floating. Raises ValueError for fewer than two dimensions.

    >>> nn.init.xavier_normal_(norch.empty(3, 4)).shape
    norch.Size([3, 4])
    """
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Draw from [-b, b] evenly, b = gain * sqrt(3 / fan), into a weight [out, in, ...] of a floating dtype.

    `a` is the slope of leaky_relu, `mode` fan_in or fan_out. Raises ValueError for fewer than two dimensions.

    >>> x = nn.init.kaiming_uniform_(norch.empty(3, 6))
    >>> x.abs().max() <= 1  # gain sqrt(2), sqrt(3 / 6)
    tensor(True)
    """
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Draw from the normal distribution of std gain / sqrt(fan) into a weight [out, in, ...] of a floating dtype.

    `a` is the slope of leaky_relu, `mode` fan_in or fan_out. Raises ValueError for fewer than two dimensions.

    >>> nn.init.kaiming_normal_(norch.empty(3, 4)).shape
    norch.Size([3, 4])
    """
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return gain * math.sqrt(2.0 / max(1, fan_in + fan_out))


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if check_tensor(tensor, "kaiming").numel() == 0:
        warn("Initializing zero-element tensors is a no-op")
        return 0.0
    return calculate_gain(nonlinearity, a) / math.sqrt(max(1, _calculate_correct_fan(tensor, mode)))


def _floating(name: str, tensor: Tensor) -> Tensor:
    """The tensor itself, if it is one of a floating dtype."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} was given {given(tensor)}, expected a Tensor")
    if not tensor.dtype.is_floating_point:
        raise RuntimeError(f"{name}: tensor has dtype {tensor.dtype}, expected a floating dtype")
    return tensor


def draw_linear(tensor: Tensor, inputs: int) -> Tensor:
    """Draw the weight or bias of a linear layer: from [-1, 1] for up to ten inputs, from ±1 / sqrt(inputs) beyond.

    The first is the article's rule, with numbers from Python's `random` until `norch.manual_seed` is called; the second
    is PyTorch's, because the sums of wide layers would grow with their width. (Chapter 14 of the tutorial shows it.)
    """
    if inputs > 10:
        bound = 1 / math.sqrt(inputs)
        return uniform_(tensor, -bound, bound)
    return uniform_(tensor, -1.0, 1.0) if was_seeded() else utils.draw_uniform(tensor)


_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_  # PyTorch's names
_no_grad_fill_, _no_grad_zero_ = constant_, zeros_


def _deprecated(new: Any) -> Callable[..., Tensor]:
    """The function under its old name, without the underscore, with a warning."""
    old = new.__name__[:-1]

    @functools.wraps(new)
    def call(*args: object, **kwargs: object) -> Tensor:
        message = f"nn.init.{old} is now deprecated in favor of nn.init.{old}_."
        warn(message, FutureWarning)
        return new(*args, **kwargs)

    call.__name__ = call.__qualname__ = old
    return call


uniform, normal, constant, eye = (_deprecated(new) for new in (uniform_, normal_, constant_, eye_))
xavier_uniform, xavier_normal = _deprecated(xavier_uniform_), _deprecated(xavier_normal_)
kaiming_uniform, kaiming_normal = _deprecated(kaiming_uniform_), _deprecated(kaiming_normal_)
orthogonal, sparse, dirac = _deprecated(orthogonal_), _deprecated(sparse_), _deprecated(dirac_)

if not TYPE_CHECKING:  # (a checker knows what is missing)
    from ..missing import missing as _missing

    __getattr__ = _missing("nn.init")
