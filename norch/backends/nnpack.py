"""NNPACK: not used by norch."""

from __future__ import annotations

import sys

from ..arguments import flags as _checked
from ..guards import Guard as _Guard

_enabled = False


def is_available() -> bool:
    """Whether norch computes with it: no.

    >>> norch.backends.nnpack.is_available()
    False
    """
    return False


@_checked
def flags(enabled: bool = False) -> _Guard:
    """A `with` block that changes nothing.

    >>> with norch.backends.nnpack.flags(enabled=False):
    ...     print(norch.ones(2).sum().item())
    2.0
    """
    return _Guard((sys.modules[__name__], {"_enabled": enabled}))
