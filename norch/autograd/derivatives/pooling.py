"""Pooling over sequences, images and volumes [N, C, ...], and its derivatives.

Windows are those of convolution.py, of as many axes; adaptive pools choose their own for the sizes of their result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from ..._C import int64_array, lib
from ...operation import recorded, several, wrap
from ..node import Gradients, Node
from .convolution import Window

if TYPE_CHECKING:
    from ...tensor import Tensor

# ---- The largest element ----------------------------------------------------------------------------------------


def max_pool(x: Tensor, window: Window, ceil: bool, with_indices: bool) -> tuple[Tensor, Any]:
    """The largest element that each window sees, and its place (int64) among the elements of its image in row order.

    Places that nobody asks for are None if no gradient needs them.
    """
    values, indices = several(lib.max_pool_tensor(x._ptr, window, ceil, with_indices or x._edge is not None))
    if x._edge is None:
        return values, indices
    return recorded(values, MaxPoolBackward, (x,), indices, window, ceil), indices


def adaptive_max_pool(x: Tensor, sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The same of windows that share out the images evenly, for a result of these sizes."""
    values, indices = several(lib.adaptive_max_pool_tensor(x._ptr, int64_array(sizes)))
    return recorded(values, MaxPoolBackward, (x,), indices, None, False), indices


def largest(x: Tensor, values: Tensor, indices: Tensor) -> Tensor:
    """Values that were found at these places of images x, as a part of the graph."""
    return recorded(values, MaxPoolBackward, (x,), indices, None, False)


class MaxPoolBackward(Node):
    """The gradient of a window goes to its largest element."""

    keeps_input = False

    def __init__(self, x: Tensor, indices: Tensor, window: Window | None, ceil: bool) -> None:
        super().__init__(x)
        self.size, self.indices, self.window, self.ceil = x.shape[2:], indices, window, ceil

    def backward(self, gradient: Tensor) -> Gradients:
        indices = self.unchanged(self.indices)
        images = gradient.new_zeros([*gradient.shape[:2], self.size.numel()])
        images = images.scatter_add(2, indices.flatten(2), gradient.flatten(2))
        return [images.reshape(*gradient.shape[:2], *self.size)]

    def fused(self, gradient: Tensor) -> Gradients:
        indices = self.unchanged(self.indices)
        settings = self.window, self.ceil, int64_array(self.size)
        return [wrap(lib.max_pool_backward(gradient._ptr, indices._ptr, *settings))]

    def release(self) -> None:
        super().release()
        del self.indices


# ---- The average ------------------------------------------------------------------------------------------------

Settings = tuple[Window, bool, bool, float]  # window, ceil, counts_padding, divisor


def avg_pool(x: Tensor, window: Window, ceil: bool, counts_padding: bool, divisor: float) -> Tensor:
    """The sum of what each window sees over `divisor`; if that is 0, over the number of elements."""
    result = wrap(lib.avg_pool_tensor(x._ptr, window, ceil, counts_padding, divisor))
    if x._edge is None:
        return result
    return recorded(result, AvgPoolBackward, (x,), (window, ceil, counts_padding, divisor))


def _avg_unpool(x: Tensor, settings: Settings, size: Sequence[int]) -> Tensor:
    """Each element shared by what its window saw in an image of this size."""
    result = wrap(lib.avg_pool_backward(x._ptr, *settings, int64_array(size)))
    return recorded(result, AvgUnpoolBackward, (x,), settings)


class AvgPoolBackward(Node):
    """The gradient of a window is shared evenly by the elements it sees."""

    keeps_input = False

    def __init__(self, x: Tensor, settings: Settings) -> None:
        super().__init__(x)
        self.size, self.settings = x.shape[2:], settings

    def backward(self, gradient: Tensor) -> Gradients:
        return [_avg_unpool(gradient, self.settings, self.size)]


class AvgUnpoolBackward(Node):
    """The derivative of AvgPoolBackward is the average itself."""

    keeps_input = False

    def __init__(self, x: Tensor, settings: Settings) -> None:
        super().__init__(x)
        self.settings = settings

    def backward(self, gradient: Tensor) -> Gradients:
        return [avg_pool(gradient, *self.settings)]


def adaptive_avg_pool(x: Tensor, sizes: Sequence[int]) -> Tensor:
    """Averages over windows that share out the images evenly, for a result [N, C, *sizes]."""
    result = wrap(lib.adaptive_avg_pool_tensor(x._ptr, int64_array(sizes)))
    return recorded(result, AdaptiveAvgPoolBackward, (x,))


def _adaptive_avg_unpool(x: Tensor, sizes: Sequence[int]) -> Tensor:
    """Each element shared by what its window saw in an image of this size."""
    result = wrap(lib.adaptive_avg_pool_backward(x._ptr, int64_array(sizes)))
    return recorded(result, AdaptiveAvgUnpoolBackward, (x,))


class AdaptiveAvgPoolBackward(Node):
    """The gradient of a window is shared evenly by the elements it sees."""

    keeps_input = False

    def __init__(self, x: Tensor) -> None:
        super().__init__(x)
        self.size = x.shape[2:]

    def backward(self, gradient: Tensor) -> Gradients:
        return [_adaptive_avg_unpool(gradient, self.size)]


class AdaptiveAvgUnpoolBackward(Node):
    """The derivative of AdaptiveAvgPoolBackward is the average itself."""

    keeps_input = False

    def __init__(self, x: Tensor) -> None:
        super().__init__(x)
        self.size = x.shape[2:]

    def backward(self, gradient: Tensor) -> Gradients:
        return [adaptive_avg_pool(gradient, self.size)]
