"""Adagrad."""

from __future__ import annotations

import struct

from .._C import lib
from ..tensor import Tensor
from .groups import Group, check_not_negative, settings_of
from .optimizer import Optimizer, Parameters, State


class Adagrad(Optimizer):
    """Adagrad (Duchi and others 2011): the gradient g over the root of the sum of all squares so far.

        g = g + weight_decay * p
        s = s + g^2
        p = p - lr / (1 + (step - 1) * lr_decay) * g / (sqrt(s) + eps)

    s begins as `initial_accumulator_value`. With `maximize` g is negated first. `state[p]` holds "step" and "sum" (s),
    from the start.

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.Adagrad([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.9000])
    """

    fused = lib.adagrad_step
    fused_state = ("sum",)

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        super().__init__(params, settings_of(locals()))

    def add_param_group(self, group: Group) -> None:
        """Add {"params": tensors, setting: value ...}, with the state of its parameters."""
        super().add_param_group(group)
        group = self.param_groups[-1]
        new: dict[Tensor, State] = {}
        self._states(group["params"], group, new)
        self.state.update(new)

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a negative setting."""
        check_not_negative(settings, "lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps")

    def initial(self, name: str, parameter: Tensor, group: Group) -> Tensor:
        """The first s."""
        return parameter.detach().zeros_like() + group["initial_accumulator_value"]

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> None:
        rate = group["lr"] / (1 + (state["step"].item() - 1) * group["lr_decay"])
        s = state["sum"] = state["sum"] + gradient * gradient
        parameter -= rate * gradient / (s.sqrt() + group["eps"])

    def options(self, group: Group) -> bytes:
        return _OPTIONS.pack(group["lr"], group["lr_decay"], group["eps"], group["weight_decay"], group["maximize"])


_OPTIONS = struct.Struct("4di0d")  # AdagradOptions in csrc, padded as an element of an array
