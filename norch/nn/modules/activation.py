"""The activations, under the path that PyTorch gives them."""

from ..activation import *  # noqa: F403
from .activations import *  # noqa: F403
from .attention import MultiheadAttention as MultiheadAttention
