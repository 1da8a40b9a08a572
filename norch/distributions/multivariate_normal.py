"""The normal distribution of vectors."""

from __future__ import annotations

from typing import Any, Sequence

from ..functions.creation import eye
from ..functions.random import randn
from ..linalg import cholesky, solve_triangular
from ..operation import check_tensor
from ..tensor import Tensor
from . import constraints
from .distribution import Distribution
from .utils import LOG_2PI, lazy_property

MATRICES = ("covariance_matrix", "precision_matrix", "scale_tril")


def the_matrix(distribution: str, *given: Tensor | None) -> tuple[str, Tensor]:
    """The one of MATRICES that was given, with its name. Raises ValueError for none and several."""
    found = [(name, value) for name, value in zip(MATRICES, given) if value is not None]
    if len(found) != 1:
        raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    name, matrix = found[0]
    if check_tensor(matrix, f"{distribution}: {name}").ndim < 2:
        raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
    return name, matrix


def _scale_tril(name: str, matrix: Tensor) -> Tensor:
    """The Cholesky factor of the covariance, of the one of MATRICES that is given."""
    if name == "scale_tril":
        return matrix
    return cholesky(matrix) if name == "covariance_matrix" else _precision_to_scale_tril(matrix)


class MultivariateNormal(Distribution):
    """The normal distribution of vectors: `loc`, and a covariance_matrix, its inverse, or its Cholesky factor.

    >>> normal = norch.distributions.MultivariateNormal(norch.zeros(2), norch.eye(2))
    >>> normal.log_prob(norch.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if check_tensor(loc, "MultivariateNormal: loc").ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = the_matrix("MultivariateNormal", covariance_matrix, precision_matrix, scale_tril)
        n = loc.shape[-1]
        batch = tuple((loc.detach().sum(-1) + matrix.detach().sum((-1, -2))).shape)
        self.loc = loc.expand(*batch, n)
        self.__dict__[name] = matrix.expand(*batch, n, n)
        super().__init__(batch, (n,), validate_args=validate_args)
        self._unbroadcasted_scale_tril = _scale_tril(name, matrix)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular L with covariance L L^T."""
        return self._of_all(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariances of the numbers of a vector."""
        return self._of_all(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return self._of_all(self._unbroadcasted_scale_tril.cholesky_inverse())

    def _of_all(self, matrix: Tensor) -> Tensor:
        return matrix.expand(*self._batch_shape, *matrix.shape[-2:])

    @property
    def _half_log_det(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._extended_shape()))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        noise = randn(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * LOG_2PI + distance) - self._half_log_det

    def entropy(self) -> Tensor:
        return 0.5 * self._event_shape[0] * (1.0 + LOG_2PI) + self._half_log_det.expand(self._batch_shape)


class LowRankMultivariateNormal(MultivariateNormal):
    """The normal distribution of vectors whose covariance is W W^T + diag(d), for few columns W, `cov_factor`.

    >>> normal = norch.distributions.LowRankMultivariateNormal(norch.zeros(2), norch.ones(2, 1), norch.ones(2))
    >>> normal.covariance_matrix
    tensor([[2., 1.],
            [1., 2.]])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        for name, value, least in (("loc", loc, 1), ("cov_factor", cov_factor, 2), ("cov_diag", cov_diag, 1)):
            if check_tensor(value, f"LowRankMultivariateNormal: {name}").ndim < least:
                raise ValueError(f"{name} must have at least {least} dimensions")
        if cov_factor.shape[-2] != loc.shape[-1] or cov_diag.shape[-1] != loc.shape[-1]:
            raise ValueError(f"cov_factor and cov_diag must have {loc.shape[-1]} rows, as loc")
        self.cov_factor, self.cov_diag = cov_factor, cov_diag
        covariance = cov_factor @ cov_factor.mT + cov_diag.diag_embed()
        super().__init__(loc, covariance_matrix=covariance, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> LowRankMultivariateNormal:
        loc, diag = (x.expand(*batch_shape, *x.shape[-1:]) for x in (self.loc, self.cov_diag))
        factor = self.cov_factor.expand(*batch_shape, *self.cov_factor.shape[-2:])
        return LowRankMultivariateNormal(loc, factor, diag, validate_args=False)


# ---- PyTorch's names, which distributions of other programs import --------------------------------------------------


def _batch_mv(bmat: Tensor, bvec: Tensor) -> Tensor:
    """Products of matrices [..., n, n] and vectors [..., n]."""
    return (bmat @ bvec.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL: Tensor, bx: Tensor) -> Tensor:
    """x^T M^-1 x for the Cholesky factors L of M, [*b, n, n], and vectors x, [..., *b, n]; in the dtype of L."""
    bx = bx.to(bL.dtype)
    more = bx.ndim - bL.ndim + 1  # dimensions of x before b, all of which one call solves
    if more <= 0:
        return solve_triangular(bL, bx.unsqueeze(-1), upper=False).pow(2).sum((-1, -2))
    distances = solve_triangular(bL, bx.flatten(0, more - 1).movedim(0, -1), upper=False).pow(2).sum(-2)
    return distances.movedim(-1, 0).unflatten(0, bx.shape[:more])


def _precision_to_scale_tril(P: Tensor) -> Tensor:
    """The Cholesky factor of the inverse of P."""
    upper = cholesky(P.flip(-2, -1)).flip(-2, -1)  # times its transpose it is P
    return solve_triangular(upper.mT, eye(P.shape[-1], dtype=upper.dtype, device=P.device), upper=False)
