"""RAdam."""

from __future__ import annotations

import struct

from .._C import lib
from ..tensor import Tensor
from .groups import Group, check_betas, check_not_negative, settings_of
from .optimizer import Optimizer, Parameters, State


class RAdam(Optimizer):
    """RAdam (Liu and others 2020): Adam that divides by the root of v only when v is known well enough.

        g = g + weight_decay * p
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2
        p = p - lr * m'                                         in the first steps, while rho <= 5
        p = p - lr * r * m' * sqrt(1 - beta2^step) / (sqrt(v) + eps)      later

    with m' = m / (1 - beta1^step), rho = rho_inf - 2 step beta2^step / (1 - beta2^step), rho_inf = 2 / (1 - beta2) - 1
    and r = sqrt((rho - 4) (rho - 2) rho_inf / ((rho_inf - 4) (rho_inf - 2) rho)). With `decoupled_weight_decay` p
    shrinks by lr * weight_decay * p at the start of the step instead; with `maximize` g is negated first. `state[p]`
    holds "step", "exp_avg" (m) and "exp_avg_sq" (v).

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.RAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.8000])
    """

    fused = lib.radam_step
    fused_state = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ):
        super().__init__(params, settings_of(locals()))

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a negative rate, or a beta outside [0, 1)."""
        check_not_negative(settings, "lr", "eps", "weight_decay")
        check_betas(settings)

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> None:
        step, (beta1, beta2) = state["step"].item(), group["betas"]
        m = state["exp_avg"] = beta1 * state["exp_avg"] + (1 - beta1) * gradient
        v = state["exp_avg_sq"] = beta2 * state["exp_avg_sq"] + (1 - beta2) * gradient * gradient
        change = group["lr"] * m / (1 - beta1**step)
        correction, limit = 1 - beta2**step, 2 / (1 - beta2) - 1
        rho = limit - 2 * step * beta2**step / correction
        if rho > 5:
            r = ((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho)) ** 0.5
            change = change * r * correction**0.5 / (v.sqrt() + group["eps"])
        parameter -= change

    def options(self, group: Group) -> bytes:
        rates = group["lr"], *group["betas"], group["eps"], group["weight_decay"]
        return _OPTIONS.pack(*rates, group["decoupled_weight_decay"], group["maximize"])


_OPTIONS = struct.Struct("5d2i0d")  # RAdamOptions in csrc, padded as an element of an array
