"""Models on several devices: on one device, a DataParallel passes everything through."""

from .data_parallel import DataParallel, data_parallel, gather, parallel_apply, replicate, scatter, scatter_kwargs
from .distributed import DistributedDataParallel

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
    "scatter_kwargs",
]
