"""Pooling over images [N, C, height, width], and its derivatives. Windows are those of convolution.py."""

from __future__ import annotations

from typing import Any

from ..._C import lib
from ...operation import mode, recorded, several, wrap
from ..function import Function


def max_pool(x: Any, window: Any, ceil: bool) -> tuple[Any, Any]:
    """The largest element that each window sees, and its place (int64) among the elements of its image in row order."""
    values, indices = several(lib.max_pool_tensor, 2, x._ptr, window, ceil)
    return recorded(values, MaxPoolBackward, (x,), indices, window, ceil), indices


class MaxPoolBackward(Function):
    """The gradient of a window goes to its largest element."""

    keeps_input = False

    def __init__(self, x: Any, indices: Any, window: Any, ceil: bool) -> None:
        super().__init__(x)
        self.size, self.indices, self.window, self.ceil = x.shape[2:], indices, window, ceil

    def backward(self, gradient: Any) -> list[Any]:
        indices = self.unchanged(self.indices)
        if mode.enabled:
            images = gradient.new_zeros([*gradient.shape[:2], self.size[0] * self.size[1]])
            images = images.scatter_add(2, indices.flatten(2), gradient.flatten(2))
            return [images.reshape(*gradient.shape[:2], *self.size)]
        ptr = lib.max_pool_backward(gradient._ptr, indices._ptr, self.window, self.ceil, *self.size)
        return [wrap(ptr)]

    def release(self) -> None:
        super().release()
        self.indices = None


def avg_pool(x: Any, window: Any, ceil: bool, counts_padding: bool, divisor: float) -> Any:
    """The sum of what each window sees over `divisor`; where that is 0, over the number of elements."""
    result = wrap(lib.avg_pool_tensor(x._ptr, window, ceil, counts_padding, divisor))
    return recorded(result, AvgPoolBackward, (x,), window, ceil, counts_padding, divisor)


def _avg_unpool(x: Any, settings: Any, size: Any) -> Any:
    """Each element shared by what its window saw in an image of this size."""
    result = wrap(lib.avg_pool_backward(x._ptr, *settings, *size))
    return recorded(result, AvgUnpoolBackward, (x,), settings)


class AvgPoolBackward(Function):
    """The gradient of a window is shared evenly by the elements it sees."""

    keeps_input = False

    def __init__(self, x: Any, *settings: Any) -> None:
        super().__init__(x)
        self.size, self.settings = x.shape[2:], settings

    def backward(self, gradient: Any) -> list[Any]:
        return [_avg_unpool(gradient, self.settings, self.size)]


class AvgUnpoolBackward(Function):
    """The derivative of AvgPoolBackward is the average itself."""

    keeps_input = False

    def __init__(self, x: Any, settings: Any) -> None:
        super().__init__(x)
        self.settings = settings

    def backward(self, gradient: Any) -> list[Any]:
        return [avg_pool(gradient, *self.settings)]


def adaptive_avg_pool(x: Any, height: int, width: int) -> Any:
    """Averages over height x width windows that share out the image evenly, [N, C, height, width]."""
    result = wrap(lib.adaptive_avg_pool_tensor(x._ptr, height, width))
    return recorded(result, AdaptiveAvgPoolBackward, (x,))


def _adaptive_unpool(x: Any, height: int, width: int) -> Any:
    result = wrap(lib.adaptive_avg_pool_backward(x._ptr, height, width))
    return recorded(result, AdaptiveAvgUnpoolBackward, (x,))


class AdaptiveAvgPoolBackward(Function):
    """The gradient of a window is shared evenly by the elements it sees."""

    keeps_input = False

    def __init__(self, x: Any) -> None:
        super().__init__(x)
        self.size = x.shape[2:]

    def backward(self, gradient: Any) -> list[Any]:
        return [_adaptive_unpool(gradient, *self.size)]


class AdaptiveAvgUnpoolBackward(Function):
    """The derivative of AdaptiveAvgPoolBackward is the average itself."""

    keeps_input = False

    def __init__(self, x: Any) -> None:
        super().__init__(x)
        self.size = x.shape[2:]

    def backward(self, gradient: Any) -> list[Any]:
        return [adaptive_avg_pool(gradient, *self.size)]
