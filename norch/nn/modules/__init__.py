"""One family of layers a file. Each file lists what it offers in its `__all__`; here the lists come together."""

from typing import TYPE_CHECKING

from .attention import *
from .container import *
from .conv import *
from .dropout import *
from .embedding import *
from .linear import *
from .normalization import *
from .pooling import *
from .recurrent import *
from .transformer import *

if not TYPE_CHECKING:  # a type checker follows the lists of the files; it reads no computed one
    __all__ = [name for name, value in vars().items() if callable(value)]
