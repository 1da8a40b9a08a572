"""opt_einsum: not used by norch."""

from __future__ import annotations

enabled = False


def is_available() -> bool:
    """Whether norch computes with it: no.

    >>> norch.backends.opt_einsum.is_available()
    False
    """
    return False
