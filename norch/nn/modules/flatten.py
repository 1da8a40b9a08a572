"""The Flatten and Unflatten, under the path that PyTorch gives them."""

from .linear import Flatten as Flatten
from .products import Unflatten as Unflatten
