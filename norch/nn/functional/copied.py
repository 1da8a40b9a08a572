"""What layers that began as copies of PyTorch's own take from `torch.nn.functional`: checks and parts of attention."""

from __future__ import annotations

import warnings
from typing import Sequence

from ...functions.creation import zeros_like
from ...tensor import Tensor
from ...types import bool_, dtype
from .linear import linear
from .multi_head import projected


def _verify_batch_size(size: Sequence[int]) -> None:
    """Raise ValueError for a batch that has one value for each channel."""
    count = size[0]
    for n in size[2:]:
        count *= n
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {list(size)}")


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension that softmax took before it was an argument."""
    return 0 if ndim in (0, 1, 3) else 1


def _in_projection_packed(q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None) -> list[Tensor]:
    """Query, key and value, each projected with its third of the rows of w [3E, E] and b [3E]."""
    return list(projected((q, k, v), w, b, w.shape[0] // 3))


def _in_projection(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value, each projected with a weight and a bias of its own."""
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _none_or_dtype(input: Tensor | None) -> dtype | None:
    return None if input is None else input.dtype


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: dtype | None,
    other_name: str,
    target_type: dtype,
    check_other: bool = True,
) -> Tensor | None:
    """A mask that is added: of bools, -inf where it is True. Raises AssertionError for a mask of integers."""
    if mask is None:
        return None
    if not (mask.dtype is bool_ or mask.is_floating_point()):
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=2,
        )
    return zeros_like(mask, dtype=target_type).masked_fill(mask, float("-inf")) if mask.dtype is bool_ else mask
