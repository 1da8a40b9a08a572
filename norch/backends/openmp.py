"""OpenMP: not used by norch."""

from __future__ import annotations

enabled = False


def is_available() -> bool:
    """Whether norch computes with it: no.

    >>> norch.backends.openmp.is_available()
    False
    """
    return False
