"""Schedulers change the learning rates of an optimizer's groups, once an epoch or once a batch.

    scheduler = StepLR(optimizer, step_size=30)
    for epoch in range(100):
        train(...)
        scheduler.step()

Each group keeps its first rate as "initial_lr". Most schedulers compute the next rate from the current one, so that
several can work on one optimizer, and a rate changed by hand stays changed. All count their steps in `last_epoch`.
"""

from typing import TYPE_CHECKING

from .cyclic import CosineAnnealingWarmRestarts, CyclicLR
from .one_cycle import OneCycleLR
from .plateau import ReduceLROnPlateau
from .scheduler import LRScheduler
from .scheduler import _enable_get_lr_call as _enable_get_lr_call
from .schedules import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from .sequential import ChainedScheduler, SequentialLR

_LRScheduler = LRScheduler  # its former name in PyTorch, which programs still subclass

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

if not TYPE_CHECKING:  # (a checker knows what is missing)
    from ...missing import missing as _missing

    __getattr__ = _missing("optim.lr_scheduler")
