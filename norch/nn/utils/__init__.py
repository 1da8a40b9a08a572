"""Helpers for training: gradients clipped, parameters as a vector or computed, sequences of different lengths."""

from typing import TYPE_CHECKING

from . import rnn  # isort: skip  (which the recurrent layers import)
from . import parametrizations, parametrize, prune, stateless
from .clip_grad import *
from .convert_parameters import *
from .fusion import *
from .memory_format import *
from .spectral_norm import *
from .weight_norm import *

if not TYPE_CHECKING:  # (a checker knows what is missing)
    from ...missing import missing as _missing

    __getattr__ = _missing("nn.utils")
