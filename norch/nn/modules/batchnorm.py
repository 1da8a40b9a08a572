"""The batch normalizations, under the path that PyTorch gives them."""

from .normalization import *  # noqa: F403
from .normalization import _BatchNorm as _BatchNorm
from .normalization import _NormBase as _NormBase
from .sync_batchnorm import SyncBatchNorm as SyncBatchNorm
