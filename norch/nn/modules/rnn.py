"""The recurrent layers, under the path that PyTorch gives them."""

from .recurrent import *  # noqa: F403
from .recurrent_cells import *  # noqa: F403
from .recurrent_cells import RNNCellBase as RNNCellBase
