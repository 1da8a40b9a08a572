"""How a tensor prints: the text of `repr(tensor)`, which is PyTorch's, character for character.

All numbers of a tensor share one format and one width, chosen from the numbers that will be shown. A tensor of more
than `threshold` elements shows the first and last `edgeitems` of each dimension; its other elements are not read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Iterable

from ..types import default, shown

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

Nested = Any  # a number, or nested lists of numbers, with `...` for elements left out
UNMARKED_DTYPES = ("norch.int64", "norch.bool")  # the numbers show these, and the default dtype


class PrintOptions:
    """What `set_printoptions` changes."""

    def __init__(self) -> None:
        self.precision = 4
        self.threshold: float = 1000
        self.edgeitems = 3
        self.linewidth = 80
        self.sci_mode: bool | None = None


options = PrintOptions()
_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors print; arguments left out change nothing, except `sci_mode`.

    Args:
        precision: digits after the decimal point (4 at first).
        threshold: tensors of more elements than this show only their edges (1000); `math.inf` shows all.
        edgeitems: how many elements at each edge of a dimension are shown (3).
        linewidth: characters in a line (80).
        sci_mode: scientific notation always (True), never (False) or if the numbers need it (None).
        profile: several of them at once: "default", "short" (2 digits, 2 items) or "full" (all numbers).

    Raises:
        TypeError: a number of digits, items or characters is not an int, or `sci_mode` is not a bool.
        ValueError: a number is negative, or the profile is another.

    >>> norch.set_printoptions(precision=2)
    >>> norch.tensor([0.12345])
    tensor([0.12])
    >>> norch.set_printoptions(precision=4)
    """
    if profile is not None and profile not in _PROFILES:
        raise ValueError(
            f"set_printoptions: profile is {shown(profile)}, expected one of {', '.join(map(repr, _PROFILES))}"
        )
    given = {"precision": precision, "edgeitems": edgeitems, "linewidth": linewidth, "threshold": threshold}
    for name, value in given.items():
        allowed = (int, float) if name == "threshold" else (int,)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, allowed):
            raise TypeError(f"set_printoptions: {name} is {shown(value)}, expected a number of type int")
        if not value >= 0:
            raise ValueError(f"set_printoptions: {name} is {value}, expected 0 or more")
        if name == "precision" and value > 1100:
            raise ValueError(f"set_printoptions: precision is {value}, but no float64 has more than 1,100 digits")
    if not (sci_mode is None or isinstance(sci_mode, bool)):
        raise TypeError(f"set_printoptions: sci_mode is {shown(sci_mode)}, expected True, False or None")
    for name, value in given.items():
        value = _PROFILES[profile][name] if value is None and profile is not None else value
        if value is not None:
            setattr(options, name, value)
    options.sci_mode = sci_mode


def tensor_repr(tensor: Tensor, column: int = 0) -> str:
    """The text of a tensor: its numbers, then what is unusual: device, size, dtype, grad_fn. It begins at a column."""
    kind = type(tensor).__name__
    prefix = "tensor(" if kind in ("Tensor", "Parameter") else kind + "("
    indent = column + len(prefix)
    return join_suffixes(prefix + numbers_text(tensor.detach(), indent), _suffixes(tensor), indent)


def number_text(tensor: Tensor) -> str:
    """The number of a tensor of no dimensions, in the fewest digits that name it among its dtype's: 0.1, not
    0.10000000149011612 for a float32. (NumPy's rule for `str` of its scalars.)"""
    number = tensor.item()
    if not tensor.is_floating_point() or not math.isfinite(number):
        return str(number)
    for digits in range(1, 17):
        text = f"{number:.{digits}g}"
        if tensor.new_full((), float(text)).item() == number:
            return str(float(text))
    return str(number)


# ---- the numbers -----------------------------------------------------------------------------------------------------


def numbers_text(tensor: Tensor, indent: int) -> str:
    """The numbers of a tensor in their brackets; lines after the first begin at a column."""
    if 0 in tensor.shape:
        return "[]"
    summarize = math.prod(tensor.shape) > options.threshold
    shown = edges(tensor) if summarize else tensor.tolist()
    return _block(shown, tensor.ndim, indent, NumberFormat(scalars(shown), tensor.dtype.is_floating_point))


