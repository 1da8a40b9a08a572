"""How a tensor looks in a notebook: a table of its numbers, with its shape, dtype and device below.

The numbers and their format are those of printing (formatting.py), and large tensors are shortened likewise.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Sequence

from .formatting import Nested, NumberFormat, edges, options, scalars
from .markup import escape

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

_CELL = "text-align: right; font-family: monospace; padding: 0.1em 0.6em"


def tensor_html(tensor: Tensor) -> str:
    """The tensor as HTML: a table, or one for each matrix if there are more than two dimensions."""
    values = tensor.detach()
    if 0 in tensor.shape:
        tables = []
    else:
        summarised = math.prod(tensor.shape) > options.threshold
        shown = edges(values) if summarised else values.tolist()
        shown = shown if tensor.ndim else [shown]
        number_format = NumberFormat(scalars(shown), tensor.dtype.is_floating_point)
        tables = _tables(shown, max(tensor.ndim, 1), tensor.shape, (), number_format)
    return "<div>" + "".join(tables) + f"<small>{escape(_caption(tensor))}</small></div>"


def _caption(tensor: Tensor) -> str:
    parts = [type(tensor).__name__, f"shape {list(tensor.shape)}", tensor.dtype.name, tensor.device]
    if tensor.grad_fn is not None:
        parts.append(f"grad_fn {tensor.grad_fn.name()}")
    elif tensor.requires_grad:
        parts.append("requires_grad")
    return " · ".join(parts)


def _tables(
    shown: Nested, ndim: int, sizes: Sequence[int], index: tuple[int, ...], number_format: NumberFormat
) -> list[str]:
    """The matrices of nested lists, each under its index, with dots for those left out."""
    if ndim <= 2:
        title = f"<div><small>[{', '.join([*map(str, index), ':', ':'])}]</small></div>" if index else ""
        return [title + _table(shown if ndim == 2 else [shown], number_format)]
    tables = []
    for place, part in enumerate(shown):
        if part is ...:
            tables.append("<div>⋮</div>")
            continue
        # after the gap, places count from the end
        number = place if ... not in shown[:place] else sizes[0] - (len(shown) - place)
        tables += _tables(part, ndim - 1, sizes[1:], (*index, number), number_format)
    return tables


def _table(rows: Nested, number_format: NumberFormat) -> str:
    width = next((len(row) for row in rows if row is not ...), 1)
    lines = []
    for row in rows:
        texts = ["⋮"] * width if row is ... else ["…" if x is ... else number_format.text(x) for x in row]
        lines.append("<tr>" + "".join(f'<td style="{_CELL}">{text}</td>' for text in texts) + "</tr>")
    return "<table>" + "".join(lines) + "</table>"
