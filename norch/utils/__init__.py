"""Helpers for training: data, checkpoints, progress bars."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from . import utils
from .resume import load_checkpoint, progress, save_checkpoint

if TYPE_CHECKING:
    from . import data

__all__ = ["data", "load_checkpoint", "progress", "save_checkpoint", "utils"]


def __getattr__(name: str) -> ModuleType:
    """Import `norch.utils.data` at its first use: few scripts need it, and it would slow every import of norch."""
    if name == "data":
        return importlib.import_module(".data", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
