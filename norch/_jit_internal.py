"""What programs of PyTorch's 1.x import from `torch._jit_internal`: annotations, decorators that do nothing."""

from .jit import Final, _overload, _overload_method, export, ignore, is_scripting, unused
from .jit.annotations import (
    Any,
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
    Dict,
    List,
    Optional,
    Tuple,
    Union,
)

__all__ = [
    "Any",
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "Dict",
    "Final",
    "List",
    "Optional",
    "Tuple",
    "Union",
    "_overload",
    "_overload_method",
    "export",
    "ignore",
    "is_scripting",
    "unused",
]
