"""Text in HTML and SVG. (The standard library's `html` also loads a table of all entities.)"""

from __future__ import annotations

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def escape(text: str) -> str:
    """Text as it stands between tags."""
    return text.translate(_ENTITIES)
