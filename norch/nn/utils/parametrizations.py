"""Parametrizations of weights: by length and direction, by the largest singular value, by orthogonal matrices."""

from __future__ import annotations

from typing import Any

from ... import linalg
from ...arguments import flags, one_size
from ...autograd import no_grad
from ...functions.creation import empty, eye
from ...functions.joining import cat
from ...operation import check_kind
from ...tensor import Tensor
from ...types import float32, shown
from ..module import Module
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

# ---- Length and direction --------------------------------------------------------------------------------------------


def norm_except(v: Tensor, dim: int) -> Tensor:
    """The norms of the slices along `dim`, which keep the number of dimensions; of all of v if dim is -1."""
    if dim == -1:
        return v.norm()
    if not -v.ndim <= dim < v.ndim:
        raise IndexError(f"weight_norm: dim is {dim}, out of range for a weight of shape {list(v.shape)}")
    return v.norm(2, [d for d in range(v.ndim) if d != dim % v.ndim], keepdim=True) if v.ndim > 1 else v.abs()


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else one_size(dim, "weight_norm")

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Split a weight into its length `original0` and its direction `original1`: w = g v / |v| (Salimans 2016).

    Each slice along `dim` has a length of its own; None means one length. Returns the module, which also loads states
    of `nn.utils.weight_norm`. Raises ValueError if it has no such weight.

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    >>> layer.parametrizations.weight.original0.shape
    norch.Size([2, 1])
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module.register_load_state_dict_pre_hook(_NewNames(name))
    return module


class _NewNames:
    """A hook that finds the parts of a weight where `nn.utils.weight_norm` puts them. (A class, for pickle.)"""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, module: Module, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        old = [f"{prefix}{self.name}_{part}" for part in "gv"]
        if all(key in state_dict for key in old):
            for number, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{self.name}.original{number}"] = state_dict.pop(key)


# ---- The largest singular value --------------------------------------------------------------------------------------


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """A weight as a matrix, with a row for each index of `dim`; a vector has one column."""
    return weight.movedim(dim, 0).unsqueeze(-1).flatten(1)


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
    weight = _tensor_of(module, name, "spectral_norm")
    made = _SpectralNorm(weight, n_power_iterations, default_dim(module) if dim is None else dim, eps)
    return register_parametrization(module, name, made)


def _tensor_of(module: Module, name: str, function: str) -> Tensor:
    weight = getattr(check_kind(module, Module, function), name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"{function}: {module.get_name()} has no parameter or buffer {shown(name)}")
    return weight


def default_dim(module: Module) -> int:
    """The dimension of the outputs of a module's weight."""
    return int(any(cls.__name__.startswith("ConvTranspose") for cls in type(module).__mro__))


# ---- Orthogonal matrices --------------------------------------------------------------------------------------------


class _Orthogonal(Module):
    """A map from [..., n, k] to matrices with orthonormal columns, or rows if they are fewer; with a `base` that times
    it. Under the diagonal of X are the numbers of the map; the diagonal has signs, of which "householder" makes use."""

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        self.shape, self.orthogonal_map, self.use_trivialization = weight.shape, orthogonal_map, use_trivialization
        self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        tall = _tall(X)
        n, k = tall.shape[-2:]
        if self.orthogonal_map == "householder":
            lower = tall.tril(-1)
            Q = linalg.householder_product(lower, 2 / (1 + (lower * lower).sum(-2)))
            Q = Q * tall.diagonal(dim1=-2, dim2=-1).detach().sign().unsqueeze(-2)
        else:
            lower = cat([tall.tril(-1), tall.new_zeros(*tall.shape[:-1], n - k)], -1)
            skew = lower - lower.mT  # whose exponential, and whose Cayley transform, are orthogonal
            Q = linalg.matrix_exp(skew) if self.orthogonal_map == "matrix_exp" else _cayley(skew)
            Q = Q[..., :k]
        if self.base is not None:
            Q = self.base @ Q
        return Q.mT if X.shape[-2] < X.shape[-1] else Q

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(f"orthogonal: expected matrices of shape {list(self.shape)}, got {list(Q.shape)}")
        tall = _tall(Q)
        n, k = tall.shape[-2:]
        if self.use_trivialization:
            if n > k:
                tall = cat([tall, empty(*tall.shape[:-1], n - k, dtype=Q.dtype, device=Q.device).normal_()], -1)
            self.base = tall.clone() if n == k and _is_orthogonal(tall) else _columns(tall)
            X = Q.zeros_like()
            X.diagonal(dim1=-2, dim2=-1).fill_(-1.0)  # of which "householder" makes the unit matrix
            return X
        if self.orthogonal_map != "householder":
            raise NotImplementedError("orthogonal: assigning a value needs use_trivialization=True")
        reflections, tau = tall.geqrf()
        diagonal = reflections.diagonal(dim1=-2, dim2=-1)
        diagonal.copy_(diagonal.sign() * (1 - 2 * (tau == 0).to(Q.dtype)))  # LAPACK leaves out a reflection
        return reflections.mT if Q.shape[-2] < Q.shape[-1] else reflections


def _tall(x: Tensor) -> Tensor:
    return x.mT if x.shape[-2] < x.shape[-1] else x


def _is_orthogonal(Q: Tensor) -> bool:
    tolerance = 10 * Q.shape[-2] * (1.2e-7 if Q.dtype is float32 else 2.3e-16)
    return bool((Q.mT @ Q).isclose(eye(Q.shape[-1], dtype=Q.dtype, device=Q.device), rtol=0.0, atol=tolerance).all())


def _columns(A: Tensor) -> Tensor:
    """The Q of A = Q R with an R whose diagonal is not negative."""
    reflections, tau = A.geqrf()
    return linalg.householder_product(reflections, tau) * reflections.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)


def _cayley(A: Tensor) -> Tensor:
    """(I - A / 2)^-1 (I + A / 2) for a skew A."""
    unit = eye(A.shape[-1], dtype=A.dtype, device=A.device)
    return linalg.solve(unit - A / 2, unit + A / 2)


@flags
def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keep the rows of matrices [..., n, m] (their columns if there are fewer) orthonormal; returns the module.

    The weight is the exponential of a skew matrix ("matrix_exp", for square weights the default), its Cayley transform
    ("cayley"), or a product of reflections ("householder"). With `use_trivialization` it is a fixed matrix times that,
    and begins with the weight itself, made orthonormal. Raises ValueError if the module has no such weight, if it has
    fewer than two dimensions, and for another map. Computed by NumPy's LAPACK, as the other factorizations are.

    >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3))
    >>> (layer.weight @ layer.weight.T - norch.eye(3)).abs().max() < 1e-5
    tensor(True)
    """
    weight = _tensor_of(module, name, "orthogonal")
    if weight.ndim < 2:
        raise ValueError(f"orthogonal: {name} has shape {list(weight.shape)}, expected matrices")
    best = "matrix_exp" if weight.shape[-2] == weight.shape[-1] else "householder"
    chosen = best if orthogonal_map is None else orthogonal_map
    if chosen not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f"orthogonal: orthogonal_map is {shown(orthogonal_map)}, expected 'matrix_exp', 'cayley' or 'householder'"
        )
    made = _Orthogonal(weight, chosen, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
