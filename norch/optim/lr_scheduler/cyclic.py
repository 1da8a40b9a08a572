"""Schedules that come again: CyclicLR, and CosineAnnealingWarmRestarts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...arguments import flags
from ...types import shown
from ..optimizer import Optimizer, StateDict
from .scheduler import (
    LRScheduler,
    attributes_of,
    check_has_momentum,
    check_optimizer,
    for_each_group,
    positive_integer,
    set_momentum,
    set_rate,
)


class CyclicLR(LRScheduler):
    """Up from base_lr to max_lr in `step_size_up` *batches*, down in `step_size_down`, again and again (Smith 2017).

    In `mode` "triangular" all cycles are as high; in "triangular2" each is half as high as the last; in "exp_range" a
    batch has gamma^batch of the height. A `scale_fn` of one's own gets the number of the cycle, from 1, or, with
    `scale_mode` "iterations", of the batch. With `cycle_momentum` the momentum (SGD, RMSprop) or beta1 (Adam) goes the
    other way, from `max_momentum` to `base_momentum` and back. Call `step` after every batch.

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0, momentum=0.9)
    >>> scheduler = optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.0, max_lr=1.0, step_size_up=2)
    >>> for batch in range(5):
    ...     print(optimizer.param_groups[0]["lr"])
    ...     optimizer.step()
    ...     scheduler.step()
    0.0
    0.5
    1.0
    0.5
    0.0
    """

    @flags
    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | Sequence[float],
        max_lr: float | Sequence[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8,
        max_momentum: float | Sequence[float] = 0.9,
        last_epoch: int = -1,
    ):
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError(
                f"mode is {shown(mode)}, expected 'triangular', 'triangular2' or 'exp_range', or a scale_fn"
            )
        groups = check_optimizer(optimizer).param_groups
        lows = for_each_group(base_lr, optimizer, "base_lr")
        self.max_lrs = for_each_group(max_lr, optimizer, "max_lr")
        self.total_size = float(step_size_up + (step_size_up if step_size_down is None else step_size_down))
        self.step_ratio = step_size_up / self.total_size
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            check_has_momentum(optimizer)
        self.base_momentums = for_each_group(base_momentum, optimizer, "base_momentum")
        self.max_momentums = for_each_group(max_momentum, optimizer, "max_momentum")
        if last_epoch == -1:
            for group, low, least, most in zip(groups, lows, self.base_momentums, self.max_momentums):
                set_rate(group, low)
                group.update({"max_momentum": most, "base_momentum": least} if cycle_momentum else {})
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lows

    def scale_fn(self, x: float) -> float:
        """The height of cycle x, or of batch x, as a part of the whole."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return {"triangular": 1.0, "triangular2": 0.5 ** (x - 1), "exp_range": self.gamma**x}[self.mode]

    def get_lr(self) -> list[float]:
        """The rates at this batch; the momentum is set, too."""
        batch = self.last_epoch
        cycle, part = divmod(batch / self.total_size, 1)
        share = part / self.step_ratio if part <= self.step_ratio else (part - 1) / (self.step_ratio - 1)
        height = share * self.scale_fn(cycle + 1 if self.scale_mode == "cycle" else batch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                set_momentum(group, high - (high - low) * height)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self) -> StateDict:
        """The settings, with None for a function and a dict for a callable object."""
        return {**super().state_dict(), "_scale_fn_custom": attributes_of(self._scale_fn_custom)}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Load all but the function, which stays."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        attributes = state_dict.get("_scale_fn_custom")
        if attributes is not None:
            vars(self._scale_fn_custom).update(attributes)


class CosineAnnealingWarmRestarts(LRScheduler):
    """eta_min + (initial_lr - eta_min) (1 + cos(pi T_cur / T_i)) / 2, from the start again after T_i epochs.

    T_cur epochs have passed since the restart. T_i is first T_0, and `T_mult` times longer after each restart. `step`
    takes a fraction of an epoch too, such as epoch + batch / batches (Loshchilov and Hutter 2017).

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> for epoch in range(4):
    ...     print(round(optimizer.param_groups[0]["lr"], 4))
    ...     optimizer.step()
    ...     scheduler.step()
    1.0
    0.5
    1.0
    0.5
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1):
        self.T_0, self.T_mult = positive_integer(T_0, "T_0"), positive_integer(T_mult, "T_mult")
        self.T_i, self.T_cur, self.eta_min = T_0, float(last_epoch), eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates at T_cur of T_i."""
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Advance by one epoch, or to the one given, which may have a fraction."""
        if epoch is None and self.last_epoch >= 0:
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur % self.T_i, self.T_i * self.T_mult
            self._update_lr()
            return
        epoch = 0 if epoch is None else epoch
        if not 0 <= epoch < math.inf:
            raise ValueError(f"epoch is {epoch}, expected a finite number that is at least 0")
        self.T_i, self.T_cur = self.T_0, epoch
        if self.T_mult == 1:
            self.T_cur %= self.T_i
        while self.T_cur >= self.T_i:
            self.T_cur, self.T_i = self.T_cur - self.T_i, self.T_i * self.T_mult
        self._update_lr(math.floor(epoch))
