"""The libraries that PyTorch computes with, as settings: norch has kernels of its own, which they do not change.

Scripts set `backends.cudnn.benchmark = True` or ask `backends.mps.is_available()`: that works, and the
answers are true.
"""

from . import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
