"""CUDA's libraries: norch multiplies float32 in float32. The settings can be assigned and change nothing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

from ..arguments import flags as _flags
from ..cuda import is_built

__all__ = ["cufft_plan_cache", "is_built", "matmul", "preferred_linalg_library", "sdp_kernel"]


class _Settings:
    """Settings that change nothing."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = False
    allow_bf16_reduced_precision_reduction = False
    fp32_precision = "ieee"
    max_size = 0
    size = 0

    def clear(self) -> None:
        """Do nothing."""


matmul, cufft_plan_cache = _Settings(), _Settings()


def preferred_linalg_library(backend: str | None = None) -> str:
    """The library of linear algebra: norch has one way.

    >>> norch.backends.cuda.preferred_linalg_library()
    'default'
    """
    return "default"


def _enabled() -> bool:
    """Whether attention has a kernel of this kind: norch has one way for all."""
    return False


def _enable(enabled: bool) -> None:
    """Do nothing: attention has one way."""


flash_sdp_enabled = mem_efficient_sdp_enabled = cudnn_sdp_enabled = _enabled
enable_flash_sdp = enable_mem_efficient_sdp = enable_cudnn_sdp = enable_math_sdp = _enable


def math_sdp_enabled() -> bool:
    """Whether attention is computed by its formula: yes.

    >>> norch.backends.cuda.math_sdp_enabled()
    True
    """
    return True


@contextmanager
@_flags
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[None]:
    """A `with` block for a choice among kernels of attention: norch has one.

    >>> with norch.backends.cuda.sdp_kernel(enable_flash=False):
    ...     x = norch.ones(2)
    """
    yield
