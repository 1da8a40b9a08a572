"""Linear algebra, as torch.linalg: factorizations, equations, norms and products of matrices, all in batches.

Where NumPy is installed, its LAPACK computes eigenvalues, singular values, inverses and solutions of large matrices
faster than norch does. Without it, only `eig` and `eigvals` raise ImportError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._C import LinAlgError
from ..autocasting import NAMES as _AUTOCAST
from ..autocasting import under_autocast as _under_autocast
from . import factorizations, norms, solving, spectra
from .factorizations import *  # noqa: F403
from .norms import *  # noqa: F403
from .solving import *  # noqa: F403
from .spectra import *  # noqa: F403

__all__ = ["LinAlgError", *factorizations.__all__, *norms.__all__, *solving.__all__, *spectra.__all__]

if not TYPE_CHECKING:  # a type checker reads no computed names
    _cast = (_AUTOCAST & set(__all__)) - {"norm"}  # which calls the method
    globals().update({name: _under_autocast(globals()[name], name, __name__) for name in _cast})


def __dir__() -> list[str]:
    return __all__
