"""Attention whose scores and mask are functions of indices: PyTorch's flex_attention, in tensor operations.

PyTorch's vmap calls these functions with the indices of one score. Here the indices are tensors [B, 1, 1, 1],
[1, H, 1, 1], [1, 1, Q, 1] and [1, 1, 1, K], whose results broadcast, so that one call computes all scores.
"""

from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple

from ...functions.ranges import arange
from ...given import given
from ...operation import check_kind
from ...tensor import Tensor
from ...types import bool_
from ..functional.attention import scaled_dot_product_attention

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

MaskMod = Callable[[Any, Any, Any, Any], Any]
ScoreMod = Callable[[Any, Any, Any, Any, Any], Any]

_DEFAULT_SPARSE_BLOCK_SIZE = 128  # PyTorch's name


class AuxRequest(NamedTuple):
    """What `flex_attention` shall give besides: logarithms of sums of exponentials, and the largest scores."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What it gives besides, [B, H, Q] each; None if it was not asked for."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


class BlockMask:
    """Which keys each query may see: a function of indices, and the shape [B, H, Q, K] that it is for."""

    def __init__(
        self, mask_mod: MaskMod, shape: tuple[int, ...], block_size: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE
    ) -> None:
        self.mask_mod, self.shape = mask_mod, shape
        self.BLOCK_SIZE = (block_size, block_size) if isinstance(block_size, int) else block_size

    @property
    def seq_lengths(self) -> tuple[int, ...]:
        return self.shape[2:]

    def numel(self) -> int:
        return math.prod(self.shape)

    def to(self, device: Any) -> BlockMask:
        """Itself: the function is asked on the device of the queries."""
        return self


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Attention of [B, H, Q, E], [B, H, K, E] and [B, H, K, V] to [B, H, Q, V], with scores changed by a function.

    `score_mod(score, b, h, q, k)` gives the scores that softmax takes, `block_mask` (of `create_block_mask`) says which
    keys count; a query that may see none gets zeros. `scale` is 1 / sqrt(E) unless given. With `enable_gqa` a head of
    key and value serves several of query. With `return_lse` also the logarithm of the sum of each query's exponentials;
    with `return_aux` an AuxOutput of what that asks for.

    >>> from norch.nn.attention.flex_attention import flex_attention
    >>> x = norch.eye(2).reshape(1, 1, 2, 2)
    >>> flex_attention(x, x, x, lambda score, b, h, q, k: norch.where(q >= k, score, -norch.inf))[0, 0, 0]
    tensor([1., 0.])
    """
    for name, x in (("query", query), ("key", key), ("value", value)):
        if not isinstance(x, Tensor) or x.ndim != 4:
            raise ValueError(f"flex_attention: {name} is {given(x)}, expected a tensor of 4 dimensions")
    shape = *query.shape[:3], key.shape[2]
    mask_mod = None if block_mask is None else check_kind(block_mask, BlockMask, "flex_attention").mask_mod
    mask = None if mask_mod is None else _dense(mask_mod, shape, query.device)
    if return_lse and return_aux is not None:
        raise ValueError("flex_attention: return_lse and return_aux were given, expected one of them")
    if return_aux is not None:
        check_kind(return_aux, AuxRequest, "flex_attention: return_aux")
    if score_mod is None and not return_lse and return_aux is None:
        return scaled_dot_product_attention(query, key, value, mask, scale=scale, enable_gqa=enable_gqa)
    if enable_gqa:
        key, value = (x.repeat_interleave(query.shape[1] // x.shape[1], 1) for x in (key, value))
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if score_mod is not None:
        scores = score_mod(scores, *_indices(shape, query.device))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    blind = (scores == -math.inf).all(-1, keepdim=True)  # their softmax would be NaN
    weights = scores.masked_fill(blind, 0).softmax(-1).masked_fill(blind, 0)
    result = weights.to(value.dtype) @ value
    if return_aux is not None:
        lse = scores.logsumexp(-1) if return_aux.lse else None
        return result, AuxOutput(lse, scores.amax(-1) if return_aux.max_scores else None)
    return (result, scores.logsumexp(-1)) if return_lse else result


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    **_: Any,
) -> BlockMask:
    """A mask for `flex_attention`: `mask_mod(b, h, q, k)` is True where query q may see key k.

    >>> from norch.nn.attention.flex_attention import create_block_mask
    >>> create_block_mask(lambda b, h, q, k: q >= k, None, None, 8, 8).shape
    (1, 1, 8, 8)
    """
    return BlockMask(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN), BLOCK_SIZE)


def create_mask(mod_fn: MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None) -> Tensor:
    """The mask as a tensor of bools [B, H, Q, K].

    >>> from norch.nn.attention.flex_attention import create_mask
    >>> create_mask(lambda b, h, q, k: q >= k, 1, 1, 2, 2)[0, 0]
    tensor([[ True, False],
            [ True,  True]])
    """
    return _dense(mod_fn, (B or 1, H or 1, Q_LEN, KV_LEN), device)


def _dense(mask_mod: MaskMod, shape: tuple[int, ...], device: Any) -> Tensor:
    found: Tensor = mask_mod(*_indices(shape, device))
    return found.expand(shape)


def _indices(shape: tuple[int, ...], device: Any) -> list[Tensor]:
    """The index of each dimension, as a tensor that lies along it."""
    return [
        arange(size, device=device).reshape([-1 if i == dim else 1 for i in range(len(shape))])
        for dim, size in enumerate(shape)
    ]


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """The mask that hides nothing.

    >>> from norch.nn.attention.flex_attention import create_mask, noop_mask
    >>> create_mask(noop_mask, 1, 1, 2, 2).all()
    tensor(True)
    """
    return batch.new_ones((), dtype=bool_)


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask of what all masks let through.

    >>> from norch.nn.attention.flex_attention import and_masks, create_mask
    >>> band = and_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: q - k < 2)
    >>> create_mask(band, 1, 1, 3, 3).sum()
    tensor(5)
    """

    def mask(b: Any, h: Any, q: Any, k: Any) -> Any:
        found = noop_mask(b, h, q, k)
        for each in mask_mods:
            found = found & each(b, h, q, k)
        return found

    return mask


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask of what some mask lets through.

    >>> from norch.nn.attention.flex_attention import create_mask, or_masks
    >>> prefix = or_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: k < 2)
    >>> create_mask(prefix, 1, 1, 3, 3).sum()
    tensor(7)
    """

    def mask(b: Any, h: Any, q: Any, k: Any) -> Any:
        found = ~noop_mask(b, h, q, k)
        for each in mask_mods:
            found = found | each(b, h, q, k)
        return found

    return mask
