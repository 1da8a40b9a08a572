"""How `scaled_dot_product_attention` is computed: norch has one way, so what is asked for here changes nothing."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ...guards import Guard
from ...types import shown

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(IntEnum):
    """PyTorch's ways of computing attention, as names.

    >>> nn.attention.SDPBackend.MATH.name
    'MATH'
    """

    ERROR, MATH, FLASH_ATTENTION, EFFICIENT_ATTENTION, CUDNN_ATTENTION, OVERRIDEABLE = range(-1, 5)


def sdpa_kernel(backends: Any, set_priority: bool = False) -> Guard:
    """A `with` block that would choose one of several ways. Raises AssertionError for what names none.

    >>> query = norch.ones(1, 2, 4)
    >>> with nn.attention.sdpa_kernel(nn.attention.SDPBackend.MATH):
    ...     nn.functional.scaled_dot_product_attention(query, query, query).sum()
    tensor(8.)
    """
    for backend in [backends] if isinstance(backends, SDPBackend) else backends:
        if not isinstance(backend, SDPBackend):
            raise AssertionError(f"sdpa_kernel: expected an SDPBackend or a list of them, got {shown(backends)}")
    return Guard()
