"""The frequencies of Fourier transforms, and their order. (The transforms need complex dtypes, which norch has not.)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from .arguments import axis_of, flags, one_size
from .functions.creation import leaf
from .functions.joining import cat
from .functions.out import into
from .functions.promotion import get_default_dtype
from .functions.ranges import arange
from .missing import missing
from .operation import check_tensor
from .types import Dims, DType, check_dtype, float64
from .types import layout as Layout  # noqa: N812

if TYPE_CHECKING:
    from .forward_declarations import Tensor

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]

__getattr__ = missing("fft")


def fftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """The halves of each dimension (or of `dim`, one or several) exchanged, which moves frequency 0 to the middle.

    A copy of the same shape and dtype. Raises IndexError for a dim out of range.

    >>> norch.fft.fftshift(norch.tensor([0, 1, 2, -2, -1]))
    tensor([-2, -1,  0,  1,  2])
    """
    axes = _axes("fftshift", input, dim)
    return input.roll([input.shape[axis] // 2 for axis in axes], axes) if axes else input.clone()


def ifftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """What undoes `fftshift`; shapes, dtypes and errors as there.

    >>> norch.fft.ifftshift(norch.tensor([-2, -1, 0, 1, 2]))
    tensor([ 0,  1,  2, -2, -1])
    """
    axes = _axes("ifftshift", input, dim)
    return input.roll([(input.shape[axis] + 1) // 2 for axis in axes], axes) if axes else input.clone()


def _axes(name: str, x: Tensor, dim: Dims) -> list[int]:
    check_tensor(x, name)
    given: Sequence[int] = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    return [axis_of(x, axis, name) for axis in given]


@flags
def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of a transform of n samples `d` apart, in its order: 0, 1, ... and the negative ones, / (n d).

    A vector [n] of a floating dtype, float32 unless `dtype` says otherwise. Raises RuntimeError for integers.

    >>> norch.fft.fftfreq(5, 0.2)
    tensor([ 0.,  1.,  2., -2., -1.])
    """
    count = one_size(n, "fftfreq")
    positive, negative = arange((count + 1) // 2, dtype=float64), arange(-(count // 2), 0, dtype=float64)
    return _frequencies("fftfreq", cat([positive, negative]), n, d, out, dtype, device, requires_grad)


@flags
def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of a transform of n real samples, none negative: a vector [n // 2 + 1]; else as `fftfreq`.

    >>> norch.fft.rfftfreq(5, 0.2)
    tensor([0., 1., 2.])
    """
    return _frequencies(
        "rfftfreq",
        arange(one_size(n, "rfftfreq") // 2 + 1, dtype=float64),
        n,
        d,
        out,
        dtype,
        device,
        requires_grad,
    )


def _frequencies(
    name: str,
    steps: Tensor,
    n: int,
    d: float,
    out: Tensor | None,
    dtype: DType | None,
    device: str | int | None,
    requires_grad: bool,
) -> Tensor:
    if dtype is None:
        dtype = get_default_dtype() if out is None else check_tensor(out, f"{name}: out").dtype
    kind = check_dtype(dtype)
    if not kind.is_floating_point:
        raise RuntimeError(f"{name}: expected a floating dtype, got {kind}")
    result = (steps / (n * d)).to(kind) if n else steps.to(kind)
    return into(out, leaf(result if device is None else result.to(device=device), requires_grad), name)
