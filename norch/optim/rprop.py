"""Rprop."""

from __future__ import annotations

import struct

from .._C import lib
from ..tensor import Tensor
from ..types import shown
from .groups import Group, check_not_negative, settings_of
from .optimizer import Optimizer, Parameters, State


class Rprop(Optimizer):
    """Resilient propagation (Riedmiller and Braun 1993): each element's own step size, by the signs of g alone.

        size = size * etas[1]   if g has the sign of the last step's g
        size = size * etas[0]   if it has the other sign; then g = 0
        p = p - size * sign(g)

    The sizes begin as lr and stay within `step_sizes`. With `maximize` g is negated first. `state[p]` holds "step",
    "prev" (the last g) and "step_size".

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.Rprop([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.9000])
    """

    fused = lib.rprop_step
    fused_state = ("prev", "step_size")

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        super().__init__(params, settings_of(locals()))

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a negative rate, or etas that are not on both sides of 1."""
        check_not_negative(settings, "lr")
        if not isinstance(settings["etas"], (list, tuple)) or len(settings["etas"]) != 2:
            raise TypeError(f"Invalid etas: {shown(settings['etas'])}, expected two")
        smaller, larger = settings["etas"]
        if not 0 < smaller < 1 < larger:
            raise ValueError(f"Invalid eta values: {smaller}, {larger}, expected 0 < etas[0] < 1 < etas[1]")

    def initial(self, name: str, parameter: Tensor, group: Group) -> Tensor:
        """The sizes begin as lr."""
        start = super().initial(name, parameter, group)
        return start + float(group["lr"]) if name == "step_size" else start

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> None:
        smaller, larger = group["etas"]
        agreement = (gradient * state["prev"]).sign()
        factor = agreement.masked_fill(agreement > 0, larger).masked_fill(agreement < 0, smaller)
        factor = factor.masked_fill(agreement == 0, 1)
        size = state["step_size"] = (state["step_size"] * factor).clamp(*group["step_sizes"])
        gradient = state["prev"] = gradient.masked_fill(agreement < 0, 0)
        parameter -= size * gradient.sign()

    def options(self, group: Group) -> bytes:
        return _OPTIONS.pack(*group["etas"], *group["step_sizes"], group["maximize"])


_OPTIONS = struct.Struct("4di0d")  # RpropOptions in csrc, padded as an element of an array
