"""RMSprop."""

from __future__ import annotations

import struct

from .fused import FusedOptimizer
from .optimizer import check_not_negative


class RMSprop(FusedOptimizer):
    """RMSprop (Hinton, "Neural networks for machine learning", lecture 6): the gradient g over its root mean square.

        g = g + weight_decay * p
        s = alpha * s + (1 - alpha) * g^2
        v = momentum * v + g / (sqrt(s) + eps)
        p = p - lr * v

    With `centered`, the variance s - m^2 takes the place of s, where m = alpha * m + (1 - alpha) * g is a running mean
    (Graves 2013). With `maximize` g is negated first. `state[p]` holds "step", "square_avg" (s), "grad_avg" (m) and
    "momentum_buffer" (v).

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.RMSprop([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([8.0466e-08])
    """

    function = "rmsprop_step"

    def __init__(
        self,
        parameters,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ):
        defaults = {
            "lr": lr,
            "alpha": alpha,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "centered": centered,
            "maximize": maximize,
        }
        super().__init__(parameters, defaults)

    def check_settings(self, settings: dict) -> None:
        """Raise ValueError for a negative setting."""
        check_not_negative(settings, "lr", "alpha", "eps", "weight_decay", "momentum")

    def options(self, group: dict) -> bytes:
        """RMSpropOptions of csrc/kernels.h."""
        rates = group["lr"], group["alpha"], group["eps"], group["weight_decay"], group["momentum"]
        return _OPTIONS.pack(*rates, group["centered"], group["maximize"])

    def remembered(self, group: dict) -> tuple[str | None, str | None, str | None]:
        """s, centered m, and with momentum v."""
        return "square_avg", "grad_avg" if group["centered"] else None, "momentum_buffer" if group["momentum"] else None


_OPTIONS = struct.Struct("5d2i")
