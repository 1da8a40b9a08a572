"""norch: the deep-learning framework of "Recreating PyTorch from scratch", made real.

import norch

x = norch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
(x ** 2).sum().backward()
print(x.grad)
"""

import importlib
import math
import sys
from typing import TYPE_CHECKING

if sys.version_info < (3, 9):  # noqa: UP036  (with a __future__ above, Python 3.6 would not come so far)
    raise ImportError("norch needs Python 3.9 or later, this is Python " + sys.version.split()[0])

from . import __config__, autograd
from ._C import RangeError, ShapeError

from .tensor import CTensor, Tensor  # isort: skip  (before the function norch.tensor, which has the module's name)
from . import einops_backend as _einops_backend
from . import functions
from .autocasting import NAMES as _AUTOCAST
from .autocasting import under_autocast as _cast
from .autograd import (
    enable_grad,
    inference_mode,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .compiler import compile
from .devices import device, get_default_device, set_default_device
from .display.explain import explain
from .display.formatting import set_printoptions
from .functions.creation import *  # noqa: F403
from .functions.elementary import *  # noqa: F403
from .functions.foreach import *  # noqa: F403
from .functions.generator import *  # noqa: F403
from .functions.joining import *  # noqa: F403
from .functions.layouts import *  # noqa: F403
from .functions.linalg import *  # noqa: F403
from .functions.of_methods import *  # noqa: F403
from .functions.products import *  # noqa: F403
from .functions.promotion import *  # noqa: F403
from .functions.questions import *  # noqa: F403
from .functions.questions import _assert as _assert
from .functions.questions import _assert_async as _assert_async
from .functions.questions import _check as _check
from .functions.random import *  # noqa: F403
from .functions.random_counts import *  # noqa: F403
from .functions.ranges import *  # noqa: F403
from .functions.searching import *  # noqa: F403
from .functions.serialization import *  # noqa: F403
from .functions.statistics import *  # noqa: F403
from .functions.view_copies import *  # noqa: F403
from .functions.windows import *  # noqa: F403
from .memory import empty_cache, memory_allocated, memory_reserved
from .methods.dlpack import from_dlpack
from .methods.interop import as_tensor, asarray, from_numpy, frombuffer
from .methods.storage import Storage
from .missing import missing as _absent
from .sparse import hspmm, smm, sparse_coo_tensor, spmm, sspaddmm
from .tensor_types import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)
from .threads import get_num_interop_threads, get_num_threads, set_num_interop_threads, set_num_threads
from .types import (
    Size,
    bfloat16,
    channels_last,
    channels_last_3d,
    contiguous_format,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    layout,
    legacy_contiguous_format,
    memory_format,
    preserve_format,
    sparse_coo,
    strided,
    uint8,
)
from .types import bool_ as bool  # noqa: A004  (norch.bool, as in PyTorch)

float = float32  # noqa: A001
double = float64
half = float16
short = int16
int = int32  # noqa: A001
long = int64
inf, nan, pi, e, newaxis = math.inf, math.nan, math.pi, math.e, None
OutOfMemoryError = MemoryError  # what an allocation that fails raises

