"""norch: the deep-learning framework of "Recreating PyTorch from scratch", made real.

    import norch

    x = norch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (x ** 2).sum().backward()
    print(x.grad)
"""

from __future__ import annotations

from . import _C, autograd
from ._C import ShapeError
from .autograd import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .creation import (
    arange,
    cat,
    concat,
    concatenate,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    stack,
    tensor,
    where,
    zeros,
    zeros_like,
)
from .formatting import set_printoptions
from .functional import *  # noqa: F401,F403  (a function for each method: norch.exp(x) is x.exp())
from .tensor import CTensor, Tensor
from .types import Size, dtype, float32, float64, int32, int64, uint8
from .types import bool_ as bool  # noqa: A004  (norch.bool, as in PyTorch)

float = float32  # noqa: A001
double = float64
int = int32  # noqa: A001
long = int64

from . import cuda, nn, optim  # noqa: E402  (they use the names above)

__version__ = "0.1.0"


def memory_allocated(device: str = "cpu") -> int:
    """How many bytes of element data norch holds on a device."""
    return _C.lib.memory_allocated(_C.device_number(device))
