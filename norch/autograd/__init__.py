"""Automatic differentiation: the graph (function.py, functions.py), the walk over it (engine.py), checks of both."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from ..missing import missing
from .anomaly_mode import detect_anomaly, is_anomaly_check_nan_enabled, is_anomaly_enabled, set_detect_anomaly
from .engine import backward, grad
from .function import Function
from .gradcheck import gradcheck, gradgradcheck
from .mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .variable import Variable

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]


_missing = missing("autograd")

if not TYPE_CHECKING:  # (a checker follows imports)

    def __getattr__(name: str) -> ModuleType:
        """Import these at their first use: `functional` uses the class Tensor, which is made after this."""
        if name in ("functional", "grad_mode", "graph", "profiler"):
            return importlib.import_module("." + name, __name__)
        return _missing(name)
