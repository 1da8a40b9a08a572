"""Where the boxes of a graph go: in layers from top to bottom, with edges as straight as possible.

The steps of Sugiyama, Tagawa and Toda (1981), each in its simplest form: a node lies one layer above the first that
uses it; an edge that crosses layers gets a point in each, so that it runs between boxes; layers are reordered by the
mean place of their neighbours to reduce crossings; then every box moves towards its neighbours as far as the others
allow.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import NamedTuple

_GAP = 26.0  # between boxes of a layer
_POINT_WIDTH = 4.0  # of the point of a long edge
_MOST_POINTS = 20_000  # if edges need more, they may cross boxes
_SWEEPS = 8
_HEAVY = 8.0  # the weight of a node beside that of a light one


class Layout(NamedTuple):
    """The centre of each node, its layer, the points of each edge as (x, layer), and the total size."""

    x: list[float]
    layer: list[int]
    points: list[list[tuple[float, int]]]
    width: float
    layers: int


def arrange(widths: list[float], edges: list[tuple[int, int]], light: set[int]) -> Layout:
    """Lay out nodes of these widths; an edge (i, j), i < j, means that j is computed from i.

    The nodes in `light` give way to the others: the leaves, so that operations form a line.
    """
    layer = _layers(len(widths), edges)
    nodes, chains = len(widths), _points(edges, layer)
    widths = widths + [_POINT_WIDTH] * (len(layer) - nodes)
    links = [link for chain in chains for link in zip(chain, chain[1:])]
    up: list[list[int]] = [[] for _ in layer]
    down: list[list[int]] = [[] for _ in layer]
    for source, target in links:
        if layer[target] == layer[source] + 1:  # otherwise the edge has no points
            up[target].append(source)
            down[source].append(target)
    rows = _ordered(_first_order(nodes, layer, up), up, down)
    weights = [1.0 if v in light else _HEAVY for v in range(len(layer))]
    x = _placed(rows, widths, weights, up, down)
    left = min(x[v] - widths[v] / 2 for v in range(len(x)))
    x = [place - left for place in x]
    points = [[(x[v], layer[v]) for v in chain[1:-1]] for chain in chains]
    return Layout(x[:nodes], layer[:nodes], points, max(x[v] + widths[v] / 2 for v in range(len(x))), len(rows))


def _layers(count: int, edges: list[tuple[int, int]]) -> list[int]:
    """The layer of each node, 0 at the top: just above the highest of those that use it."""
    height = [0] * count
    for source, target in sorted(edges, key=lambda edge: -edge[1]):  # users first: their height is final
        height[source] = max(height[source], height[target] + 1)
    highest = max(height)
    return [highest - h for h in height]


def _points(edges: list[tuple[int, int]], layer: list[int]) -> list[list[int]]:
    """Each edge as the chain of its ends and a point, added to `layer`, in each layer between them."""
    if sum(layer[target] - layer[source] - 1 for source, target in edges) > _MOST_POINTS:
        return [[source, target] for source, target in edges]
    chains = []
    for source, target in edges:
        between = range(layer[source] + 1, layer[target])
        chains.append([source, *range(len(layer), len(layer) + len(between)), target])
        layer.extend(between)
    return chains


# ---- The order within a layer ---------------------------------------------------------------------------------------


def _first_order(nodes: int, layer: list[int], up: list[list[int]]) -> list[list[int]]:
    """The layers, with nodes in the order in which a walk from the result finds them, first operands first."""
    rows: list[list[int]] = [[] for _ in range(max(layer) + 1)]
    seen: set[int] = set()
    for start in reversed(range(nodes)):
        waiting = [start]
        while waiting:
            v = waiting.pop()
            if v not in seen:
                seen.add(v)
                rows[layer[v]].append(v)
                waiting.extend(reversed(up[v]))
    return rows


def _ordered(rows: list[list[int]], up: list[list[int]], down: list[list[int]]) -> list[list[int]]:
    """The best order after sweeps that sort each layer by the mean place of its neighbours above or below."""
    best, fewest = [list(row) for row in rows], _crossings(rows, up)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        neighbours = down if sweep % 2 else up
        place = {v: i for row in rows for i, v in enumerate(row)}
        for row in reversed(rows) if sweep % 2 else rows:
            means = {v: _mean([place[n] for n in neighbours[v]], place[v]) for v in row}
            row.sort(key=lambda v: means[v])  # noqa: B023  (used at once)
            place.update((v, i) for i, v in enumerate(row))
        crossings = _crossings(rows, up)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _mean(values: list[int], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(rows: list[list[int]], up: list[list[int]]) -> int:
    """How many pairs of edges between neighbouring layers cross."""
    total = 0
    for above, row in zip(rows, rows[1:]):
        place = {v: i for i, v in enumerate(above)}
        before: list[int] = []
        for v in row:
            ends = sorted(place[n] for n in up[v])
            total += sum(len(before) - bisect_right(before, end) for end in ends)
            for end in ends:
                insort(before, end)
    return total


# ---- Places ---------------------------------------------------------------------------------------------------------


def _placed(
    rows: list[list[int]], widths: list[float], weights: list[float], up: list[list[int]], down: list[list[int]]
) -> list[float]:
    """The centre of each node: near the mean of its neighbours, without overlap."""
    x = [0.0] * len(widths)
    both = [a + b for a, b in zip(up, down)]
    for row in rows:
        _settle(row, widths, weights, x, [0.0] * len(row))
    for sweep in range(3 * _SWEEPS):
        neighbours = (up, down, both)[sweep % 3]
        for row in reversed(rows) if sweep % 3 == 1 else rows:
            wanted = []
            for v in row:
                total = sum(weights[n] for n in neighbours[v])
                wanted.append(sum(weights[n] * x[n] for n in neighbours[v]) / total if total else x[v])
            _settle(row, widths, weights, x, wanted)
    return x


def _settle(row: list[int], widths: list[float], weights: list[float], x: list[float], wanted: list[float]) -> None:
    """Move a row's nodes to their wanted places, by least squares; those that touch form a block."""
    offsets, reach = [], 0.0
    for v in row:
        offsets.append(reach + widths[v] / 2)
        reach += widths[v] + _GAP
    blocks: list[tuple[float, float, int]] = []  # where its nodes want the row to begin, their weight and their number
    for v, want, offset in zip(row, wanted, offsets):
        begin, weight, count = want - offset, weights[v], 1
        while blocks and blocks[-1][0] >= begin:
            other, more, members = blocks.pop()
            begin = (begin * weight + other * more) / (weight + more)
            weight, count = weight + more, count + members
        blocks.append((begin, weight, count))
    begins = [begin for begin, _, count in blocks for _ in range(count)]
    for v, begin, offset in zip(row, begins, offsets):
        x[v] = begin + offset
