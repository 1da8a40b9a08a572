"""ReduceLROnPlateau: lower rates when a metric stops improving."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import SupportsFloat

from ...types import shown
from ..optimizer import Optimizer
from .scheduler import LRScheduler, check_optimizer, for_each_group, set_rate, warn_of_epoch


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor`, but not below `min_lr`, when a metric has not improved for more than `patience` epochs.

    `step(metric)` takes a number, or a tensor of one element. In `mode` "min" a metric improves if it is below the best
    so far by more than `threshold`, which is relative to the best ("rel") or absolute ("abs"); in "max", above. After a
    reduction, `cooldown` epochs are not counted. Changes of `eps` or less are left out.

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in (2.0, 1.0, 1.0, 1.0):
    ...     scheduler.step(loss)
    >>> optimizer.param_groups[0]["lr"]
    0.5
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0,
        eps: float = 1e-8,
    ):
        if not factor < 1:
            raise ValueError(f"factor is {factor}, expected below 1")
        if mode not in ("min", "max"):
            raise ValueError(f"mode is {shown(mode)}, expected 'min' or 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold_mode is {shown(threshold_mode)}, expected 'rel' or 'abs'")
        self.optimizer = check_optimizer(optimizer)
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.eps = cooldown, eps
        self.min_lrs = for_each_group(min_lr, optimizer, "min_lr")
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr  # of groups that come later
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0
        self._last_lr = self._rates()

    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:  # type: ignore[override]
        """Note the metric of an epoch, and reduce the rates if it has not improved for too long."""
        value = float(metrics)
        if epoch is not None:
            warn_of_epoch()
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(value, self.best):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self._least()):
                lr = max(group["lr"] * self.factor, least)
                if group["lr"] - lr > self.eps:
                    set_rate(group, lr)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    @property
    def in_cooldown(self) -> bool:
        """Whether bad epochs do not count, as the rates were reduced a short while ago."""
        return self.cooldown_counter > 0

    def _least(self) -> list[float]:
        count = len(self.optimizer.param_groups)
        if count != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(f"min_lrs has {len(self.min_lrs)} rates, expected {count}, one for each group")
            self.min_lrs = [self.default_min_lr] * count
        return self.min_lrs

    def is_better(self, value: float, best: float) -> bool:
        """Whether a metric is better than the best by more than the threshold."""
        margin = self.threshold if self.mode == "max" else -self.threshold
        bar = best * (1 + margin) if self.threshold_mode == "rel" else best + margin
        return value < bar if self.mode == "min" else value > bar
