"""Collectives that gradients go through: `all_gather(x)` in a loss over the batches of all ranks."""

from . import functional
from .functional import *
from .functional import __all__ as _names

__all__ = ["functional", *_names]
