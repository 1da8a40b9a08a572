"""How a row of asked.py asks: the program written otherwise, or a question about its statements or its elements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .case import Case
from .execution import without


def replaced(pattern: str, replacement: str | Callable[[re.Match[str]], str]) -> Callable[[Case], Sequence[str]]:
    """The program with other statements."""
    return lambda case: case.with_lines(pattern, replacement)


def left_out(pattern: str) -> Callable[[Case], Sequence[str]]:
    """The program without statements, whose variables get torch's values."""
    return lambda case: without(list(case.lines), pattern)


def of_lines(question: Callable[[Sequence[str]], bool]) -> Callable[[Case], bool]:
    """A question about the statements."""
    return lambda case: question(case.lines)


def of_found(question: Callable[[str], bool]) -> Callable[[Case], bool]:
    """A question about what differs."""
    return lambda case: question(case.found)


def but_for(question: Callable[[str, float], bool]) -> Callable[[Case], bool]:
    """A question about the elements that differ, beside which others may be as far apart as rounding makes them."""
    return lambda case: question(case.found, case.close)
