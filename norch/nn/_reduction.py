"""The `reduction` of losses, from the flags that it once was: losses of other programs import this file."""

from __future__ import annotations

from ..types import shown
from .functional.losses import reduction_of

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """One of "none", "mean" and "sum", as the two flags say."""
    return reduction_of(size_average, reduce, "mean", emit_warning)


def get_enum(reduction: str) -> int:
    """The number that PyTorch's kernels take for it. Raises ValueError for another name."""
    if reduction not in _NUMBERS:
        raise ValueError(f"{shown(reduction)} is not a valid value for reduction: expected none, mean or sum")
    return _NUMBERS[reduction]


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of what the two flags say."""
    return get_enum(legacy_get_string(size_average, reduce))
