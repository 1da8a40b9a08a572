"""Helpers for training: data, checkpoints, progress bars."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from ..missing import missing
from . import utils
from .resume import load_checkpoint, progress, save_checkpoint
from .swap import swap_tensors

if TYPE_CHECKING:
    from . import (
        _contextlib,
        _foreach_utils,
        _pytree,
        benchmark,
        checkpoint,
        data,
        dlpack,
        flop_counter,
        hooks,
        model_zoo,
    )

__all__ = ["checkpoint", "data", "load_checkpoint", "progress", "save_checkpoint", "swap_tensors", "utils"]


_missing = missing("utils")

if not TYPE_CHECKING:  # (a checker follows imports)

    def __getattr__(name: str) -> ModuleType:
        """Import these at their first use: few scripts need them, and they would slow every import of norch."""
        if name in (
            "_contextlib",
            "_foreach_utils",
            "_pytree",
            "benchmark",
            "checkpoint",
            "data",
            "dlpack",
            "flop_counter",
            "hooks",
            "model_zoo",
        ):
            return importlib.import_module("." + name, __name__)
        return _missing(name)