def edges(tensor: Tensor, dim: int = 0) -> Nested:
    """The nested list of the elements at the edges of each dimension from `dim` on, with `...` for the others."""
    if dim == tensor.ndim:
        return tensor.tolist()
    size, edge = tensor.shape[dim], options.edgeitems
    if size <= 2 * edge:
        return edges(tensor, dim + 1)
    before = (slice(None),) * dim
    head = edges(tensor[before + (slice(0, edge),)], dim + 1)
    tail = edges(tensor[before + (slice(size - edge, size),)], dim + 1)
    return _join(head, tail, dim)


def _join(head: Nested, tail: Nested, dim: int) -> Nested:
    if dim == 0:
        return head + [...] + tail
    return [_join(first, last, dim - 1) for first, last in zip(head, tail)]


def scalars(shown: Nested) -> list[float]:
    """The numbers of a nested list, in order."""
    if isinstance(shown, list):
        return [number for row in shown for number in scalars(row)]
    return [] if shown is ... else [shown]


def _block(shown: Nested, ndim: int, indent: int, number_format: NumberFormat) -> str:
    """Nested brackets: each row on a separate line, with one more blank line for each further dimension."""
    if ndim == 0:
        return number_format(shown)
    if ndim == 1:
        return _vector(shown, indent, number_format)
    rows = ["..." if row is ... else _block(row, ndim - 1, indent + 1, number_format) for row in shown]
    return "[" + ("," + "\n" * (ndim - 1) + " " * (indent + 1)).join(rows) + "]"


def _vector(shown: Nested, indent: int, number_format: NumberFormat) -> str:
    gap = " ..." if options.edgeitems else "..."
    texts = [gap if number is ... else number_format(number) for number in shown]
    per_line = max(1, (options.linewidth - indent) // (number_format.width + len(", ")))
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


class NumberFormat:
    """One format for all numbers of a tensor, chosen by the numbers that will be shown.

    Floats that are all whole print as `2.`, others with `precision` digits, and all in scientific notation if their
    sizes differ by more than 1000 times, one is above 1e8 or one below 1e-4. nan and inf do not change the width.
    """

    def __init__(self, numbers: list[float], is_float: bool) -> None:
        self.is_float, self.scientific, self.whole = is_float, False, True
        widest = [number for number in numbers if not is_float or (math.isfinite(number) and number != 0)]
        if is_float and widest:
            sizes = [abs(number) for number in widest]
            low, high = min(sizes), max(sizes)
            self.whole = all(number == math.floor(number) for number in sizes)
            self.scientific = high / low > 1000 or high > 1e8 or low < 1e-4
            if options.sci_mode is not None:
                self.scientific = options.sci_mode
        self.width = max([1] + [len(self.text(number)) for number in widest])

    def text(self, number: float) -> str:
        """The number without padding."""
        if not self.is_float:
            return str(number)
        if self.scientific:
            return f"{number:.{options.precision}e}"
        if self.whole:
            return f"{number:.0f}" + ("." if math.isfinite(number) else "")
        return f"{number:.{options.precision}f}"

    def __call__(self, number: float) -> str:
        return self.text(number).rjust(self.width)


# ---- what follows the numbers ----------------------------------------------------------------------------------------


def _suffixes(tensor: Tensor) -> list[str]:
    suffixes = []
    dtype, empty = str(tensor.dtype), 0 in tensor.shape
    if tensor.device != "cpu":
        suffixes.append(f"device='{tensor.device}'")
    if (empty and tensor.ndim != 1) or (not empty and options.edgeitems == 0):
        suffixes.append(f"size={tuple(tensor.shape)}")
    if dtype != str(default.dtype) and (empty or dtype not in UNMARKED_DTYPES):
        suffixes.append(f"dtype={dtype}")
    if tensor.grad_fn is not None:
        suffixes.append(f"grad_fn=<{tensor.grad_fn.name()}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return suffixes


def join_suffixes(text: str, suffixes: Iterable[str], indent: int, force_newline: bool = False) -> str:
    """Each suffix after a comma, on a new line if the line would grow too long, or the first anyway, and a bracket."""
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or length + len(suffix) + 2 > options.linewidth:
            force_newline = False
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"
