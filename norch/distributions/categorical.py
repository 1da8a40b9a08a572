"""Categorical, under the path that PyTorch gives it."""

from .discrete import Categorical as Categorical
