"""cuDNN: not used by norch. Its settings can be assigned and change nothing: norch's kernels are deterministic."""

from __future__ import annotations

import sys

from ..guards import Guard as _Guard

enabled = False
benchmark = False
benchmark_limit = 10
deterministic = True
allow_tf32 = False
fp32_precision = "none"


def is_available() -> bool:
    """Whether norch computes with cuDNN: no.

    >>> norch.backends.cudnn.is_available()
    False
    """
    return False


def version() -> int | None:
    """The version of cuDNN: None.

    >>> norch.backends.cudnn.version() is None
    True
    """
    return None


def is_acceptable(tensor: object) -> bool:
    """Whether cuDNN takes a tensor: no.

    >>> norch.backends.cudnn.is_acceptable(norch.ones(2))
    False
    """
    return False


def flags(**settings: object) -> _Guard:
    """Other settings in a `with` block: `flags(enabled=False)`.

    >>> with norch.backends.cudnn.flags(benchmark=True):
    ...     print(norch.backends.cudnn.benchmark)
    True
    """
    return _Guard((sys.modules[__name__], settings))
