"""One family of layers a file."""

from .container import ModuleDict, ModuleList, Sequential
from .linear import Flatten, Identity, Linear
from .parameters import ParameterDict, ParameterList

__all__ = ["Flatten", "Identity", "Linear", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]
