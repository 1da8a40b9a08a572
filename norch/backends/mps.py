"""Apple's GPUs: norch has no kernels for them."""

from __future__ import annotations


def is_available() -> bool:
    """Whether tensors can live on "mps": no.

    >>> device = "mps" if norch.backends.mps.is_available() else "cpu"
    >>> device
    'cpu'
    """
    return False


def is_built() -> bool:
    """Whether norch was built for "mps": no.

    >>> norch.backends.mps.is_built()
    False
    """
    return False


is_macos13_or_newer = is_macos_or_newer = is_built
