"""MIOpen: not used by norch. Its setting can be assigned and changes nothing."""

from __future__ import annotations

import sys

from ..arguments import flags as _checked
from ..guards import Guard as _Guard

immediate = False


@_checked
def flags(immediate: bool = False) -> _Guard:
    """Another setting in a `with` block.

    >>> with norch.backends.miopen.flags(immediate=True):
    ...     print(norch.backends.miopen.immediate)
    True
    """
    return _Guard((sys.modules[__name__], {"immediate": immediate}))
