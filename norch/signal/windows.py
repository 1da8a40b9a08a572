"""Windows of M numbers, which fade a signal out at both ends; computed in double, rounded once to the dtype.

`sym` says that a window is symmetric, as filters want it; without, it is one period of a longer one, as spectra do.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Iterable

from ..arguments import flags, one_size
from ..functions.creation import leaf
from ..functions.promotion import get_default_dtype
from ..functions.ranges import linspace
from ..operation import computed
from ..types import DType, check_dtype, float32, float64, shown, strided
from ..types import layout as Layout  # noqa: N812

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


@flags
def bartlett(M: int, *, sym: bool = True, **options: Any) -> Tensor:  # noqa: N803  (PyTorch's name)
    """The triangle 1 - |k|, k from -1 to 1: a vector [M], of the dtype that the options give, else float32.

    The options are those of `norch.zeros`: dtype, layout, device, requires_grad. Raises ValueError for a negative M, a
    dtype that is neither float32 nor float64, or another layout than strided.

    >>> norch.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _window("bartlett", M, options, lambda: 1.0 - _points(-1.0, 2.0 / _steps(M, sym), M).abs())


@flags
def blackman(M: int, *, sym: bool = True, **options: Any) -> Tensor:  # noqa: N803
    """Three cosines, 0.42 - 0.5 cos + 0.08 cos: a vector [M]; dtypes, options and errors as for `bartlett`.

    >>> norch.signal.windows.blackman(5)[1:4]
    tensor([0.3400, 1.0000, 0.3400])
    """
    return _cosines("blackman", M, (0.42, 0.5, 0.08), sym, options)


@flags
def cosine(M: int, *, sym: bool = True, **options: Any) -> Tensor:  # noqa: N803
    """Half a period of a sine: a vector [M]; dtypes, options and errors as for `bartlett`.

    >>> norch.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    step = math.pi / (M if sym else M + 1) if M else 0.0
    return _window("cosine", M, options, lambda: _points(step / 2, step, M).sin())


@flags
def exponential(
    M: int,  # noqa: N803
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    **options: Any,
) -> Tensor:
    """exp(-|k - center| / tau): a vector [M]; dtypes and options as for `bartlett`.

    Raises ValueError as `bartlett`, for tau <= 0, and for a center of a symmetric window.

    >>> norch.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    if tau <= 0:
        raise ValueError(f"exponential: expected tau > 0, got {tau}")
    if sym and center is not None:
        raise ValueError(f"exponential: a symmetric window has its center in the middle, got {center}")
    middle = _middle(M, sym) if center is None else center
    return _window("exponential", M, options, lambda: (-_points(-middle / tau, 1.0 / tau, M).abs()).exp())


@flags
def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Any) -> Tensor:  # noqa: N803
    """exp(-k^2 / (2 std^2)), k from the middle: a vector [M]; dtypes and options as for `bartlett`.

    Raises ValueError as `bartlett`, and for std <= 0.

    >>> norch.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"gaussian: expected std > 0, got {std}")
    scale = 1.0 / (std * math.sqrt(2.0))
    return _window("gaussian", M, options, lambda: (-_points(-_middle(M, sym) * scale, scale, M).square()).exp())


@flags
def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, **options: Any) -> Tensor:  # noqa: N803
    """a[0] - a[1] cos(x) + a[2] cos(2 x) - ... over a period of x: a vector [M]; dtypes and options as for `bartlett`.

    Raises ValueError as `bartlett`, and for no numbers in a; TypeError if it is not iterable.

    >>> norch.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    if not isinstance(a, Iterable):
        raise TypeError(f"general_cosine: expected a list of numbers, got {shown(a)}")
    factors = tuple(a)
    if not factors:
        raise ValueError("general_cosine: expected at least one number in a")
    return _cosines("general_cosine", M, factors, sym, options)


@flags
def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Tensor:  # noqa: N803
    """alpha - (1 - alpha) cos(x): a vector [M]; dtypes, options and errors as for `bartlett`.

    >>> norch.signal.windows.general_hamming(3, alpha=0.75)
    tensor([0.5000, 1.0000, 0.5000])
    """
    return _cosines("general_hamming", M, (alpha, 1.0 - alpha), sym, options)


