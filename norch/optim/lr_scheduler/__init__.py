"""Schedulers change the learning rates of an optimizer's groups, once an epoch or once a batch.

    scheduler = StepLR(optimizer, step_size=30)
    for epoch in range(100):
        train(...)
        scheduler.step()

Each group keeps its first rate as "initial_lr". Most schedulers compute the next rate from the current one, so that
several can work on one optimizer, and a rate changed by hand stays changed. All count their steps in `last_epoch`.
"""

from .one_cycle import OneCycleLR
from .plateau import ReduceLROnPlateau
from .scheduler import LRScheduler
from .schedules import CosineAnnealingLR, ExponentialLR, LambdaLR, LinearLR, MultiStepLR, StepLR
from .sequential import SequentialLR

__all__ = [
    "CosineAnnealingLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "OneCycleLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
