"""What convolution and pooling make of their arguments: numbers for each axis, windows, and images to slide them over.

Images are [N, C, ...] with one to three axes more: sequences, images and volumes.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Sequence

from ..._C import ShapeError
from ...arguments import index_of
from ...autograd.derivatives.convolution import Window, window_array
from ...operation import own
from ...tensor import Tensor
from ...types import Sizes, shown
from .checks import check_tensors

_SHAPES = {1: "length", 2: "height, width", 3: "depth, height, width"}


def listed(value: Any) -> Any:
    """Sizes in an array or a tensor as Python's numbers, anything else as it is."""
    return value if isinstance(value, (int, tuple, list)) or not hasattr(value, "tolist") else value.tolist()


def per_axis(value: Sizes, axes: int, name: str) -> tuple[int, ...]:
    """A number for each axis, from one int for all or a sequence of them; TypeError or ShapeError for anything else."""
    value = listed(value)
    given: tuple[Any, ...] = tuple(value) if isinstance(value, (tuple, list)) else (value,) * axes
    if len(given) == 1:
        given *= axes
    found = tuple(number if type(number) is int else index_of(number) for number in given)
    if None in found:
        raise TypeError(f"{name} is {shown(value)}, expected an int or {axes} of them")
    if len(found) != axes:
        raise ShapeError(f"{name} is {shown(value)}, expected an int or {axes} of them")
    return found  # type: ignore[return-value]


class Windows(NamedTuple):
    """The settings of a window, of each a number for each axis; the padding before and after the axis."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]

    def all_axes(self) -> Window:
        """The window over as many axes as it has, as C takes it."""
        return window_array(*self)

    def positions(self, sizes: Sequence[int]) -> list[int]:
        """How many places the window has along each axis of an input of these sizes."""
        return [
            (size + before + after - dilation * (kernel - 1) - 1) // max(stride, 1) + 1
            for size, kernel, stride, dilation, before, after in zip(sizes, *self)
        ]


def window(name: str, axes: int, kernel_size: Sizes, stride: Sizes, dilation: Sizes, padding: Sizes) -> Windows:
    """A window from what callers give, with the same padding before and after each axis."""
    kernel = kernel_size if type(kernel_size) is int else per_axis(kernel_size, axes, f"{name}: kernel_size")
    step = stride if type(stride) is int else per_axis(stride, axes, f"{name}: stride")
    spread = dilation if type(dilation) is int else per_axis(dilation, axes, f"{name}: dilation")
    before = padding if type(padding) is int else per_axis(padding, axes, f"{name}: padding")
    return _window(axes, kernel, step, spread, before)


@functools.lru_cache(256)  # layers repeat theirs
def _window(axes: int, *settings: int | tuple[int, ...]) -> Windows:
    kernel, step, spread, before = ((setting,) * axes if isinstance(setting, int) else setting for setting in settings)
    return Windows(kernel, step, spread, before, before)


def batch_of(name: str, axes: int, x: Tensor) -> Tensor:
    """x [N, C, ...] or [C, ...], with this many axes more, as [N, C, ...]."""
    if isinstance(x, Tensor) and x.ndim == axes + 2:
        return x
    check_tensors(name, x)
    if x.ndim != axes + 1:
        shape = _SHAPES[axes]
        raise ShapeError(f"{name}: input has shape {list(x.shape)}, expected [N, C, {shape}] or [C, {shape}]")
    return x.unsqueeze(0)


def check_not_empty(name: str, batch: Tensor, first: int = 1) -> None:
    """Raise ShapeError if a size of [N, C, ...], from dimension `first` on, is 0: a batch may be empty, no image."""
    if not all(batch.shape) and 0 in batch.shape[first:]:
        what = "that of the batch" if first == 1 else "those of the batch and the channels"
        raise ShapeError(f"{name}: images have shape {list(batch.shape)}, expected no size of 0 but {what}")


def as_given(batch: Tensor, axes: int, x: Tensor) -> Tensor:
    """A result, in new memory, without the batch that `batch_of` added to x."""
    return batch if x.ndim == axes + 2 else own(batch.squeeze(0))
