"""Optimizers: they change parameters in place by the gradients that backward left. Schedulers change their rates."""

from . import lr_scheduler
from .adam import Adam, AdamW
from .optimizer import SGD, Optimizer
from .rmsprop import RMSprop

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
