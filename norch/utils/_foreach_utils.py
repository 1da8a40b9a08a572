"""Which tensors a `_foreach_` function may take together: optimizers of other people ask."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from ..types import dtype

__all__ = [
    "_device_has_foreach_support",
    "_get_foreach_kernels_supported_devices",
    "_get_fused_kernels_supported_devices",
    "_group_tensors_by_device_and_dtype",
    "_has_foreach_support",
]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The types of devices other than the CPU that have `_foreach_` functions."""
    return ["cuda"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The types of devices on which optimizers make their step in one launch."""
    return ["cuda", "cpu"]


def _device_has_foreach_support(device: Any) -> bool:
    """Whether the device, one of norch's or its name, has `_foreach_` functions."""
    return str(device).split(":")[0] in ["cpu", *_get_foreach_kernels_supported_devices()]


def _has_foreach_support(tensors: list[Any], device: Any) -> bool:
    """Whether the device has `_foreach_` functions and each tensor is a plain one, or None."""
    return _device_has_foreach_support(device) and all(t is None or type(t) is Tensor for t in tensors)


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[Any]], with_indices: bool = False
) -> dict[tuple[Any, dtype | None], tuple[list[list[Any]], list[int]]]:
    """Sort the columns of several lists by the device and dtype of the first list's tensors.

    The result has, for each pair of device and dtype, the lists of what belongs to it and the places that this had
    (an empty list unless `with_indices`).

    >>> from norch.utils._foreach_utils import _group_tensors_by_device_and_dtype
    >>> [lists for lists, places in _group_tensors_by_device_and_dtype([[norch.ones(1)], [None]], True).values()]
    [[[tensor([1.])], [None]]]
    """
    groups: dict[tuple[Any, dtype | None], tuple[list[list[Any]], list[int]]] = {}
    for place, first in enumerate(tensorlistlist[0]):
        lists, places = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for row, values in zip(lists, tensorlistlist):
            if values:
                row.append(values[place])
        if with_indices:
            places.append(place)
    return groups
