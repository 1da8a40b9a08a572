"""Layers and losses as functions of tensors. Shapes: N samples, C classes, ... any further dimensions.

Each file lists what it offers in its `__all__`; here the lists come together.
"""

from typing import TYPE_CHECKING

from .activations import *
from .attention import *
from .convolution import *
from .cross_entropy import *
from .dropout import *
from .embedding import *
from .linear import *
from .losses import *
from .normalization import *
from .pooling import *

if not TYPE_CHECKING:  # a type checker follows the lists of the files; it reads no computed one
    __all__ = [name for name, value in vars().items() if callable(value)]
