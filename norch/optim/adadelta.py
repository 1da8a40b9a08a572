"""Adadelta."""

from __future__ import annotations

import struct

from .._C import lib
from ..tensor import Tensor
from .groups import Group, check_not_negative, settings_of
from .optimizer import Optimizer, Parameters, State


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012): steps in the scale of the last steps, by running means of squares.

        g = g + weight_decay * p
        s = rho * s + (1 - rho) * g^2
        d = sqrt(a + eps) / sqrt(s + eps) * g
        a = rho * a + (1 - rho) * d^2
        p = p - lr * d

    With `maximize` g is negated first. `state[p]` holds "step", "square_avg" (s) and "acc_delta" (a).

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.Adadelta([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.9997])
    """

    fused = lib.adadelta_step
    fused_state = ("square_avg", "acc_delta")

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        super().__init__(params, settings_of(locals()))

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a negative setting, or a rho above 1."""
        check_not_negative(settings, "lr", "eps", "weight_decay")
        if not 0 <= settings["rho"] <= 1:
            raise ValueError(f"Invalid rho value: {settings['rho']}, expected 0 to 1")

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> None:
        rho, eps = group["rho"], group["eps"]
        s = state["square_avg"] = rho * state["square_avg"] + (1 - rho) * gradient * gradient
        d = (state["acc_delta"] + eps).sqrt() / (s + eps).sqrt() * gradient
        state["acc_delta"] = rho * state["acc_delta"] + (1 - rho) * d * d
        parameter -= group["lr"] * d

    def options(self, group: Group) -> bytes:
        return _OPTIONS.pack(group["lr"], group["rho"], group["eps"], group["weight_decay"], group["maximize"])


_OPTIONS = struct.Struct("4di0d")  # AdadeltaOptions in csrc, padded as an element of an array
