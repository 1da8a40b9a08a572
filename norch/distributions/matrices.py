"""Distributions of matrices: of correlations, and of covariances."""

from __future__ import annotations

import math
from typing import Any, Sequence

from ..arguments import plain_number
from ..functions.creation import tensor
from ..functions.promotion import finfo
from ..functions.random import randn
from ..functions.ranges import arange
from ..given import warn
from ..linalg.solving import slogdet
from ..tensor import Tensor
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .gamma import Beta, Chi2
from .multivariate_normal import MATRICES, MultivariateNormal, the_matrix
from .utils import broadcast_all, lazy_property


class LKJCholesky(Distribution):
    """Cholesky factors [dim, dim] of matrices of correlations, of density det(M)^(concentration - 1).

    With `concentration` 1 all correlations are equally likely (Lewandowski, Kurowicka and Joe, 2009).

    >>> norch.distributions.LKJCholesky(2).log_prob(norch.eye(2))
    tensor(-0.6931)
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        c = self.concentration.detach()
        before = arange(float(self.dim), dtype=c.dtype, device=c.device).clamp(min=1.0)  # numbers below the diagonal
        lengths = Beta(before / 2, c.unsqueeze(-1) + (self.dim - 1 - before) / 2, validate_args=False)
        below = randn(self._extended_shape(sample_shape), dtype=c.dtype, device=c.device).tril(-1)
        norm = below.norm(dim=-1, keepdim=True)
        rows = lengths.sample(sample_shape).unsqueeze(-1).sqrt() * below / norm.clamp(min=finfo(c.dtype).tiny)
        return rows + (1 - rows.pow(2).sum(-1)).clamp(min=finfo(c.dtype).tiny).sqrt().diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        c, less = self.concentration, self.dim - 1
        order = 2 * (c - 1).unsqueeze(-1) + self.dim - arange(2, self.dim + 1, device=c.device)
        density = (order * value.diagonal(dim1=-1, dim2=-2)[..., 1:].log()).sum(-1)
        alpha = c + 0.5 * less
        total = 0.5 * less * math.log(math.pi) + (alpha - 0.5).mvlgamma(less) - alpha.lgamma() * less
        return density - total


class Wishart(ExponentialFamily):
    """Positive definite matrices: the sum of x x^T for `df` vectors x of a normal distribution of mean 0.

    Its covariances are given by covariance_matrix, its inverse, or its Cholesky factor. Raises ValueError if `df` is
    not above the number of rows less one.

    >>> norch.distributions.Wishart(3.0, norch.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = the_matrix("Wishart", covariance_matrix, precision_matrix, scale_tril)
        n = matrix.shape[-1]
        df = df if isinstance(df, Tensor) else plain_number(df, "Wishart")
        count = df if isinstance(df, Tensor) else tensor(df, dtype=matrix.dtype, device=matrix.device)
        count = count if count.is_floating_point() else count.to(matrix.dtype)
        batch = tuple((count.detach() + matrix.detach().sum((-1, -2))).shape)
        self.df = count.expand(batch)
        self.__dict__[name] = matrix.expand(*batch, n, n)
        if bool((self.df <= n - 1).any()):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        if bool((self.df < n).any()):
            warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.")
        super().__init__(batch, (n, n), validate_args=validate_args)
        self._normal = MultivariateNormal(matrix.new_zeros(n), **{name: matrix}, validate_args=False)

    @property
    def arg_constraints(self) -> Any:
        """What the parameters may be."""
        return {
            **{name: MultivariateNormal.arg_constraints[name] for name in MATRICES},
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular L with covariance L L^T."""
        return self._normal.expand(self._batch_shape).scale_tril

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariances of the vectors."""
        return self._normal.expand(self._batch_shape).covariance_matrix

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return self._normal.expand(self._batch_shape).precision_matrix

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """The most likely matrix; NaN without one."""
        factor = self.df - self._event_shape[-1] - 1
        return (factor > 0)._choose(factor, math.nan)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        """The variance of each element."""
        covariance = self.covariance_matrix
        own = covariance.diagonal(dim1=-2, dim2=-1)
        return self.df[..., None, None] * (covariance.pow(2) + own.unsqueeze(-1) * own.unsqueeze(-2))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """A draw (Bartlett's decomposition), which may be singular for a small `df`."""
        df, n = self.df, self._event_shape[-1]
        degrees = df.unsqueeze(-1) - arange(float(n), dtype=df.dtype, device=df.device)
        lengths = Chi2(degrees, validate_args=False).rsample(sample_shape).sqrt()
        below = randn(self._extended_shape(sample_shape), dtype=df.dtype, device=df.device).tril(-1)
        factor = self.scale_tril @ (below + lengths.clamp(min=finfo(df.dtype).eps).diag_embed())
        return factor @ factor.mT

    @property
    def _half_log_det(self) -> Tensor:
        half = self._event_shape[-1] * math.log(2) / 2
        return half + self.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        df, n = self.df, self._event_shape[-1]
        trace = (self.precision_matrix * value.mT).sum((-1, -2))
        return -df * self._half_log_det - (df / 2).mvlgamma(n) + (df - n - 1) / 2 * slogdet(value).logabsdet - trace / 2

    @property
    def _slope_of_mvlgamma(self) -> Tensor:
        df, n = self.df, self._event_shape[-1]
        return ((df.unsqueeze(-1) - arange(float(n), dtype=df.dtype, device=df.device)) / 2).digamma().sum(-1)

    def entropy(self) -> Tensor:
        df, n = self.df, self._event_shape[-1]
        common = (n + 1) * self._half_log_det + (df / 2).mvlgamma(n)
        return common - (df - n - 1) / 2 * self._slope_of_mvlgamma + df * n / 2
