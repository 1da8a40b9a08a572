"""Random tensors. The numbers come from a Generator (generator.py) and are the same on every device."""

from __future__ import annotations

import operator
from typing import Any, Sequence

from .._C import device_number, lib
from ..arguments import sizes_of
from ..methods.random_fill import LARGEST
from ..operation import check_tensor, wrap
from ..tensor import Tensor
from ..types import DType, Sizes, check_dtype, int64
from .creation import arange, empty, empty_like, leaf
from .generator import Generator, draw_of
from .joining import cat

# ---- New tensors ------------------------------------------------------------------------------------------------


def rand(
    *size: Sizes,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: str = "cpu",
    requires_grad: bool = False,
) -> Tensor:
    """Uniform in [0, 1): every multiple of 2**-24 (float32) or 2**-53 (float64) is as likely as any other.

    Sizes as for `zeros`; float32 or float64. Raises RuntimeError for another dtype, ShapeError for a negative size.

    >>> x = norch.rand(2, 3)
    >>> x.shape, bool((x < 1).all())
    (norch.Size([2, 3]), True)
    """
    return leaf(empty(*size, dtype=dtype, device=device).uniform_(generator=generator), requires_grad)


def randn(
    *size: Sizes,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: str = "cpu",
    requires_grad: bool = False,
) -> Tensor:
    """The normal distribution of mean 0 and standard deviation 1; sizes, dtypes and errors as for `rand`.

    >>> norch.randn(2, 3).shape
    norch.Size([2, 3])
    """
    return leaf(empty(*size, dtype=dtype, device=device).normal_(generator=generator), requires_grad)


def randint(
    low: int,
    high: Any = None,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: str = "cpu",
    requires_grad: bool = False,
) -> Tensor:
    """Integers from low to high - 1, int64 unless `dtype` says otherwise: `randint(high, size)` starts at 0.

    `size` is the shape. Raises TypeError if it is not a tuple or list, RuntimeError if no integer lies between.

    >>> x = norch.randint(1, 7, (100,))
    >>> x.min() >= 1, x.max() <= 6
    (tensor([True]), tensor([True]))
    """
    if size is None:
        low, high, size = 0, low, high
    if not isinstance(size, (list, tuple)):
        raise TypeError(f"randint: expected a size, a tuple of integers, got {size!r}")
    result = empty(size, dtype=int64 if dtype is None else dtype, device=device)
    return leaf(result.random_(low, high, generator=generator), requires_grad)


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    device: str = "cpu",
    requires_grad: bool = False,
) -> Tensor:
    """The integers from 0 to n - 1 in random order, a vector [n], int64 unless `dtype` says otherwise.

    Each step of the shuffle depends on those before, so it runs on the CPU; the result is copied to the device. Raises
    RuntimeError for a negative n, or numbers that the dtype does not hold.

    >>> norch.randperm(5).sort().values
    tensor([0, 1, 2, 3, 4])
    """
    count = operator.index(n)
    if count < 0:
        raise RuntimeError(f"randperm: expected n >= 0, got {n}")
    kind = int64 if dtype is None else check_dtype(dtype)
    if count > LARGEST[kind.name] + 1:
        raise RuntimeError(f"randperm: {n} numbers do not fit into {kind}")
    ptr = lib.permutation_tensor(count, *draw_of(generator), kind.number, device_number(device))
    return leaf(wrap(ptr), requires_grad)


def rand_like(
    input: Tensor, *, dtype: DType | None = None, device: str | None = None, requires_grad: bool = False
) -> Tensor:
    """Uniform in [0, 1), in another tensor's shape, dtype and device.

    Raises TypeError if `input` is not a tensor, RuntimeError for a dtype that is not floating.

    >>> norch.rand_like(norch.zeros(2, 3)).shape
    norch.Size([2, 3])
    """
    return leaf(empty_like(input, dtype=dtype, device=device).uniform_(), requires_grad)


def randn_like(
    input: Tensor, *, dtype: DType | None = None, device: str | None = None, requires_grad: bool = False
) -> Tensor:
    """Normal with mean 0 and standard deviation 1, in another tensor's shape, dtype and device.

    Raises TypeError if `input` is not a tensor, RuntimeError for a dtype that is not floating.

    >>> norch.randn_like(norch.zeros(2, 3)).shape
    norch.Size([2, 3])
    """
    return leaf(empty_like(input, dtype=dtype, device=device).normal_(), requires_grad)


