"""Layers and losses as functions of tensors. Shapes: N samples, C classes, ... any further dimensions.

Each file lists what it offers in its `__all__`; here the lists come together.
"""

import importlib
from typing import TYPE_CHECKING

from ...autocasting import NAMES as _AUTOCAST
from ...autocasting import under_autocast as _under_autocast
from ...precision import input_in_float32 as _input_in_float32
from .activations import *
from .adaptive_pooling import *
from .attention import *
from .convolution import *
from .copied import _canonical_mask as _canonical_mask
from .copied import _get_softmax_dim as _get_softmax_dim
from .copied import _in_projection as _in_projection
from .copied import _in_projection_packed as _in_projection_packed
from .copied import _none_or_dtype as _none_or_dtype
from .copied import _verify_batch_size as _verify_batch_size
from .cross_entropy import *
from .ctc import *
from .distances import *
from .dropout import *
from .embedding import *
from .grid import *
from .likelihoods import *
from .linear import *
from .losses import *
from .margins import *
from .multi_head import *
from .normalization import *
from .normalization import _batch_norm as _batch_norm
from .padding import *
from .piecewise import *
from .pooling import *
from .resampling import *
from .shuffling import *
from .smooth import *

if not TYPE_CHECKING:  # a type checker follows the lists of the files; it reads no computed one
    __all__ = [name for name, value in vars().items() if callable(value) and not name.startswith("_")]
    for _name in ("_batch_norm", "batch_norm", "group_norm", "instance_norm", "layer_norm", "rms_norm"):
        globals()[_name] = _input_in_float32(globals()[_name])
        globals()[_name].__module__ = __name__  # where pickle finds it
    globals().update({name: _under_autocast(globals()[name], name, __name__) for name in _AUTOCAST & set(__all__)})

if not TYPE_CHECKING:  # (a checker knows what is missing)
    from ...missing import missing

    _missing = missing("nn.functional")

    def __getattr__(name: str) -> object:
        """`_Reduction` is a file, which losses of other programs read here; other names are missing."""
        return importlib.import_module("norch.nn._reduction") if name == "_Reduction" else _missing(name)
