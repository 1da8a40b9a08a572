"""The normal distribution of vectors."""

from __future__ import annotations

from typing import Sequence

from ..functions.creation import eye
from ..functions.joining import cat
from ..functions.random import randn
from ..linalg import cholesky, qr, solve_triangular
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
        distance = self._distance(value - self.loc)
        return -0.5 * (self._event_shape[0] * LOG_2PI + distance) - self._half_log_det

    def _distance(self, x: Tensor) -> Tensor:
        return _batch_mahalanobis(self._unbroadcasted_scale_tril, x)

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
        n, rank = cov_factor.shape[-2:]
        batch = tuple((loc.detach().sum(-1) + cov_factor.detach().sum((-1, -2)) + cov_diag.detach().sum(-1)).shape)
        self.loc, self.cov_diag = loc.expand(*batch, n), cov_diag.expand(*batch, n)
        self.cov_factor = cov_factor.expand(*batch, n, rank)
        Distribution.__init__(self, batch, (n,), validate_args=validate_args)
        # Of S = d^-1/2 W the covariance is d^1/2 (I + S S^T) d^1/2. With the orthonormal Q of [I, S] = Q R the inverse
        # of I + S S^T is I - Q2 Q2^T, for the rows Q2 that stand at S; its determinant is that of R^2. A Cholesky
        # factor of I + S^T S, which has these too, would lose half of the digits.
        self._scaled = cov_factor / cov_diag.sqrt().unsqueeze(-1)
        self._q, self._r = _qr_below_identity(self._scaled)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular L with covariance L L^T."""
        upper = _qr_below_identity(self._scaled.mT)[1]
        signs = upper.detach().diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-1)
        return self.cov_diag.sqrt().unsqueeze(-1) * (upper * signs).mT.tril()

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariances of the numbers of a vector."""
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        q2, roots = self._q[..., self._r.shape[-1] :, :], self.cov_diag.sqrt()
        inner = eye(q2.shape[-2], dtype=q2.dtype, device=q2.device) - q2 @ q2.mT
        return inner / roots.unsqueeze(-1) / roots.unsqueeze(-2)

    @property
    def variance(self) -> Tensor:
        """The variance of each number."""
        return self.cov_factor.pow(2).sum(-1) + self.cov_diag

    @property
    def _half_log_det(self) -> Tensor:
        return self._r.diagonal(dim1=-2, dim2=-1).abs().log().sum(-1) + 0.5 * self.cov_diag.log().sum(-1)

    def _distance(self, x: Tensor) -> Tensor:
        y, rank = x / self.cov_diag.sqrt(), self._r.shape[-1]
        q1, q2 = self._q[..., :rank, :], self._q[..., rank:, :]
        inner = _batch_mv(q2.mT, y)
        return _batch_mv(q1, inner).pow(2).sum(-1) + (y - _batch_mv(q2, inner)).pow(2).sum(-1)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        kind, device, shape = self.loc.dtype, self.loc.device, self._extended_shape(sample_shape)
        few = randn((*shape[:-1], self.cov_factor.shape[-1]), dtype=kind, device=device)
        own = randn(shape, dtype=kind, device=device)
        return self.loc + _batch_mv(self.cov_factor, few) + self.cov_diag.sqrt() * own


def _qr_below_identity(x: Tensor) -> tuple[Tensor, Tensor]:
    """Q and R of the matrices [I, x], one above the other."""
    size = x.shape[-1]
    identity = eye(size, dtype=x.dtype, device=x.device).expand(*x.shape[:-2], size, size)
    return qr(cat([identity, x], -2))


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
