"""Optimizers: they change parameters in place by the gradients that backward left. Schedulers change their rates."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from ..missing import missing
from .adadelta import Adadelta
from .adafactor import Adafactor
from .adagrad import Adagrad
from .adam import Adam, AdamW
from .adamax import Adamax
from .asgd import ASGD
from .lbfgs import LBFGS
from .muon import Muon
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam
from .zero import ZeroRedundancyOptimizer

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "ZeroRedundancyOptimizer",
    "lr_scheduler",
    "swa_utils",
]

_missing = missing("optim")

if TYPE_CHECKING:
    from . import lr_scheduler, swa_utils
else:

    def __getattr__(name: str) -> ModuleType:
        """Import these at their first use."""
        return (
            importlib.import_module("." + name, __name__) if name in ("lr_scheduler", "swa_utils") else _missing(name)
        )
