"""ASGD."""

from __future__ import annotations

import struct

from .._C import lib
from ..tensor import Tensor
from .groups import Group, check_not_negative, settings_of
from .optimizer import Optimizer, Parameters, State, number_of_state


class ASGD(Optimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992): `state[p]["ax"]` is the mean of p.

        g = g + weight_decay * p
        p = (1 - lambd * eta) * p - eta * g
        ax = ax + mu * (p - ax)
        eta = lr / (1 + lambd * lr * step)^alpha        mu = 1 / max(1, step - t0)

    so that the mean begins after `t0` steps, and ax is p before. With `maximize` g is negated first. `state[p]` holds
    "step", "eta", "mu" and "ax".

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.ASGD([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.8000])
    """

    fused = lib.asgd_step
    fused_state = ("ax", "eta", "mu")
    numbers = ("step", "eta", "mu")

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ):
        super().__init__(params, settings_of(locals()))

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a negative rate or decay."""
        check_not_negative(settings, "lr", "weight_decay")

    def remembered(self, group: Group) -> tuple[str, ...]:
        """The steps, eta, mu, and the mean."""
        return "step", "eta", "mu", "ax"

    def initial(self, name: str, parameter: Tensor, group: Group) -> Tensor:
        """The first eta is lr, the first mu 1."""
        numbers = {"eta": group["lr"], "mu": 1.0}
        return number_of_state(float(numbers[name])) if name in numbers else super().initial(name, parameter, group)

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> None:
        step, eta, mu = (state[name].item() for name in ("step", "eta", "mu"))
        lr, lambd = group["lr"], group["lambd"]
        parameter *= 1 - lambd * eta
        parameter -= eta * gradient
        state["ax"] = parameter.detach().clone() if mu == 1 else state["ax"] + mu * (parameter - state["ax"])
        state["eta"] = number_of_state(float(lr / (1 + lambd * lr * step) ** group["alpha"]))
        state["mu"] = number_of_state(1 / max(1.0, step - group["t0"]))

    def options(self, group: Group) -> bytes:
        rates = group["lr"], group["lambd"], group["alpha"], group["t0"], group["weight_decay"]
        return _OPTIONS.pack(*rates, group["maximize"])


_OPTIONS = struct.Struct("5di0d")  # ASGDOptions in csrc, padded as an element of an array
