"""Embedding and EmbeddingBag: a table of vectors, looked up by integers, alone or in bags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._C import ShapeError
from ...autograd import no_grad
from ...functions.creation import empty
from ...operation import check_tensor
from ...tensor import Tensor
from ...types import DType
from .. import functional as F
from .. import init
from ..functional.embedding import check_padding_idx
from ..module import Module
from ..parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """What both share: the weight [num_embeddings, embedding_dim], and the options of reading it."""

    weight: Parameter

    def __init__(
        self,
        sizes: tuple[int, int],
        padding_idx: int | None,
        options: tuple[float | None, float, bool, bool],
        weight: Tensor | None,
        frozen: bool,
        device: str | int | None,
        dtype: DType | None,
    ) -> None:
        super().__init__()
        if min(sizes) < 0:
            raise ShapeError(f"{self.get_name()}: given the sizes {list(sizes)}, expected no negative ones")
        self.num_embeddings, self.embedding_dim = sizes
        self.padding_idx = None if padding_idx is None else check_padding_idx(padding_idx, sizes[0])
        self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse = options
        if weight is None:
            made = empty(sizes, dtype=dtype, device=device)
            self.weight = Parameter(made, requires_grad=not frozen)
            self.reset_parameters()
            return
        if tuple(check_tensor(weight, self.get_name()).shape) != sizes:
            raise ShapeError(f"{self.get_name()}: weight has shape {list(weight.shape)}, expected {list(sizes)}")
        self.weight = Parameter(weight, requires_grad=not frozen and weight.is_floating_point())

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, *args: Any, **options: Any) -> Self:
        """A table that shares the memory of a tensor [rows, size]; trained only if not `freeze`."""
        if check_tensor(embeddings, "from_pretrained").ndim != 2:
            raise ShapeError(f"from_pretrained: embeddings have shape {list(embeddings.shape)}, expected [rows, size]")
        make: Any = cls  # each class takes them in its own order
        made = make(*embeddings.shape, *args, _weight=embeddings, **options)
        made.weight.requires_grad_(not freeze)
        return made

    def reset_parameters(self) -> None:
        """Draw the weight from the normal distribution, and set the row `padding_idx` to 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx] = 0

    def extra_repr(self) -> str:
        """The sizes, then every setting that is not the default."""
        settings = {
            "padding_idx": (self.padding_idx, None),
            "max_norm": (self.max_norm, None),
            "norm_type": (self.norm_type, 2),
            "scale_grad_by_freq": (self.scale_grad_by_freq, False),
            "sparse": (self.sparse, False),
            "mode": (getattr(self, "mode", None), None),
        }
        changed = [f"{name}={value!r}" for name, (value, default) in settings.items() if value != default]
        return ", ".join([str(self.num_embeddings), str(self.embedding_dim), *changed])


class Embedding(_Table):
    """Integers [...] to their rows [..., embedding_dim] of the weight [num_embeddings, embedding_dim].

    The weight is drawn from the normal distribution by `init.normal_`; the row `padding_idx` is 0 and gets no gradient.
    See `functional.embedding` for the options, dtypes and errors.

    >>> nn.Embedding(10, 3)(norch.tensor([[1, 2], [9, 0]])).shape
    norch.Size([2, 2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        options = (max_norm, norm_type, scale_grad_by_freq, sparse)
        super().__init__((num_embeddings, embedding_dim), padding_idx, options, _weight, _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )


class EmbeddingBag(_Table):
    """Bags of integers to the mean, sum or maximum of their rows; see `functional.embedding_bag`.

    >>> nn.EmbeddingBag(10, 3)(norch.tensor([[1, 2], [9, 0]])).shape
    norch.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        options = (max_norm, norm_type, scale_grad_by_freq, sparse)
        super().__init__((num_embeddings, embedding_dim), padding_idx, options, _weight, False, device, dtype)
        self.mode, self.include_last_offset = mode, include_last_offset

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )
