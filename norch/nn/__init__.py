"""Layers, losses and what they are made of. Each file lists what it offers in its `__all__`."""

from typing import TYPE_CHECKING

from . import attention, functional, grad, init, parallel, utils
from .activation import *
from .loss import *
from .module import *
from .modules import *
from .parallel import DataParallel
from .parameter import *
from .summary import *

if not TYPE_CHECKING:  # a type checker follows the lists of the files; it reads no computed one
    __all__ = [name for name, value in vars().items() if callable(value)]
    __all__ += ["attention", "functional", "grad", "init", "parallel", "utils"]

if not TYPE_CHECKING:  # (a checker knows what is missing)
    from ..missing import missing as _missing

    __getattr__ = _missing("nn")
