"""Transforms made of others: one after another, side by side, or with other dimensions."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any, Sequence

from ..functions.joining import cat, stack
from ..operation import check_kind
from ..tensor import Tensor
from ..types import Size
from . import constraints
from .transform import Transform
from .utils import sum_rightmost


class IndependentTransform(Transform):
    """A transform whose last dimensions are parts of one value: their Jacobians are summed.

    >>> t = norch.distributions.transforms
    >>> t.IndependentTransform(t.ExpTransform(), 1).event_dim
    1
    """

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = check_kind(base_transform, Transform, "IndependentTransform")
        self.reinterpreted_batch_ndims, base = reinterpreted_batch_ndims, base_transform
        self.bijective = base.bijective
        self.domain = constraints.independent(base.domain, reinterpreted_batch_ndims)
        self.codomain = constraints.independent(base.codomain, reinterpreted_batch_ndims)

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        return self.base_transform(self._whole(x, self.domain.event_dim))

    def _inverse(self, y: Tensor) -> Tensor:
        return self.base_transform.inv(self._whole(y, self.codomain.event_dim))

    def _whole(self, x: Tensor, least: int) -> Tensor:
        if x.ndim < least:
            raise ValueError(f"Too few dimensions on input: {x.ndim}, expected at least {least}")
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.base_transform.inverse_shape(shape)

    def with_cache(self, cache_size: int = 1) -> IndependentTransform:
        if cache_size == self._cache_size:
            return self
        base = self.base_transform.with_cache(cache_size)
        return IndependentTransform(base, self.reinterpreted_batch_ndims, cache_size)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


def _widened(last: Any, pairs: Sequence[tuple[Any, Any]]) -> Any:
    """The last constraint of a chain of (domain, codomain), of values with as many dimensions as the chain needs."""
    events = pairs[0][0].event_dim
    for domain, codomain in pairs:
        events = max(events + codomain.event_dim - domain.event_dim, codomain.event_dim)
    return constraints.independent(last, events - last.event_dim) if events > last.event_dim else last


class ComposeTransform(Transform):
    """Transforms one after another.

    >>> t = norch.distributions.transforms
    >>> t.ComposeTransform([t.AffineTransform(0.0, 2.0), t.ExpTransform()])(norch.zeros(1))
    tensor([1.])
    """

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = list(parts)
        self.bijective = all(check_kind(part, Transform, "ComposeTransform").bijective for part in self.parts)
        if self.parts:
            back = [(part.codomain, part.domain) for part in reversed(self.parts)]
            self.domain = _widened(self.parts[0].domain, back)
            self.codomain = _widened(self.parts[-1].codomain, [(part.domain, part.codomain) for part in self.parts])

    @property
    def sign(self) -> Any:
        """The product of the signs."""
        product: Any = 1
        for part in self.parts:
            product = product * part.sign
        return product

    def _call(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        terms: list[Tensor] = []
        events = self.domain.event_dim
        for part in self.parts:
            after = y if part is self.parts[-1] else part(x)
            terms.append(sum_rightmost(part.log_abs_det_jacobian(x, after), events - part.domain.event_dim))
            events += part.codomain.event_dim - part.domain.event_dim
            x = after
        return reduce(operator.add, terms) if terms else x.zeros_like()

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def with_cache(self, cache_size: int = 1) -> ComposeTransform:
        if cache_size == self._cache_size:
            return self
        return ComposeTransform([part.with_cache(cache_size) for part in self.parts], cache_size)

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


def _expect_end(shape: Sequence[int], end: Size) -> Sequence[int]:
    """What comes before `end` in a shape. Raises ValueError if it does not end so."""
    if len(shape) < len(end):
        raise ValueError("Too few dimensions on input")
    cut = len(shape) - len(end)
    if tuple(shape[cut:]) != tuple(end):
        raise ValueError(f"Shape mismatch: expected {tuple(shape[cut:])} but got {tuple(end)}")
    return shape[:cut]


class ReshapeTransform(Transform):
    """The last dimensions of x, of shape `in_shape`, as `out_shape`.

    >>> norch.distributions.transforms.ReshapeTransform((4,), (2, 2))(norch.zeros(3, 4)).shape
    norch.Size([3, 2, 2])
    """

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        self.domain = constraints.independent(constraints.real, len(self.in_shape))
        self.codomain = constraints.independent(constraints.real, len(self.out_shape))
        super().__init__(cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(*x.shape[: x.ndim - len(self.in_shape)], *self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(*y.shape[: y.ndim - len(self.out_shape)], *self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.ndim - len(self.in_shape)])

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return (*_expect_end(shape, self.in_shape), *self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return (*_expect_end(shape, self.out_shape), *self.in_shape)


class _SideBySide(Transform):
    """Transforms, each of a part of x along a dimension."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        name = type(self).__name__
        self.transforms = [check_kind(t, Transform, name).with_cache(cache_size or t._cache_size) for t in tseq]
        self.dim = dim
        self.bijective = all(t.bijective for t in self.transforms)
        super().__init__(cache_size)

    def _parts(self, x: Tensor) -> Sequence[Tensor]:
        """What each transform is for. Raises ValueError for another number of them."""
        raise NotImplementedError

    def _joined(self, parts: Sequence[Tensor]) -> Tensor:
        raise NotImplementedError

    def _call(self, x: Tensor) -> Tensor:
        return self._joined([t(part) for t, part in zip(self.transforms, self._parts(x))])

    def _inverse(self, y: Tensor) -> Tensor:
        return self._joined([t.inv(part) for t, part in zip(self.transforms, self._parts(y))])

    def with_cache(self, cache_size: int = 1) -> Any:
        made = super().with_cache(cache_size)
        if made is not self:
            made.transforms = [t.with_cache(cache_size) for t in self.transforms]
        return made


