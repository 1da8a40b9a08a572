"""The accelerator of this machine, whatever its maker: CUDA, or none."""

from __future__ import annotations

from types import ModuleType

from . import cpu, cuda
from .devices import device
from .devices import device as _device


def is_available() -> bool:
    """Whether there is an accelerator.

    >>> norch.accelerator.is_available() == norch.cuda.is_available()
    True
    """
    return cuda.is_available()


def current_accelerator(check_available: bool = False) -> device | None:
    """The kind of accelerator that norch was built for, as a device: "cuda" or None.

    With `check_available`, None if the machine has none.

    >>> kind = norch.accelerator.current_accelerator(check_available=True)
    >>> (kind is not None) == norch.accelerator.is_available()
    True
    """
    there = cuda.is_available() if check_available else cuda.is_built()
    return device("cuda") if there else None


def device_count() -> int:
    """The number of devices; 0 without an accelerator.

    >>> norch.accelerator.device_count() >= 0
    True
    """
    return cuda.device_count()


def current_device_index() -> int:
    """The index of the device that "cuda" means. Raises RuntimeError if there is none.

    >>> norch.accelerator.current_device_index() if norch.accelerator.is_available() else 0
    0
    """
    return cuda.current_device()


current_device_idx = current_device_index


def get_device_module(device: str | None = None) -> ModuleType:
    """The module of a kind of device, `norch.cpu` or `norch.cuda`; without one, that of the accelerator, or the CPU.

    >>> norch.get_device_module("cpu").__name__
    'norch.cpu'
    """
    kind = current_accelerator(check_available=True) if device is None else _device(device)
    return cuda if kind is not None and kind.type == "cuda" else cpu


def set_device_index(device: str | int) -> None:
    """Choose the device, as `cuda.set_device`.

    >>> if norch.accelerator.is_available():
    ...     norch.accelerator.set_device_index(0)
    """
    cuda.set_device(device)


set_device_idx = set_device_index


def synchronize(device: str | int | None = None) -> None:
    """Wait until everything queued on a device is done. Raises RuntimeError if there is none.

    >>> if norch.accelerator.is_available():
    ...     norch.accelerator.synchronize()
    """
    cuda.synchronize(device)


def empty_cache() -> None:
    """Give kept memory back to the driver.

    >>> norch.accelerator.empty_cache()
    """
    cuda.empty_cache()


memory_allocated, memory_reserved = cuda.memory_allocated, cuda.memory_reserved
max_memory_allocated, max_memory_reserved = cuda.max_memory_allocated, cuda.max_memory_reserved
reset_peak_memory_stats, current_stream = cuda.reset_peak_memory_stats, cuda.current_stream
