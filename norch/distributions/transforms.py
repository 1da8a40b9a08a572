"""Invertible functions between the values of distributions."""

from __future__ import annotations

import math
from typing import Any, Sequence

from ..arguments import broadcast_shapes
from ..functions.creation import eye, tensor
from ..functions.promotion import finfo
from ..nn import functional
from ..tensor import Tensor
from . import constraints
from .combined_transforms import (
    CatTransform,
    ComposeTransform,
    CumulativeDistributionTransform,
    IndependentTransform,
    ReshapeTransform,
    StackTransform,
)
from .transform import Transform
from .transform import _InverseTransform as _InverseTransform
from .utils import softplus, sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform",
    "identity_transform",
]  # fmt: skip


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


def _clipped_sigmoid(x: Tensor) -> Tensor:
    return _inside(x.sigmoid())


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x)).

    >>> norch.distributions.transforms.SigmoidTransform()(norch.zeros(1))
    tensor([0.5000])
    """

    codomain = constraints.unit_interval
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return _clipped_sigmoid(x)

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

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return broadcast_shapes(shape, getattr(self.exponent, "shape", ()))

    inverse_shape = forward_shape


class AffineTransform(Transform):
    """y = loc + scale * x.

    >>> norch.distributions.transforms.AffineTransform(1.0, 2.0)(norch.ones(1))
    tensor([3.])
    """

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale = loc, scale
        if event_dim:
            self.domain = self.codomain = constraints.independent(constraints.real, event_dim)

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

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape


class SoftmaxTransform(Transform):
    """y = softmax(x) along the last dimension, whose inverse is the logarithm; it has no volume, so no Jacobian.

    >>> norch.distributions.transforms.SoftmaxTransform()(norch.zeros(2))
    tensor([0.5000, 0.5000])
    """

    bijective = False
    domain, codomain = constraints.real_vector, constraints.simplex

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

    domain, codomain = constraints.real_vector, constraints.simplex

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

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return (*shape[:-1], shape[-1] - 1)


class LowerCholeskyTransform(Transform):
    """A matrix to one with zeros above a positive diagonal, by exp of its diagonal.

    >>> norch.distributions.transforms.LowerCholeskyTransform()(norch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """A matrix to a positive definite one: L L^T for the L of LowerCholeskyTransform.

    >>> norch.distributions.transforms.PositiveDefiniteTransform()(norch.zeros(1, 1))
    tensor([[1.]])
    """

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(y.cholesky())


class CorrCholeskyTransform(Transform):
    """n (n - 1) / 2 numbers to the Cholesky factor [n, n] of a matrix of correlations, whose rows have length 1.

    >>> norch.distributions.transforms.CorrCholeskyTransform()(norch.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain, codomain = constraints.real_vector, constraints.corr_cholesky

    def _call(self, x: Tensor) -> Tensor:
        step = finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.tanh().clamp(min=step - 1, max=1 - step), -1)  # each breaks a part of a stick off
        left = (1 - r * r).sqrt().cumprod(-1)
        r = r + eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * functional.pad(left[..., :-1], (1, 0), value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        left = functional.pad(1 - (y * y).cumsum(-1)[..., :-1], (1, 0), value=1.0)
        t = tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(left, -1).sqrt()
        return (t.log1p() - (-t).log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), -2)
        return 0.5 * left.log().sum(-1) - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], n, n)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


identity_transform = ComposeTransform([])
