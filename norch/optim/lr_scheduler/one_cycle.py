"""OneCycleLR: up once and down once, a step for each batch."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...arguments import flags
from ...types import shown
from ..optimizer import Optimizer
from .scheduler import LRScheduler, check_has_momentum, check_optimizer, for_each_group, positive_integer, set_momentum


class OneCycleLR(LRScheduler):
    """In total_steps *batches* from max_lr / div_factor up to max_lr, then down to 1 / final_div_factor of the start.

    The first `pct_start` of the steps lead up. With `three_phase` as many lead back to the start, and the rest to the
    end. With `cycle_momentum` the momentum (SGD, RMSprop) or beta1 (Adam) goes the other way, from `max_momentum`
    to `base_momentum` and back. Call `step` after every batch; total_steps may be given as epochs times
    steps_per_epoch. Raises ValueError for a step past the last. (Smith and Topin 2018.)

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0, momentum=0.9)
    >>> scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
    >>> round(optimizer.param_groups[0]["lr"], 4)
    0.04
    """

    @flags
    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ):
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("OneCycleLR has no length: expected total_steps, or epochs and steps_per_epoch")
            total_steps = positive_integer(epochs, "epochs") * positive_integer(steps_per_epoch, "steps_per_epoch")
        self.total_steps = positive_integer(total_steps, "total_steps")
        if not 0 <= pct_start <= 1:
            raise ValueError(f"pct_start is {pct_start}, expected 0 to 1")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy is {shown(anneal_strategy)}, expected 'cos' or 'linear'")
        self.pct_start, self.anneal_strategy, self.three_phase = pct_start, anneal_strategy, three_phase
        self.cycle_momentum = cycle_momentum
        groups = check_optimizer(optimizer).param_groups
        if cycle_momentum:
            check_has_momentum(optimizer)
        if last_epoch == -1:
            rates = for_each_group(max_lr, optimizer, "max_lr")
            lows = for_each_group(base_momentum, optimizer, "base_momentum")
            highs = for_each_group(max_momentum, optimizer, "max_momentum")
            for group, rate, low, high in zip(groups, rates, lows, highs):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
                if cycle_momentum:
                    group["base_momentum"], group["max_momentum"] = low, high
        super().__init__(optimizer, last_epoch)

    def _phases(self) -> list[tuple[float, str, str, str, str]]:
        """For each phase: its last step, then first and last rate, then first and last momentum."""
        top, last = self.pct_start * self.total_steps - 1, float(self.total_steps - 1)
        up = (top, "initial_lr", "max_lr", "max_momentum", "base_momentum")
        if not self.three_phase:
            return [up, (last, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        down = (2 * top, "max_lr", "initial_lr", "base_momentum", "max_momentum")
        return [up, down, (last, "initial_lr", "min_lr", "max_momentum", "max_momentum")]

    def get_lr(self) -> list[float]:
        """The rates at this step; also sets the momentum."""
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"OneCycleLR: step {self.last_epoch} is past the last, expected at most {self.total_steps} in all"
            )
        phases = self._phases()
        ends = [end for end, *_ in phases]
        number = min(sum(self.last_epoch > end for end in ends), len(phases) - 1)
        start = ends[number - 1] if number else 0.0
        part = (self.last_epoch - start) / (ends[number] - start)
        _, first_lr, last_lr, first_momentum, last_momentum = phases[number]
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[first_lr], group[last_lr], part))
            if self.cycle_momentum:
                set_momentum(group, self._between(group[first_momentum], group[last_momentum], part))
        return rates

    def _between(self, start: float, end: float, part: float) -> float:
        if self.anneal_strategy == "linear":
            return start + (end - start) * part
        return end + (start - end) / 2 * (1 + math.cos(math.pi * part))
