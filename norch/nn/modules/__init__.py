"""One family of layers a file."""

from .container import ModuleList, Sequential
from .linear import Flatten, Identity, Linear

__all__ = ["Flatten", "Identity", "Linear", "ModuleList", "Sequential"]
