"""Tensor, at a path from which programs import it."""

from .tensor import Tensor as Tensor
