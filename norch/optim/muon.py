"""Muon."""

from __future__ import annotations

from .._C import lib
from ..arguments import one_size
from ..operation import wrap
from ..tensor import Tensor
from ..types import shown
from .directed import DirectedOptimizer
from .groups import Group, check_not_negative, settings_of
from .optimizer import Parameters, State, Work
from .sgd import OPTIONS


class Muon(DirectedOptimizer):
    """Muon (Jordan 2024), for matrices alone: momentum, then the nearest matrix whose singular values are about 1.

        m = momentum * m + (1 - momentum) * g
        X = m / |m|, or with nesterov the same of momentum * m + (1 - momentum) * g
        X = a X + (b A + c A^2) X   with A = X X^T, `ns_steps` times, (a, b, c) = `ns_coefficients`
        p = p - lr * weight_decay * p - lr' * X

    lr' is lr * sqrt(max(1, rows / columns)), or lr * 0.2 * sqrt(max(rows, columns)) if `adjust_lr_fn` is
    "match_rms_adamw". `state[p]` holds "momentum_buffer" (m).

    >>> w = nn.Parameter([[2.0, 0.0], [0.0, 1.0]])
    >>> optimizer = optim.Muon([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach().diagonal() < norch.tensor([2.0, 1.0])
    tensor([True, True])
    """

    go = lib.sgd_step

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ):
        ns_steps = one_size(ns_steps, "Muon: ns_steps")
        super().__init__(params, settings_of(locals()))

    def add_param_group(self, group: Group) -> None:
        """Add {"params": matrices, setting: value ...}; ValueError for a tensor of another number of dimensions."""
        super().add_param_group(group)
        for parameter in self.param_groups[-1]["params"]:
            if parameter.ndim != 2:
                raise ValueError(f"Muon was given a parameter of shape {list(parameter.shape)}, expected matrices")

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a negative setting, an unknown adjustment, or another number of coefficients than 3."""
        check_not_negative(settings, "lr", "momentum", "weight_decay")
        coefficients = settings["ns_coefficients"]
        if not isinstance(coefficients, (tuple, list)) or len(coefficients) != 3:
            raise ValueError(f"ns_coefficients is {shown(coefficients)}, expected three numbers")
        if settings["adjust_lr_fn"] not in (None, "original", "match_rms_adamw"):
            raise ValueError(
                f"adjust_lr_fn is {shown(settings['adjust_lr_fn'])}, expected 'original', 'match_rms_adamw' or None"
            )

    def remembered(self, group: Group) -> tuple[str, ...]:
        """m."""
        return ("momentum_buffer",)

    def direction(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """X, scaled by what lr' has beside lr."""
        momentum = group["momentum"]
        m = state["momentum_buffer"] = state["momentum_buffer"].lerp(gradient, 1 - momentum)
        matrix = gradient.lerp(m, momentum) if group["nesterov"] else m
        rows, columns = parameter.shape
        ratio = max(1, rows / columns) if group["adjust_lr_fn"] != "match_rms_adamw" else 0.04 * max(rows, columns)
        return ratio**0.5 * orthogonal(matrix, group).to(parameter.dtype)

    def entries(self, work: Work, number: int, new: dict[Tensor, State]) -> tuple[list[int], bytes]:
        """SGDEntry in csrc without momentum, and the options."""
        directions = self.directions(work, number)
        rows = [x for p, d in zip(work[0], directions) for x in (p._ptr, d._ptr, 0, 0, number)]
        return rows, self.options(work[3])

    def options(self, group: Group) -> bytes:
        """SGDOptions in csrc: p - lr * (X + weight_decay * p) is Muon's step."""
        return OPTIONS.pack(group["lr"], 0, 0, group["weight_decay"], False, False)


def orthogonal(x: Tensor, group: Group) -> Tensor:
    """About the matrix U V^T of x = U S V^T, by Newton-Schulz iterations in bfloat16, which is exact enough."""
    a, b, c = group["ns_coefficients"]
    tall = x.shape[0] > x.shape[1]
    x = rounded(x.T if tall else x)
    x = rounded(x / rounded(x.norm()).clamp(min=group["eps"]))
    x = wrap(lib.newton_schulz_tensor(x._ptr, float(a), float(b), float(c), int(group["ns_steps"])))
    return x.T if tall else x


def rounded(x: Tensor) -> Tensor:
    """The nearest bfloat16 numbers, as float32: a sum of products is rounded once, at its end."""
    return x.bfloat16().float()
