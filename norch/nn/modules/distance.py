"""The distances, under the path that PyTorch gives them."""

from .distances import *  # noqa: F403
