"""The Flatten and Unflatten, under the path that PyTorch gives them."""

from .linear import *  # noqa: F403
