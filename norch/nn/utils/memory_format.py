"""The order in which the weights of convolutions lie in memory."""

from __future__ import annotations

from typing import Any, TypeVar

from ...operation import check_kind
from ...types import memory_format as MemoryFormat
from ..module import Module
from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

M = TypeVar("M", bound=Module)


def convert_conv2d_weight_memory_format(module: M, memory_format: MemoryFormat) -> M:
    """The module, in which the weights of each Conv2d and ConvTranspose2d lie in an order, such as `channels_last`.

    The values stay, and so does what the layers compute. Raises TypeError if `module` is no Module.

    >>> conv = nn.utils.convert_conv2d_weight_memory_format(nn.Conv2d(2, 3, 3), norch.channels_last)
    >>> conv.weight.stride()
    (18, 1, 6, 2)
    """
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: M, memory_format: MemoryFormat) -> M:
    """As `convert_conv2d_weight_memory_format`, of each Conv3d and ConvTranspose3d.

    >>> conv = nn.utils.convert_conv3d_weight_memory_format(nn.Conv3d(2, 3, 2), norch.channels_last_3d)
    >>> conv.weight.stride()
    (16, 1, 8, 4, 2)
    """
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)


def _converted(module: M, kinds: tuple[type[Any], ...], memory_format: MemoryFormat) -> M:
    for layer in check_kind(module, Module, "memory_format").modules():
        if isinstance(layer, kinds):
            weight = layer.weight
            weight.data = weight.detach().clone(memory_format=memory_format)
    return module
