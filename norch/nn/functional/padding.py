"""Padding as a function: a border of one value, or of values that the tensor itself holds."""

from __future__ import annotations

from typing import Callable, Sequence

from ..._C import ShapeError
from ...arguments import sizes_of
from ...autograd.derivatives.padding import padded
from ...functions.creation import arange
from ...tensor import Tensor
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
    amounts = sizes_of((list(pad),), "pad")
    if mode == "constant":
        return padded(input, amounts, 0 if value is None else value)
    if len(amounts) % 2 or len(amounts) > 2 * input.ndim:
        raise ShapeError(f"pad: {len(amounts)} amounts for shape {list(input.shape)}, expected a pair a dimension")
    pairs = {input.ndim - 1 - k: (amounts[2 * k], amounts[2 * k + 1]) for k in range(len(amounts) // 2)}
    for axis, (before, after) in pairs.items():
        if input.shape[axis] + before + after < 0:
            raise ShapeError(f"pad: {before} and {after} leave less than nothing of {list(input.shape)} along {axis}")
    if mode not in _SOURCES:
        raise NotImplementedError(f"pad: mode is {mode!r}, expected 'constant', 'reflect', 'replicate' or 'circular'")
    if value is not None and value != 0:
        raise ValueError(f"pad: mode {mode!r} takes no value, got {value}")
    if not 1 <= len(pairs) <= 3 or input.ndim - len(pairs) not in (1, 2):
        raise ShapeError(f"pad: shape {list(input.shape)}, expected [N, C, ...] or [C, ...] with {len(pairs)} more")
    for axis, (before, after) in pairs.items():
        input = _from_itself(input, axis, before, after, mode)
    return input


def _cropped(x: Tensor, axis: int, before: int, after: int) -> Tensor:
    """Without as many elements as the negative ones of the two amounts say."""
    start, removed = max(-before, 0), max(-before, 0) + max(-after, 0)
    return x.narrow(axis, start, x.shape[axis] - removed) if removed else x


def _from_itself(x: Tensor, axis: int, before: int, after: int, mode: str) -> Tensor:
    """Padded along one axis, with elements of that axis."""
    if mode == "circular":  # what is cropped does not come back at the other end
        x, before, after = _cropped(x, axis, before, after), max(before, 0), max(after, 0)
    source, most = _SOURCES[mode]
    size = x.shape[axis]
    if max(before, after) > most(size):
        raise ShapeError(
            f"pad: {before} and {after}, expected at most {most(size)} for shape {list(x.shape)} and {mode}"
        )
    if before == after == 0:
        return x
    return x.index_select(axis, source(arange(-before, size + after, device=x.device), size))


# By mode: which element stands at place i of a padded axis, where 0 is the first one of x, and how many can be added.
_SOURCES: dict[str, tuple[Callable[[Tensor, int], Tensor], Callable[[int], float]]] = {
    "reflect": (lambda i, size: (size - 1) - ((size - 1) - i.abs()).abs(), lambda size: size - 1),
    "replicate": (lambda i, size: i.clamp(0, size - 1), lambda size: float("inf") if size else 0),
    "circular": (lambda i, size: i % size, lambda size: size),
}
