"""Adamax."""

from __future__ import annotations

import struct

from .._C import lib
from ..tensor import Tensor
from .groups import Group, check_betas, check_not_negative, settings_of
from .optimizer import Optimizer, Parameters, State


class Adamax(Optimizer):
    """Adamax (Kingma and Ba 2015): Adam with the largest of the fading gradients in place of the mean of squares.

        g = g + weight_decay * p
        m = beta1 * m + (1 - beta1) * g
        u = max(beta2 * u, |g| + eps)
        p = p - lr / (1 - beta1^step) * m / u

    With `maximize` g is negated first. `state[p]` holds "step", "exp_avg" (m) and "exp_inf" (u).

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.Adamax([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.9000])
    """

    fused = lib.adamax_step
    fused_state = ("exp_avg", "exp_inf")

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ):
        super().__init__(params, settings_of(locals()))

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a negative rate, or a beta outside [0, 1)."""
        check_not_negative(settings, "lr", "eps", "weight_decay")
        check_betas(settings)

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> None:
        beta1, beta2 = group["betas"]
        m = state["exp_avg"] = beta1 * state["exp_avg"] + (1 - beta1) * gradient
        u = state["exp_inf"] = (beta2 * state["exp_inf"]).maximum(gradient.abs() + group["eps"])
        parameter -= group["lr"] / (1 - beta1 ** state["step"].item()) * m / u

    def options(self, group: Group) -> bytes:
        return _OPTIONS.pack(group["lr"], *group["betas"], group["eps"], group["weight_decay"], group["maximize"])


_OPTIONS = struct.Struct("5di0d")  # AdamaxOptions in csrc, padded as an element of an array
