"""Embedding: a table of vectors, looked up by integers."""

from __future__ import annotations

from ..._C import ShapeError
from ...autograd import no_grad
from ...tensor import Tensor
from ...types import DType
from .. import functional as F
from .. import init
from ..functional.embedding import check_padding_idx
from ..module import Module
from ..parameter import Parameter

__all__ = ["Embedding"]


class Embedding(Module):
    """Integers [...] to their rows [..., embedding_dim] of the weight [num_embeddings, embedding_dim].

    The weight is drawn from the normal distribution by `init.normal_`; the row `padding_idx` is 0 and gets no gradient.
    See `functional.embedding` for dtypes and errors.

    >>> nn.Embedding(10, 3)(norch.tensor([[1, 2], [9, 0]])).shape
    norch.Size([2, 2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else check_padding_idx(padding_idx, num_embeddings)
        self.weight = Parameter(shape=[num_embeddings, embedding_dim])
        self.reset_parameters()
        self.to(device, dtype)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None) -> Embedding:
        """An Embedding whose weight shares the memory of a tensor [rows, size]; trained only if not `freeze`."""
        if embeddings.ndim != 2:
            raise ShapeError(f"from_pretrained: embeddings have shape {list(embeddings.shape)}, expected [rows, size]")
        made = cls(0, embeddings.shape[1])
        made.num_embeddings = embeddings.shape[0]
        made.padding_idx = None if padding_idx is None else check_padding_idx(padding_idx, made.num_embeddings)
        made.weight = Parameter(embeddings, requires_grad=not freeze)
        return made

    def reset_parameters(self) -> None:
        """Draw the weight from the normal distribution, and set the row `padding_idx` to 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx] = 0

    def forward(self, x: Tensor) -> Tensor:
        return F.embedding(x, self.weight, self.padding_idx)

    def inner_repr(self) -> str:
        words = f"{self.num_embeddings}, {self.embedding_dim}"
        return words if self.padding_idx is None else f"{words}, padding_idx={self.padding_idx}"
