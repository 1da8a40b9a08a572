"""Adafactor."""

from __future__ import annotations

import struct
from typing import cast

from .._C import lib
from ..tensor import Tensor
from .directed import DirectedOptimizer
from .groups import Group, check_not_negative, settings_of
from .optimizer import Parameters, State


class Adafactor(DirectedOptimizer):
    """Adafactor (Shazeer and Stern 2018): Adam whose mean of squares is kept by rows and columns, in little memory.

        p = p - lr * weight_decay * p
        R, C = means of g^2 over columns and rows, running: X = (1 - step^beta2_decay) X + step^beta2_decay X_new
        u = g / sqrt(R C / mean(R))
        p = p - max(eps[1], rms(p)) * min(lr, 1 / sqrt(step)) * u / max(1, rms(u) / d)

    where rms is the root of the mean square. A vector has a running mean of all its squares. eps[0], the smallest
    number to divide by, is that of the dtype if None. With `maximize` g is negated first. `state[p]` holds "step", and
    "row_var" and "col_var" (R, C) or "variance".

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.Adafactor([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.9000])
    """

    go = lib.adafactor_step

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ):
        super().__init__(params, settings_of(locals()))

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a setting out of range."""
        check_not_negative(settings, "lr", "weight_decay")
        if settings["beta2_decay"] > 0:
            raise ValueError(f"Invalid beta2_decay: {settings['beta2_decay']}, expected at most 0")
        if any(eps is not None and not eps >= 0 for eps in settings["eps"]):
            raise ValueError(f"Invalid eps: {settings['eps']}, expected at least 0")
        if not settings["d"] >= 1:
            raise ValueError(f"Invalid clipping threshold d: {settings['d']}, expected at least 1")

    def remembered(self, group: Group) -> tuple[str, ...]:
        """The steps; the means have the shapes of gradients."""
        return ("step",)

    def _states(self, parameters: list[Tensor], group: Group, new: dict[Tensor, State]) -> list[State]:
        """The state of each parameter, with zeros for means that it lacks."""
        states = super()._states(parameters, group, new)
        for i, parameter in enumerate(parameters):
            if not states[i].keys() & {"row_var", "variance"}:
                new[parameter] = states[i] = {**states[i], **_first_means(parameter.detach())}
        return states

    def direction(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """max(eps[1], rms(p)) * u / max(1, rms(u) / d)."""
        smallest = EPSILON[parameter.dtype.name] if group["eps"][0] is None else group["eps"][0]
        share, square = _on(parameter, (state["step"].double() + 1) ** group["beta2_decay"]), gradient * gradient
        if gradient.ndim > 1:
            rows = mixed(state, "row_var", square.mean(-1, keepdim=True), share)
            columns = mixed(state, "col_var", square.mean(-2, keepdim=True), share)
            square = rows @ columns / rows.mean(-2, keepdim=True).clamp(min=smallest)
        else:
            square = mixed(state, "variance", square, share)
        change = gradient * square.clamp(min=smallest**2).rsqrt()
        return rms(parameter).clamp(min=group["eps"][1]) / (rms(change) / group["d"]).clamp(min=1) * change

    def options(self, group: Group) -> bytes:
        return _OPTIONS.pack(group["lr"], group["weight_decay"])


_OPTIONS = struct.Struct("2d")  # AdafactorOptions in csrc

# The distance from 1 to the next number.
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}


def rms(x: Tensor) -> Tensor:
    """The root of the mean square."""
    return (x * x).mean().sqrt()


def mixed(state: State, name: str, new: Tensor, share: Tensor | float) -> Tensor:
    """The running mean of this name, which takes `share` of the new value."""
    state[name] = state[name].lerp(new, share).to(new.dtype)  # beside a scalar the share's float64 counts
    return cast(Tensor, state[name])


def _first_means(parameter: Tensor) -> State:
    """The running means before the first step."""
    if parameter.ndim < 2:
        return {"variance": parameter.zeros_like()}
    *outer, rows, columns = parameter.shape
    return {"row_var": parameter.new_zeros(*outer, rows, 1), "col_var": parameter.new_zeros(*outer, 1, columns)}


def _on(parameter: Tensor, number: Tensor) -> Tensor | float:
    """A number of the CPU, for operations with this parameter."""
    return number if parameter.device == number.device else number.item()
