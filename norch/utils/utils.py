"""The numbers that parameters begin with, as in the article, and the clearing of gradients.

The numbers come from Python's `random` module, which `random.seed` seeds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..packing import tensor_of

if TYPE_CHECKING:
    from ..tensor import Tensor


def generate_random_list(shape: Sequence[int]) -> list[object]:
    """
    Generate a list with random numbers and shape 'shape'
    [4, 2] --> [[rand1, rand2], [rand3, rand4], [rand5, rand6], [rand7, rand8]]
    """
    if len(shape) == 0:
        return []
    inner_shape = shape[1:]
    if len(inner_shape) == 0:
        return [random.uniform(-1, 1) for _ in range(shape[0])]
    return [generate_random_list(inner_shape) for _ in range(shape[0])]


def uniform_numbers(count: int, low: float = -1.0, high: float = 1.0) -> list[float]:
    """`count` draws of `random.uniform(low, high)` in one flat list.

    The numbers, and the state afterwards, are those of that many calls: `uniform` is low + (high - low) * random().
    Calling `random()` directly is faster.
    """
    draw = random.random
    width = high - low
    return [low + width * draw() for _ in range(count)]


def draw_uniform(tensor: Tensor) -> Tensor:
    """Draw each element of a contiguous tensor, in row order, from `random.uniform(-1, 1)`; return the tensor."""
    flat = tensor.detach().view(-1)
    for start in range(0, len(flat), 2**16):  # in pieces: a list of floats takes eight times their memory
        piece = flat[start : start + 2**16]
        piece.copy_(tensor_of(uniform_numbers(len(piece)), None, tensor.device))
    return tensor


def clear_gradient(tensor: Tensor, set_to_none: bool) -> None:
    """Forget the tensor's gradient, or fill it with zeros if `set_to_none` is False."""
    if set_to_none or tensor.grad is None:
        tensor.grad = None
        return
    if tensor.grad.requires_grad:
        tensor.grad = tensor.grad.detach_() if tensor.grad._base is None else tensor.grad.detach()
    tensor.grad.zero_()  # in place, as others may hold it, or the memory that it is a part of
