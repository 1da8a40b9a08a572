"""Shuffles of channels and pixels as functions: each a copy with the axes in another order."""

from __future__ import annotations

import functools

from ..._C import ShapeError
from ...arguments import one_size
from ...autograd.derivatives.views import rearranged
from ...tensor import Tensor
from .checks import check_tensors

Rearrangement = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # sizes, order and new sizes of `rearranged`

__all__ = ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """[..., C * r^2, height, width] to [..., C, height * r, width * r]: r * r channels become the pixels of a square.

    r is the `upscale_factor`; the dtype stays. Formula: Shi and others, "Real-time single image and video
    super-resolution" (2016). Raises ShapeError if the channels do not divide.

    >>> F.pixel_shuffle(norch.tensor([[[1.0]], [[2.0]], [[3.0]], [[4.0]]]), 2)
    tensor([[[1., 2.],
             [3., 4.]]])
    """
    r = _factor("pixel_shuffle", input, upscale_factor)
    return rearranged(input, *_shuffled(input.shape, r))


@functools.lru_cache(256)  # layers repeat theirs
def _shuffled(sizes: tuple[int, ...], r: int) -> Rearrangement:
    *leading, channels, height, width = sizes
    if channels % (r * r):
        raise ShapeError(f"pixel_shuffle: {channels} channels, expected a multiple of {r * r}")
    outputs, n = channels // (r * r), len(leading)
    split = (*leading, outputs, r, r, height, width)  # [..., C, y in r, x in r, height, width]
    order = (*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return split, order, (*leading, outputs, height * r, width * r)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """[..., C, height * r, width * r] to [..., C * r^2, height, width]: the inverse of `pixel_shuffle`.

    r is the `downscale_factor`; the dtype stays. Raises ShapeError if the sizes do not divide.

    >>> F.pixel_unshuffle(norch.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2).flatten()
    tensor([1., 2., 3., 4.])
    """
    r = _factor("pixel_unshuffle", input, downscale_factor)
    return rearranged(input, *_unshuffled(input.shape, r))


@functools.lru_cache(256)
def _unshuffled(sizes: tuple[int, ...], r: int) -> Rearrangement:
    *leading, channels, height, width = sizes
    if height % r or width % r:
        raise ShapeError(f"pixel_unshuffle: images of {height} x {width}, expected multiples of {r}")
    height, width, n = height // r, width // r, len(leading)
    split = (*leading, channels, height, r, width, r)
    order = (*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return split, order, (*leading, channels * r * r, height, width)


def _factor(name: str, x: Tensor, factor: int) -> int:
    check_tensors(name, x)
    if x.ndim < 3:
        raise ShapeError(f"{name}: input has shape {list(x.shape)}, expected [..., C, height, width]")
    r = one_size(factor, name)
    if r < 1:
        raise RuntimeError(f"{name}: factor is {factor}, expected at least 1")
    return r


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """x [N, C, ...] with the channels of its `groups` groups interleaved: the first of each, then the second of each...

    The dtype stays. Formula: Zhang and others, "ShuffleNet" (2018). Raises ShapeError if the channels do not divide.

    >>> F.channel_shuffle(norch.tensor([[[1], [2], [3], [4]]]), 2).flatten()
    tensor([1, 3, 2, 4])
    """
    check_tensors("channel_shuffle", input)
    count = one_size(groups, "channel_shuffle")
    if count < 1:
        raise RuntimeError(f"channel_shuffle: groups is {groups}, expected at least 1")
    if input.ndim < 3 or input.shape[1] % count:
        raise ShapeError(
            f"channel_shuffle: input has shape {list(input.shape)}, expected [N, C, ...], C in {count} groups"
        )
    return rearranged(input, *_interleaved(input.shape, count))


@functools.lru_cache(256)
def _interleaved(sizes: tuple[int, ...], groups: int) -> Rearrangement:
    samples, channels, *others = sizes
    split = (samples, groups, channels // groups, *others)
    return split, (0, 2, 1, *range(3, len(split))), sizes
