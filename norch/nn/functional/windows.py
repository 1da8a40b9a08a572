"""What convolution and pooling make of their arguments: numbers for each axis, windows, and images."""

from __future__ import annotations

from typing import Any, Sequence

from ..._C import ShapeError
from ...autograd.derivatives.convolution import Window, window_array
from ...tensor import Tensor
from ...types import Sizes
from .checks import check_tensors


def per_axis(value: Sizes, axes: int, name: str) -> tuple[int, ...]:
    """A number for each axis, from one int for all or a sequence of them; TypeError or ValueError for anything else."""
    given: tuple[Any, ...] = tuple(value) if isinstance(value, (tuple, list)) else (value,) * axes
    if len(given) == 1:
        given *= axes
    if any(not isinstance(number, int) or isinstance(number, bool) for number in given):
        raise TypeError(f"{name} is {value!r}, expected an int or {axes} of them")
    if len(given) != axes:
        raise ValueError(f"{name} is {value!r}, expected an int or {axes} of them")
    return given


def window(name: str, axes: int, kernel_size: Sizes, stride: Sizes, dilation: Sizes, padding: Sizes) -> Window:
    """A window as C takes it, with the same padding before and after each axis."""
    settings = {"kernel_size": kernel_size, "stride": stride, "dilation": dilation, "padding": padding}
    kernel, step, spread, before = (per_axis(value, axes, f"{name}: {what}") for what, value in settings.items())
    return window_of(kernel, step, spread, before, before)


def window_of(
    kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int], before: Sequence[int], after: Sequence[int]
) -> Window:
    """A window as C takes it, from a number for each axis. A single axis is the width of images of height 1."""
    if len(kernel) == 1:
        return window_array((1, *kernel), (1, *stride), (1, *dilation), (0, *before), (0, *after))
    return window_array(tuple(kernel), tuple(stride), tuple(dilation), tuple(before), tuple(after))


def as_images(name: str, axes: int, x: Tensor) -> Tensor:
    """x [N, C, ...] or [C, ...], with one or two axes more, as images [N, C, height, width]."""
    check_tensors(name, x)
    if x.ndim not in (axes + 1, axes + 2):
        shape = "[N, C, length] or [C, length]" if axes == 1 else "[N, C, height, width] or [C, height, width]"
        raise ShapeError(f"{name}: input has shape {list(x.shape)}, expected {shape}")
    images = x if axes == 2 else x.unsqueeze(-2)
    return images if x.ndim == axes + 2 else images.unsqueeze(0)


def from_images(images: Tensor, axes: int, x: Tensor) -> Tensor:
    """A result without the axes that `as_images` added to x."""
    images = images if x.ndim == axes + 2 else images.squeeze(0)
    return images if axes == 2 else images.squeeze(-2)
