"""Dropout as functions. What is dropped comes from norch's generator: `norch.manual_seed` governs it."""

from __future__ import annotations

from typing import Any, Sequence

import norch
from norch._C import ShapeError
from norch.tensor import Tensor


def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element is 0 with probability `p`, and divided by 1 - p otherwise; x itself when not training.

    In the shape and dtype of x, which is floating. Raises ValueError for a `p` outside [0, 1], RuntimeError for another
    dtype. Formula: Srivastava and others, "Dropout" (2014), in its inverted form.

    >>> F.dropout(norch.ones(3), p=0.5, training=False)
    tensor([1., 1., 1.])
    """
    return _dropped("dropout", x, p, training, inplace, getattr(x, "shape", ()))


def dropout1d(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout of whole channels of [N, C, length] or [C, length]; dtypes and errors as for `dropout`.

    Raises ShapeError for other shapes.

    >>> x = F.dropout1d(norch.ones(4, 8, 5))
    >>> ((x == 0) | (x == 2)).all()
    tensor([True])
    """
    return _channels_dropped("dropout1d", 1, x, p, training, inplace)


def dropout2d(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout of whole channels of [N, C, height, width] or [C, height, width]; dtypes and errors as for `dropout`.

    Raises ShapeError for other shapes.

    >>> x = F.dropout2d(norch.ones(4, 8, 5, 5))
    >>> ((x == 0) | (x == 2)).all()
    tensor([True])
    """
    return _channels_dropped("dropout2d", 2, x, p, training, inplace)


def _channels_dropped(name: str, axes: int, x: Any, p: float, training: bool, inplace: bool) -> Tensor:
    ndim = getattr(x, "ndim", axes + 1)
    if ndim not in (axes + 1, axes + 2):
        raise ShapeError(f"{name}: input has shape {list(x.shape)}, expected {axes + 1} or {axes + 2} dimensions")
    return _dropped(name, x, p, training, inplace, [*getattr(x, "shape", ())[:-axes], *[1] * axes])


def _dropped(name: str, x: Any, p: float, training: bool, inplace: bool, shape: Sequence[int]) -> Tensor:
    """x times a mask of this shape, which broadcasts."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} was given a {type(x).__name__}, expected a Tensor")
    check_probability(p)
    if not training:
        return x
    if not x.dtype.is_floating_point:
        raise RuntimeError(f"{name}: expected a floating dtype, got {x.dtype}")
    mask = norch.empty(shape, dtype=x.dtype, device=x.device).bernoulli_(1 - p)
    mask = mask.mul_(1 / (1 - p)) if p < 1 else mask
    return x.mul_(mask) if inplace else x * mask


def check_probability(p: float) -> float:
    """`p` itself, or ValueError."""
    if isinstance(p, bool) or not isinstance(p, (int, float)) or not 0 <= p <= 1:
        raise ValueError(f"dropout probability is {p!r}, expected 0 to 1")
    return p
