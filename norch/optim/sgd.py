"""SGD: the article's optimizer, with PyTorch's options."""

from __future__ import annotations

import struct

from .._C import lib
from ..functions.creation import empty
from ..tensor import Tensor
from .groups import Group, check_not_negative, settings_of
from .optimizer import Optimizer, Parameters, State, Work, step_by

OPTIONS = struct.Struct("4d2i0d")  # SGDOptions in csrc, padded as an element of an array


class SGD(Optimizer):
    """Stochastic gradient descent, on every parameter p that has a gradient g:

        g = g + weight_decay * p                    (after g = -g with `maximize`)
        v = momentum * v + (1 - dampening) * g      (v = g at the first step; without momentum always)
        p = p - lr * v                              (with nesterov: p - lr * (g + momentum * v))

    This is torch.optim.SGD's rule (after Sutskever and others 2013); v is kept in `state[p]["momentum_buffer"]`.

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.SGD([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.8000])
    """

    fused = lib.sgd_step

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-1,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        maximize: bool = False,
        *,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        super().__init__(params, settings_of(locals()))

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a negative rate, or for nesterov without momentum or with dampening."""
        check_not_negative(settings, "lr", "momentum", "weight_decay")
        if settings["nesterov"] and (settings["momentum"] <= 0 or settings["dampening"] != 0):
            raise ValueError(
                "Nesterov momentum requires a momentum and zero dampening, "
                f"given momentum {settings['momentum']} and dampening {settings['dampening']}"
            )

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> None:
        momentum = group["momentum"]
        if momentum:
            v = state.get("momentum_buffer")
            v = gradient.clone() if v is None else momentum * v + (1 - group["dampening"]) * gradient
            state["momentum_buffer"] = v
            gradient = gradient + momentum * v if group["nesterov"] else v
        parameter -= group["lr"] * gradient

    def remembered(self, group: Group) -> tuple[str, ...]:
        """v, if there is momentum."""
        return ("momentum_buffer",) if group["momentum"] and self.fused and not group["differentiable"] else ()

    def entries(self, work: Work, number: int, new: dict[Tensor, State]) -> tuple[list[int], bytes]:
        """SGDEntry in csrc, and the options."""
        entries: list[int] = []
        parameters, gradients, states, group = work
        momentum, velocity, first = group["momentum"], 0, 0
        for parameter, gradient, state in zip(parameters, gradients, states):
            if momentum:
                velocity, first = state["momentum_buffer"]._ptr, int(parameter in new)
            entries += parameter._ptr, gradient._ptr, velocity, first, number
        return entries, self.options(group)

    def options(self, group: Group) -> bytes:
        rates = group["lr"], group["momentum"], group["dampening"], group["weight_decay"]
        return OPTIONS.pack(*rates, group["nesterov"], group["maximize"])


def sgd(
    params: list[Tensor],
    d_p_list: list[Tensor],
    momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    *,
    weight_decay: float,
    momentum: float,
    lr: float,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """One step of SGD on tensors, gradients and momenta, lists of one length, in place; a momentum of None is made.

    What says how to compute (`foreach`, `fused` and so on) changes nothing. Raises ValueError for lists of different
    lengths.

    >>> w, momenta = [norch.ones(1)], [None]
    >>> settings = dict(weight_decay=0, momentum=0.9, lr=0.1, dampening=0, nesterov=False, maximize=False)
    >>> optim.sgd.sgd(w, [norch.ones(1)], momenta, **settings)
    >>> w, momenta
    ([tensor([0.9000])], [tensor([1.])])
    """
    settings = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
    settings |= {"nesterov": nesterov, "maximize": maximize}
    step_by(SGD([empty(0)]), params, d_p_list, {"momentum_buffer": momentum_buffer_list}, settings)
