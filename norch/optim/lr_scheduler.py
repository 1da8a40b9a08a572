"""Schedulers: they change the learning rates of an optimizer's groups, once an epoch or once a step.

    scheduler = StepLR(optimizer, step_size=30)
    for epoch in range(100):
        train(...)
        scheduler.step()

Each group keeps the rate that it began with as "initial_lr". Most schedulers compute the next rate from the present
one, so that several can work on one optimizer, and a rate changed by hand stays changed. All count their steps in
`last_epoch`.
"""

from __future__ import annotations

import math
import types
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence

from .optimizer import Optimizer


class LRScheduler:
    """Base class of schedulers: a subclass defines `get_lr`, the rates of the groups at the epoch `last_epoch`.

    Where the schedule goes on from an earlier training, `last_epoch` is the epoch that it ended with; every group must
    then have its "initial_lr" (KeyError otherwise). To load the state_dicts of optimizer and scheduler does more: the
    schedule then goes on as if never stopped.

    >>> class Halved(optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [lr / 2**self.last_epoch for lr in self.base_lrs]
    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = Halved(optimizer)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    base_lrs: list[float]
    last_epoch: int
    _last_lr: list[float]
    _starting = False  # whether the present step is the one that the constructor takes
    _apart: tuple[str, ...] = ("optimizer", "_starting")  # attributes that are not part of the state

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        self.optimizer = _checked(optimizer)
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(f"param_groups[{number}] has no 'initial_lr', expected one where last_epoch is not -1")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._start()

    def _start(self) -> None:
        self._starting = True
        self.step()
        self._starting = False

    def restart(self) -> None:
        """Go back to epoch 0 and the rates that the groups began with."""
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        self.last_epoch = -1
        self._start()

    def get_lr(self) -> list[float]:
        """The rate of each group at the epoch `last_epoch`, which `step` sets."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr()")

    def get_last_lr(self) -> list[float]:
        """The rate of each group that the last step set."""
        return self._last_lr

    def step(self) -> None:
        """Go on to the next epoch and set its rates."""
        self.last_epoch += 1
        for group, lr in zip(self.optimizer.param_groups, self.get_lr()):
            group["lr"] = lr
        self._last_lr = self._rates()

    def _rates(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict:
        """Everything but the optimizer: settings and where the schedule is."""
        return {key: value for key, value in self.__dict__.items() if key not in self._apart}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over what `state_dict` of a scheduler like this one returned; the optimizer's has the rates."""
        self.__dict__.update(state_dict)


class LambdaLR(LRScheduler):
    """initial_lr * lr_lambda(epoch), for one function or one for each group.

    A state_dict keeps the attributes of callable objects; functions it cannot keep.

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable | Sequence[Callable], last_epoch: int = -1):
        self.lr_lambdas = _for_each_group(lr_lambda, _checked(optimizer), "lr_lambda")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The initial rates times the functions of the epoch."""
        return [base * factor(self.last_epoch) for base, factor in zip(self.base_lrs, self.lr_lambdas)]

    def state_dict(self) -> dict:
        """As of every scheduler, with None for a function and a dict for a callable object."""
        kept = [None if isinstance(f, types.FunctionType) else getattr(f, "__dict__", None) for f in self.lr_lambdas]
        return {**super().state_dict(), "lr_lambdas": [attributes and dict(attributes) for attributes in kept]}

    def load_state_dict(self, state_dict: dict) -> None:
        """As of every scheduler; the functions stay."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if attributes is not None:
                vars(function).update(attributes)


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
        self.step_size = _positive_integer(step_size, "step_size")
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The present rates, times gamma where a stair begins."""
        factor = self.gamma if self.last_epoch > 0 and self.last_epoch % self.step_size == 0 else 1
        return [lr * factor for lr in self._rates()]


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
        self.milestones = sorted(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The present rates, times gamma as often as the epoch is listed."""
        factor = self.gamma ** self.milestones.count(self.last_epoch)
        return [lr * factor for lr in self._rates()]


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
        """The present rates times gamma."""
        return [lr if self._starting else lr * self.gamma for lr in self._rates()]


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
        """The present rates, times the factor of this epoch over that of the last."""
        epoch, rise = self.last_epoch, self.end_factor - self.start_factor
        if epoch == 0:
            factor = self.start_factor
        elif self._starting or epoch > self.total_iters:
            factor = 1.0
        else:
            factor = 1.0 + rise / (self.total_iters * self.start_factor + (epoch - 1) * rise)
        return [lr * factor for lr in self._rates()]


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
        self.T_max, self.eta_min = _positive_integer(T_max, "T_max"), eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """From the present rates, by the height of the cosine at this epoch over that at the last."""
        if self._starting:
            return self._rates()
        before, now = self._height(self.last_epoch - 1), self._height(self.last_epoch)
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # from the lowest point no ratio leads up
            steps = [(base - self.eta_min) * now for base in self.base_lrs]
            return [lr + step for lr, step in zip(self._rates(), steps)]
        return [self.eta_min + (lr - self.eta_min) * (now / before) for lr in self._rates()]

    def _height(self, epoch: int) -> float:
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2


class OneCycleLR(LRScheduler):
    """In total_steps *batches* up from max_lr / div_factor to max_lr, and down to 1 / final_div_factor of the start.

    The first `pct_start` of the steps lead up. With `three_phase` as many lead down again to the start, and the rest to
    the end. With `cycle_momentum` the momentum (SGD, RMSprop) or beta1 (Adam) goes the other way, from `max_momentum`
    to `base_momentum` and back. Call `step` after every batch; total_steps may be given as epochs times
    steps_per_epoch. Raises ValueError at a step past the last. (Smith and Topin 2018.)

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0, momentum=0.9)
    >>> scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
    >>> round(optimizer.param_groups[0]["lr"], 4)
    0.04
    """

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
                raise ValueError("OneCycleLR was given no length, expected total_steps, or epochs and steps_per_epoch")
            total_steps = _positive_integer(epochs, "epochs") * _positive_integer(steps_per_epoch, "steps_per_epoch")
        self.total_steps = _positive_integer(total_steps, "total_steps")
        if not 0 <= pct_start <= 1:
            raise ValueError(f"pct_start is {pct_start}, expected 0 to 1")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy is {anneal_strategy!r}, expected 'cos' or 'linear'")
        self.pct_start, self.anneal_strategy, self.three_phase = pct_start, anneal_strategy, three_phase
        self.cycle_momentum = cycle_momentum
        groups = _checked(optimizer).param_groups
        if cycle_momentum and not any(key in optimizer.defaults for key in ("momentum", "betas")):
            raise ValueError(
                f"{type(optimizer).__name__} has neither momentum nor betas: expected cycle_momentum=False"
            )
        if last_epoch == -1:
            rates = _for_each_group(max_lr, optimizer, "max_lr")
            lows = _for_each_group(base_momentum, optimizer, "base_momentum")
            highs = _for_each_group(max_momentum, optimizer, "max_momentum")
            for group, rate, low, high in zip(groups, rates, lows, highs):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
                if cycle_momentum:
                    group["base_momentum"], group["max_momentum"] = low, high
        super().__init__(optimizer, last_epoch)

    def _phases(self) -> list[tuple[float, str, str, str, str]]:
        """Of each phase: its last step, where the rate begins and ends, where the momentum begins and ends."""
        top, last = self.pct_start * self.total_steps - 1, float(self.total_steps - 1)
        up = (top, "initial_lr", "max_lr", "max_momentum", "base_momentum")
        if not self.three_phase:
            return [up, (last, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        down = (2 * top, "max_lr", "initial_lr", "base_momentum", "max_momentum")
        return [up, down, (last, "initial_lr", "min_lr", "max_momentum", "max_momentum")]

    def get_lr(self) -> list[float]:
        """The rates at this step; the momentum is set too."""
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"OneCycleLR: step {self.last_epoch} was tried, expected at most {self.total_steps} in all"
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
                momentum = self._between(group[first_momentum], group[last_momentum], part)
                if "betas" in group:
                    group["betas"] = (momentum, *group["betas"][1:])
                else:
                    group["momentum"] = momentum
        return rates

    def _between(self, start: float, end: float, part: float) -> float:
        if self.anneal_strategy == "linear":
            return start + (end - start) * part
        return end + (start - end) / 2 * (1 + math.cos(math.pi * part))


class SequentialLR(LRScheduler):
    """One scheduler after the other: the next takes over, from the initial rates, at each epoch of `milestones`.

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

    _apart = ("optimizer", "_starting", "_schedulers")

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int], last_epoch: int = -1
    ):
        if len(schedulers) != len(milestones) + 1:
            raise ValueError(
                f"SequentialLR was given {len(schedulers)} schedulers and {len(milestones)} milestones, expected one "
                "scheduler more than milestones"
            )
        for number, scheduler in enumerate(schedulers):
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(f"scheduler {number} is a ReduceLROnPlateau, whose steps need a metric")
            if scheduler.optimizer is not optimizer:
                raise ValueError(f"scheduler {number} belongs to another optimizer, expected the one given")
        self.optimizer, self._schedulers, self._milestones = optimizer, list(schedulers), list(milestones)
        self.restart()  # each has set its first rates: only those of the first count
        self.last_epoch = last_epoch + 1

    def restart(self) -> None:
        """Go back to epoch 0 and the first scheduler."""
        self.last_epoch = 0
        for scheduler in self._schedulers:
            scheduler.last_epoch = -1
        self._schedulers[0].restart()
        self._last_lr = self._schedulers[0].get_last_lr()

    def step(self) -> None:
        """Go on to the next epoch, with the scheduler whose turn it is."""
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[number]
        if number and self._milestones[number - 1] == self.last_epoch:
            scheduler.restart()
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict:
        """As of every scheduler, with the states of those that take turns."""
        return {**super().state_dict(), "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over the state of each scheduler."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(state)


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor`, but not below `min_lr`, when a metric has not improved for more than `patience` epochs.

    `step(metric)` takes a number, or a tensor of one element. In `mode` "min" it improves where it is below the best so
    far by more than `threshold`: of the best ("rel") or as it is ("abs"); in "max", above. After a reduction,
    `cooldown` epochs are not counted. A change of `eps` or less is not made.

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
            raise ValueError(f"mode is {mode!r}, expected 'min' or 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold_mode is {threshold_mode!r}, expected 'rel' or 'abs'")
        self.optimizer = _checked(optimizer)
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.eps = cooldown, eps
        self.min_lrs = _for_each_group(min_lr, optimizer, "min_lr")
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0
        self._last_lr = self._rates()

    def step(self, metrics) -> None:  # type: ignore[override]
        """Note the metric of an epoch, and reduce the rates where it has not improved for too long."""
        value = float(metrics)
        self.last_epoch += 1
        if self.is_better(value, self.best):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, least in zip(self.optimizer.param_groups, self.min_lrs):
                lr = max(group["lr"] * self.factor, least)
                group["lr"] = lr if group["lr"] - lr > self.eps else group["lr"]
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def is_better(self, value: float, best: float) -> bool:
        """Whether a metric improves on the best by more than the threshold."""
        margin = self.threshold if self.mode == "max" else -self.threshold
        bar = best * (1 + margin) if self.threshold_mode == "rel" else best + margin
        return value < bar if self.mode == "min" else value > bar


# ---- Checks ---------------------------------------------------------------------------------------------------------


def _checked(optimizer: Optimizer) -> Optimizer:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"a scheduler was given a {type(optimizer).__name__}, expected an Optimizer")
    return optimizer


def _for_each_group(value, optimizer: Optimizer, name: str) -> list:
    """A list of one value for each group, out of such a list or of one for all."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ValueError(f"{name} has {len(value)} values, expected {count}, one for each parameter group")
    return list(value)


def _positive_integer(value: int, name: str) -> int:
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} is {value!r}, expected a positive integer")
    return value