from . import amp, cpu, cuda, linalg, nn, optim, sparse, utils  # noqa: E402  (they use the names above)
from .amp.mode import (  # noqa: E402
    autocast,
    clear_autocast_cache,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_cache_enabled,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from .nn import top_level  # noqa: E402
from .nn.top_level import *  # noqa: E402, F403
from .version import __version__  # noqa: E402

# The public API: these names, those of functions/, and a function for each method. The other names here are modules.
# fmt: off
__all__ = [
    "BFloat16Tensor", "BoolTensor", "ByteTensor", "CTensor", "CharTensor", "DoubleTensor", "Drawing", "FloatTensor",
    "HalfTensor", "IntTensor", "LongTensor", "OutOfMemoryError", "RangeError", "ShapeError", "ShortTensor", "Size",
    "Storage", "Tensor", "amp", "as_tensor", "asarray", "autocast", "autograd", "backends", "bfloat16", "bool",
    "channels_last", "channels_last_3d", "clear_autocast_cache", "compile", "contiguous_format", "cpu", "cuda",
    "device", "double", "draw_graph", "dtype", "e", "empty_cache", "enable_grad", "explain", "float", "float16",
    "float32", "float64", "from_dlpack", "from_numpy", "frombuffer", "get_autocast_cpu_dtype", "get_autocast_dtype",
    "get_autocast_gpu_dtype", "get_default_device", "get_num_interop_threads", "get_num_threads", "half", "inf",
    "inference_mode", "int", "int16", "int32", "int64", "int8", "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
    "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled", "is_grad_enabled",
    "is_inference_mode_enabled", "layout", "legacy_contiguous_format", "linalg", "long", "memory_allocated",
    "memory_format", "memory_reserved", "nan", "newaxis", "nn", "no_grad", "onnx", "optim", "pi", "preserve_format",
    "set_autocast_cache_enabled", "set_autocast_dtype", "set_autocast_enabled", "set_default_device",
    "set_grad_enabled", "set_num_interop_threads", "set_num_threads", "set_printoptions", "short", "sparse",
    "sparse_coo", "sparse_coo_tensor", "special", "spmm", "sspaddmm", "hspmm", "smm", "strided", "uint8", "utils",
]
# fmt: on
for _room in [
    functions.creation,
    functions.elementary,
    functions.generator,
    functions.joining,
    functions.linalg,
    functions.layouts,
    functions.of_methods,
    functions.products,
    functions.promotion,
    functions.questions,
    functions.random,
    functions.random_counts,
    functions.ranges,
    functions.searching,
    functions.serialization,
    functions.statistics,
    functions.view_copies,
    functions.windows,
    top_level,
]:
    __all__ += _room.__all__

globals().update({name: _cast(globals()[name], name, __name__) for name in _AUTOCAST & {*globals()} - {*dir(Tensor)}})

_LATER = set(
    """
    accelerator backends compiler distributed distributions fft func functional futures fx hub jit library mps
    multiprocessing onnx overrides profiler random serialization signal special testing xpu
    """.split()
)
_COMPILERS = {"_dynamo", "_inductor"}  # PyTorch's, whose settings programs touch
_PICTURES = {"Drawing", "draw_graph"}
_OF_MODULES = {
    "vmap": "func",
    "ops": "library",
    "ScriptFunction": "jit",
    "ScriptModule": "jit",
    "get_device_module": "accelerator",
    "Event": "cuda",
    "Stream": "cuda",
    "Future": "futures",
    "SymBool": "types",
    "TypedStorage": "methods.storage",
    "UntypedStorage": "methods.storage",
    "SymFloat": "types",
    "SymInt": "types",
}
_missing = _absent("")

if TYPE_CHECKING:
    from . import (
        accelerator,
        backends,
        compiler,
        distributed,
        distributions,
        fft,
        func,
        futures,
        fx,
        hub,
        jit,
        library,
        mps,
        multiprocessing,
        onnx,
        profiler,
        random,
        serialization,
        signal,
        special,
        testing,
        xpu,
    )
    from .display.graph import Drawing, draw_graph
    from .func import vmap
    from .futures import Future
    from .library import ops
    from .types import SymBool, SymFloat, SymInt
else:

    def __getattr__(name: str) -> object:
        """Import these modules at their first use: few scripts need them. Say of other names that they are missing."""
        if name in _PICTURES:
            return getattr(importlib.import_module(".display.graph", __name__), name)
        if name == "range":  # no name of this module, whose `import *` leaves Python's
            return functions.ranges.range_
        if name == "GradScaler":
            return amp.GradScaler
        if name == "torch":  # PyTorch has it by an import of its own, and so have programs, by mistake
            return sys.modules[__name__]
        if name in _OF_MODULES:
            return getattr(importlib.import_module("." + _OF_MODULES[name], __name__), name)
        return importlib.import_module("." + name, __name__) if name in _LATER | _COMPILERS else _missing(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATER, "__config__", "__doc__", "__version__"})
