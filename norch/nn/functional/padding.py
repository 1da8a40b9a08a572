"""Padding as a function: a border of one value, or of values that the tensor itself holds."""

from __future__ import annotations

import functools
from typing import Callable, Sequence

from ..._C import ShapeError
from ...arguments import plain_number, sizes_in
from ...autocasting import under_autocast
from ...autograd.derivatives.padding import CIRCULAR, REFLECT, REPLICATE, padded
from ...tensor import Tensor
from ...types import Size, shown
from .checks import check_tensors

__all__ = ["pad"]


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """x with `pad` elements more (or fewer, if negative): (before, after) the last dimension, then the one before it...

    Mode "constant" adds `value` (0 unless given) to any dimensions. The others pad the last 1, 2 or 3 dimensions of
    [N, C, ...] or [C, ...] all together: "reflect" mirrors x at its first and last elements, "replicate" repeats these,
    "circular" continues at the other end. In the dtype of x. Raises ShapeError if the padding does not fit the shape,
    NotImplementedError for another mode, ValueError for a value that the mode does not take.

    >>> x = norch.tensor([[1, 2, 3]])
    >>> F.pad(x, (1, 2))
    tensor([[0, 1, 2, 3, 0, 0]])
    >>> F.pad(x, (1, 2), mode="reflect")
    tensor([[2, 1, 2, 3, 2, 1]])
    """
    check_tensors("pad", input)
    if isinstance(pad, Tensor):
        raise TypeError(f"pad: expected a sequence of amounts, got {shown(pad)}")
    amounts = sizes_in(pad, "pad")
    if mode == "constant":
        return padded(input, amounts, 0 if value is None else plain_number(value, "pad: value"))
    code, pairs, added = _plan(mode, tuple(amounts), input.shape)
    if value is not None and value != 0:
        raise ValueError(f"pad: mode {shown(mode)} takes no value, got {value}")
    if code == CIRCULAR:  # what is cropped does not come back at the other end
        input, amounts = _cropped(input, pairs), added
    pads = _pad_by_edges if code == REPLICATE or (code == REFLECT and len(pairs) < 3) else padded
    return pads(input, amounts, 0, code) if any(amounts) else input.clone()


_pad_by_edges = under_autocast(padded, "pad_by_edges")  # PyTorch gives these a rule of their own


@functools.lru_cache(256)  # layers repeat theirs
def _plan(mode: str, amounts: tuple[int, ...], shape: Size) -> tuple[int, dict[int, tuple[int, int]], list[int]]:
    """Of a mode other than "constant": how C calls it, the amounts by axis, and those that are not negative.

    Raises the errors of `pad`.
    """
    rank = len(shape)
    if len(amounts) % 2 or len(amounts) > 2 * rank:
        raise ShapeError(f"pad: {len(amounts)} amounts for shape {list(shape)}, expected a pair a dimension")
    pairs = {rank - 1 - k: (amounts[2 * k], amounts[2 * k + 1]) for k in range(len(amounts) // 2)}
    for axis, (before, after) in pairs.items():
        if shape[axis] + before + after < 0:
            raise ShapeError(f"pad: {before} and {after} leave less than nothing of {list(shape)} along {axis}")
    if mode not in _MODES:
        raise NotImplementedError(
            f"pad: mode is {shown(mode)}, expected 'constant', 'reflect', 'replicate' or 'circular'"
        )
    if not 1 <= len(pairs) <= 3 or rank - len(pairs) not in (1, 2):
        raise ShapeError(f"pad: shape {list(shape)}, expected [N, C, ...] or [C, ...] with {len(pairs)} more")
    code, most = _MODES[mode]
    for axis, (before, after) in pairs.items():
        size = shape[axis] + (min(before, 0) + min(after, 0) if code == CIRCULAR else 0)  # cropped first
        if max(before, after) > most(size):
            raise ShapeError(
                f"pad: {before} and {after}, expected at most {most(size)} for shape {list(shape)} and {mode}"
            )
    return code, pairs, [max(amount, 0) for amount in amounts]


def _cropped(x: Tensor, pairs: dict[int, tuple[int, int]]) -> Tensor:
    """Without as many elements as the negative amounts say."""
    for axis, (before, after) in pairs.items():
        start, removed = max(-before, 0), max(-before, 0) + max(-after, 0)
        x = x.narrow(axis, start, x.shape[axis] - removed) if removed else x
    return x


# By mode: how C calls it, and how many elements can be added to an axis of a size.
_MODES: dict[str, tuple[int, Callable[[int], float]]] = {
    "reflect": (REFLECT, lambda size: size - 1),
    "replicate": (REPLICATE, lambda size: float("inf") if size else 0),
    "circular": (CIRCULAR, lambda size: size),
}
