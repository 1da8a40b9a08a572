"""The functions of files under PyTorch's path, and names for what may be loaded: norch's `load` runs no code."""

from __future__ import annotations

from typing import Any, Callable, Optional, Union

from .functions.serialization import load, save
from .guards import Guard

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]

# PyTorch's name, for annotations
MAP_LOCATION = Optional[Union[Callable[[Any, str], Any], str, dict[str, str]]]

DEFAULT_PROTOCOL = 2  # of pickle


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Do nothing: `load` reads tensors and plain values without running code.

    >>> norch.serialization.add_safe_globals([dict])
    """


def clear_safe_globals() -> None:
    """Do nothing.

    >>> norch.serialization.clear_safe_globals()
    """


def get_safe_globals() -> list[Any]:
    """No classes.

    >>> norch.serialization.get_safe_globals()
    []
    """
    return []


def safe_globals(safe_globals: list[Any]) -> Guard:
    """A `with` block that changes nothing.

    >>> with norch.serialization.safe_globals([dict]):
    ...     pass
    """
    return Guard()
