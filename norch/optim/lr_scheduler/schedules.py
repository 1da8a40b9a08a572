"""Schedules given by a formula of the epoch: stairs, lines, curves, or the user's own function."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ...types import shown
from ..optimizer import Optimizer, StateDict
from .scheduler import LRScheduler, attributes_of, check_optimizer, for_each_group, positive

Factor = Callable[[int], float]  # of an epoch


class _ByFunctions(LRScheduler):
    """What LambdaLR and MultiplicativeLR share: functions of the epoch."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Factor | Sequence[Factor], last_epoch: int = -1):
        self.lr_lambdas = for_each_group(lr_lambda, check_optimizer(optimizer), "lr_lambda")
        for factor in self.lr_lambdas:
            if not callable(factor):
                raise TypeError(f"lr_lambda is {shown(factor)}, expected a function, such as lambda epoch: 0.9**epoch")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> StateDict:
        """The settings, with None for a function and a dict for a callable object."""
        return {**super().state_dict(), "lr_lambdas": [attributes_of(function) for function in self.lr_lambdas]}

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Load all but the functions, which stay."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if attributes is not None:
                vars(function).update(attributes)


class LambdaLR(_ByFunctions):
    """initial_lr * lr_lambda(epoch), for one function or one for each group.

    A state_dict keeps the attributes of callable objects, but no functions.

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def get_lr(self) -> list[float]:
        """The initial rates times the functions of the epoch."""
        return [base * factor(self.last_epoch) for base, factor in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(_ByFunctions):
    """The rate times lr_lambda(epoch) at every epoch, for one function or one for each group.

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> for epoch in range(3):
    ...     print(optimizer.param_groups[0]["lr"])
    ...     optimizer.step()
    ...     scheduler.step()
    1.0
    0.5
    0.25
    """

    def get_lr(self) -> list[float]:
        """The current rates times the functions of the epoch."""
        if self._starting:
            return self._rates()
        return [lr * factor(self.last_epoch) for lr, factor in zip(self._rates(), self.lr_lambdas)]


class ConstantLR(LRScheduler):
    """The rate times `factor` in the first `total_iters` epochs.

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> for epoch in range(3):
    ...     print(optimizer.param_groups[0]["lr"])
    ...     optimizer.step()
    ...     scheduler.step()
    0.5
    0.5
    1.0
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5, last_epoch: int = -1):
        if not 0 <= factor <= 1:
            raise ValueError(f"factor is {factor}, expected 0 to 1")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates, times the factor at the start, and over it at the end."""
        if self.last_epoch == 0:
            return [lr * self.factor for lr in self._rates()]
        ends = self.last_epoch == self.total_iters and not self._starting
        return [lr / self.factor if ends else lr for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        return [base * (1 if self.last_epoch >= self.total_iters else self.factor) for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """initial_lr * (1 - epoch / total_iters)^power, which is 0 from `total_iters` on.

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.PolynomialLR(optimizer, total_iters=4)
    >>> for epoch in range(3):
    ...     print(round(optimizer.param_groups[0]["lr"], 4))
    ...     optimizer.step()
    ...     scheduler.step()
    1.0
    0.75
    0.5
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates, times the height at this epoch over that at the last."""
        if self._starting or self.last_epoch > self.total_iters:
            return self._rates()
        left = self.total_iters - self.last_epoch
        return [lr * (left / (left + 1)) ** self.power for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class StepLR(LRScheduler):
    """The rate times gamma after every `step_size` epochs.

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for epoch in range(3):
    ...     print(optimizer.param_groups[0]["lr"])
    ...     optimizer.step()
    ...     scheduler.step()
    1.0
    1.0
    0.5
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1):
        self.step_size = positive(step_size, "step_size")
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates, times gamma if a stair begins."""
        factor = self.gamma if self.last_epoch > 0 and self.last_epoch % self.step_size == 0 else 1
        return [lr * factor for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """The rate times gamma at each epoch listed in `milestones`.

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 2], gamma=0.5)
    >>> for epoch in range(3):
    ...     print(optimizer.param_groups[0]["lr"])
    ...     optimizer.step()
    ...     scheduler.step()
    1.0
    0.5
    0.25
    """

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1):
        if not isinstance(milestones, Iterable):
            raise TypeError(f"milestones is {shown(milestones)}, expected a list of epochs")
        self.milestones = Counter(sorted(milestones))
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Load what `state_dict` returned, here or in PyTorch; `milestones` may also be a list."""
        super().load_state_dict(state_dict)
        self.milestones = Counter(self.milestones)

    def get_lr(self) -> list[float]:
        """The current rates, times gamma as often as the epoch is listed."""
        factor = self.gamma ** self.milestones[self.last_epoch]
        return [lr * factor for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        passed = sum(count for epoch, count in self.milestones.items() if epoch <= self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """The rate times gamma at every epoch.

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> for epoch in range(3):
    ...     print(optimizer.param_groups[0]["lr"])
    ...     optimizer.step()
    ...     scheduler.step()
    1.0
    0.5
    0.25
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates times gamma."""
        return [lr if self._starting else lr * self.gamma for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class LinearLR(LRScheduler):
    """The rate times a factor that goes from `start_factor` to `end_factor` in `total_iters` equal steps.

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> for epoch in range(3):
    ...     print(optimizer.param_groups[0]["lr"])
    ...     optimizer.step()
    ...     scheduler.step()
    0.5
    0.75
    1.0
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ):
        if not 0 < start_factor <= 1:
            raise ValueError(f"start_factor is {start_factor}, expected above 0 and at most 1")
        if not 0 <= end_factor <= 1:
            raise ValueError(f"end_factor is {end_factor}, expected 0 to 1")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates, times the factor of this epoch over that of the last."""
        epoch, rise = self.last_epoch, self.end_factor - self.start_factor
        if epoch == 0:
            factor = self.start_factor
        elif self._starting or epoch > self.total_iters:
            factor = 1.0
        else:
            factor = 1.0 + rise / (self.total_iters * self.start_factor + (epoch - 1) * rise)
        return [lr * factor for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        rise = (self.end_factor - self.start_factor) * min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + rise) for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """eta_min + (initial_lr - eta_min) (1 + cos(pi epoch / T_max)) / 2: down to eta_min in T_max epochs, then up again.

    (Loshchilov and Hutter 2017, without their restarts.)

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> for epoch in range(3):
    ...     print(round(optimizer.param_groups[0]["lr"], 4))
    ...     optimizer.step()
    ...     scheduler.step()
    1.0
    0.5
    0.0
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1):
        self.T_max, self.eta_min = positive(T_max, "T_max"), eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The current rates, times the cosine's height at this epoch over that at the last."""
        if self._starting:
            return self._rates()
        before, now = self._height(self.last_epoch - 1), self._height(self.last_epoch)
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # from the lowest point no ratio leads up
            steps = [(base - self.eta_min) * now for base in self.base_lrs]
            return [lr + step for lr, step in zip(self._rates(), steps)]
        return [self.eta_min + (lr - self.eta_min) * (now / before) for lr in self._rates()]

    def _get_closed_form_lr(self) -> list[float]:
        return [self.eta_min + (base - self.eta_min) * self._height(self.last_epoch) for base in self.base_lrs]

    def _height(self, epoch: int) -> float:
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2
