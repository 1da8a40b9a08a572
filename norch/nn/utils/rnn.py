"""Batches of sequences of different lengths: padded to one length, or packed one step after the other.

A packed batch holds, for each step, the elements of the sequences that reach it, the longest sequence first. Sizes: T
steps of the longest sequence, N sequences, * further dimensions.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._C import ShapeError
from ...arguments import flags, sizes_of
from ...functions.creation import tensor
from ...functions.joining import cat, stack
from ...operation import check_kind, check_tensor
from ...tensor import Tensor
from ...types import DType, float16, float32, float64, int8, int16, int32, int64, shown, uint8

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """Sequences of different lengths, packed: `data` [sum of the lengths, *] and the `batch_sizes` [T] of the steps.

    `sorted_indices` say in which order the sequences were taken, `unsorted_indices` how to get back; None if they were
    sorted before. Recurrent layers take and return packed sequences. `pack_padded_sequence` and `pack_sequence` make
    them.

    >>> packed = nn.utils.rnn.pack_sequence([norch.tensor([1, 2, 3]), norch.tensor([4])])
    >>> packed.data, packed.batch_sizes
    (tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> Self:
        if batch_sizes is None:  # both in one tuple, as in old versions
            data, batch_sizes = data
        if check_tensor(batch_sizes, "PackedSequence: batch_sizes").device != "cpu":
            raise ValueError(f"batch_sizes is on {batch_sizes.device}, expected the CPU")
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same sequences with another dtype or on another device; the arguments are those of `Tensor.to`.

        These ones themselves, if nothing changes.
        """
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        moved = (None if index is None else index.to(data.device) for index in self[2:])
        return PackedSequence(data, self.batch_sizes, *moved)

    def cpu(self) -> PackedSequence:
        """The same sequences on the CPU."""
        return self.to("cpu")

    def cuda(self) -> PackedSequence:
        """The same sequences on the CUDA device."""
        return self.to("cuda")

    def float(self) -> PackedSequence:
        """The same sequences as float32."""
        return self.to(float32)

    def double(self) -> PackedSequence:
        """The same sequences as float64."""
        return self.to(float64)

    def half(self) -> PackedSequence:
        """The same sequences as float16."""
        return self.to(float16)

    def int(self) -> PackedSequence:
        """The same sequences as int32."""
        return self.to(int32)

    def short(self) -> PackedSequence:
        """The same sequences as int16."""
        return self.to(int16)

    def char(self) -> PackedSequence:
        """The same sequences as int8."""
        return self.to(int8)

    def byte(self) -> PackedSequence:
        """The same sequences as uint8."""
        return self.to(uint8)

    def pin_memory(self) -> PackedSequence:
        """The same sequences: norch has no pinned memory."""
        return self

    def is_pinned(self) -> bool:
        """Whether the memory is pinned: it never is."""
        return False

    def long(self) -> PackedSequence:
        """The same sequences as int64."""
        return self.to(int64)

    @property
    def is_cuda(self) -> bool:
        """Whether the data are on a CUDA device."""
        return self.data.device != "cpu"

    @property
    def dtype(self) -> DType:
        """The dtype of the data."""
        return self.data.dtype

    def segments(self) -> Iterator[tuple[builtins.int, builtins.int, builtins.int]]:
        """Runs of steps that the same sequences reach: (how many steps, how many sequences, the first row of data)."""
        row = 0
        for count, steps in groupby(self.batch_sizes.tolist()):
            length = len(list(steps))
            yield length, count, row
            row += length * count


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes one, of integers [N]; None for None.

    >>> nn.utils.rnn.invert_permutation(norch.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    return None if permutation is None else check_tensor(permutation, "invert_permutation").argsort()


# ---- Packing --------------------------------------------------------------------------------------------------------


@flags
def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """A padded batch [T, N, *], or with `batch_first` [N, T, *], packed by the `lengths` [N] of its sequences.

    The lengths decrease, or with `enforce_sorted=False` the sequences are sorted first. Raises RuntimeError if they do
    not, if one is 0 or less or above T, and if there is not one for each sequence.

    >>> padded = norch.tensor([[1, 2, 3], [4, 0, 0]])
    >>> nn.utils.rnn.pack_padded_sequence(padded, [3, 1], batch_first=True).data
    tensor([1, 4, 2, 3])
    """
    given = lengths.tolist() if isinstance(lengths, Tensor) else list(lengths)
    sizes = sizes_of((given,), "pack_padded_sequence: lengths")
    check_tensor(input, "pack_padded_sequence")
    steps_first = input.transpose(0, 1) if batch_first else input
    if len(sizes) != steps_first.shape[1]:
        raise RuntimeError(f"pack_padded_sequence: expected {steps_first.shape[1]} lengths, got {len(sizes)}")
    order = None
    if not enforce_sorted:
        order = sorted(range(len(sizes)), key=lambda n: -sizes[n])
        sizes = [sizes[n] for n in order]
    if any(a < b for a, b in zip(sizes, sizes[1:])):
        raise RuntimeError(
            f"pack_padded_sequence: lengths are {sizes}, expected decreasing ones; enforce_sorted=False sorts them"
        )
    if not sizes or sizes[-1] <= 0:
        raise RuntimeError(f"pack_padded_sequence: lengths are {sizes}, expected them above 0")
    if sizes[0] > steps_first.shape[0]:
        raise RuntimeError(f"pack_padded_sequence: length {sizes[0]} is above the {steps_first.shape[0]} steps")
    counts = [sum(size > t for size in sizes) for t in range(sizes[0])]
    indices = None if order is None else tensor(order, dtype=int64, device=input.device)
    if indices is not None:
        steps_first = steps_first.index_select(1, indices)
    rows, start = [], 0
    for count, steps in groupby(counts):
        end = start + len(list(steps))
        rows.append(steps_first[start:end, :count].flatten(0, 1))
        start = end
    return PackedSequence(cat(rows), tensor(counts, dtype=int64, device="cpu"), indices)


@flags
def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """A packed batch as a padded one, [T, N, *] or with `batch_first` [N, T, *], and the lengths [N].

    `total_length` is T then; raises ValueError if it is below the longest length.

    >>> packed = nn.utils.rnn.pack_sequence([norch.tensor([1, 2, 3]), norch.tensor([4])])
    >>> nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    (tensor([[1, 2, 3],
            [4, 0, 0]]), tensor([3, 1]))
    """
    counts = check_kind(sequence, PackedSequence, "pad_packed_sequence").batch_sizes.tolist()
    steps, samples, data = len(counts), counts[0], sequence.data
    if total_length is not None and total_length < steps:
        raise ValueError(f"pad_packed_sequence: total_length is {total_length}, expected at least the {steps} steps")

    def padding(*shape: int) -> Tensor:
        return data.new_full([*shape, *data.shape[1:]], padding_value)

    parts = []
    for length, count, row in sequence.segments():
        part = data[row : row + length * count].unflatten(0, (length, count))
        parts.append(part if count == samples else cat([part, padding(length, samples - count)], 1))
    if total_length is not None and total_length > steps:
        parts.append(padding(total_length - steps, samples))
    padded = cat(parts)
    lengths = tensor([sum(count > n for count in counts) for n in range(samples)], dtype=int64, device="cpu")
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return (padded.transpose(0, 1) if batch_first else padded), lengths


@flags
def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences [length, *] packed; their lengths decrease, or `enforce_sorted` is False.

    Raises RuntimeError if they do not decrease.

    >>> nn.utils.rnn.pack_sequence([norch.tensor([4]), norch.tensor([1, 2])], enforce_sorted=False).data
    tensor([1, 4, 2])
    """
    return pack_padded_sequence(pad_sequence(sequences), [len(x) for x in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences [length, *] of a packed batch.

    >>> nn.utils.rnn.unpack_sequence(nn.utils.rnn.pack_sequence([norch.tensor([1, 2]), norch.tensor([4])]))
    [tensor([1, 2]), tensor([4])]
    """
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)


# ---- Padding --------------------------------------------------------------------------------------------------------


@flags
def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences [length, *] as one batch [T, N, *], or with `batch_first` [N, T, *], filled with `padding_value`.

    The padding comes after a sequence, or before it if `padding_side` is "left". Raises ShapeError for sequences whose
    further dimensions differ, RuntimeError for another side.

    >>> nn.utils.rnn.pad_sequence([norch.tensor([1, 2, 3]), norch.tensor([4])], batch_first=True)
    tensor([[1, 2, 3],
            [4, 0, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(f"pad_sequence: expected an iterable of tensors, got {type(sequences).__name__}")
    listed = list(sequences)
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"pad_sequence: padding_side is {shown(padding_side)}, expected 'left' or 'right'")
    if not listed:
        raise RuntimeError("pad_sequence: expected at least one sequence")
    for x in listed:
        if check_tensor(x, "pad_sequence").shape[1:] != listed[0].shape[1:] or not x.ndim:
            raise ShapeError(
                f"pad_sequence: given {list(x.shape)} beside {list(listed[0].shape)}, expected [length, *]"
            )
    longest = max(len(x) for x in listed)
    rows = []
    for x in listed:
        fill = x.new_full([longest - len(x), *x.shape[1:]], padding_value)
        rows.append(x if len(x) == longest else cat([x, fill] if padding_side == "right" else [fill, x]))
    return stack(rows, 0 if batch_first else 1)


@flags
def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences [length, *] of a padded batch, whose lengths are [N]. Raises ValueError for another number of them.

    >>> nn.utils.rnn.unpad_sequence(norch.tensor([[1, 2], [4, 0]]), norch.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([4])]
    """
    check_tensor(padded_sequences, "unpad_sequence"), check_tensor(lengths, "unpad_sequence: lengths")
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    if len(rows) != len(lengths):
        raise ValueError(f"unpad_sequence: got {len(lengths)} lengths for a batch of {len(rows)} sequences")
    return [row[:length].clone() for row, length in zip(rows, lengths.tolist())]
