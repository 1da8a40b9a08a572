"""One family of layers a file. Each file lists what it offers in its `__all__`; here the lists come together."""

import importlib
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING

from ..activation import *
from ..loss import *
from ..module import Module
from .activations import *
from .attention import *
from .container import *
from .conv import *
from .distances import *
from .dropout import *
from .embedding import *
from .lazy import *
from .linear import *
from .losses import *
from .normalization import *
from .padding import *
from .pooling import *
from .products import *
from .recurrent import *
from .recurrent_cells import *
from .resampling import *
from .sync_batchnorm import *
from .transformer import *

if not TYPE_CHECKING:  # a type checker follows the lists of the files; it reads no computed one
    __all__ = [name for name, value in vars().items() if callable(value)]

_PATHS = "activation batchnorm distance flatten fold instancenorm loss module rnn sparse utils".split()


if not TYPE_CHECKING:  # (a checker follows imports)

    def __getattr__(name: str) -> _ModuleType:
        """Import PyTorch's paths of the layers at their first use."""
        if name in _PATHS:
            return importlib.import_module("." + name, __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