def randint_like(
    input: Tensor,
    low: int,
    high: int | None = None,
    *,
    dtype: DType | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Integers from low (0 if one bound is given) to high - 1, in another tensor's shape, dtype and device.

    Raises TypeError if `input` is not a tensor, RuntimeError if no integer lies between.

    >>> norch.randint_like(norch.zeros(2, 3), 10).shape
    norch.Size([2, 3])
    """
    bounds = (0, low) if high is None else (low, high)
    return leaf(empty_like(input, dtype=dtype, device=device).random_(*bounds), requires_grad)


# ---- Distributions given by tensors --------------------------------------------------------------------------------


def normal(
    mean: Tensor | float,
    std: Tensor | float = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers with a mean and std for each: tensors that broadcast to one shape, or numbers with a size.

    Raises TypeError for numbers without a size or tensors with one, RuntimeError for a negative std or a dtype
    that is not floating.

    >>> norch.normal(norch.tensor([1.0, 2.0]), 0.0)
    tensor([1., 2.])
    """
    if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        if size is None:
            raise TypeError("normal: expected a size if mean and std are numbers")
        return empty(sizes_of((list(size),), "normal")).normal_(mean, std, generator=generator)
    if size is not None:
        raise TypeError("normal: a size goes with numbers; tensors have their own")
    given = [t for t in (mean, std) if isinstance(t, Tensor)]
    if any(not t.is_floating_point() for t in given):
        raise RuntimeError(f"normal: expected a floating dtype, got {', '.join(str(t.dtype) for t in given)}")
    lowest = std if not isinstance(std, Tensor) else std.min().item() if std.numel else 0
    if not lowest >= 0:
        raise RuntimeError(f"normal: expected std >= 0, got {lowest}")
    like = check_tensor(mean + std, "normal").detach()
    return randn(like.shape, dtype=like.dtype, device=like.device, generator=generator) * std + mean


def bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """1 with the probability that `input` gives for each element, else 0; in its shape and dtype.

    Raises RuntimeError for probabilities outside [0, 1] or of a dtype that is not floating.

    >>> norch.bernoulli(norch.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    return empty_like(check_tensor(input, "bernoulli")).bernoulli_(input.detach(), generator=generator)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Indices, int64, drawn in proportion to the weights of a vector [n], or of each row of a matrix [rows, n].

    A race: index i arrives after an exponential time of rate weight i, so it comes first with the right probability.
    Without `replacement` the others follow in the order of arrival. Raises RuntimeError for weights that are negative
    or not finite, that sum to 0, or of which fewer than num_samples are positive.

    >>> norch.multinomial(norch.tensor([0.0, 1.0, 0.0]), 1)
    tensor([1])
    """
    check_tensor(input, "multinomial")
    if input.ndim not in (1, 2) or not input.is_floating_point():
        found = f"{input.dtype} of shape {list(input.shape)}"
        raise RuntimeError(f"multinomial: expected 1 or 2 dimensions of a floating dtype, got {found}")
    weights = (input.detach() if input.ndim == 2 else input.detach().unsqueeze(0)).double()  # [rows, n]
    if not bool((weights.isfinite().logical_and(weights >= 0)).all()):
        raise RuntimeError("multinomial: expected finite weights that are not negative")
    positive = int((weights > 0).sum(1).min().item()) if weights.numel else 0
    needed = 1 if replacement else num_samples
    if num_samples < 1 or needed > positive:
        raise RuntimeError(f"multinomial: cannot draw {num_samples} of {positive} indices of positive weight")
    if replacement:
        chosen = _rates(weights.unsqueeze(1).expand(-1, num_samples, -1), generator).argmax(2)
    else:
        rates, firsts = _rates(weights, generator), []
        places = arange(weights.shape[1], device=input.device)
        for _ in range(num_samples):
            firsts.append(rates.argmax(1, keepdim=True))
            rates = (places == firsts[-1])._choose(-1.0, rates)
        chosen = cat(firsts, dim=1)
    return chosen if input.ndim == 2 else chosen.select(0, 0)


def _rates(weights: Tensor, generator: Generator | None) -> Tensor:
    """The reciprocals of times of arrival; 0 (never) for a weight of 0."""
    uniform = rand(weights.shape, dtype=weights.dtype, device=weights.device, generator=generator)
    return weights / -(-uniform).log1p().clamp(max=-(2.0**-54))
