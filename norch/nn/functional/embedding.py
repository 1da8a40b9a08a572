"""Integers as vectors: rows of a table, or a single 1 among zeros."""

from __future__ import annotations

from ..._C import ShapeError
from ...functions.creation import arange, where
from ...tensor import Tensor
from .checks import check_integers, check_tensors

__all__ = ["embedding", "one_hot"]


def embedding(x: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """weight[x]: the row of weight [rows, size] for each integer of x [...], as [..., size].

    The row `padding_idx` gets no gradient; it may count from the end. The dtype is the weight's. Raises IndexError for
    an x outside 0 to rows - 1, TypeError if x is not int64, int32 or uint8.

    >>> F.embedding(norch.tensor([2, 0]), norch.tensor([[1.0, 1.5], [2.0, 2.5], [3.0, 3.5]]))
    tensor([[3.0000, 3.5000],
            [1.0000, 1.5000]])
    """
    check_tensors("embedding", x, weight)
    check_integers("embedding", "input", x)
    if weight.ndim != 2:
        raise ShapeError(f"embedding: weight has shape {list(weight.shape)}, expected [rows, size]")
    rows, size = weight.shape
    result = weight.index_select(0, x.long().reshape(-1)).reshape(*x.shape, size)
    if padding_idx is None:
        return result
    padding = (x == check_padding_idx(padding_idx, rows)).unsqueeze(-1)
    return where(padding, result.detach(), result)


def check_padding_idx(padding_idx: int, rows: int) -> int:
    """The row that `padding_idx` means, counted from 0; ValueError if the table does not have it."""
    if not -rows <= padding_idx < rows:
        raise ValueError(f"embedding: padding_idx is {padding_idx}, expected {-rows} to {rows - 1}")
    return padding_idx % rows


def one_hot(target: Tensor, num_classes: int = -1) -> Tensor:
    """Integers [...] as rows [..., num_classes] (int64) with a single 1; num_classes -1 means the largest plus 1.

    Raises RuntimeError for a class out of range, TypeError if the target is not int64, int32 or uint8.

    >>> F.one_hot(norch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    check_tensors("one_hot", target)
    check_integers("one_hot", "target", target)
    low, high = (target.min().item(), target.max().item()) if target.numel else (0, num_classes - 1)
    classes = high + 1 if num_classes == -1 else num_classes
    if low < 0 or high >= classes:
        wrong = low if low < 0 else high
        raise RuntimeError(f"one_hot: class {wrong} is out of range, expected 0 to {classes - 1}")
    if classes < 1:
        raise RuntimeError(f"one_hot: num_classes is {num_classes}, expected at least 1 for an empty tensor")
    return (target.unsqueeze(-1) == arange(classes, device=target.device)).long()
