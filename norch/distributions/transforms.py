"""Invertible functions between the values of distributions."""

from __future__ import annotations

import math
import operator
from functools import reduce
from typing import Any, Sequence

from ..functions.creation import tensor
from ..functions.promotion import finfo
from ..nn import functional
from ..operation import check_kind
from ..tensor import Tensor
from . import constraints
from .utils import softplus, sum_rightmost

_NOT_COMPARED = ("_cache_size", "_last", "domain", "codomain", "bijective", "event_dim")


def _same(x: Any, y: Any) -> bool:
    return bool((x == y).all()) if isinstance(x, Tensor) or isinstance(y, Tensor) else x == y


class Transform:
    """y = t(x), x = t.inv(y), and the logarithm of |dy/dx|; `event_dim` dimensions of x make one value.

    A subclass defines `_call`, `_inverse` and `log_abs_det_jacobian`. With `cache_size=1` the inverse of the last
    result is the very argument.

    >>> double = norch.distributions.AffineTransform(0.0, 2.0)
    >>> double(norch.tensor(3.0)), double.inv(norch.tensor(6.0))
    (tensor(6.), tensor(3.))
    """

    bijective = True
    domain: constraints.Constraint = constraints.real
    codomain: constraints.Constraint = constraints.real
    event_dim = 0

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._last: tuple[Any, Any] = (None, None)

    def __call__(self, x: Tensor) -> Tensor:
        """t(x)."""
        if self._cache_size and x is self._last[0]:
            return self._last[1]
        y = self._call(x)
        self._last = (x, y) if self._cache_size else (None, None)
        return y

    @property
    def sign(self) -> Any:
        """1 if y grows with x, -1 if it falls. Raises NotImplementedError if neither is so."""
        raise NotImplementedError(f"{type(self).__name__} has no sign")

    @property
    def inv(self) -> Transform:
        """The inverse transform."""
        return _Inverse(self)

    def __eq__(self, other: object) -> bool:
        """Whether the other is of the same class, and has the same parameters."""
        if type(self) is not type(other):
            return False
        own, others = ({k: v for k, v in vars(x).items() if k not in _NOT_COMPARED} for x in (self, other))
        return own.keys() == others.keys() and all(_same(value, others[name]) for name, value in own.items())

    def __hash__(self) -> int:
        return hash(type(self))

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size and y is self._last[1]:
            return self._last[0]
        return self._inverse(y)

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy/dx| at x, of which y is t(x)."""
        raise NotImplementedError

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of y for one of x."""
        return shape

    def __repr__(self) -> str:
        return type(self).__name__ + "()"


