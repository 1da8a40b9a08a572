"""oneDNN: not used by norch. Its settings can be assigned and change nothing."""

from __future__ import annotations

import sys

from ..arguments import flags as _checked
from ..guards import Guard as _Guard

enabled = False
deterministic = True
allow_tf32 = False
fp32_precision = "none"


def is_available() -> bool:
    """Whether norch computes with it: no.

    >>> norch.backends.mkldnn.is_available()
    False
    """
    return False


@_checked
def flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, fp32_precision: str = "none"
) -> _Guard:
    """Other settings in a `with` block.

    >>> with norch.backends.mkldnn.flags(enabled=True):
    ...     print(norch.backends.mkldnn.enabled)
    True
    """
    return _Guard((sys.modules[__name__], dict(locals())))
