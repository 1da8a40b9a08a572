"""The windows of `norch.signal.windows` under the older names, periodic unless they are told otherwise."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable

from ..arguments import flags
from ..signal import windows
from ..types import dtype as DType  # noqa: N812
from ..types import float32, float64, shown

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


@flags
def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A triangle: a vector [window_length], one period unless `periodic` is False.

    The options are dtype (float32), layout, device, requires_grad and pin_memory. Raises ValueError for a negative
    length, RuntimeError for a dtype that is not floating.

    >>> norch.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _made(windows.bartlett, window_length, periodic, options)


@flags
def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """0.42 - 0.5 cos(x) + 0.08 cos(2 x): shapes, dtypes, options and errors as for `bartlett_window`.

    >>> norch.blackman_window(4)[1:]
    tensor([0.3400, 1.0000, 0.3400])
    """
    return _made(windows.blackman, window_length, periodic, options)


@flags
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """alpha - beta cos(x): shapes, dtypes, options and errors as for `bartlett_window`.

    >>> norch.hamming_window(2)
    tensor([0.0800, 1.0000])
    """
    return _made(partial(windows.general_cosine, a=(alpha, beta)), window_length, periodic, options)


@flags
def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """(1 - cos(x)) / 2: shapes, dtypes, options and errors as for `bartlett_window`.

    >>> norch.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _made(windows.hann, window_length, periodic, options)


@flags
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """I0(beta sqrt(1 - k^2)) / I0(beta): shapes, dtypes, options and errors as for `bartlett_window`.

    >>> norch.kaiser_window(2, beta=1.0)
    tensor([0.7898, 1.0000])
    """
    return _made(partial(windows.kaiser, beta=abs(beta)), window_length, periodic, options)


def _made(window: Callable[..., Tensor], length: int, periodic: bool, options: dict[str, Any]) -> Tensor:
    """A window; in 16 bits that of float32, rounded."""
    dtype = options.get("dtype")
    if not isinstance(dtype, DType) or dtype in (float32, float64):
        return window(length, sym=not periodic, **options)
    if not dtype.is_floating_point:
        raise RuntimeError(f"window: expected a floating dtype, got {shown(dtype)}")
    made = window(length, sym=not periodic, **{**options, "dtype": float32, "requires_grad": False})
    return made.to(dtype).requires_grad_(options.get("requires_grad", False))
