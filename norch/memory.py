"""How much memory norch holds."""

from __future__ import annotations

from . import _C


def memory_allocated(device: str = "cpu") -> int:
    """How many bytes of element data norch holds on a device. Views and shared storages count once.

    >>> before = norch.memory_allocated()
    >>> x = norch.zeros(1000)
    >>> norch.memory_allocated() - before >= 4000
    True
    """
    return _C.lib.memory_allocated(_C.device_number(device))


def memory_reserved(device: str = "cpu") -> int:
    """How many bytes norch took from the system: those of `memory_allocated`, rounded up, and those of its cache.

    >>> norch.memory_reserved() >= norch.memory_allocated()
    True
    """
    return _C.lib.memory_reserved(_C.device_number(device))


def empty_cache() -> None:
    """Give the memory of freed tensors, which is kept for new ones, back to the system.

    >>> norch.empty_cache()
    """
    _C.lib.empty_cache()
