"""Parametrizations of weights: by length and direction, by the largest singular value, by orthogonal matrices."""

from __future__ import annotations

import math

from ...arguments import flags
from ...autograd import no_grad
from ...functions.creation import empty, eye
from ...functions.joining import cat
from ...operation import check_kind
from ...tensor import Tensor
from ...types import float32, shown
from ..init import orthogonal_
from ..module import Module
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

# ---- Length and direction --------------------------------------------------------------------------------------------


def norm_except(v: Tensor, dim: int) -> Tensor:
    """The norms of the slices along `dim`, which keep the number of dimensions; of all of v if dim is -1."""
    if dim == -1:
        return v.norm()
    return v.norm(2, [d for d in range(v.ndim) if d != dim % v.ndim], keepdim=True) if v.ndim > 1 else v.abs()


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Split a weight into its length `original0` and its direction `original1`: w = g v / |v| (Salimans 2016).

    Each slice along `dim` has a length of its own; None means one length. Returns the module. Raises ValueError if it
    has no such weight.

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    >>> layer.parametrizations.weight.original0.shape
    norch.Size([2, 1])
    """
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


# ---- The largest singular value --------------------------------------------------------------------------------------


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """A weight as a matrix, with a row for each index of `dim`."""
    return weight.movedim(dim, 0).flatten(1)


@no_grad()
def power_iterations(matrix: Tensor, u: Tensor, v: Tensor, count: int, eps: float) -> None:
    """Move u and v, in place, towards the singular vectors of the largest singular value."""
    matrix = matrix.detach()
    for _ in range(count):
        u.copy_(normalized(matrix @ v, eps))
        v.copy_(normalized(matrix.T @ u, eps))


def normalized(x: Tensor, eps: float) -> Tensor:
    """x / |x|, or x / eps if its length is below that."""
    return x / x.norm().clamp(min=eps)


def scaled_down(weight: Tensor, dim: int, u: Tensor, v: Tensor) -> Tensor:
    """The weight divided by its singular value u^T W v."""
    return weight / (u.clone() @ (as_matrix(weight, dim) @ v.clone()))


class _SpectralNorm(Module):
    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(f"spectral_norm: dim is {dim}, out of range for {list(weight.shape)}")
        if n_power_iterations <= 0:
            raise ValueError(f"spectral_norm: n_power_iterations is {n_power_iterations}, expected above 0")
        self.dim, self.eps, self.n_power_iterations = dim % weight.ndim, eps, n_power_iterations
        if weight.ndim > 1:  # a vector is its own singular vector
            matrix = as_matrix(weight.detach(), self.dim)
            for name, size in zip(("_u", "_v"), matrix.shape):
                drawn = empty(size, dtype=weight.dtype, device=weight.device).normal_()
                self.register_buffer(name, normalized(drawn, eps))
            power_iterations(matrix, self._u, self._v, 15, eps)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return normalized(weight, self.eps)
        if self.training:
            power_iterations(as_matrix(weight, self.dim), self._u, self._v, self.n_power_iterations, self.eps)
        return scaled_down(weight, self.dim, self._u, self._v)

    def right_inverse(self, value: Tensor) -> Tensor:
        return value  # some value of which this is the scaled one


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value, as a matrix [size of dim, -1] (Miyato et al. 2018).

    That value is estimated by `n_power_iterations` a call in training. `dim` is 0, or 1 for transposed convolutions.
    Returns the module. Raises ValueError if it has no such weight.

    >>> layer = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 1))
    >>> (layer.weight.norm() - 1).abs() < 1e-5
    tensor(True)
    """
    if name not in check_kind(module, Module, "spectral_norm")._parameters or module._parameters[name] is None:
        raise ValueError(f"spectral_norm: {module.get_name()} has no parameter {shown(name)}")
    weight = module._parameters[name]
    made = _SpectralNorm(weight, n_power_iterations, default_dim(module) if dim is None else dim, eps)
    return register_parametrization(module, name, made)


def default_dim(module: Module) -> int:
    """The dimension of the outputs of a module's weight."""
    return int(any(cls.__name__.startswith("ConvTranspose") for cls in type(module).__mro__))


# ---- Orthogonal matrices --------------------------------------------------------------------------------------------


