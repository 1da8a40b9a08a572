"""`norch.explain(t)`: a picture, in text, of how a tensor lies in its storage.

tensor of shape [3, 2], float32, on cpu
strides (1, 3), offset 0: not contiguous

element [i, j] is storage[i * 1 + j * 3]
element [2, 1] is storage[2 * 1 + 1 * 3] = storage[5] = 6.0

storage of 6 elements, 24 bytes
    0       1       2       3       4       5
+-------+-------+-------+-------+-------+-------+
|  1.0  |  2.0  |  3.0  |  4.0  |  5.0  |  6.0  |
+-------+-------+-------+-------+-------+-------+
  [0,0]   [1,0]   [2,0]   [0,1]   [1,1]   [2,1]
"""

from __future__ import annotations

import itertools
from typing import Sequence

from ..operation import check_tensor
from ..tensor import Tensor

_LETTERS = "ijklmnop"  # one for each of at most 8 dimensions
_MOST_CELLS = 64
_LINE_WIDTH = 100


class Explanation:
    """The text that `norch.explain` returns; it shows when printed, or at the prompt of a Python shell."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def explain(tensor: Tensor) -> Explanation:
    """A picture of how a tensor lies in its storage: shape, strides, offset, and which cell each element is.

    Of a storage of more than 64 elements, the part that begins with the tensor is shown. Raises TypeError if `tensor`
    is not one.

    >>> norch.explain(norch.tensor([[1, 2], [3, 4]]).T)
    tensor of shape [2, 2], int64, on cpu
    strides (1, 2), offset 0: not contiguous
    <BLANKLINE>
    element [i, j] is storage[i * 1 + j * 2]
    element [1, 1] is storage[1 * 1 + 1 * 2] = storage[3] = 4
    <BLANKLINE>
    storage of 4 elements, 32 bytes
        0       1       2       3
    +-------+-------+-------+-------+
    |   1   |   2   |   3   |   4   |
    +-------+-------+-------+-------+
      [0,0]   [1,0]   [0,1]   [1,1]
    """
    check_tensor(tensor, "explain")
    parts = [_description(tensor), _formula(tensor), _picture(tensor)]
    return Explanation("\n\n".join(part for part in parts if part))


# ---- In words -------------------------------------------------------------------------------------------------------


def _description(tensor: Tensor) -> str:
    contiguous = "contiguous" if tensor.is_contiguous() else "not contiguous"
    lines = [
        f"tensor of shape {list(tensor.shape)}, {tensor.dtype.name}, on {tensor.device}",
        f"strides {tensor.stride()}, offset {tensor.storage_offset()}: {contiguous}",
    ]
    if any(step == 0 and size > 1 for size, step in zip(tensor.shape, tensor.stride())):
        lines.append("a stride of 0 repeats: several elements are one and the same cell")
    return "\n".join(lines)


def _formula(tensor: Tensor) -> str:
    """How an index becomes a place in the storage: in letters, then in numbers for the last element."""
    if tensor.numel == 0:
        return "no elements"
    letters = list(_LETTERS[: tensor.ndim])
    last = [size - 1 for size in tensor.shape]
    place = _place(tensor, last)
    value = tensor.storage()[place]
    if tensor.ndim == 0:
        return f"the element is storage[{place}] = {value}"
    return (
        f"element [{', '.join(letters)}] is storage[{_terms(tensor, letters)}]\n"
        f"element [{', '.join(map(str, last))}] is storage[{_terms(tensor, last)}] = storage[{place}] = {value}"
    )


def _terms(tensor: Tensor, index: Sequence[object]) -> str:
    offset = tensor.storage_offset()
    terms = [f"{i} * {step}" for i, step in zip(index, tensor.stride())]
    return " + ".join(([str(offset)] if offset else []) + terms)


def _place(tensor: Tensor, index: Sequence[int]) -> int:
    return tensor.storage_offset() + sum(i * step for i, step in zip(index, tensor.stride()))


# ---- Drawn ----------------------------------------------------------------------------------------------------------


def _picture(tensor: Tensor) -> str:
    storage = tensor.storage()
    size = len(storage)
    title = f"storage of {size} element{'s' if size != 1 else ''}, {storage.nbytes()} bytes"
    first, end = _window(tensor, size)
    if first == end:
        return title
    if (first, end) != (0, size):
        title += f", of which {first} to {end - 1} are shown"
    values = [str(value) for value in tensor.storage()._elements()[first:end].tolist()]
    owners = _owners(tensor, first, end)
    labels = [_label(owners.get(place)) for place in range(first, end)]
    width = max(map(len, (*values, *labels, str(end - 1)))) + 2
    per_line = max(1, (_LINE_WIDTH - 1) // (width + 1))
    rows = []
    for start in range(0, end - first, per_line):
        chosen = slice(start, start + per_line)
        numbers = [str(place) for place in range(first, end)[chosen]]
        rows.append(_row(numbers, values[chosen], labels[chosen], width))
    return title + "\n" + "\n\n".join(rows)


def _window(tensor: Tensor, size: int) -> tuple[int, int]:
    """The cells to show: all, or those from the tensor's first element on."""
    if size <= _MOST_CELLS:
        return 0, size
    first = min(tensor.storage_offset(), size - _MOST_CELLS)
    return first, first + _MOST_CELLS


def _owners(tensor: Tensor, first: int, end: int) -> dict[int, list[tuple[int, ...]]]:
    """For each place of the window, the indices of the elements that lie there."""
    owners: dict[int, list[tuple[int, ...]]] = {}
    # No stride is negative: from the offset on, at most `end - offset` steps of a dimension stay in the window.
    reach = end - tensor.storage_offset()
    ranges = [range(min(size, reach // step + 1 if step else 2)) for size, step in zip(tensor.shape, tensor.stride())]
    for index in itertools.product(*ranges):
        place = _place(tensor, index)
        if first <= place < end:
            owners.setdefault(place, []).append(index)
    return owners


def _label(owners: list[tuple[int, ...]] | None) -> str:
    """Which elements a cell is: the first of them, and + if there are more."""
    if not owners:
        return ""
    return f"[{','.join(map(str, owners[0]))}]" + ("+" if len(owners) > 1 else "")


def _row(numbers: list[str], values: list[str], labels: list[str], width: int) -> str:
    def centred(texts: list[str], edge: str) -> str:
        return edge + edge.join(text.center(width) for text in texts) + edge

    border = "+" + "+".join("-" * width for _ in numbers) + "+"
    lines = [centred(numbers, " "), border, centred(values, "|"), border, centred(labels, " ")]
    return "\n".join(line.rstrip() for line in lines)
