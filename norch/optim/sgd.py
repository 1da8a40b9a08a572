"""SGD, under the path that PyTorch gives it."""

from .optimizer import SGD as SGD
