"""A failing program made short: statements dropped, numbers and shapes made simple, as long as it fails alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .execution import NAMES, run, unsteady, variables

TESTS = 250  # runs that one finding may cost


def kind(found: str) -> str:
    """What a difference is about, without names and numbers."""
    return re.sub(r"\bv\d+|\[\d+\] |[-\d.e]+|\(.*?\)|\[.*?\]|inf|nan", "", found)[:70]


def shrunk(lines: list[str], found: str) -> tuple[list[str], str]:
    """The shortest program found that differs in the same way, and its difference."""
    wanted, tests = kind(found), 0
    whole, told = lines, found

    def differs(candidate: list[str]) -> str | None:
        nonlocal tests
        tests += 1
        if tests > TESTS:
            return None
        result = run(candidate)
        return result[1] if result and kind(result[1]) == wanted else None

    related = _related(lines)
    if result := differs(related):
        lines, found = related, result
    step = max(1, len(lines) // 2)
    while step:
        lines, found = _without(lines, found, step, differs)
        step //= 2
    changed = True
    while changed and tests <= TESTS:
        changed = False
        for number, line in enumerate(lines):
            for simple in _simpler(line):
                candidate = [*lines[:number], simple, *lines[number + 1 :]]
                if result := differs(candidate):
                    lines, found, changed = candidate, result, True
                    break
        before = len(lines)
        lines, found = _without(lines, found, 1, differs)
        lines, found = _without_aliases(lines, found, differs)
        changed = changed or len(lines) < before
    return (whole, told) if unsteady(lines) else (lines, found)


def _related(lines: list[str]) -> list[str]:
    """The statements that have to do with the variables of the last one, by way of others."""
    names, kept = set(variables(lines[-1])), []
    for line in reversed(lines):
        own = variables(line)
        if names.intersection(own):
            names.update(own)
            kept.append(line)
    return kept[::-1]


def _without_aliases(lines: list[str], found: str, differs: Callable[[list[str]], str | None]) -> tuple[list[str], str]:
    """The program without second names of a tensor."""
    for number in reversed(range(len(lines))):
        if alias := re.fullmatch(r"(v\d+) = (v\d+)", lines[number]):
            rest = [re.sub(rf"\b{alias[1]}\b", alias[2], line) for line in lines[number + 1 :]]
            if result := differs(candidate := [*lines[:number], *rest]):
                lines, found = candidate, result
    return lines, found


def _without(
    lines: list[str], found: str, count: int, differs: Callable[[list[str]], str | None]
) -> tuple[list[str], str]:
    """The program without as many runs of `count` statements as can go, the last ones first."""
    end = len(lines)
    while end > 0:
        start = max(0, end - count)
        candidate = lines[:start] + lines[end:]
        if candidate and (result := differs(candidate)):
            lines, found = candidate, result
        end = start
    return lines, found


def _simpler(line: str) -> Iterator[str]:
    """The same statement with less in it."""
    if (data := re.search(r"lib\.tensor\((.*?), dtype", line)) and not variables(data[1]):
        for smaller in _smaller(eval(data[1], dict(NAMES))):
            yield line.replace(data[1], repr(smaller))
        if ", requires_grad=True" in line:
            yield line.replace(", requires_grad=True", "")
        for number in sorted(set(re.findall(r"-?\d\.\d+", data[1])) - {"1.0", "2.0", "3.0"}):
            yield line.replace(number, "1.0")
            yield line.replace(number, "2.0")
            yield line.replace(number, "3.0")
    elif shorter := re.fullmatch(r"(v\d+) = .*\b(v\d+)\b.*", line):
        yield f"{shorter[1]} = {shorter[2]}"
        yield f"{shorter[1]} = {shorter[2]} * 1"


def _smaller(data: object) -> Iterator[object]:
    """Nested lists with one dimension less, or with fewer elements along one."""
    if isinstance(data, list) and data:
        yield data[0]
        for count in range(1, len(data)):
            yield data[:count]
        shorter = [list(_smaller(part)) for part in data]
        yield from (list(parts) for parts in zip(*shorter))
