"""Normal, under the path that PyTorch gives it."""

from .continuous import Normal as Normal
