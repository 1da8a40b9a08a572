"""CUDA devices, under PyTorch's names: `norch.cuda.is_available()`, `device_count()`, `synchronize()`, ...

Tensors go to a device by name (`x.to("cuda")`, `x.cuda()`, `norch.zeros(3, device="cuda:1")`). Operations are queued
there and return at once; the host waits when a value is read. So an index out of range, an invalid class and an integer
division by zero raise their IndexError or ZeroDivisionError when a value of that device is next read, or in
`synchronize()`. Nothing is written out of range.
"""

from __future__ import annotations

from . import _C
from ._C import lib, raise_error


def is_built() -> bool:
    """Whether this norch was built with CUDA kernels (`make CUDA=1`); says nothing about the machine.

    >>> isinstance(norch.cuda.is_built(), bool)
    True
    """
    return bool(lib.has_cuda())


def is_available() -> bool:
    """Whether tensors can live on "cuda": the kernels are built, and a driver and a device are there.

    >>> device = "cuda" if norch.cuda.is_available() else "cpu"
    >>> norch.ones(2, device=device).sum().item()
    2.0
    """
    return lib.device_count() > 0


def device_count() -> int:
    """The number of CUDA devices; 0 without a driver.

    >>> norch.cuda.device_count() >= 0
    True
    """
    return lib.device_count()


def current_device() -> int:
    """The index of the device that "cuda" means: always 0. Raises RuntimeError if there is none.

    >>> norch.cuda.current_device() if norch.cuda.is_available() else 0
    0
    """
    _number(None)
    return 0


def get_device_name(device: str | int | None = None) -> str:
    """The driver's name of a device, given as an index or as "cuda:1". Raises RuntimeError if there is no such device.

    >>> isinstance(norch.cuda.get_device_name() if norch.cuda.is_available() else "none", str)
    True
    """
    return (lib.cuda_name(_number(device)) or raise_error()).decode(errors="replace")


def synchronize(device: str | int | None = None) -> None:
    """Wait until everything queued on a device is done, and raise the errors found there.

    For timing and for finding an error: reading a value waits by itself.

    >>> if norch.cuda.is_available():
    ...     norch.cuda.synchronize()
    """
    if lib.synchronize(_number(device)) != 0:
        raise_error()


def memory_allocated(device: str | int | None = None) -> int:
    """The bytes of tensors on a device, blocks kept for reuse not counted; 0 if there is no device.

    >>> norch.cuda.memory_allocated() >= 0
    True
    """
    return lib.memory_allocated(_number(device)) if is_available() else 0


def empty_cache() -> None:
    """Give the blocks of memory that norch keeps for reuse back to the driver, on all devices.

    >>> norch.cuda.empty_cache()
    """
    lib.empty_device_cache()


def _number(device: str | int | None) -> int:
    """The C library's number of a device given as None, an index or a name."""
    if isinstance(device, int) and not isinstance(device, bool):
        device = f"cuda:{device}"
    number = _C.device_number("cuda" if device is None else device)
    if number == 0:
        raise ValueError(f'expected a CUDA device, got "{device}"')
    if number > lib.device_count():
        reason = f"there are {lib.device_count()} CUDA devices" if is_available() else lib.why_no_cuda().decode()
        raise RuntimeError(f"no device {_C.device_name(number)}: {reason}")
    return number
