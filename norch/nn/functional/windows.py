"""What convolution and pooling ask of their arguments: numbers for each axis, and images of the right rank."""

from __future__ import annotations

from typing import Any, Callable

from norch._C import ShapeError
from norch.tensor import Tensor


def sizes(value: Any, axes: int, name: str) -> tuple[int, ...]:
    """A number for each axis, from one int for all or a sequence of them; TypeError or ValueError for anything else."""
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,) * axes
    if len(given) == 1:
        given *= axes
    if any(not isinstance(number, int) or isinstance(number, bool) for number in given):
        raise TypeError(f"{name} is {value!r}, expected an int or {axes} of them")
    if len(given) != axes:
        raise ValueError(f"{name} is {value!r}, expected an int or {axes} of them")
    return given


def with_height(given: tuple[int, ...], nothing: int) -> tuple[int, int]:
    """A pair for images: a single axis is the width of images of height 1, along which `nothing` is done."""
    return (nothing, given[0]) if len(given) == 1 else (given[0], given[1])


def over_images(name: str, axes: int, x: Tensor, function: Callable[[Tensor], Any]) -> Any:
    """function([N, C, height, width]) for x [N, C, ...] or [C, ...] with one or two axes more; the result like x.

    The function may return several tensors.
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} was given a {type(x).__name__}, expected a Tensor")
    shape = "[N, C, length] or [C, length]" if axes == 1 else "[N, C, height, width] or [C, height, width]"
    if x.ndim not in (axes + 1, axes + 2):
        raise ShapeError(f"{name}: input has shape {list(x.shape)}, expected {shape}")
    batched = x.ndim == axes + 2
    images = x if axes == 2 else x.unsqueeze(-2)
    result = function(images if batched else images.unsqueeze(0))

    def like_x(images: Tensor) -> Tensor:
        images = images if batched else images.squeeze(0)
        return images if axes == 2 else images.squeeze(-2)

    return tuple(map(like_x, result)) if isinstance(result, tuple) else like_x(result)
