"""The recurrent layers, under the path that PyTorch gives them."""

from .recurrent import *  # noqa: F403
from .recurrent import RNNBase as RNNBase
from .recurrent import RNNCellBase as RNNCellBase
