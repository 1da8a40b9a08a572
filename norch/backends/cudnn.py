"""cuDNN: not used by norch. Its settings can be assigned and change nothing: norch's kernels are deterministic."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

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


@contextmanager
def flags(**settings: object) -> Iterator[None]:
    """Other settings in a `with` block: `flags(enabled=False)`.

    >>> with norch.backends.cudnn.flags(benchmark=True):
    ...     print(norch.backends.cudnn.benchmark)
    True
    """
    before = {name: globals()[name] for name in settings}
    globals().update(settings)
    try:
        yield
    finally:
        globals().update(before)
