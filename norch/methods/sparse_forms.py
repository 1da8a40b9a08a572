"""Methods by which dense tensors become sparse ones."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sparse.coo import SparseTensor, dense_to_sparse, sparse_mask
from ..types import DType

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class SparseFormMethods:
    """The methods of Tensor that know of sparse tensors."""

    @property
    def is_sparse(self: Tensor) -> bool:
        """Whether the tensor, of any shape and dtype, is sparse: a SparseTensor is, a Tensor is not.

        >>> norch.eye(2).is_sparse, norch.eye(2).to_sparse().is_sparse
        (False, True)
        """
        return False

    def to_sparse(self: Tensor, sparse_dim: int | None = None) -> SparseTensor:
        """The elements that are not 0, as a sparse tensor of the same shape and dtype, through which gradients flow.

        With `sparse_dim` only so many dimensions are sparse, the first ones. Raises RuntimeError for more than there
        are, or none.

        >>> norch.tensor([[0, 5], [0, 0]]).to_sparse().indices()
        tensor([[0],
                [1]])
        """
        return dense_to_sparse(self, sparse_dim)

    to_sparse_coo = to_sparse

    def sparse_mask(self: Tensor, mask: SparseTensor) -> SparseTensor:
        """The elements at the places that a sparse tensor of this shape holds, in this dtype.

        Raises ShapeError for another shape, TypeError for a mask that is not sparse.

        >>> norch.tensor([[1.0, 2.0], [3.0, 4.0]]).sparse_mask(norch.eye(2).to_sparse()).values()
        tensor([1., 4.])
        """
        return sparse_mask(self, mask)

    def to_dense(self: Tensor, dtype: DType | None = None) -> Tensor:
        """This tensor, which is dense already, in its shape; in another dtype if one is given.

        >>> norch.eye(1).to_dense()
        tensor([[1.]])
        """
        return self if dtype is None else self.to(dtype=dtype)
