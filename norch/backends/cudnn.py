"""cuDNN: not used by norch. Its settings can be assigned and change nothing: norch's kernels are deterministic."""

from __future__ import annotations

import sys

from ..arguments import flags as _checked
from ..guards import Guard as _Guard

enabled = False
benchmark = False
benchmark_limit = 10
deterministic = True
allow_tf32 = False
fp32_precision = "none"
depthwise_kernel = "auto"


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


@_checked
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
    depthwise_kernel: str = "auto",
) -> _Guard:
    """Other settings in a `with` block.

    >>> with norch.backends.cudnn.flags(benchmark=True):
    ...     print(norch.backends.cudnn.benchmark)
    True
    """
    return _Guard((sys.modules[__name__], dict(locals())))
