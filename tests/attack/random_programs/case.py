"""A difference, and a row of a table that may explain it: what must be found in it, and a question about it."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Sequence

DERIVED = re.compile(r"autograd\.(grad|functional)|lib\.func\.")


@dataclasses.dataclass(frozen=True)
class Case:
    """A difference: the statements up to the one that shows it, and what differs."""

    lines: Sequence[str]
    found: str

    @property
    def last(self) -> str:
        """The statement that shows it."""
        return self.lines[-1]

    @functools.cached_property
    def whole(self) -> str:
        """All statements."""
        return "\n".join(self.lines)

    @property
    def derived(self) -> bool:
        """Whether gradients differ, or what was computed with them."""
        return ".grad" in self.found or "step()" in self.last or bool(DERIVED.search(self.last))

    @property
    def near(self) -> str:
        """What may have caused it: the last statement, or any that a derivative went through."""
        return self.whole if self.derived or "_LinAlgError" in self.found else self.last

    @property
    def name(self) -> str:
        """The variable that differs."""
        told = re.search(r"\bv\d+", self.found)
        return told[0] if told else ""

    @property
    def close(self) -> float:
        """How much numbers may differ beside those that are asked about."""
        return 0.1 if "float16" in self.whole else 1e-6

    def with_lines(self, pattern: str, replacement: str | Callable[[re.Match[str]], str]) -> list[str]:
        """The program, written otherwise."""
        return [re.sub(pattern, replacement, line) for line in self.lines]


@dataclasses.dataclass(frozen=True)
class Row:
    """A reason, and what must be found in a case for it: patterns, in which {v} is the variable that differs.

    `once` writes the program otherwise: the difference must be gone from it.
    """

    reason: str
    found: str = ""
    last: str = ""
    near: str = ""
    whole: str | tuple[str, ...] = ()
    derived: bool = False
    asks: Callable[[Case], bool] | None = None
    once: Callable[[Case], Sequence[str]] | None = None

    def fits(self, case: Case) -> bool:
        """Whether all that is asked for but `once` is so."""
        whole = (self.whole,) if isinstance(self.whole, str) else self.whole
        return (
            bool(re.search(self.found.replace("{v}", case.name), case.found, re.S))
            and bool(re.search(self.last.replace("{v}", case.name), case.last))
            and bool(re.search(self.near, case.near))
            and all(re.search(pattern.replace("{v}", case.name), case.whole, re.M) for pattern in whole)
            and (case.derived or not self.derived)
            and (self.asks is None or self.asks(case))
        )
