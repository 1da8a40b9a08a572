"""Adam and AdamW."""

from __future__ import annotations

import struct
from typing import Any

from .._C import lib
from ..functions.creation import empty
from ..tensor import Tensor
from .groups import Group, check_betas, check_not_negative, settings_of
from .optimizer import Optimizer, Parameters, State, step_by


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015): steps of about lr, by running means of the gradient g and of its square.

        g = g + weight_decay * p
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2
        p = p - lr * m' / (sqrt(v') + eps)      with m' = m / (1 - beta1^step) and v' = v / (1 - beta2^step)

    With `amsgrad` the largest v so far takes v's place (Reddi and others 2018); with `maximize` g is negated first.
    With `decoupled_weight_decay` the decay leaves g alone and makes p = p - lr * weight_decay * p at the start of the
    step, which is AdamW. `state[p]` holds "step", "exp_avg" (m), "exp_avg_sq" (v) and "max_exp_avg_sq". The rule is
    torch.optim.Adam's.

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.Adam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.9000])
    """

    fused = lib.adam_step
    fused_state = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ):
        super().__init__(params, settings_of(locals()))

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a negative rate, or a beta outside [0, 1)."""
        check_not_negative(settings, "lr", "eps", "weight_decay")
        check_betas(settings)
        if settings["foreach"] and not settings["capturable"]:
            for name, value in (("lr", settings["lr"]), ("betas[0]", settings["betas"][0])):
                if isinstance(value, Tensor):
                    raise ValueError(f"{name} is a tensor, expected a float if foreach is True and capturable False")

    def remembered(self, group: Group) -> tuple[str, ...]:
        """The steps, m, v, and with amsgrad the largest v."""
        return ("step", *(self.fused_state if group["amsgrad"] else self.fused_state[:2]))

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> None:
        step, (beta1, beta2) = state["step"].item(), group["betas"]
        m = state["exp_avg"] = beta1 * state["exp_avg"] + (1 - beta1) * gradient
        v = state["exp_avg_sq"] = beta2 * state["exp_avg_sq"] + (1 - beta2) * gradient * gradient
        if group["amsgrad"]:
            v = state["max_exp_avg_sq"] = v.maximum(state["max_exp_avg_sq"])
        m, v = m / (1 - beta1**step), v / (1 - beta2**step)
        parameter -= group["lr"] * m / (v.sqrt() + group["eps"])

    def options(self, group: Group) -> bytes:
        switches = group["amsgrad"], group["decoupled_weight_decay"], group["maximize"]
        return _OPTIONS.pack(group["lr"], *group["betas"], group["eps"], group["weight_decay"], *switches)


_OPTIONS = struct.Struct("5d3i0d")  # AdamOptions in csrc, padded as an element of an array


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019): p shrinks by lr * weight_decay each step.

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.AdamW([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.8990])
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )


def adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """One step of Adam on tensors, gradients, states and counts of steps, lists of one length, in place.

    `max_exp_avg_sqs` is read if `amsgrad`. What says how to compute (`foreach`, `fused` and so on) changes nothing.
    Raises ValueError for lists of different lengths.

    >>> w, m, v, step = [norch.ones(1)], [norch.zeros(1)], [norch.zeros(1)], [norch.tensor(0.0)]
    >>> settings = dict(amsgrad=False, beta1=0.9, beta2=0.999, lr=0.1, weight_decay=0, eps=1e-8, maximize=False)
    >>> optim.adam.adam(w, [norch.ones(1)], m, v, [], step, **settings)
    >>> w, step
    ([tensor([0.9000])], [tensor(1.)])
    """
    states: dict[str, list[Any]] = {"step": state_steps, "exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs}
    if amsgrad:
        states["max_exp_avg_sq"] = max_exp_avg_sqs
    settings = {"lr": lr, "betas": (beta1, beta2), "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
    settings |= {"maximize": maximize, "decoupled_weight_decay": decoupled_weight_decay}
    step_by(Adam([empty(0)]), params, grads, states, settings)


def adamw(*args: Any, **settings: Any) -> None:
    """One step of AdamW: `adam` with the same arguments and errors, where the decay shrinks the tensors themselves.

    >>> w, m, v, step = [norch.ones(1)], [norch.zeros(1)], [norch.zeros(1)], [norch.tensor(0.0)]
    >>> settings = dict(amsgrad=False, beta1=0.9, beta2=0.999, lr=0.1, weight_decay=0.5, eps=1e-8, maximize=False)
    >>> optim.adamw.adamw(w, [norch.ones(1)], m, v, [], step, **settings)
    >>> w
    [tensor([0.8500])]
    """
    settings["decoupled_weight_decay"] = True
    adam(*args, **settings)