class _Inverse(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__()
        self._transform = transform
        self.domain, self.codomain, self.event_dim = transform.codomain, transform.domain, transform.event_dim

    @property
    def sign(self) -> Any:
        return self._transform.sign

    @property
    def inv(self) -> Transform:
        return self._transform

    def __call__(self, x: Tensor) -> Tensor:
        return self._transform._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._transform(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._transform.log_abs_det_jacobian(y, x)


class ExpTransform(Transform):
    """y = exp(x).

    >>> norch.distributions.transforms.ExpTransform()(norch.zeros(1))
    tensor([1.])
    """

    codomain = constraints.positive
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


def _inside(y: Tensor) -> Tensor:
    """Probabilities kept off 0 and 1."""
    info = finfo(y.dtype)
    return y.clamp(min=info.tiny, max=1 - info.eps)


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x)).

    >>> norch.distributions.transforms.SigmoidTransform()(norch.zeros(1))
    tensor([0.5000])
    """

    codomain = constraints.unit_interval
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return _inside(x.sigmoid())

    def _inverse(self, y: Tensor) -> Tensor:
        y = _inside(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """y = tanh(x).

    >>> norch.distributions.transforms.TanhTransform()(norch.zeros(1))
    tensor([0.])
    """

    codomain = constraints.interval(-1.0, 1.0)
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return 0.5 * (y.log1p() - (-y).log1p())

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class SoftplusTransform(Transform):
    """y = log(1 + exp(x)).

    >>> norch.distributions.transforms.SoftplusTransform()(norch.zeros(1))
    tensor([0.6931])
    """

    codomain = constraints.positive
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class AbsTransform(Transform):
    """y = |x|, of which one inverse is y.

    >>> norch.distributions.transforms.AbsTransform()(norch.tensor([-1.0]))
    tensor([1.])
    """

    bijective = False
    codomain = constraints.nonnegative

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


def _sign(x: Any) -> Any:
    return x.sign() if isinstance(x, Tensor) else (x > 0) - (x < 0)


def _power(x: Tensor, exponent: Any) -> Tensor:
    """x to a power, of which a number is a tensor, as in PyTorch: of -inf, the power 1/2 is then infinite."""
    return x.pow(exponent if isinstance(exponent, Tensor) else tensor(float(exponent), device=x.device))


class PowerTransform(Transform):
    """y = x to the power of a number, of positive x.

    >>> norch.distributions.transforms.PowerTransform(2.0)(norch.tensor([3.0]))
    tensor([9.])
    """

    domain = codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent

    @property
    def sign(self) -> Any:
        """1 if y grows with x, -1 if it falls."""
        return _sign(self.exponent)

    def _call(self, x: Tensor) -> Tensor:
        return _power(x, self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return _power(y, 1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()


class AffineTransform(Transform):
    """y = loc + scale * x.

    >>> norch.distributions.transforms.AffineTransform(1.0, 2.0)(norch.ones(1))
    tensor([3.])
    """

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim

    @property
    def sign(self) -> Any:
        """1 if y grows with x, -1 if it falls."""
        return _sign(self.scale)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        slope = self.scale.abs().log() if isinstance(self.scale, Tensor) else math.log(abs(self.scale))
        return sum_rightmost(x.detach().zeros_like() + slope, self.event_dim)


class SoftmaxTransform(Transform):
    """y = softmax(x) along the last dimension, whose inverse is the logarithm; it has no volume, so no Jacobian.

    >>> norch.distributions.transforms.SoftmaxTransform()(norch.zeros(2))
    tensor([0.5000, 0.5000])
    """

    bijective = False
    domain, codomain, event_dim = constraints.real_vector, constraints.simplex, 1

    def _call(self, x: Tensor) -> Tensor:
        y = (x - x.amax(-1, True)).exp()  # of integers too
        return y / y.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()


class StickBreakingTransform(Transform):
    """n numbers to n + 1 probabilities: each sigmoid says how much is broken off what is left of a stick.

    >>> norch.distributions.transforms.StickBreakingTransform()(norch.zeros(1))
    tensor([0.5000, 0.5000])
    """

    domain, codomain, event_dim = constraints.real_vector, constraints.simplex, 1

    @staticmethod
    def _offsets(x: Tensor) -> Tensor:
        """log(n), log(n - 1), ... log(1), so that zeros give equal parts."""
        return x.detach().ones_like().cumsum(-1).flip(-1).log()

    def _call(self, x: Tensor) -> Tensor:
        z = _inside((x - self._offsets(x)).sigmoid())
        left = (1 - z).cumprod(-1)
        return functional.pad(z, (0, 1), value=1.0) * functional.pad(left, (1, 0), value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = y[..., :-1]
        left = (1 - parts.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return parts.log() - left.log() + self._offsets(parts)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._offsets(x)
        return (-softplus(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return (*shape[:-1], shape[-1] + 1)


class LowerCholeskyTransform(Transform):
    """A matrix to one with zeros above a positive diagonal, by exp of its diagonal.

    >>> norch.distributions.transforms.LowerCholeskyTransform()(norch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain, codomain, event_dim = constraints.independent(constraints.real, 2), constraints.lower_cholesky, 2

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """A matrix to a positive definite one: L L^T for the L of LowerCholeskyTransform.

    >>> norch.distributions.transforms.PositiveDefiniteTransform()(norch.zeros(1, 1))
    tensor([[1.]])
    """

    domain, codomain, event_dim = constraints.independent(constraints.real, 2), constraints.positive_definite, 2

    def _call(self, x: Tensor) -> Tensor:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(y.cholesky())


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
        self.event_dim = base.event_dim + reinterpreted_batch_ndims
        self.domain = constraints.independent(base.domain, reinterpreted_batch_ndims)
        self.codomain = constraints.independent(base.codomain, reinterpreted_batch_ndims)

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        return self.base_transform(self._whole(x))

    def _inverse(self, y: Tensor) -> Tensor:
        return self.base_transform.inv(self._whole(y))

    def _whole(self, x: Tensor) -> Tensor:
        if x.ndim < self.event_dim:
            raise ValueError(f"Too few dimensions on input: {x.ndim}, expected at least {self.event_dim}")
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.base_transform.forward_shape(shape)


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
        self.event_dim = max((part.event_dim for part in self.parts), default=0)
        if self.parts:
            self.domain, self.codomain = self.parts[0].domain, self.parts[-1].codomain

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
        for part in self.parts:
            after = part(x)
            terms.append(sum_rightmost(part.log_abs_det_jacobian(x, after), self.event_dim - part.event_dim))
            x = after
        return reduce(operator.add, terms) if terms else x.zeros_like()

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


identity_transform = ComposeTransform([])
