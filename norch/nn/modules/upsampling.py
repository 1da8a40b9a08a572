"""Upsample, under the path that PyTorch gives it."""

from .resampling import *  # noqa: F403
