"""Helpers that stand beside the framework."""

from . import utils

__all__ = ["utils"]
