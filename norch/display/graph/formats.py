"""Writing a graph's records: as text, in the DOT language, as SVG."""

from __future__ import annotations

from itertools import zip_longest

from .layout import Layout, arrange
from .reading import FOLDED, FREED, LEAF, OPERATION, Node
from .summary import totals
from .svg import AMBER, BLUE, GREEN, GREY, LINE, MUTED, ROSE, Sheet, number, text_width

_COLORS = {OPERATION: BLUE, LEAF: GREEN, FREED: ROSE, FOLDED: GREY}


# ---- Text -----------------------------------------------------------------------------------------------------------


def text(nodes: list[Node], shown: list[Node]) -> str:
    """How many nodes there are, then a line for each."""
    leaves = sum(node.kind == LEAF for node in nodes)
    return "\n".join([totals(len(nodes) - leaves, leaves), *lines(shown)])


def lines(shown: list[Node]) -> list[str]:
    """A line for each node, in columns: `%1 = sub(x, y)   [2, 3]`."""
    if not shown:
        return []
    rows = [(node, node.call() + (" (freed)" if node.kind == FREED else "")) for node in shown]
    names = max(len(node.name) for node in shown)
    calls = max((len(call) for node, call in rows if node.kind != FOLDED), default=0)
    shapes = max((len(node.shape) for node, _ in rows if node.notes), default=0)
    columns = [max(map(len, column)) for column in zip_longest(*(node.notes for node in shown), fillvalue="")]
    result = []
    for node, call in rows:
        if node.kind == FOLDED:
            result.append(f"{node.name:<{names}}   {node.title}" + (f" ({node.shape})" if node.shape else ""))
        else:
            notes = "   ".join(f"{note:<{width}}" for note, width in zip(node.notes, columns))
            result.append(f"{node.name:<{names}} = {call:<{calls}}   {node.shape:<{shapes}}   {notes}".rstrip())
    return result


# ---- DOT ------------------------------------------------------------------------------------------------------------


def dot(shown: list[Node]) -> str:
    """A digraph with an edge from each operand to its user."""
    lines = [
        "digraph autograd {",
        '  node [shape=box, style="rounded,filled", fontname="monospace", fontsize=11];',
        f'  edge [color="{LINE}"];',
    ]
    for place, node in enumerate(shown):
        color = _COLORS[node.kind]
        label = "\\n".join(_quoted(part) for part in (node.title, node.shape, *node.notes) if part)
        dashed = ', style="rounded,filled,dashed"' if node.kind in (FOLDED, FREED) else ""
        lines.append(f'  n{place} [label="{label}", fillcolor="{color.fill}", color="{color.line}"{dashed}];')
    lines += [f"  n{source} -> n{target};" for source, target in _edges(shown)]
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _edges(shown: list[Node]) -> list[tuple[int, int]]:
    """(operand, user) for each operand, also if one is used twice; but only once from or to a folded box."""
    edges: list[tuple[int, int]] = []
    seen: set[tuple[int, int]] = set()
    for target, node in enumerate(shown):
        for operand in node.operands:
            source = operand.source
            if source is None or ((source, target) in seen and FOLDED in (node.kind, shown[source].kind)):
                continue
            seen.add((source, target))
            edges.append((source, target))
    return edges


# ---- SVG ------------------------------------------------------------------------------------------------------------

_TITLE, _SMALL = 13.0, 11.0  # sizes of type
_BOX, _GAP, _MARGIN = 42.0, 38.0, 24.0  # the height of a box, the space between layers, the space around
_NOTE = 16.0  # what a value or a gradient adds to the height


def svg(shown: list[Node]) -> str:
    """The picture: leaves above their users, the result at the bottom."""
    widths = [
        24 + max(text_width(node.title, _TITLE), *(text_width(t, _SMALL) for t in (node.shape, "......", *node.notes)))
        for node in shown
    ]
    edges = _edges(shown)
    layout = arrange(widths, edges, {place for place, node in enumerate(shown) if node.kind == LEAF})
    box = _BOX + _NOTE * max(len(node.notes) for node in shown)
    height = layout.layers * (box + _GAP) - _GAP + 2 * _MARGIN
    sheet = Sheet(layout.width + 2 * _MARGIN, height, f"autograd graph, {len(shown)} nodes")
    _draw_edges(sheet, layout, widths, edges, box)
    for place, node in enumerate(shown):
        x, y = _MARGIN + layout.x[place], _top(layout.layer[place], box)
        dashed, last = node.kind in (FOLDED, FREED), place == len(shown) - 1
        sheet.rect(
            x - widths[place] / 2,
            y,
            widths[place],
            box,
            _COLORS[node.kind],
            radius=14 if node.kind == LEAF else 5,
            dashed=dashed,
            stroke=2.2 if last else 1.2,
        )
        small = [text for text in (node.shape, *node.notes) if text]
        first = y + box / 2 - (8 * len(small) - 1 if small else 0)
        sheet.text(x, first, node.title, _TITLE, mono=True, bold=node.kind != FOLDED)
        for line, text in enumerate(small):
            color = AMBER.line if text.startswith("grad ") else MUTED
            sheet.text(x, first + 16 * (line + 1), text, _SMALL, color, mono=True)
    return str(sheet)


def _top(layer: int, box: float) -> float:
    return _MARGIN + layer * (box + _GAP)


def _draw_edges(sheet: Sheet, layout: Layout, widths: list[float], edges: list[tuple[int, int]], box: float) -> None:
    """Curves from the bottom of an operand to the top of its user, each to a separate place there."""
    arriving: dict[int, list[int]] = {}
    for i, (_, target) in enumerate(edges):
        arriving.setdefault(target, []).append(i)
    for target, numbers in arriving.items():
        last = {i: layout.points[i][-1][0] if layout.points[i] else layout.x[edges[i][0]] for i in numbers}
        numbers.sort(key=lambda i: last[i])  # noqa: B023  (used at once)
        step = min(18.0, (widths[target] - 20) / len(numbers))
        for place, i in enumerate(numbers):
            port = layout.x[target] + step * (place - (len(numbers) - 1) / 2)
            _draw_edge(sheet, layout, edges[i], layout.points[i], port, box)


def _draw_edge(
    sheet: Sheet, layout: Layout, edge: tuple[int, int], points: list[tuple[float, int]], port: float, box: float
) -> None:
    source, target = edge
    x, y = _MARGIN + layout.x[source], _top(layout.layer[source], box) + box
    commands = [f"M{number(x)} {number(y)}"]
    stops = [(_MARGIN + a, _top(layer, box), _top(layer, box) + box) for a, layer in points]
    end = _top(layout.layer[target], box)
    for next_x, top, bottom in [*stops, (_MARGIN + port, end - 6, end - 6)]:
        middle = (y + top) / 2
        commands.append(
            f"C{number(x)} {number(middle)} {number(next_x)} {number(middle)} {number(next_x)} {number(top)}"
        )
        if bottom > top:
            commands.append(f"V{number(bottom)}")
        x, y = next_x, bottom
    sheet.path(" ".join(commands))
    sheet.head(_MARGIN + port, end, 0, 1)
