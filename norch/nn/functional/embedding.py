"""Embedding as a function: rows of a table."""

from __future__ import annotations

import norch
from norch._C import ShapeError
from norch.tensor import Tensor


def embedding(x: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """weight[x]: the row of weight [rows, size] for each integer of x [...], as [..., size].

    The row `padding_idx` gets no gradient; it may count from the end. The dtype is the weight's. Raises IndexError for
    an x outside 0 to rows - 1, TypeError for one of another dtype than int64, int32 or uint8.

    >>> F.embedding(norch.tensor([2, 0]), norch.tensor([[1.0, 1.5], [2.0, 2.5], [3.0, 3.5]]))
    tensor([[3.0000, 3.5000],
            [1.0000, 1.5000]])
    """
    for tensor in (x, weight):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"embedding was given a {type(tensor).__name__}, expected a Tensor")
    if x.dtype not in (norch.int64, norch.int32, norch.uint8):
        raise TypeError(f"embedding: input has dtype {x.dtype}, expected int64, int32 or uint8")
    if weight.ndim != 2:
        raise ShapeError(f"embedding: weight has shape {list(weight.shape)}, expected [rows, size]")
    rows, size = weight.shape
    result = weight.index_select(0, x.long().reshape(-1)).reshape(*x.shape, size)
    if padding_idx is None:
        return result
    padding = (x == check_padding_idx(padding_idx, rows)).unsqueeze(-1)
    return norch.where(padding, result.detach(), result)


def check_padding_idx(padding_idx: int, rows: int) -> int:
    """The row that `padding_idx` means, counted from 0; ValueError if there is none."""
    if not -rows <= padding_idx < rows:
        raise ValueError(f"embedding: padding_idx is {padding_idx}, expected {-rows} to {rows - 1}")
    return padding_idx % rows
