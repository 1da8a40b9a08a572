"""Random tensors. The numbers come from a Generator (generator.py) and are the same on every device."""

from __future__ import annotations

from typing import Any, Sequence

from .._C import device_number, lib
from ..arguments import broadcast_shapes, one_size, place_of, plain_number
from ..methods.random_fill import LARGEST, range_of
from ..operation import check_tensor, wrap
from ..tensor import Tensor
from ..types import DType, Sizes, check_dtype, int64, memory_format, shown
from ..types import layout as Layout  # noqa: N812
from .creation import empty_like, leaf, made
from .generator import Generator, state_of
from .out import into
from .promotion import result_type

__all__ = [
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
]

# ---- New tensors ------------------------------------------------------------------------------------------------


def rand(
    *sizes: Sizes,
    size: Sizes | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Uniform in [0, 1): every multiple of 2**-24 (float32) or 2**-53 (float64) is as likely as any other.

    Sizes as for `zeros`; of a floating dtype (halves are rounded float32, always below 1). `out` is a tensor for the
    result; `layout` and `pin_memory` are accepted. Raises RuntimeError for another dtype, ShapeError for a negative
    size.

    >>> x = norch.rand(2, 3)
    >>> x.shape, bool((x < 1).all())
    (norch.Size([2, 3]), True)
    """
    place = place_of("rand", sizes or ((),) if size is None else (), size, dtype, device, out)
    result = wrap(lib.uniform_tensor(*place, state_of(generator)))
    return made(result, "rand", requires_grad, pin_memory, layout, out)


def randn(
    *sizes: Sizes,
    size: Sizes | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The normal distribution of mean 0 and standard deviation 1; sizes, dtypes and errors as for `rand`.

    >>> norch.randn(2, 3).shape
    norch.Size([2, 3])
    """
    place = place_of("randn", sizes or ((),) if size is None else (), size, dtype, device, out)
    result = wrap(lib.normal_tensor(*place, state_of(generator), 0.0, 1.0))
    return made(result, "randn", requires_grad, pin_memory, layout, out)


def _dtype_of(out: Tensor | None, name: str) -> DType:
    return int64 if out is None else check_tensor(out, f"{name}: out").dtype


def randint(
    low: Any = None,
    high: Any = None,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Integers from low to high - 1, int64 unless `dtype` says otherwise: `randint(high, size)` starts at 0.

    `size` is the shape. Raises TypeError if it is not a tuple or list, RuntimeError if no integer lies between.

    >>> x = norch.randint(1, 7, (100,))
    >>> x.min() >= 1, x.max() <= 6
    (tensor(True), tensor(True))
    """
    if size is None:
        low, high, size = 0, low, high
    elif high is None or low is None:
        low, high = 0, high if low is None else low
    if not isinstance(size, (list, tuple)):
        raise TypeError(f"randint: expected a size, a tuple of integers, got {shown(size)}")
    kind = check_dtype(_dtype_of(out, "randint") if dtype is None else dtype)
    place = place_of("randint", (size,), None, kind, device, out)
    result = wrap(lib.integers_tensor(*place, state_of(generator), *range_of(kind, low, high)))
    return made(result, "randint", requires_grad, pin_memory, layout, out)


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The integers from 0 to n - 1 in random order, a vector [n], int64 unless `dtype` says otherwise.

    Each step of the shuffle depends on those before, so it runs on the CPU; the result is copied to the device. Raises
    RuntimeError for a negative n, or numbers that the dtype does not hold.

    >>> norch.randperm(5).sort().values
    tensor([0, 1, 2, 3, 4])
    """
    count = n if type(n) is int else one_size(n, "randperm")
    if count < 0:
        raise RuntimeError(f"randperm: expected n >= 0, got {n}")
    kind = check_dtype(_dtype_of(out, "randperm") if dtype is None else dtype)
    if count > LARGEST[kind.name] + 1:
        raise RuntimeError(f"randperm: {n} numbers do not fit into {kind}")
    result = wrap(lib.permutation_tensor(count, state_of(generator), kind.number, device_number(device)))
    return made(result, "randperm", requires_grad, pin_memory, layout, out)


def rand_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Uniform in [0, 1), in another tensor's shape, dtype and device.

    Raises TypeError if `input` is not a tensor, RuntimeError for a dtype that is not floating.

    >>> norch.rand_like(norch.zeros(2, 3)).shape
    norch.Size([2, 3])
    """
    result = empty_like(input, dtype, device, layout=layout, memory_format=memory_format, pin_memory=pin_memory)
    return leaf(result.uniform_(generator=generator), requires_grad)


def randn_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Normal with mean 0 and standard deviation 1, in another tensor's shape, dtype and device.

    Raises TypeError if `input` is not a tensor, RuntimeError for a dtype that is not floating.

    >>> norch.randn_like(norch.zeros(2, 3)).shape
    norch.Size([2, 3])
    """
    result = empty_like(input, dtype, device, layout=layout, memory_format=memory_format, pin_memory=pin_memory)
    return leaf(result.normal_(generator=generator), requires_grad)


def randint_like(
    input: Tensor,
    low: int | None = None,
    high: int | None = None,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Integers from low (0 if one bound is given) to high - 1, in another tensor's shape, dtype and device.

    Raises TypeError if `input` is not a tensor, RuntimeError if no integer lies between.

    >>> norch.randint_like(norch.zeros(2, 3), 10).shape
    norch.Size([2, 3])
    """
    if low is None and high is None:
        raise TypeError("randint_like: expected `high`, or `low` and `high`")
    bounds = (0, low) if high is None else (low or 0, high)
    result = empty_like(input, dtype, device, layout=layout, memory_format=memory_format, pin_memory=pin_memory)
    return leaf(result.random_(*bounds, generator=generator), requires_grad)


# ---- Distributions given by tensors --------------------------------------------------------------------------------


def normal(
    mean: Tensor | float = 0.0,
    std: Tensor | float = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Normal numbers with a mean and std for each: tensors that broadcast to one shape, or numbers with a size.

    Raises TypeError for numbers without a size or tensors with dimensions and one, RuntimeError for a negative std or
    a dtype that is not floating.

    >>> norch.normal(norch.tensor([1.0, 2.0]), 0.0)
    tensor([1., 2.])
    """
    given = [t for t in (mean, std) if isinstance(t, Tensor)]
    if size is not None or not given:
        if size is None:
            raise TypeError("normal: expected a size if mean and std are numbers")
        if [t for t in given if t.ndim]:
            raise TypeError("normal: a size goes with numbers; tensors have their own")
        place, bounds = place_of("normal", (size,), None, dtype, device, out), (mean, std)
        mean, std = (plain_number(value, "normal_") for value in bounds)
        result = wrap(lib.normal_tensor(*place, state_of(generator), mean, std))
        return into(out, leaf(result, requires_grad, pin_memory), "normal")
    if any(not t.is_floating_point() for t in given):
        raise RuntimeError(f"normal: expected a floating dtype, got {', '.join(str(t.dtype) for t in given)}")
    lowest = std if not isinstance(std, Tensor) else std.min().item() if std.numel else 0
    if not lowest >= 0:
        raise RuntimeError(f"normal: expected std >= 0, got {lowest}")
    shape = broadcast_shapes(*[t.shape for t in given], name="normal")
    drawn = randn(shape, dtype=result_type(mean, std), device=given[0].device, generator=generator)
    return into(out, check_tensor(drawn * std + mean, "normal"), "normal")
