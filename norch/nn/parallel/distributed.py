"""DistributedDataParallel: norch trains in one process, and says so."""

from __future__ import annotations

from typing import Any

from ..module import Module


class DistributedDataParallel(Module):
    """Raises RuntimeError: norch trains in one process.

    >>> norch.distributed.is_available()
    False
    """

    def __init__(self, module: Module, *_: Any, **__: Any) -> None:
        raise RuntimeError(
            "DistributedDataParallel: norch trains in one process (norch.distributed.is_available() is False); use the "
            "module itself"
        )
