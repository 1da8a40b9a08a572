"""The CPU as a device, under PyTorch's names."""

from __future__ import annotations

from . import amp

__all__ = ["amp", "current_device", "device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """Whether there is a CPU: True."""
    return True


def device_count() -> int:
    """The number of CPUs as devices: 1."""
    return 1


def current_device() -> str:
    """The name of the device: "cpu"."""
    return "cpu"


def synchronize(device: object = None) -> None:
    """Wait for nothing: operations on the CPU have finished when they return."""
