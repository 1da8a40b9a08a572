"""What the scripts of this folder share: the frame of a page, and numbers as text that is the same on every processor.

`make pictures` makes the pages: each is one file with its style, script and data, and refers to nothing outside.
"""

from __future__ import annotations

import json
from pathlib import Path

import norch

TEMPLATES = Path(__file__).parent / "templates"


def page(name: str, title: str, data: object) -> str:
    """The page of templates/NAME.html in the frame that all share, with what norch computed as its `DATA`."""
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    parts = {"title": title, "body": template(name), "data": written}
    text = template("frame")
    for part, content in parts.items():
        text = text.replace("{{" + part + "}}", content.rstrip("\n"))
    return text.rstrip("\n")


def template(name: str) -> str:
    return (TEMPLATES / f"{name}.html").read_text(encoding="utf-8")


def number(value: float) -> str:
    """Four digits: what follows them depends on the processor."""
    return "0" if round(value, 9) == 0 else f"{value:.4g}".replace("-", "−")


def rows(tensor: norch.Tensor) -> list[str]:
    """A tensor of up to two dimensions as lines of text, a line for each row, in columns."""
    columns = tensor.shape[-1] if tensor.ndim else 1
    numbers = [[number(value) for value in row] for row in tensor.reshape(-1, columns).tolist()]
    width = max(len(text) for row in numbers for text in row)
    return [" ".join(text.rjust(width) for text in row) for row in numbers]


def words(tensor: norch.Tensor) -> str:
    """The same in one line, with a list's brackets; of one number the number alone."""
    lines = [", ".join(row.split()) for row in rows(tensor)]
    if tensor.numel() == 1:
        return lines[0]
    return f"[{lines[0]}]" if tensor.ndim == 1 else "[" + ", ".join(f"[{line}]" for line in lines) + "]"
