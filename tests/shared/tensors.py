"""Tensors in every memory layout, each with the reference array of the same elements."""

from __future__ import annotations

import math
from typing import Any, Callable

from arrays import Array, rearrange, wrap

import norch

LAYOUTS = ["contiguous", "transposed", "stepped", "expanded"]


def dtype_named(name: str) -> Any:
    return getattr(norch, name)


def tensor_of(array: Array, dtype: str, device: str = "cpu") -> norch.Tensor:
    return norch.tensor(array.flat, dtype=dtype_named(dtype), device=device).reshape(array.shape)


def operand(draw: Callable, shape: tuple, dtype: str, layout: str, device: str = "cpu") -> tuple:
    """A tensor of this shape, dtype and memory layout with drawn elements, and the same as a reference array.

    `draw(count)` gives the elements. transposed: axes reversed in memory; stepped: every second element along every
    axis of something larger; expanded: the first axis repeats its only element with a stride of 0.
    """
    if layout == "contiguous" or len(shape) == 0:
        array = Array([wrap(x, dtype) for x in draw(math.prod(shape))], shape)
        return tensor_of(array, dtype, device), array
    if layout == "transposed":
        tensor, array = operand(draw, shape[::-1], dtype, "contiguous", device)
        return tensor.permute(*reversed(range(len(shape)))), rearrange(array, shape, lambda *index: index[::-1])
    if layout == "stepped":
        tensor, array = operand(draw, tuple(2 * size + 1 for size in shape), dtype, "contiguous", device)
        every_second = (slice(1, None, 2),) * len(shape)
        return tensor[every_second], rearrange(array, shape, lambda *index: [2 * i + 1 for i in index])
    assert layout == "expanded"
    tensor, array = operand(draw, (1,) + shape[1:], dtype, "contiguous", device)
    return tensor.expand(*shape), rearrange(array, shape, lambda *index: index)
