"""The Fold and Unfold, under the path that PyTorch gives them."""

from .conv import Fold as Fold
from .conv import Unfold as Unfold
