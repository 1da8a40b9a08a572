"""Layers that change the size of images: Upsample, and shuffles between channels and pixels."""

from __future__ import annotations

from typing import Any, Sequence

from ...tensor import Tensor
from .. import functional as F
from ..module import Module

__all__ = [
    "ChannelShuffle",
    "PixelShuffle",
    "PixelUnshuffle",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


class Upsample(Module):
    """[N, C, ...] resampled to a size, or by a factor; see `functional.interpolate`.

    >>> nn.Upsample(scale_factor=2, mode="nearest")(norch.tensor([[[1.0, 3.0]]]))
    tensor([[[1., 1., 3., 3.]]])
    """

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = self.get_name()
        self.size: Any = size
        self.scale_factor: Any
        if isinstance(scale_factor, (list, tuple)):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None  # type: ignore[arg-type]
        self.mode, self.align_corners, self.recompute_scale_factor = mode, align_corners, recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        settings = self.mode, self.align_corners, self.recompute_scale_factor
        return F.interpolate(input, self.size, self.scale_factor, *settings)

    def extra_repr(self) -> str:
        given = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{given}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Upsample with mode "nearest", of [N, C, height, width]; otherwise as `Upsample`.

    >>> nn.UpsamplingNearest2d(scale_factor=2)(norch.ones(1, 1, 2, 3)).shape
    norch.Size([1, 1, 4, 6])
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsample with mode "bilinear" and aligned corners, of [N, C, height, width]; otherwise as `Upsample`.

    >>> nn.UpsamplingBilinear2d(size=(1, 3))(norch.tensor([[[[1.0, 3.0]]]]))
    tensor([[[[1., 2., 3.]]]])
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Module):
    """[..., C * r^2, height, width] to [..., C, height * r, width * r]; see `functional.pixel_shuffle`.

    >>> nn.PixelShuffle(2)(norch.tensor([[[1.0]], [[2.0]], [[3.0]], [[4.0]]]))
    tensor([[[1., 2.],
             [3., 4.]]])
    """

    _shown = ("upscale_factor",)

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Module):
    """[..., C, height * r, width * r] to [..., C * r^2, height, width]; see `functional.pixel_unshuffle`.

    >>> nn.PixelUnshuffle(2)(norch.tensor([[[1.0, 2.0], [3.0, 4.0]]])).shape
    norch.Size([4, 1, 1])
    """

    _shown = ("downscale_factor",)

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Module):
    """[N, C, ...] with the channels of its groups interleaved; see `functional.channel_shuffle`.

    >>> nn.ChannelShuffle(2)(norch.tensor([[[1], [2], [3], [4]]])).flatten()
    tensor([1, 3, 2, 4])
    """

    _shown = ("groups",)

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)
