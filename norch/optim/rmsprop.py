"""RMSprop."""

from __future__ import annotations

import struct

from .._C import lib
from ..tensor import Tensor
from .groups import Group, check_not_negative, settings_of
from .optimizer import Optimizer, Parameters, State


class RMSprop(Optimizer):
    """RMSprop (Hinton, "Neural networks for machine learning", lecture 6): the gradient g over its root mean square.

        g = g + weight_decay * p
        s = alpha * s + (1 - alpha) * g^2
        v = momentum * v + g / (sqrt(s) + eps)
        p = p - lr * v

    With `centered`, the variance s - m^2 takes the place of s, where m = alpha * m + (1 - alpha) * g is a running mean
    (Graves 2013). With `maximize` g is negated first. `state[p]` holds "step", "square_avg" (s), "grad_avg" (m) and
    "momentum_buffer" (v). The rule is torch.optim.RMSprop's.

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.RMSprop([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([8.0466e-08])
    """

    fused = lib.rmsprop_step
    fused_state = ("square_avg", "grad_avg", "momentum_buffer")

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        super().__init__(params, settings_of(locals()))

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a negative setting."""
        check_not_negative(settings, "lr", "alpha", "eps", "weight_decay", "momentum")

    def remembered(self, group: Group) -> tuple[str, ...]:
        """The steps, s, centered m, and with momentum v."""
        needed = {"grad_avg": group["centered"], "momentum_buffer": group["momentum"]}
        return ("step", *(name for name in self.fused_state if needed.get(name, True)))

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> None:
        alpha = group["alpha"]
        s = state["square_avg"] = alpha * state["square_avg"] + (1 - alpha) * gradient * gradient
        if group["centered"]:
            m = state["grad_avg"] = alpha * state["grad_avg"] + (1 - alpha) * gradient
            s = s - m * m
        v = gradient / (s.sqrt() + group["eps"])
        if group["momentum"]:
            v = state["momentum_buffer"] = group["momentum"] * state["momentum_buffer"] + v
        parameter -= group["lr"] * v

    def options(self, group: Group) -> bytes:
        rates = group["lr"], group["alpha"], group["eps"], group["weight_decay"], group["momentum"]
        return _OPTIONS.pack(*rates, group["centered"], group["maximize"])


_OPTIONS = struct.Struct("5d2i0d")  # RMSpropOptions in csrc, padded as an element of an array
