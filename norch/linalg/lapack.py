"""LAPACK, by way of NumPy: matrices go to the host as arrays, and what comes back is on their device again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from .._C import LinAlgError, ShapeError
from ..methods.interop import array_of, from_numpy
from ..operation import check_tensor

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


def numpy_for(name: str) -> Any:
    """The module numpy. Raises ImportError if it is not installed."""
    try:
        import numpy
    except ImportError as error:
        raise ImportError(f"{name} is computed by NumPy's LAPACK: pip install numpy") from error
    return numpy


SMALL = 16  # rows and columns: so small matrices, one or a thousand, norch solves as soon as LAPACK does


def prefers_lapack(x: Tensor) -> bool:
    """Whether matrices are so large that LAPACK is quicker than norch's own methods, and NumPy is installed."""
    if x.shape[-1] <= SMALL and x.shape[-2] <= SMALL:
        return False
    try:
        return bool(numpy_for("linalg"))
    except ImportError:
        return False


def compute(name: str, function: Callable[..., Any], *matrices: Tensor) -> list[Tensor]:
    """The results of function(numpy, *arrays), as tensors of the matrices' device, outside of any graph.

    Raises LinAlgError with what LAPACK says.
    """
    numpy = numpy_for(name)
    try:
        results = function(numpy, *[array_of(check_tensor(x, name)) for x in matrices])
    except numpy.linalg.LinAlgError as error:
        raise LinAlgError(f"{name}: {error}") from None
    results = results if isinstance(results, (tuple, list)) else (results,)
    found = [from_numpy(_in_rows(numpy, result)) for result in results]
    device = matrices[0].device
    return found if device == "cpu" else [x.to(device) for x in found]


def _in_rows(numpy: Any, result: Any) -> Any:
    """An array in row order, over memory of its own."""
    is_own = type(result) is numpy.ndarray and result.base is None and result.flags.c_contiguous
    return result if is_own else numpy.array(result, order="C")


def check_matrices(name: str, x: Tensor, square: bool = False) -> Tensor:
    """Return x, a batch of matrices of a floating dtype. Raises RuntimeError or ShapeError for anything else."""
    check_tensor(x, name)
    if x.ndim < 2:
        raise ShapeError(f"{name}: expected at least 2 dimensions, got shape {list(x.shape)}")
    if square and x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"{name}: expected batches of square matrices, got {x.shape[-2]} by {x.shape[-1]} matrices")
    return check_real(name, x)


def check_real(name: str, x: Tensor) -> Tensor:
    """Return x if its dtype is float32 or float64; raise RuntimeError otherwise."""
    if check_tensor(x, name).dtype.name not in ("float32", "float64"):
        raise RuntimeError(f"{name}: expected float32 or float64, got {x.dtype}")
    return x