@flags
def hamming(M: int, *, sym: bool = True, **options: Any) -> Tensor:  # noqa: N803
    """0.54 - 0.46 cos(x): a vector [M]; dtypes, options and errors as for `bartlett`.

    >>> norch.signal.windows.hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return _cosines("hamming", M, (0.54, 0.46), sym, options)


@flags
def hann(M: int, *, sym: bool = True, **options: Any) -> Tensor:  # noqa: N803
    """(1 - cos(x)) / 2: a vector [M]; dtypes, options and errors as for `bartlett`.

    >>> norch.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _cosines("hann", M, (0.5, 0.5), sym, options)


@flags
def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Any) -> Tensor:  # noqa: N803
    """I0(beta sqrt(1 - k^2)) / I0(beta), k from -1 to 1: a vector [M]; dtypes and options as for `bartlett`.

    I0 is the modified Bessel function of order 0. Raises ValueError as `bartlett`, and for a negative beta.

    >>> norch.signal.windows.kaiser(3, beta=1.0)
    tensor([0.7898, 1.0000, 0.7898])
    """
    if beta < 0:
        raise ValueError(f"kaiser: expected beta >= 0, got {beta}")

    def values() -> Tensor:
        k = _points(-1.0, 2.0 / _steps(M, sym), M)
        return _bessel((1.0 - k * k).relu().sqrt() * beta, beta)

    return _window("kaiser", M, options, values)


@flags
def nuttall(M: int, *, sym: bool = True, **options: Any) -> Tensor:  # noqa: N803
    """Nuttall's four cosines: a vector [M]; dtypes, options and errors as for `bartlett`.

    >>> norch.signal.windows.nuttall(3)
    tensor([3.6280e-04, 1.0000e+00, 3.6280e-04])
    """
    return _cosines("nuttall", M, (0.3635819, 0.4891775, 0.1365995, 0.0106411), sym, options)


# ---- Parts of them ----------------------------------------------------------------------------------------------


def _window(name: str, size: int, options: dict[str, Any], values: Any) -> Tensor:
    return made(name, size, values, **options)


def made(
    name: str,
    size: int,
    values: Any,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The window of `size` numbers that values() computes in double, in the dtype and on the device asked for."""
    count, kind = one_size(size, name), check_dtype(get_default_dtype() if dtype is None else dtype)
    if count < 0:
        raise ValueError(f"{name}: expected a size that is not negative, got {size}")
    if kind not in (float32, float64):
        raise ValueError(f"{name}: expected float32 or float64, got {kind}")
    if layout not in (None, strided):
        raise ValueError(f"{name}: expected the layout norch.strided, got {layout}")
    result = linspace(1.0, 1.0, count, dtype=float64) if count < 2 else values()
    result = result.to(kind)
    return leaf(result if device is None else result.to(device=device), requires_grad, pin_memory)


def _cosines(name: str, size: int, factors: tuple[float, ...], sym: bool, options: dict[str, Any]) -> Tensor:
    def values() -> Tensor:
        x = _points(0.0, 2.0 * math.pi / _steps(size, sym), size)
        waves = [((-1.0) ** i * factor) * (x * float(i)).cos() for i, factor in enumerate(factors) if i]
        return sum(waves, factors[0]) if waves else x.new_full(x.shape, factors[0])  # type: ignore[return-value]

    return _window(name, size, options, values)


def _steps(size: int, sym: bool) -> int:
    """How many steps a window of `size` numbers takes from end to end."""
    return max(size - 1 if sym else size, 1)


def _middle(size: int, sym: bool) -> float:
    return (size - 1 if sym else size) / 2


def _points(start: float, step: float, size: int) -> Tensor:
    return linspace(start, start + (size - 1) * step, size, dtype=float64)


def _bessel(x: Tensor, largest: float) -> Tensor:
    """I0(x) / I0(largest), by I0(x) e^-x, which does not overflow."""
    scaled, at_largest = (computed("i0e", None, part) for part in (x, x.new_full((), largest)))
    return scaled / at_largest * (x - largest).exp()
