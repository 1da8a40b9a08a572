"""Averages of a model's parameters over its training, which often do better than the last ones."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..autograd.mode import no_grad
from ..functions.creation import tensor, where
from ..nn.module import Module
from ..nn.modules.normalization import _BatchNorm
from ..operation import check_kind, check_tensor, mode
from ..tensor import Tensor
from ..types import int64, shown
from .lr_scheduler.scheduler import LRScheduler, check_optimizer, for_each_group
from .optimizer import Optimizer

if TYPE_CHECKING:
    # of the mean so far, a new value, and how many are in the mean
    Average = Callable[[Tensor, Tensor, Tensor], Tensor]
    ManyAverages = Callable[[list[Tensor], list[Tensor], Tensor], None]  # the same of lists, in place

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def get_swa_avg_fn() -> Average:
    """The function whose results are the equal mean of all values.

    >>> optim.swa_utils.get_swa_avg_fn()(norch.tensor(1.0), norch.tensor(4.0), norch.tensor(2))
    tensor(2.)
    """

    def average(averaged: Tensor, current: Tensor, num_averaged: Tensor) -> Tensor:
        return averaged + (current - averaged) / (num_averaged + 1)

    return average


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """The function whose results forget: decay * mean + (1 - decay) * value. ValueError if decay is not 0 to 1.

    >>> optim.swa_utils.get_ema_avg_fn(0.5)(norch.tensor(1.0), norch.tensor(4.0), norch.tensor(2))
    tensor(2.5000)
    """
    _check_decay(decay)

    def average(averaged: Tensor, current: Tensor, num_averaged: Tensor) -> Tensor:
        return decay * averaged + (1 - decay) * current

    return average


def get_swa_multi_avg_fn() -> ManyAverages:
    """The function that puts each value of a list into the mean beside it, equally.

    >>> means = [norch.tensor(1.0)]
    >>> optim.swa_utils.get_swa_multi_avg_fn()(means, [norch.tensor(4.0)], norch.tensor(2))
    >>> means
    [tensor(2.)]
    """
    return _of_lists(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> ManyAverages:
    """The function that puts each value of a list into the mean beside it, which forgets.

    Raises ValueError if decay is not 0 to 1.

    >>> means = [norch.tensor(1.0)]
    >>> optim.swa_utils.get_ema_multi_avg_fn(0.5)(means, [norch.tensor(4.0)], norch.tensor(2))
    >>> means
    [tensor(2.5000)]
    """
    return _of_lists(get_ema_avg_fn(decay))


def _check_decay(decay: float) -> None:
    if not 0 <= decay <= 1:
        raise ValueError(f"decay is {decay}, expected 0 to 1")


def _of_lists(average: Average) -> ManyAverages:
    @no_grad()
    def update(averaged: list[Tensor], current: list[Tensor], num_averaged: Tensor) -> None:
        for mean, value in zip(averaged, current):
            check_tensor(mean, "multi_avg_fn")
            mean.copy_(average(mean, value, num_averaged) if mean.dtype.is_floating_point else value)

    return update


class AveragedModel(Module):
    """A copy of a model, `module`, whose parameters become the averages of those that the model had at each update.

    `avg_fn` or `multi_avg_fn` say how; without them all have equal weight (Izmailov and others 2018). With
    `use_buffers` the buffers are averaged too; otherwise they are copied. `n_averaged` counts the updates.

    >>> model = nn.Linear(1, 1)
    >>> averaged = optim.swa_utils.AveragedModel(model)
    >>> for value in (1.0, 3.0):
    ...     _ = nn.init.constant_(model.weight, value)
    ...     averaged.update_parameters(model)
    >>> averaged.module.weight.detach()
    tensor([[2.]])
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: ManyAverages | None = None,
        use_buffers: bool = False,
    ):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("AveragedModel was given avg_fn and multi_avg_fn, expected at most one of them")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device=device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged module computes."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Put the model's parameters into the averages; the first update copies them."""
        ours: list[Tensor] = [*self.module.parameters()]
        theirs: list[Tensor] = [*model.parameters()]
        our_buffers, their_buffers = [*self.module.buffers()], [*model.buffers()]
        if self.use_buffers:
            ours, theirs = ours + our_buffers, theirs + their_buffers
        else:
            _copy(our_buffers, their_buffers)
        theirs = [value.detach().to(mean.device) for mean, value in zip(ours, theirs)]
        if mode.recorder is not None:  # a recording decides without reading the number
            means = [mean.detach().clone() for mean in ours]
            self._average(means, theirs)
            theirs = [where(self.n_averaged == 0, value, mean) for value, mean in zip(theirs, means)]
            _copy(ours, theirs)
        elif self.n_averaged == 0:
            _copy(ours, theirs)
        else:
            self._average(ours, theirs)
        self.n_averaged.add_(1)

    def _average(self, ours: list[Tensor], theirs: list[Tensor]) -> None:
        """Put new values into the means beside them."""
        if self.multi_avg_fn is not None:
            self.multi_avg_fn(ours, theirs, self.n_averaged)
        elif self.avg_fn is not None:
            _copy(ours, [self.avg_fn(mean.detach(), value, self.n_averaged) for mean, value in zip(ours, theirs)])
        else:
            get_swa_multi_avg_fn()(ours, theirs, self.n_averaged)


def _copy(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> None:
    for our, their in zip(ours, theirs):
        our.detach().copy_(their)


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running means and variances of batch normalizations anew, from one pass over the data.

    A batch of the loader is the input, or a list or tuple that begins with it. The averaged parameters have never seen
    data: call this before `eval()`.

    >>> model = nn.Sequential(nn.BatchNorm1d(1))
    >>> optim.swa_utils.update_bn([norch.tensor([[1.0], [3.0]])], model)
    >>> model[0].running_mean
    tensor([2.])
    """
    layers = [module for module in check_kind(model, Module, "update_bn").modules() if isinstance(module, _BatchNorm)]
    if not layers:
        return
    before, training = [layer.momentum for layer in layers], model.training
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # the equal mean of all batches
    model.train()
    for batch in loader:
        x = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(x if device is None else x.to(device=device))
    for layer, momentum in zip(layers, before):
        layer.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """From the current rate to `swa_lr` in `anneal_epochs` epochs, on a cosine or a line; then it stays.

    >>> optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    >>> scheduler = optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> for epoch in range(4):
    ...     print(optimizer.param_groups[0]["lr"])
    ...     optimizer.step()
    ...     scheduler.step()
    1.0
    0.75
    0.5
    0.5
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ):
        for group, lr in zip(check_optimizer(optimizer).param_groups, for_each_group(swa_lr, optimizer, "swa_lr")):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy is {shown(anneal_strategy)}, expected 'cos' or 'linear'")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs is {shown(anneal_epochs)}, expected an integer of at least 0")
        self.anneal_epochs, self.anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        """How far the way has gone after a number of steps, 0 to 1."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return t if self.anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[float]:
        """The current rates, as far on their way from what they were as this epoch is."""
        step = self._step_count - 1 if self.anneal_epochs else max(1, self._step_count - 1)
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            lr, target = group["lr"], group["swa_lr"]
            start = target if before == 1 else (lr - before * target) / (1 - before)
            rates.append(target * now + start * (1 - now))
        return rates
