"""Settings of PyTorch's compiler, and groups of them: any may be set, and changes nothing.

>>> norch._inductor.config.triton.unique_kernel_names = True
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class _Group(SimpleNamespace):
    """What nobody has set is a group too."""

    def __getattr__(self, name: str) -> Any:
        return _Group()


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Group()
