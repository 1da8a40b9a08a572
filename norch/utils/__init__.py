"""Helpers that stand beside the framework."""

from typing import Any

from . import utils
from .resume import load_checkpoint, progress, save_checkpoint

__all__ = ["data", "load_checkpoint", "progress", "save_checkpoint", "utils"]


def __getattr__(name: str) -> Any:
    """`norch.utils.data` is imported where it is first used: few scripts need it, and none should wait for it."""
    if name == "data":
        import importlib

        return importlib.import_module(".data", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
