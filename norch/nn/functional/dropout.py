"""Dropout as functions. norch's generator, which `norch.manual_seed` governs, chooses what is dropped."""

from __future__ import annotations

from typing import Sequence

from ..._C import ShapeError
from ...functions.creation import empty
from ...tensor import Tensor
from .checks import check_floating, check_probability, check_tensors

__all__ = ["dropout", "dropout1d", "dropout2d"]


def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element becomes 0 with probability `p`, and is divided by 1 - p otherwise; x itself when not training.

    In the shape and dtype of x, which is floating. Raises ValueError for a `p` outside [0, 1], RuntimeError for another
    dtype. Formula: Srivastava and others, "Dropout" (2014), in its inverted form.

    >>> F.dropout(norch.ones(3), p=0.5, training=False)
    tensor([1., 1., 1.])
    """
    check_tensors("dropout", x)
    return _drop("dropout", x, p, training, inplace, x.shape)


def dropout1d(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout of whole channels of [N, C, length] or [C, length]; dtypes and errors as for `dropout`.

    Raises ShapeError for other shapes.

    >>> x = F.dropout1d(norch.ones(4, 8, 5))
    >>> ((x == 0) | (x == 2)).all()
    tensor([True])
    """
    return _drop_channels("dropout1d", 1, x, p, training, inplace)


def dropout2d(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout of whole channels of [N, C, height, width] or [C, height, width]; dtypes and errors as for `dropout`.

    Raises ShapeError for other shapes.

    >>> x = F.dropout2d(norch.ones(4, 8, 5, 5))
    >>> ((x == 0) | (x == 2)).all()
    tensor([True])
    """
    return _drop_channels("dropout2d", 2, x, p, training, inplace)


def _drop_channels(name: str, axes: int, x: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    check_tensors(name, x)
    if x.ndim not in (axes + 1, axes + 2):
        raise ShapeError(f"{name}: input has shape {list(x.shape)}, expected {axes + 1} or {axes + 2} dimensions")
    return _drop(name, x, p, training, inplace, [*x.shape[:-axes], *[1] * axes])


def _drop(name: str, x: Tensor, p: float, training: bool, inplace: bool, shape: Sequence[int]) -> Tensor:
    """x times a random mask of this shape, which broadcasts."""
    check_probability(p)
    if not training:
        return x
    check_floating(name, x)
    mask = empty(shape, dtype=x.dtype, device=x.device).bernoulli_(1 - p)
    mask = mask.mul_(1 / (1 - p)) if p < 1 else mask
    return x.mul_(mask) if inplace else x * mask
