"""Apple's GPUs: norch has no kernels for them, so there is none."""

from __future__ import annotations

from .backends.mps import is_available


def device_count() -> int:
    """The number of devices: 0.

    >>> norch.mps.device_count()
    0
    """
    return 0


def manual_seed(seed: int) -> None:
    """Seed the numbers of these devices: there are none.

    >>> norch.mps.manual_seed(1)
    """


def synchronize() -> None:
    """Wait for the devices: there are none.

    >>> norch.mps.synchronize()
    """


def empty_cache() -> None:
    """Free the memory kept on the devices: there is none.

    >>> norch.mps.empty_cache()
    """


def current_allocated_memory() -> int:
    """The bytes on the devices: 0.

    >>> norch.mps.current_allocated_memory()
    0
    """
    return 0


__all__ = ["current_allocated_memory", "device_count", "empty_cache", "is_available", "manual_seed", "synchronize"]