class _Orthogonal(Module):
    """Q(X) B for a square or wide weight, and its transpose for a tall one: Q is orthogonal, and B fixed at first."""

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        self.orthogonal_map = orthogonal_map
        self.register_buffer("base", _tall(_near(weight)) if use_trivialization else None)

    def forward(self, X: Tensor) -> Tensor:
        tall = _tall(X)
        n, k = tall.shape[-2:]
        lower = tall.tril(-1)
        if self.orthogonal_map == "householder":
            Q = _reflections(lower)
        else:
            if n > k:
                lower = cat([lower, lower.new_zeros(n, n - k)], -1)
            skew = lower - lower.mT  # whose exponential, and whose Cayley transform, are orthogonal
            Q = _exponential(skew) if self.orthogonal_map == "matrix_exp" else _cayley(skew)
        result = Q[..., :k] if self.base is None else Q @ self.base
        return result.mT if X.shape[-2] < X.shape[-1] else result

    def right_inverse(self, Q: Tensor) -> Tensor:
        if self.base is None:
            raise NotImplementedError("orthogonal: assigning a value needs use_trivialization=True")
        self.base.copy_(_tall(_near(Q)))
        return Q.zeros_like()


def _tall(x: Tensor) -> Tensor:
    return x.mT if x.shape[-2] < x.shape[-1] else x


def _near(weight: Tensor) -> Tensor:
    """The weight itself if its rows or columns are orthonormal, else a random one of its shape."""
    x = _tall(weight.detach())
    tolerance = 10 * x.shape[-2] * (1.2e-7 if x.dtype is float32 else 2.3e-16)
    if (x.mT @ x - eye(x.shape[-1], dtype=x.dtype, device=x.device)).abs().max() <= tolerance:
        return weight.detach().clone()
    return orthogonal_(weight.detach().clone())


def _reflections(lower: Tensor) -> Tensor:
    """The product of the reflections along e_j + column j, which is the unit matrix if the columns are 0."""
    n, k = lower.shape
    unit = eye(n, dtype=lower.dtype, device=lower.device)
    result = unit
    for j in range(k):
        v = (unit[:, j] + lower[:, j]).unsqueeze(1)
        result = result - (result @ v) @ v.mT * (2 / (v * v).sum())
    return cat([-result[:, :k], result[:, k:]], 1)  # a reflection turns e_j


def _exponential(A: Tensor) -> Tensor:
    """The exponential of a matrix: its Taylor series at A / 2^s, squared s times."""
    size = float(A.detach().abs().sum(-1).max()) if A.numel else 0.0
    squarings = max(0, math.ceil(math.log2(size)) + 1) if size > 0 else 0
    x = A / 2.0**squarings
    unit = eye(A.shape[-1], dtype=A.dtype, device=A.device)
    result = unit
    for k in range(18, 0, -1):  # of norm at most 1/2: 2^-18 / 18! is below the last digit
        result = unit + (x @ result) / k
    for _ in range(squarings):
        result = result @ result
    return result


def _cayley(A: Tensor) -> Tensor:
    """(I - A / 2)^-1 (I + A / 2) for a skew A, by elimination, which needs no pivots there."""
    n = A.shape[-1]
    unit = eye(n, dtype=A.dtype, device=A.device)
    rows = cat([unit - A / 2, unit + A / 2], 1)
    for k in range(n):
        pivot = rows[k : k + 1] / rows[k, k]
        keep = unit[:, k : k + 1]
        rows = rows - (rows[:, k : k + 1] - keep) @ pivot
    return rows[:, n:]


@flags
def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keep the rows of a weight [n, m] (its columns if there are fewer) orthonormal; returns the module.

    The weight is the exponential of a skew matrix ("matrix_exp", for square weights the default), its Cayley transform
    ("cayley"), or a product of reflections ("householder"). With `use_trivialization` the first value is the weight's
    own, or a random one if that is not orthogonal. Raises ValueError if the module has no such weight, if it is no
    matrix, and for another map.

    >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3))
    >>> (layer.weight @ layer.weight.T - norch.eye(3)).abs().max() < 1e-5
    tensor(True)
    """
    weight = check_kind(module, Module, "orthogonal")._parameters.get(name)
    if weight is None:
        raise ValueError(f"orthogonal: {module.get_name()} has no parameter {shown(name)}")
    if weight.ndim != 2:
        raise ValueError(f"orthogonal: {name} has shape {list(weight.shape)}, expected a matrix")
    chosen = orthogonal_map or ("matrix_exp" if weight.shape[0] == weight.shape[1] else "householder")
    if chosen not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f"orthogonal: orthogonal_map is {shown(orthogonal_map)}, expected 'matrix_exp', 'cayley' or 'householder'"
        )
    made = _Orthogonal(weight, chosen, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
