"""Folding a long graph: repeated runs of operations become one box; then, if needed, the middle of the graph.

Operations are in the order in which they ran. A box holds consecutive operations, so nothing before the box depends on
it, and the folded graph has no cycles either.
"""

from __future__ import annotations

from collections import Counter
from typing import Iterable, NamedTuple

from .reading import FOLDED, LEAF, Node, Operand

_MOST_RUNS = 16  # how many repeated runs are folded at most
_PERIODS = 8  # how many lengths of a repeated run are tried


class Group(NamedTuple):
    """Operations from `start` to before `end`: one that is shown, or a box with a title."""

    start: int
    end: int
    title: str = ""


def plural(count: int, word: str, many: str = "") -> str:
    return f"{count:,} {word if count == 1 else many or word + 's'}"


def totals(operations: int, leaves: int) -> str:
    return plural(operations, "operation") + (f", {plural(leaves, 'leaf', 'leaves')}" if leaves else "")


def summarise(nodes: list[Node], max_nodes: int) -> list[Node]:
    """The nodes to show: all of them, or at most `max_nodes` with boxes for the rest. The last is always shown."""
    if len(nodes) <= max_nodes:
        return nodes
    operations = [place for place, node in enumerate(nodes) if node.kind != LEAF]
    leaves = [_few_leaves(nodes, place, max(2, max_nodes // 8)) for place in operations]
    groups = [Group(i, i + 1) for i in range(len(operations))]
    keys = _keys(nodes, operations)
    for _ in range(_MOST_RUNS):
        if _count(groups, leaves) <= max_nodes:
            break
        folded = _fold_longest_run(groups, keys, nodes, operations)
        if folded is None:
            break
        groups = folded
    if _count(groups, leaves) > max_nodes:
        groups = _fold_middle(groups, leaves, max_nodes)
    return _regrouped(nodes, operations, groups, _leaves_of(groups, leaves))


def _few_leaves(nodes: list[Node], place: int, most: int) -> list[int | None]:
    """The leaves that an operation uses; of many the first ones, and None for a box of the others."""
    found = list(dict.fromkeys(o.source for o in nodes[place].operands if _is_leaf(nodes, o)))
    return found if len(found) <= most else [*found[: most - 1], None]


def _count(groups: list[Group], leaves: list[list[int | None]]) -> int:
    """How many nodes are shown, boxes included."""
    boxes = sum(None in leaves[group.start] for group in groups if not group.title)
    return len(groups) + len(_leaves_of(groups, leaves)) + boxes


def _is_leaf(nodes: list[Node], operand: Operand) -> bool:
    return operand.source is not None and nodes[operand.source].kind == LEAF


def _leaves_of(groups: list[Group], leaves: list[list[int | None]]) -> set[int]:
    """The leaves to show: those that operations outside of boxes use."""
    return {leaf for group in groups if not group.title for leaf in leaves[group.start] if leaf is not None}


# ---- What repeats ---------------------------------------------------------------------------------------------------


def _keys(nodes: list[Node], operations: list[int]) -> list[int]:
    """A number for each operation; equal if the operation, its shape and the kinds of its operands are."""
    numbers: dict[object, int] = {}
    keys = []
    for node in (nodes[place] for place in operations):
        operands = tuple(o.text if o.source is None else nodes[o.source].shape for o in node.operands)
        keys.append(numbers.setdefault((node.operation, node.shape, operands), len(numbers)))
    return keys


def _fold_longest_run(
    groups: list[Group], keys: list[int], nodes: list[Node], operations: list[int]
) -> list[Group] | None:
    """The groups with the longest repetition among single ones in a box; None if nothing repeats."""
    best, first = (0, 0, 1), 0  # how many operations are hidden, from which one, the period
    while first < len(groups):
        last = first
        while last < len(groups) - 1 and not groups[last].title:  # the last one stays
            last += 1
        if last - first > 2:
            start = groups[first].start
            hidden, place, period = _longest_run(keys[start : groups[last - 1].end])
            best = max(best, (hidden, start + place, period), key=lambda run: run[0])
        first = last + 1
    hidden, start, period = best
    if hidden < 2 * period:
        return None
    if period == 1:
        title = f"{nodes[operations[start]].operation}, {plural(hidden, 'time')} more"
    else:
        title = f"the {period} operations before, {plural(hidden // period, 'time')} more"
    before = [group for group in groups if group.start < start]
    after = [group for group in groups if group.start >= start + hidden]
    return [*before, Group(start, start + hidden, title), *after]


def _longest_run(keys: list[int]) -> tuple[int, int, int]:
    """(length, start, period) of the longest run that repeats the `period` keys before it, in whole periods."""
    last: dict[int, int] = {}
    distances: Counter[int] = Counter()
    for place, key in enumerate(keys):
        if key in last:
            distances[place - last[key]] += 1
        last[key] = place
    best = (0, 0, 1)
    for period, _ in distances.most_common(_PERIODS):
        length = longest = end = 0
        for place in range(period, len(keys)):
            length = length + 1 if keys[place] == keys[place - period] else 0
            if length > longest:
                longest, end = length, place + 1
        whole = longest - longest % period
        if (whole, -period) > (best[0], -best[2]):
            best = (whole, end - longest, period)
    return best


# ---- The middle -----------------------------------------------------------------------------------------------------


def _fold_middle(groups: list[Group], leaves: list[list[int | None]], max_nodes: int) -> list[Group]:
    """As many groups from both ends as fit with their leaves, the others in one box."""
    shown: set[int | None] = set()
    taken = {"tail": 0, "head": 0}
    left = max_nodes - 1  # for the box
    ends = list(taken)
    while ends:
        for end in list(ends):
            group = groups[taken["head"]] if end == "head" else groups[-1 - taken["tail"]]
            new = [] if group.title else [leaf for leaf in leaves[group.start] if leaf is None or leaf not in shown]
            if 1 + len(new) > left:
                ends.remove(end)
                continue
            taken[end] += 1
            shown.update(new)
            left -= 1 + len(new)
    middle = groups[taken["head"] : len(groups) - taken["tail"]]
    first, after = middle[0].start, middle[-1].end
    box = Group(first, after, f"{plural(after - first, 'operation')} more")
    return [*groups[: taken["head"]], box, *groups[len(groups) - taken["tail"] :]]


# ---- The graph of groups --------------------------------------------------------------------------------------------


def _regrouped(nodes: list[Node], operations: list[int], groups: list[Group], shown: set[int]) -> list[Node]:
    """The list with a node for each group, operands before their users."""
    result: list[Node] = []
    owner: dict[int, int] = {}  # place of a node -> place, in the result, of what shows it

    def add(node: Node, places: Iterable[int]) -> None:
        owner.update(dict.fromkeys(places, len(result)))
        result.append(node)

    for group in groups:
        members = operations[group.start : group.end]
        used = dict.fromkeys(o.source for place in members for o in nodes[place].operands if _is_leaf(nodes, o))
        new = [source for source in used if source is not None and source not in owner]
        for source in new:
            if source in shown:
                add(nodes[source], [source])
        hidden = [source for source in new if source not in shown]
        if not group.title:
            if hidden:
                add(_box(plural(len(hidden), "leaf", "leaves") + " more", "", []), hidden)
            node = nodes[members[0]]
            operands = [o if o.source is None else Operand(o.text, owner[o.source]) for o in node.operands]
            shown_node = Node(node.kind, node.name, node.title, node.operation, node.shape, operands)
            shown_node.notes = node.notes
            add(shown_node, members)
            continue
        inside = {*members, *hidden}
        outside = [o.source for place in members for o in nodes[place].operands if o.source not in inside]
        sources = dict.fromkeys(owner[source] for source in outside if source is not None)
        box = _box(group.title, _contents(nodes, members, len(hidden)), [Operand("", source) for source in sources])
        add(box, inside)
    return result


def _box(title: str, contents: str, operands: list[Operand]) -> Node:
    return Node(FOLDED, "…", title, title, contents, operands)


def _contents(nodes: list[Node], members: list[int], leaves: int) -> str:
    """The most frequent operations of a box: "12 linear, 12 relu, 3 others, 24 leaves"."""
    counts = Counter(nodes[place].operation for place in members).most_common()
    counts = [] if len(counts) == 1 else counts  # the title names it
    parts = [f"{count:,} {name}" for name, count in counts[:3]]
    rest = sum(count for _, count in counts[3:])
    parts += [plural(rest, "other")] if rest else []
    parts += [plural(leaves, "leaf", "leaves")] if leaves else []
    return ", ".join(parts)
