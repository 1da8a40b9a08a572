"""Integers as vectors: rows of a table, alone or joined in bags, or a single 1 among zeros."""

from __future__ import annotations

from ..._C import ShapeError, lib
from ...arguments import flags, one_size
from ...autograd import no_grad
from ...autograd.derivatives.bags import MODES, join_bags
from ...autograd.derivatives.indexing import EmbeddingBackward
from ...functions.creation import where
from ...given import warn
from ...methods.places import SLICES, Places
from ...operation import check_range, recorded, wrap
from ...tensor import Tensor
from ...types import int32, int64, shown, uint8
from .checks import check_integers, check_tensors

__all__ = ["embedding", "embedding_bag", "one_hot"]


@flags
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """weight[input]: the row of weight [rows, size] for each integer of input [...], as [..., size].

    The row `padding_idx` gets no gradient; it may count from the end. With `max_norm` each row that is read is first
    scaled, in place, to a norm of at most that, of order `norm_type`. `scale_grad_by_freq` divides the gradient of a
    row by how often it was read; `sparse` changes nothing. The dtype is the weight's. Raises IndexError for an input
    outside 0 to rows - 1, RuntimeError if it is not int64, int32 or uint8.

    >>> F.embedding(norch.tensor([2, 0]), norch.tensor([[1.0, 1.5], [2.0, 2.5], [3.0, 3.5]]))
    tensor([[3.0000, 3.5000],
            [1.0000, 1.5000]])
    """
    _check_table("embedding", input, weight)
    padding = None if padding_idx is None else check_padding_idx(padding_idx, weight.shape[0])
    index = input if input.dtype is int64 else input.long()
    if max_norm is not None:
        _renormalize(weight, index.reshape(-1), max_norm, norm_type)
    return _rows(weight, index, padding, scale_grad_by_freq)


def _rows(weight: Tensor, index: Tensor, padding: int | None, scale_grad_by_freq: bool) -> Tensor:
    """The rows of these numbers; gradients by frequency, and none for the row `padding`."""
    place = Places(index, 0, SLICES)
    try:
        result = wrap(place.read(weight))
    except IndexError as error:
        raise IndexError(f"embedding: {error}: the table has the rows 0 to {len(weight) - 1}") from None
    counts = None
    if scale_grad_by_freq and weight.requires_grad:
        flat = index.reshape(-1)
        counts = index.new_zeros(weight.shape[0]).index_add(0, flat, flat.ones_like())
        counts = counts[index].unsqueeze(-1).to(weight.dtype)
    return recorded(result, EmbeddingBackward, (weight,), place, padding, counts)


def _check_table(name: str, input: Tensor, weight: Tensor) -> None:
    check_tensors(name, input, weight)
    if input.dtype not in (int64, int32, uint8):
        raise RuntimeError(f"{name}: input has dtype {input.dtype}, expected int64, int32 or uint8")
    if weight.ndim != 2:
        raise ShapeError(f"{name}: weight has shape {list(weight.shape)}, expected [rows, size]")


def _renormalize(weight: Tensor, index: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows of these numbers, in place, to a norm of at most max_norm."""
    with no_grad():
        rows = weight.detach().index_select(0, index)
        norms = rows.norm(norm_type, 1, keepdim=True)
        scaled = where(norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows)  # PyTorch's 1e-7
        weight.detach().index_copy_(0, index, scaled)  # a row that is read twice is written twice, alike


def check_padding_idx(padding_idx: int, rows: int) -> int:
    """The row that `padding_idx` means, counted from 0; ValueError if the table does not have it."""
    row = one_size(padding_idx, "embedding: padding_idx")
    if not -rows <= row < rows:
        raise ValueError(f"embedding: padding_idx is {row}, expected {-rows} to {rows - 1}")
    return row % rows


# ---- Bags -----------------------------------------------------------------------------------------------------------


@flags
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The "sum", "mean" or "max" of the rows of each bag of integers, as [bags, size].

    Bags are the rows of an input [bags, n], or pieces of an input [n], each from one of the `offsets` [bags] to the
    next; with `include_last_offset` the last one is the end. An empty bag gives 0. `per_sample_weights`, shaped as the
    input, scale the rows of a "sum". Numbers that are `padding_idx` do not count. The other options are those of
    `embedding`. The dtype is the weight's, a floating one. Raises IndexError for an input outside 0 to rows - 1,
    ValueError for bags or a mode that do not fit, RuntimeError for offsets that do not rise or lie outside the input,
    and if the input is not int64, int32 or uint8.

    >>> table = norch.tensor([[1.0], [2.0], [4.0]])
    >>> F.embedding_bag(norch.tensor([0, 1, 2]), table, norch.tensor([0, 2]), mode="sum")
    tensor([[3.],
            [4.]])
    """
    check_tensors("embedding_bag", input, weight)
    if not weight.is_floating_point() and input.is_floating_point():
        warn("embedding_bag: the arguments were swapped: the input comes before the weight")
        input, weight = weight, input
    _check_table("embedding_bag", input, weight)
    _check_bags(input, weight, mode, per_sample_weights, scale_grad_by_freq)
    if offsets is not None:
        check_tensors("embedding_bag", offsets)
        check_integers("embedding_bag", "offsets", offsets)
    if max_norm is not None:
        _renormalize(weight, input.reshape(-1).long(), max_norm, norm_type)
    padding = -1 if padding_idx is None else check_padding_idx(padding_idx, weight.shape[0])
    settings = MODES.index(mode), padding, include_last_offset
    return join_bags(weight, per_sample_weights, input, offsets, settings, scale_grad_by_freq)


def _check_bags(input: Tensor, weight: Tensor, mode: str, scales: Tensor | None, by_frequency: bool) -> None:
    if mode not in MODES:
        raise ValueError(f"embedding_bag: mode is {shown(mode)}, expected 'sum', 'mean' or 'max'")
    if mode == "max" and by_frequency:
        raise ValueError("embedding_bag: scale_grad_by_freq is not for the mode 'max'")
    if scales is None:
        return
    check_tensors("embedding_bag", scales)
    if mode != "sum":
        raise NotImplementedError(f"embedding_bag: per_sample_weights are for the mode 'sum', not for {shown(mode)}")
    if scales.shape != input.shape:
        raise ValueError(f"embedding_bag: per_sample_weights are {list(scales.shape)}, expected {list(input.shape)}")
    if scales.dtype is not weight.dtype:
        raise RuntimeError(f"embedding_bag: per_sample_weights have dtype {scales.dtype}, expected {weight.dtype}")


# ---- One hot --------------------------------------------------------------------------------------------------------


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Integers [...] as rows [..., num_classes] (int64) with a single 1; num_classes -1 means the largest plus 1.

    Raises RuntimeError for a class out of range, TypeError if the input is not int64, int32 or uint8.

    >>> F.one_hot(norch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    check_tensors("one_hot", input)
    check_integers("one_hot", "input", input)
    classes = one_size(num_classes, "one_hot: num_classes")
    if classes == -1 and input.numel:
        classes = max(int(input.max().item()), 0) + 1  # a negative class is refused below
    check_range(input, 0, classes - 1, f"one_hot: class {{}} is out of range, expected 0 to {classes - 1}")
    if classes < 1:
        raise RuntimeError(f"one_hot: num_classes is {num_classes}, expected at least 1 for an empty tensor")
    return wrap(lib.one_hot_tensor(input._ptr, classes))
