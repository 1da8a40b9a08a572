"""What an attacker tried, and what it found."""

from __future__ import annotations

import dataclasses
import os


@dataclasses.dataclass
class Report:
    """`tried` counts what was done, by kind ({"programs": 1200, "statements": 21000}); a finding is a text that tells
    how to see it again, empty if all held."""

    tried: dict[str, int] = dataclasses.field(default_factory=dict)
    findings: list[str] = dataclasses.field(default_factory=list)

    def count(self, kind: str, number: int = 1) -> None:
        self.tried[kind] = self.tried.get(kind, 0) + number

    @property
    def is_enough(self) -> bool:
        """Whether what planted.py looks for was found, so that an attacker may stop."""
        wanted = os.environ.get("ATTACK_UNTIL")
        return bool(wanted) and any(wanted in finding for finding in self.findings)

    def __str__(self) -> str:
        figures = ", ".join(f"{number:,} {kind}" for kind, number in self.tried.items()) or "nothing"
        return "\n\n".join([f"{figures}; {len(self.findings)} findings", *self.findings])
