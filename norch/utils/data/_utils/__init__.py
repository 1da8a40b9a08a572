"""PyTorch's inner path of the collate functions and of `pin_memory`, which scripts import from."""

from . import collate, pin_memory

__all__ = ["collate", "pin_memory"]
