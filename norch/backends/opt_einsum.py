"""opt_einsum: not used by norch. Its settings can be assigned and change nothing."""

from __future__ import annotations

import sys

from ..guards import Guard as _Guard

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """Whether norch computes with it: no.

    >>> norch.backends.opt_einsum.is_available()
    False
    """
    return False


def flags(enabled: bool | None = None, strategy: str | None = None) -> _Guard:
    """Other settings in a `with` block; None leaves one as it is.

    >>> with norch.backends.opt_einsum.flags(strategy="optimal"):
    ...     print(norch.backends.opt_einsum.strategy)
    optimal
    """
    settings = {"enabled": enabled, "strategy": strategy}
    return _Guard((sys.modules[__name__], {name: value for name, value in settings.items() if value is not None}))
