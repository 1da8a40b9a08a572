"""The instance normalizations, under the path that PyTorch gives them."""

from .normalization import *  # noqa: F403
