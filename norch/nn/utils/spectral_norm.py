"""spectral_norm by a hook, as before the parametrizations: other names, the same formula."""

from __future__ import annotations

from typing import Any

from ...functions.creation import empty
from ...operation import check_kind
from ...tensor import Tensor
from ..module import Module
from .parametrizations import as_matrix, default_dim, normalized, power_iterations, scaled_down
from .weight_norm import ByHook, parameter_of, remove

__all__ = ["remove_spectral_norm", "spectral_norm"]


class SpectralNorm(ByHook):
    def __init__(self, name: str, dim: int, n_power_iterations: int, eps: float) -> None:
        super().__init__(name, dim)
        self.n_power_iterations, self.eps = n_power_iterations, eps

    def _parts(self, module: Module) -> tuple[Tensor, Tensor, Tensor]:
        weight, u, v = (getattr(module, self.name + suffix) for suffix in ("_orig", "_u", "_v"))
        return weight, u, v

    def compute(self, module: Module) -> Tensor:
        weight, u, v = self._parts(module)
        return scaled_down(weight, self.dim, u, v)

    def __call__(self, module: Module, inputs: Any) -> None:
        if module.training:
            weight, u, v = self._parts(module)
            power_iterations(as_matrix(weight, self.dim).T, v, u, self.n_power_iterations, self.eps)  # v first
        super().__call__(module, inputs)


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight, kept as `weight_orig`, by its largest singular value before each forward.

    `parametrizations.spectral_norm` is newer, and says more. Returns the module. Raises ValueError unless
    n_power_iterations is above 0, KeyError if there is no such parameter, RuntimeError if it is divided already.

    >>> layer = nn.utils.spectral_norm(nn.Linear(3, 2))
    >>> list(layer.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    if n_power_iterations <= 0:
        raise ValueError(f"spectral_norm: n_power_iterations is {n_power_iterations}, expected above 0")
    check_kind(module, Module, "spectral_norm")
    made = SpectralNorm(name, default_dim(module) if dim is None else dim, n_power_iterations, eps)
    made.check_alone(module)
    weight = parameter_of(module, name, "spectral_norm")
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    for suffix, size in zip(("_u", "_v"), as_matrix(weight.detach(), made.dim).shape):
        drawn = empty(size, dtype=weight.dtype, device=weight.device).normal_()
        module.register_buffer(name + suffix, normalized(drawn, eps))
    return made.add_to(module, weight.detach())


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make a weight of `spectral_norm` an ordinary one again, with its value now. Raises ValueError if it is none.

    >>> layer = nn.utils.remove_spectral_norm(nn.utils.spectral_norm(nn.Linear(3, 2)))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight']
    """
    return remove(SpectralNorm, module, name, ("_u", "_v", "_orig"))
