"""Optimizers: they change parameters in place by the gradients that backward left."""

from .optimizer import SGD, Optimizer

__all__ = ["SGD", "Optimizer"]
