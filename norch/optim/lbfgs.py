"""LBFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd.mode import enable_grad, no_grad
from ..functions.joining import cat
from ..operation import refuse_recording
from ..tensor import Tensor
from ..types import shown
from .groups import Group, check_not_negative, settings_of
from .line_search import Point, lowest_of_cubic, strong_wolfe
from .optimizer import Optimizer, Parameters, undone


class LBFGS(Optimizer):
    """L-BFGS (Liu and Nocedal 1989): Newton's steps, by a curvature that the last gradients and steps tell.

    `step` needs a closure, which clears the gradients, computes the loss, calls backward and returns the loss; it is
    called several times. One step takes up to `max_iter` iterations and `max_eval` calls (a quarter more than max_iter
    if None), and ends early if no gradient exceeds `tolerance_grad`, or if parameters or loss change by less than
    `tolerance_change`. `history_size` pairs of steps and gradients are kept. `line_search_fn` is None, for steps of
    length lr, or "strong_wolfe", which looks for a good length. There is one group of parameters alone.

    >>> w = nn.Parameter([3.0, -2.0])
    >>> optimizer = optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - 1) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> first_loss = optimizer.step(closure)
    >>> w.detach()
    tensor([1.0000, 1.0000])
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ):
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        super().__init__(params, settings_of(locals()))

    def add_param_group(self, group: Group) -> None:
        """Set the one group; ValueError for another."""
        if self.param_groups:
            raise ValueError("LBFGS was given a second group of parameters, expected one group")
        super().add_param_group(group)

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a negative rate, RuntimeError for an unknown line search."""
        check_not_negative(settings, "lr")
        if settings["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError(
                f"line_search_fn is {shown(settings['line_search_fn'])}, expected 'strong_wolfe' or None"
            )

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Take one step of several iterations; returns what `closure` returned first."""
        refuse_recording("LBFGS takes its step")
        leader = self.param_groups[0]["params"][0]
        with undone(self.parameters, self.state):
            state = dict(self.state[leader])
            first = self._iterate(enable_grad()(closure), state)
            self.state[leader] = state
        return first

    def _iterate(self, evaluate: Callable[[], Any], state: dict[str, Any]) -> Any:
        group = self.param_groups[0]
        lr, most, tolerance = group["lr"], group["max_iter"], group["tolerance_change"]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = evaluate()
        loss, gradient = float(first), self._gradient()
        evaluations = 1
        state["func_evals"] += 1
        if self._flat_enough(gradient):
            return first
        for iteration in range(1, most + 1):
            state["n_iter"] += 1
            direction = self._direction(state, gradient, group["history_size"])
            state["prev_flat_grad"], state["prev_loss"] = gradient, loss
            beginning = state["n_iter"] == 1
            length = state["t"] = min(1.0, 1 / gradient.abs().sum()) * lr if beginning else lr
            slope = gradient.dot(direction)
            if slope > -tolerance:
                break
            before, count = loss, 0
            if group["line_search_fn"] == "strong_wolfe":
                left = group["max_eval"] - evaluations
                length, loss, gradient, count = self._search(evaluate, length, direction, loss, gradient, slope, left)
                state["t"] = length
                self._move(length, direction)
            else:
                self._move(length, direction)
                if iteration != most:  # the gradient after the last iteration is the next step's first
                    loss, gradient, count = float(evaluate()), self._gradient(), 1
            evaluations += count
            state["func_evals"] += count
            if evaluations >= group["max_eval"] or self._flat_enough(gradient):
                break
            if (direction * length).abs().max().item() <= tolerance or abs(loss - before) < tolerance:
                break
        return first

    def _direction(self, state: dict[str, Any], gradient: Tensor, history_size: int) -> Tensor:
        """Against the gradient, times the inverse curvature that the history tells (the two loops of the paper)."""
        if state["n_iter"] == 1:
            state.update(d=-gradient, old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return state["d"]
        change, step = gradient - state["prev_flat_grad"], state["d"] * state["t"]
        product = change.dot(step)
        if product > 1e-10:
            for name, value in (("old_dirs", change), ("old_stps", step), ("ro", 1.0 / product)):
                state[name] = [*state[name], value][-history_size:]
            state["H_diag"] = product / change.dot(change)
        history = list(zip(state["old_dirs"], state["old_stps"], state["ro"]))
        q, weights = -gradient, []
        for change, step, ro in reversed(history):
            weights.append(step.dot(q) * ro)
            q = q - weights[-1] * change
        direction = q * state["H_diag"]
        for (change, step, ro), weight in zip(history, reversed(weights)):
            direction = direction + step * (weight - change.dot(direction) * ro)
        state["al"] = weights[::-1] + [None] * (history_size - len(weights))
        state["d"] = direction
        return direction

    def _search(
        self,
        evaluate: Callable[[], Any],
        length: Any,
        direction: Tensor,
        loss: float,
        gradient: Tensor,
        slope: Tensor,
        most: int,
    ) -> tuple[Any, float, Tensor, int]:
        """The length of the step, the loss and gradient there, and the number of calls; the parameters stay."""
        starts = [parameter.clone() for parameter in self.parameters]

        def at(length: Any) -> tuple[float, Tensor]:
            self._move(length, direction)
            loss, gradient = float(evaluate()), self._gradient()
            for parameter, start in zip(self.parameters, starts):
                parameter.copy_(start)
            return loss, gradient

        return strong_wolfe(at, length, direction, loss, gradient, slope, most)

    def _gradient(self) -> Tensor:
        """All gradients in one vector; zeros for a parameter without one."""
        return cat([(p.zeros_like() if p.grad is None else p.grad).detach().reshape(-1) for p in self.parameters])

    def _flat_enough(self, gradient: Tensor) -> bool:
        return gradient.abs().max().item() <= self.param_groups[0]["tolerance_grad"]

    def _move(self, length: Any, direction: Tensor) -> None:
        """Add length * direction, in which the parameters lie one after another."""
        offset = 0
        for parameter in self.parameters:
            part = direction[offset : offset + parameter.numel()]
            parameter.add_(part.reshape(parameter.shape), alpha=length)  # which rounds once
            offset += parameter.numel()


# ---- The search as PyTorch's module has it, where optimizers in other packages import it from -----------------------


def _strong_wolfe(
    obj_func: Callable[[Any, Any, Any], tuple[float, Tensor]],
    x: Any,
    t: Any,
    d: Tensor,
    f: float,
    g: Tensor,
    gtd: Tensor,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Tensor, Any, int]:
    """The loss and the gradient found, the length of the step to them, and how often `obj_func` was called."""

    def at(length: Any) -> tuple[float, Tensor]:
        return obj_func(x, length, d)

    length, loss, gradient, tried = strong_wolfe(at, t, d, f, g, gtd, max_ls, c1, c2, tolerance_change)
    return loss, gradient, length, tried


def _cubic_interpolate(x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None) -> Any:
    return lowest_of_cubic(Point(x1, f1, g1, g1), Point(x2, f2, g2, g2), bounds)
