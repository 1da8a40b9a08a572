"""What norch holds of a device's memory."""

from __future__ import annotations

from . import _C


def memory_allocated(device: str = "cpu") -> int:
    """How many bytes of element data norch holds on a device. Views and shared storages count once."""
    return _C.lib.memory_allocated(_C.device_number(device))
