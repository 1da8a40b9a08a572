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
from .functions import of_methods
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

# The public API: these names, and a function for each method. The other names here are modules that norch is made of.
# fmt: off
__all__ = [
    "CTensor", "Drawing", "Generator", "ShapeError", "Size", "Storage", "Tensor", "arange", "as_tensor",
    "atleast_1d", "atleast_2d", "atleast_3d", "autograd", "bernoulli", "bool", "broadcast_tensors", "can_cast",
    "cat", "column_stack", "concat", "concatenate", "cuda", "default_generator", "device", "double", "draw_graph",
    "dstack", "dtype", "empty", "empty_cache", "empty_like", "enable_grad", "explain", "eye", "finfo", "float",
    "float32", "float64", "from_dlpack", "from_numpy", "frombuffer", "full", "full_like", "get_default_dtype",
    "get_num_threads", "get_rng_state", "hstack", "iinfo", "initial_seed", "int", "int32", "int64",
    "is_grad_enabled", "layout", "linspace", "load", "long", "manual_seed", "memory_allocated", "memory_reserved",
    "meshgrid", "multinomial", "nn", "no_grad", "normal", "ones", "ones_like", "optim", "promote_types", "rand",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "result_type", "row_stack", "save",
    "seed", "set_grad_enabled", "set_num_threads", "set_printoptions", "set_rng_state", "stack", "strided",
    "tensor", "uint8", "utils", "vstack", "where", "zeros", "zeros_like",
]
# fmt: on
__all__ += of_methods.__all__


def __dir__() -> list[str]:
    return [*__all__, "__config__", "__doc__", "__version__"]
