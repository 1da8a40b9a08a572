"""The instance normalizations, under the path that PyTorch gives them."""

from .normalization import *  # noqa: F403
from .normalization import _InstanceNorm as _InstanceNorm
from .normalization import _NormBase as _NormBase
