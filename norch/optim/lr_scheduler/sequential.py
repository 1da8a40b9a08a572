"""Several schedulers: SequentialLR, in which they take turns, and ChainedScheduler, in which all step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ...given import given
from ..optimizer import Optimizer, StateDict
from .plateau import ReduceLROnPlateau
from .scheduler import LRScheduler, check_optimizer


class _Several(LRScheduler):
    """Schedulers whose states are saved one after the other."""

    _not_saved = ("optimizer", "_schedulers")
    _schedulers: list[LRScheduler]

    def take_turn(self) -> None:
        """Begin at epoch 0, each of the schedulers from the initial rates."""
        self.restart()

    def state_dict(self) -> StateDict:
        """The settings and the state of each scheduler."""
        return {**super().state_dict(), "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Load the settings and the state of each scheduler."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(state)


class SequentialLR(_Several):
    """One scheduler after another: at each epoch of `milestones` the next starts, from the initial rates.

    (MultiplicativeLR, which knows no others, goes on from the current ones.)

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> warm = optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> later = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> scheduler = optim.lr_scheduler.SequentialLR(optimizer, [warm, later], milestones=[2])
    >>> for epoch in range(4):
    ...     print(optimizer.param_groups[0]["lr"])
    ...     optimizer.step()
    ...     scheduler.step()
    0.5
    0.75
    1.0
    0.5
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int], last_epoch: int = -1
    ):
        if len(schedulers) != len(milestones) + 1:
            raise ValueError(
                f"SequentialLR was given {len(schedulers)} schedulers and {len(milestones)} milestones, expected one "
                "scheduler more than milestones"
            )
        check_schedulers(schedulers, optimizer)
        self.optimizer = check_optimizer(optimizer)
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self.restart()  # each has set its own first rates: keep the first scheduler's
        self.last_epoch = last_epoch + 1

    def _begin(self) -> None:
        self.last_epoch = 0
        for scheduler in self._schedulers:
            scheduler.last_epoch = -1
        self._schedulers[0]._begin()
        self._last_lr = self._schedulers[0].get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Advance to the next epoch, with the scheduler that is due."""
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[number]
        if number and self._milestones[number - 1] == self.last_epoch:
            scheduler.take_turn()
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Several):
    """All schedulers of a list, one after the other, at each step: their factors multiply.

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> halved = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> late = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> scheduler = optim.lr_scheduler.ChainedScheduler([halved, late])
    >>> for epoch in range(3):
    ...     print(optimizer.param_groups[0]["lr"])
    ...     optimizer.step()
    ...     scheduler.step()
    1.0
    0.5
    0.125
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None):
        schedulers = list(schedulers)
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler was given no scheduler, expected at least one")
        shared: Any = getattr(schedulers[0], "optimizer", None) if optimizer is None else optimizer
        check_schedulers(schedulers, shared)
        self.optimizer = shared
        self._schedulers = schedulers
        self.last_epoch, self._last_lr = 0, self._rates()

    def _begin(self) -> None:
        for scheduler in self._schedulers:
            scheduler._begin()
        self.last_epoch, self._last_lr = 0, self._rates()

    def step(self) -> None:  # type: ignore[override]
        """Advance every scheduler to its next epoch."""
        self.last_epoch += 1
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()


def check_schedulers(schedulers: Sequence[LRScheduler], optimizer: Optimizer | None) -> None:
    """Raise TypeError or ValueError if one of the schedulers cannot step with the others."""
    for number, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"scheduler {number} is {given(scheduler)}, expected one with an optimizer")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(f"scheduler {number} is a ReduceLROnPlateau, whose steps need a metric")
        if scheduler.optimizer is not optimizer:
            raise ValueError(f"scheduler {number} belongs to another optimizer, expected the one given")
