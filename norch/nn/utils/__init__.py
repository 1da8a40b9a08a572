"""Helpers for training: the clipping of gradients."""

from .clip_grad import *
