"""The types of annotations, which programs for old versions of PyTorch import from here."""

from typing import Any, Dict, Generic, List, Optional, Tuple, TypeVar, Union

__all__ = [
    "Any",
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "Dict",
    "List",
    "Optional",
    "Tuple",
    "Union",
]

_T = TypeVar("_T")


class BroadcastingList2(Generic[_T]):
    """In an annotation `BroadcastingList2[int]`: two numbers, or one for both.

    >>> size: norch.jit.annotations.BroadcastingList2[int] = 3
    """


BroadcastingList1 = BroadcastingList3 = BroadcastingList2
