"""The functions that PyTorch defines at this path, and `F` and `Tensor`, which programs import from here by mistake."""

from .functions.joining import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    broadcast_tensors,
    cartesian_prod,
    meshgrid,
)
from .functions.linalg import pca_lowrank, svd_lowrank
from .functions.of_methods import lu, norm, split, unique, unique_consecutive
from .functions.products import chain_matmul, einsum, tensordot
from .functions.searching import unravel_index
from .functions.statistics import cdist
from .nn import functional as F
from .tensor import Tensor

__all__ = [
    "F",
    "Tensor",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "cdist",
    "chain_matmul",
    "einsum",
    "lu",
    "meshgrid",
    "norm",
    "pca_lowrank",
    "split",
    "svd_lowrank",
    "tensordot",
    "unique",
    "unique_consecutive",
    "unravel_index",
]
