"""NAdam."""

from __future__ import annotations

import struct

from .._C import lib
from ..tensor import Tensor
from .groups import Group, check_betas, check_not_negative, settings_of
from .optimizer import Optimizer, Parameters, State, number_of_state


class NAdam(Optimizer):
    """NAdam (Dozat 2016): Adam with Nesterov's look ahead, and a momentum that grows with the steps.

        g = g + weight_decay * p
        mu = beta1 * (1 - 0.5 * 0.96^(step * momentum_decay))
        M = M * mu
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2
        p = p - lr * ((1 - mu) / (1 - M) * g + mu_next / (1 - M * mu_next) * m) / (sqrt(v / (1 - beta2^step)) + eps)

    where mu_next is the mu of the next step. With `decoupled_weight_decay` p shrinks by lr * weight_decay * p at the
    start of the step instead; with `maximize` g is negated first. `state[p]` holds "step", "mu_product" (M), "exp_avg"
    (m) and "exp_avg_sq" (v).

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.NAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.8944])
    """

    fused = lib.nadam_step
    fused_state = ("exp_avg", "exp_avg_sq", "mu_product")
    numbers = ("step", "mu_product")

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ):
        super().__init__(params, settings_of(locals()))

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a negative setting, or a beta outside [0, 1)."""
        check_not_negative(settings, "lr", "eps", "weight_decay", "momentum_decay")
        check_betas(settings)

    def remembered(self, group: Group) -> tuple[str, ...]:
        """The steps, M, m and v."""
        return "step", "mu_product", "exp_avg", "exp_avg_sq"

    def initial(self, name: str, parameter: Tensor, group: Group) -> Tensor:
        """M begins as 1."""
        return number_of_state(1.0) if name == "mu_product" else super().initial(name, parameter, group)

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> None:
        step, (beta1, beta2), decay = state["step"].item(), group["betas"], group["momentum_decay"]
        mu, mu_next = (beta1 * (1 - 0.5 * 0.96 ** (count * decay)) for count in (step, step + 1))
        state["mu_product"] = state["mu_product"] * mu
        product = state["mu_product"] if group["differentiable"] else state["mu_product"].item()
        m = state["exp_avg"] = beta1 * state["exp_avg"] + (1 - beta1) * gradient
        v = state["exp_avg_sq"] = beta2 * state["exp_avg_sq"] + (1 - beta2) * gradient * gradient
        ahead = (1 - mu) / (1 - product) * gradient + mu_next / (1 - product * mu_next) * m
        parameter -= group["lr"] * ahead / ((v / (1 - beta2**step)).sqrt() + group["eps"])

    def options(self, group: Group) -> bytes:
        rates = group["lr"], *group["betas"], group["eps"], group["weight_decay"], group["momentum_decay"]
        return _OPTIONS.pack(*rates, group["decoupled_weight_decay"], group["maximize"])


_OPTIONS = struct.Struct("6d2i0d")  # NAdamOptions in csrc, padded as an element of an array
