"""Automatic differentiation: the graph (function.py, functions.py), the walk over it (engine.py), checks of both."""

from __future__ import annotations

from .engine import backward, grad
from .function import Function
from .gradcheck import gradcheck, gradgradcheck
from .mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled

__all__ = [
    "Function",
    "backward",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]
