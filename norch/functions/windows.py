"""The windows of `norch.signal.windows` under the older names, periodic unless they are told otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..arguments import flags
from ..signal import windows

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


@flags
def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A triangle: a vector [window_length], one period unless `periodic` is False.

    The options are dtype (float32), layout, device, requires_grad and pin_memory. Raises ValueError for a negative
    length or a dtype that is not floating.

    >>> norch.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return windows.bartlett(window_length, sym=not periodic, **options)


@flags
def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """0.42 - 0.5 cos(x) + 0.08 cos(2 x): shapes, dtypes, options and errors as for `bartlett_window`.

    >>> norch.blackman_window(4)[1:]
    tensor([0.3400, 1.0000, 0.3400])
    """
    return windows.blackman(window_length, sym=not periodic, **options)


@flags
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """alpha - beta cos(x): shapes, dtypes, options and errors as for `bartlett_window`.

    >>> norch.hamming_window(2)
    tensor([0.0800, 1.0000])
    """
    return windows.general_cosine(window_length, a=(alpha, beta), sym=not periodic, **options)


@flags
def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """(1 - cos(x)) / 2: shapes, dtypes, options and errors as for `bartlett_window`.

    >>> norch.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return windows.hann(window_length, sym=not periodic, **options)


@flags
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """I0(beta sqrt(1 - k^2)) / I0(beta): shapes, dtypes, options and errors as for `bartlett_window`.

    >>> norch.kaiser_window(2, beta=1.0)
    tensor([0.7898, 1.0000])
    """
    return windows.kaiser(window_length, beta=abs(beta), sym=not periodic, **options)
