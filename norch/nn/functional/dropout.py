"""Dropout as functions. norch's generator, which `norch.manual_seed` governs, chooses what is dropped."""

from __future__ import annotations

import math
from typing import Sequence

from ..._C import ShapeError
from ...arguments import flags
from ...functions.creation import empty
from ...given import warn
from ...tensor import Tensor
from .checks import check_floats, check_probability, check_tensors

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]


@flags
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element becomes 0 with probability `p`, else it is divided by 1 - p; x itself if not training, or p is 0.

    In the shape and dtype of x, which is floating. Raises ValueError for a `p` outside [0, 1], RuntimeError for another
    dtype. Formula: Srivastava and others, "Dropout" (2014), in its inverted form.

    >>> F.dropout(norch.ones(3), p=0.5, training=False)
    tensor([1., 1., 1.])
    """
    return _drop("dropout", input, p, training, inplace, 0)


@flags
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout of whole channels of [N, C, length] or [C, length]; otherwise as `dropout`.

    Raises ShapeError for other shapes, ValueError for a `p` outside [0, 1].

    >>> x = F.dropout1d(norch.ones(4, 8, 5))
    >>> ((x == 0) | (x == 2)).all()
    tensor(True)
    """
    check_tensors("dropout1d", input)
    if input.ndim not in (2, 3):
        raise ShapeError(f"dropout1d: input has shape {list(input.shape)}, expected [N, C, length] or [C, length]")
    return _drop("dropout1d", input, p, training, inplace, input.ndim - 1)


@flags
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout of whole channels of [N, C, height, width], or of any [N, C, ...]; dtypes and errors as for `dropout`.

    As in PyTorch, 3 dimensions are [N, C, length]. Warns of other dimensions than 4. Raises RuntimeError for fewer than
    2 dimensions, ValueError for a `p` outside [0, 1].

    >>> x = F.dropout2d(norch.ones(4, 8, 5, 5))
    >>> ((x == 0) | (x == 2)).all()
    tensor(True)
    """
    check_tensors("dropout2d", input)
    if input.ndim == 3:
        warn("dropout2d: Received a 3-D input, taken as [N, C, length], not as [C, height, width]: use dropout1d")
    elif input.ndim not in (0, 1, 4):
        warn(f"dropout2d: Received a {input.ndim}-D input, expected [N, C, height, width]: use dropout")
    return channels_dropped(input, p, training, inplace)


@flags
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout of whole channels of [N, C, depth, height, width] or [C, depth, height, width]; otherwise as `dropout2d`.

    Warns of other dimensions than 4 and 5.

    >>> x = F.dropout3d(norch.ones(4, 8, 5, 5, 5))
    >>> ((x == 0) | (x == 2)).all()
    tensor(True)
    """
    check_tensors("dropout3d", input)
    if input.ndim not in (0, 1, 4, 5):
        warn(f"dropout3d: Received a {input.ndim}-D input, expected [N, C, depth, height, width]: use dropout")
    return _drop("dropout3d", input, p, training, inplace, 1 if input.ndim == 4 else 2)


@flags
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """dropout that keeps a mean of 0 and a variance of 1, for use with SELU: a dropped element becomes SELU's limit
    -1.7581; then all are scaled and shifted.

    Dtypes and errors as for `dropout`. Formula: Klambauer and others, "Self-normalizing neural networks" (2017).

    >>> F.alpha_dropout(norch.ones(3), p=0.5, training=False)
    tensor([1., 1., 1.])
    """
    return _drop("alpha_dropout", input, p, training, inplace, 0, keeps_variance=True)


@flags
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels of [N, C, ...]; dtypes and errors as for `dropout`.

    Raises RuntimeError for fewer than 2 dimensions.

    >>> F.feature_alpha_dropout(norch.ones(1, 2, 2), p=0.5, training=False).shape
    norch.Size([1, 2, 2])
    """
    return _drop("feature_alpha_dropout", input, p, training, inplace, 2, keeps_variance=True)


def channels_dropped(x: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    """dropout of whole channels of any [N, C, ...]."""
    return _drop("dropout2d", x, p, training, inplace, 2)


def _drop(
    name: str, x: Tensor, p: float, training: bool, inplace: bool, leading: int, keeps_variance: bool = False
) -> Tensor:
    """x times a random mask: of each element, or of each index of so many leading dimensions."""
    check_tensors(name, x)
    p = check_probability(p)
    if not training or p == 0:
        return x
    if x.ndim < leading:
        raise RuntimeError(f"{name}: input has shape {list(x.shape)}, expected at least {leading} dimensions")
    check_floats(name, x)
    shape: Sequence[int] = [*x.shape[:leading], *[1] * (x.ndim - leading)] if leading else x.shape
    mask = empty(shape, dtype=x.dtype, device=x.device).bernoulli_(1 - p)
    if not keeps_variance or p == 1:
        mask = mask.mul_(1 / (1 - p)) if p < 1 else mask
        return x.mul_(mask) if inplace else x * mask
    scale = 1 / math.sqrt((_LIMIT**2 * p + 1) * (1 - p))
    shift = (mask - 1).mul_(_LIMIT * scale).add_(_LIMIT * scale * p)  # of a dropped element, then of all
    mask = mask.mul_(scale)
    return x.mul_(mask).add_(shift) if inplace else x * mask + shift


_LIMIT = 1.7580993408473766  # of SELU: its scale times its alpha
