"""The libraries that PyTorch computes with, as settings: norch has kernels of its own, which they do not change.

Scripts set `backends.cudnn.benchmark = True` or ask `backends.mps.is_available()`: that works, and the
answers are true.
"""

from __future__ import annotations

import sys

from ..guards import Guard
from . import cpu, cuda, cudnn, mha, miopen, mkl, mkldnn, mps, nnpack, openmp, opt_einsum, quantized

__all__ = [
    "cpu", "cuda", "cudnn", "mha", "miopen", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum", "quantized",
]  # fmt: skip

fp32_precision = "none"


def flags(fp32_precision: str = "none") -> Guard:
    """Another precision of products in a `with` block, which changes nothing.

    >>> with norch.backends.flags(fp32_precision="ieee"):
    ...     print(norch.backends.fp32_precision)
    ieee
    """
    return Guard((sys.modules[__name__], {"fp32_precision": fp32_precision}))