class CatTransform(_SideBySide):
    """Transforms of parts of x that `cat` would join along a dimension; `lengths` are their sizes there (default 1).

    >>> t = norch.distributions.transforms
    >>> t.CatTransform([t.ExpTransform(), t.identity_transform], lengths=[1, 2])(norch.zeros(3))
    tensor([1., 0., 0.])
    """

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise ValueError(f"CatTransform: {len(self.lengths)} lengths for {len(self.transforms)} transforms")
        self.event_dim = max(t.event_dim for t in self.transforms)
        self.domain = constraints.cat([t.domain for t in self.transforms], dim, self.lengths)
        self.codomain = constraints.cat([t.codomain for t in self.transforms], dim, self.lengths)

    @property
    def length(self) -> int:
        """The size of x along the dimension."""
        return sum(self.lengths)

    def _parts(self, x: Tensor) -> Sequence[Tensor]:
        if x.shape[self.dim] != self.length:
            raise ValueError(f"CatTransform: size {x.shape[self.dim]} in dimension {self.dim}, expected {self.length}")
        return x.split(self.lengths, self.dim)

    def _joined(self, parts: Sequence[Tensor]) -> Tensor:
        return cat(list(parts), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        terms = [
            sum_rightmost(t.log_abs_det_jacobian(before, after), self.event_dim - t.event_dim)
            for t, before, after in zip(self.transforms, self._parts(x), self._parts(y))
        ]
        dim = (self.dim - x.ndim if self.dim >= 0 else self.dim) + self.event_dim
        return cat(terms, dim) if dim < 0 else reduce(operator.add, terms)


class StackTransform(_SideBySide):
    """Transforms of the slices of x that `stack` would join along a dimension.

    >>> t = norch.distributions.transforms
    >>> t.StackTransform([t.ExpTransform(), t.identity_transform])(norch.zeros(2, 1))
    tensor([[1.],
            [0.]])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.domain = constraints.stack([t.domain for t in self.transforms], dim)
        self.codomain = constraints.stack([t.codomain for t in self.transforms], dim)

    def _parts(self, x: Tensor) -> Sequence[Tensor]:
        found = x.unbind(self.dim)
        if len(found) != len(self.transforms):
            raise ValueError(f"StackTransform: {len(found)} slices for {len(self.transforms)} transforms")
        return found

    def _joined(self, parts: Sequence[Tensor]) -> Tensor:
        return stack(list(parts), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._parts(x), self._parts(y))
        return self._joined([t.log_abs_det_jacobian(before, after) for t, before, after in pairs])


class CumulativeDistributionTransform(Transform):
    """y is the probability that a distribution gives at most x.

    >>> d = norch.distributions
    >>> d.CumulativeDistributionTransform(d.Normal(0.0, 1.0))(norch.zeros(1))
    tensor([0.5000])
    """

    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution
        self.domain = distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
