"""Intel's GPUs: norch has no kernels for them, so there is none."""

from __future__ import annotations


def is_available() -> bool:
    """Whether tensors can live on "xpu": no.

    >>> norch.xpu.is_available()
    False
    """
    return False


def device_count() -> int:
    """The number of devices: 0.

    >>> norch.xpu.device_count()
    0
    """
    return 0


def manual_seed(seed: int) -> None:
    """Seed the numbers of these devices: there are none.

    >>> norch.xpu.manual_seed(1)
    """


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Free the memory kept on the devices: there is none.

    >>> norch.xpu.empty_cache()
    """


synchronize = empty_cache
