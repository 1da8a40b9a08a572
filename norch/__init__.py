"""norch: the deep-learning framework of "Recreating PyTorch from scratch", made real.

import norch

x = norch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
(x ** 2).sum().backward()
print(x.grad)
"""

from __future__ import annotations

from . import __config__, autograd
from ._C import ShapeError

from .tensor import CTensor, Tensor  # isort: skip  (before the function norch.tensor, which has the module's name)
from .autograd import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .display.explain import explain
from .display.formatting import set_printoptions
from .display.graph import Drawing, draw_graph
from .functions.creation import (
    arange,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    tensor,
    where,
    zeros,
    zeros_like,
)
from .functions.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .functions.joining import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_tensors,
    cat,
    column_stack,
    concat,
    concatenate,
    dstack,
    hstack,
    meshgrid,
    row_stack,
    stack,
    vstack,
)
from .functions.of_methods import *  # noqa: F401,F403  (a function for each method: norch.exp(x) is x.exp())
from .functions.promotion import can_cast, finfo, get_default_dtype, iinfo, promote_types, result_type
from .functions.random import (
    bernoulli,
    multinomial,
    normal,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
)
from .functions.serialization import load, save
from .memory import device, empty_cache, memory_allocated, memory_reserved
from .methods.dlpack import from_dlpack
from .methods.interop import as_tensor, from_numpy, frombuffer
from .methods.storage import Storage
from .threads import get_num_threads, set_num_threads
from .types import Size, dtype, float32, float64, int32, int64, layout, strided, uint8
from .types import bool_ as bool  # noqa: A004  (norch.bool, as in PyTorch)

float = float32  # noqa: A001
double = float64
int = int32  # noqa: A001
long = int64

from . import cuda, nn, optim, utils  # noqa: E402  (they use the names above)

__version__ = "0.1.0"

_INTERNAL = {
    "arguments",
    "display",
    "docstrings",
    "functions",
    "memory",
    "methods",
    "operation",
    "packing",
    "threads",
    "types",
}
__all__ = sorted(name for name in globals() if not name.startswith("_") and name not in {*_INTERNAL, "annotations"})


def __dir__() -> list[str]:
    return [*__all__, "__config__", "__doc__", "__version__"]
