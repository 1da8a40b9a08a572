"""What programs of PyTorch's 1.x import from `torch._jit_internal`: annotations, decorators that do nothing."""

from .jit import Final, _overload, _overload_method, export, ignore, is_scripting, unused
from .jit.annotations import *  # noqa: F403
from .jit.annotations import __all__ as _annotations

__all__ = [
    *_annotations,
    "Final",
    "_overload",
    "_overload_method",
    "export",
    "ignore",
    "is_scripting",
    "unused",
]
