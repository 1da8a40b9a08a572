"""LRScheduler, the base class of schedulers, and the checks that several of them share."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ...arguments import index_of
from ...autograd.mode import no_grad
from ...given import given, settings, warn
from ...operation import check_kind, refuse_recording
from ...tensor import Tensor
from ...types import shown
from ..groups import Group
from ..optimizer import Optimizer, StateDict


class LRScheduler:
    """Base class of schedulers: a subclass defines `get_lr`, the rates of the groups at the epoch `last_epoch`.

    To continue an earlier training, give the `last_epoch` that it ended with; every group must then have its
    "initial_lr" (KeyError otherwise). Loading the state_dicts of optimizer and scheduler is more exact: the schedule
    then continues as if it had never stopped.

    A subclass may rely on `optimizer`, `last_epoch`, `base_lrs` and `_step_count`, the number of steps taken, the
    constructor's included. A rate that is a tensor stays the same tensor, with another value.

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
    _step_count = 0
    _starting = False  # True during the step that the constructor takes
    _get_lr_called_within_step = True  # what subclasses written for PyTorch ask before they warn
    _not_saved: tuple[str, ...] = ("optimizer", "_starting")  # attributes that are not part of the state

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        self.optimizer = check_optimizer(optimizer)
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"param_groups[{number}] has no 'initial_lr', expected one if last_epoch is not -1")
        self.base_lrs = [_copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._start()

    def _start(self) -> None:
        self._starting, self._step_count = True, 0
        self.step()
        self._starting = False

    def restart(self) -> None:
        """Go back to epoch 0 and the initial rates."""
        for group in self.optimizer.param_groups:
            set_rate(group, group["initial_lr"])
        self._begin()

    def _begin(self) -> None:
        """Go back to epoch 0, from the rates as they are."""
        self.last_epoch = -1
        self._start()

    def take_turn(self) -> None:
        """Begin at epoch 0 where another scheduler ends."""
        self._update_lr(0)

    def get_lr(self) -> list[float]:
        """The rate of each group at the epoch `last_epoch`, which `step` sets."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr()")

    def get_last_lr(self) -> list[float]:
        """The rate of each group that the last step set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Advance to the next epoch, or to the one given, and set its rates.

        A subclass whose `get_lr` goes on from the last rates gives those of any epoch in `_get_closed_form_lr`. Warns
        if the optimizer has not taken a step with the first rates, and if it is given an epoch, which is deprecated.
        """
        if self._step_count == 1 and not self.optimizer._opt_called:
            warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`, expected it after: no step has the "
                "first rate of the schedule"
            )
        if epoch is not None:
            warn_of_epoch()
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        own, groups, rates = dict(vars(self)), self.optimizer.param_groups, self._rates()
        rates_of = self.get_lr if epoch is None else getattr(self, "_get_closed_form_lr", self.get_lr)
        try:
            self._step_count += 1
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            for group, lr in zip(groups, self._for_groups(rates_of())):
                set_rate(group, lr)
            self._last_lr = self._rates()
        except BaseException:  # an interrupt, too: the schedule is where it was
            vars(self).update(own)
            for group, lr in zip(groups, rates):
                set_rate(group, lr)
            raise

    def _for_groups(self, rates: list[float]) -> list[float]:
        """The rates; ValueError if they are not one for each group, because groups were added later."""
        count = len(self.optimizer.param_groups)
        if len(rates) != count:
            raise ValueError(f"{type(self).__name__} has {len(rates)} rates, expected {count}, one for each group")
        return rates

    def _rates(self) -> list[float]:
        return [_copied(group["lr"]) for group in self.optimizer.param_groups]

    def state_dict(self) -> StateDict:
        """Everything but the optimizer: the settings, and how far the schedule has come."""
        return {key: value for key, value in self.__dict__.items() if key not in self._not_saved}

    def __repr__(self) -> str:
        described = {key: value for key, value in vars(self).items() if not key.startswith("_")}
        return f"{type(self).__name__}({settings(**described, lr=self.get_last_lr())})"

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Load what `state_dict` of such a scheduler returned; the rates are in the optimizer's state_dict."""
        self.__dict__.update(check_kind(state_dict, dict, "load_state_dict"))


def warn_of_epoch() -> None:
    """What PyTorch says of an epoch that `step` is given."""
    warn("lr_scheduler.step(epoch) is deprecated: `step()` goes to the next epoch")


# ---- Checks ---------------------------------------------------------------------------------------------------------


def check_optimizer(optimizer: Optimizer) -> Optimizer:
    """Return the optimizer; raise TypeError for anything else."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"a scheduler was given {given(optimizer)}, expected an Optimizer")
    return optimizer


def set_rate(group: Group, lr: Any) -> None:
    """Set the rate of a group: a number, or the value of the tensor that it is."""
    refuse_recording("a scheduler takes its step")
    if isinstance(group["lr"], Tensor):
        with no_grad():
            group["lr"].fill_(float(lr))
    else:
        group["lr"] = _copied(lr)


def check_has_momentum(optimizer: Optimizer) -> None:
    """Raise ValueError for an optimizer whose momentum `set_momentum` cannot set."""
    if not any(key in optimizer.defaults for key in ("momentum", "betas")):
        raise ValueError(f"{type(optimizer).__name__} has neither momentum nor betas: expected cycle_momentum=False")


def set_momentum(group: Group, momentum: float) -> None:
    """Set the momentum of a group (SGD, RMSprop), or its beta1 (Adam)."""
    group.update({"betas": (momentum, *group["betas"][1:])} if "betas" in group else {"momentum": momentum})


def attributes_of(function: Any) -> dict[str, Any] | None:
    """What a state_dict keeps of a function: a callable object's attributes; None for a function, which has none."""
    attributes = None if isinstance(function, FunctionType) else getattr(function, "__dict__", None)
    return None if attributes is None else dict(attributes)


class _enable_get_lr_call:
    """PyTorch's `with` block around a call of `get_lr`, for schedulers written for it; norch's may always be called."""

    def __init__(self, o: LRScheduler) -> None: ...

    def __enter__(self) -> _enable_get_lr_call:
        return self

    def __exit__(self, *exception: object) -> None: ...


def _copied(lr: Any) -> Any:
    return lr.clone() if isinstance(lr, Tensor) else lr


def for_each_group(value: Any, optimizer: Optimizer, name: str) -> list[Any]:
    """A list with a value for each group, made from such a list or from one value for all."""
    count = len(optimizer.param_groups)
    values = list(map(_copied, value if isinstance(value, (list, tuple)) else [value] * count))
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} values, expected {count}, one for each parameter group")
    return values


def positive_integer(value: int, name: str) -> int:
    """The value as an int; ValueError if it is not an integer above 0."""
    found = index_of(value)
    if found is None or found < 1:
        raise ValueError(f"{name} is {shown(value)}, expected a positive integer")
    return found


def positive(value: float, name: str) -> float:
    """The value; ValueError if it is no number above 0. (Scripts also count epochs in floats.)"""
    if isinstance(value, bool) or not isinstance(value, float):
        return positive_integer(value, name)
    if not value > 0:
        raise ValueError(f"{name} is {shown(value)}, expected a number above 0")
    return float(value)  # of NumPy's type too
