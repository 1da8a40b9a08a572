"""A sheet for pictures in SVG: boxes, lines and text in one style, for graphs and for the tutorial's pictures.

The sheet has its own background, so it looks the same on a light and on a dark page. It refers to nothing outside and
has no ids, so one page can hold many pictures.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Sequence
from unicodedata import east_asian_width

from ..markup import escape

PAPER, INK, MUTED, LINE = "#ffffff", "#1c2733", "#5b6875", "#8a97a5"
SANS = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


class Color(NamedTuple):
    """The colors of a box: its fill and its line."""

    fill: str
    line: str


BLUE = Color("#e6f0fa", "#2b6cb0")  # operations
GREEN = Color("#e7f5ea", "#2f855a")  # leaves, parameters
AMBER = Color("#fdf1dc", "#b7670a")  # gradients
ROSE = Color("#fbe9ec", "#b3394f")  # freed nodes
VIOLET = Color("#f0eafa", "#6b46c1")
GREY = Color("#f2f4f7", "#6b7a89")  # folded nodes


def text_width(text: str, size: float) -> float:
    """The width of text in a monospaced font, whose letters are 0.6 of its size wide; wide (CJK) letters are double."""
    return 0.602 * size * sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def number(value: float) -> str:
    """A coordinate, to a tenth."""
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text[:-2] if text.endswith(".0") else text


def _attribute(value: str | float) -> str:
    return number(value) if isinstance(value, (int, float)) else escape(value).replace('"', "&quot;")


class Sheet:
    """A picture of a size in pixels; x grows to the right, y downwards. `str(sheet)` is the SVG."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def _add(self, tag: str, content: str = "", **attributes: str | float | None) -> None:
        texts = [
            f' {name.replace("_", "-")}="{_attribute(value)}"'
            for name, value in attributes.items()
            if value is not None
        ]
        self.parts.append(f"<{tag}{''.join(texts)}" + (f">{content}</{tag}>" if content else "/>"))

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        color: Color = GREY,
        radius: float = 5,
        dashed: bool = False,
        stroke: float = 1.2,
    ) -> None:
        """A box with its corner at (x, y)."""
        self._add(
            "rect",
            x=x,
            y=y,
            width=width,
            height=height,
            rx=radius or None,
            fill=color.fill,
            stroke=color.line,
            stroke_width=stroke,
            stroke_dasharray="4 3" if dashed else None,
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 13,
        color: str = INK,
        anchor: str = "middle",
        mono: bool = False,
        bold: bool = False,
    ) -> None:
        """A line of text: y is its middle, x its `anchor` (start, middle or end)."""
        self._add(
            "text",
            escape(text),
            x=x,
            y=y + 0.35 * size,
            font_family=MONO if mono else SANS,
            font_size=size,
            font_weight="600" if bold else None,
            fill=color,
            text_anchor=None if anchor == "start" else anchor,
        )

    def path(self, commands: str, color: str = LINE, stroke: float = 1.4, dashed: bool = False) -> None:
        """A line given by SVG's commands, such as "M0 0 L10 10"."""
        self._add(
            "path",
            d=commands,
            fill="none",
            stroke=color,
            stroke_width=stroke,
            stroke_dasharray="4 3" if dashed else None,
            stroke_linejoin="round",
        )

    def line(
        self, points: Sequence[tuple[float, float]], color: str = LINE, stroke: float = 1.4, dashed: bool = False
    ) -> None:
        """A line from point to point."""
        self.path("M" + " L".join(f"{number(x)} {number(y)}" for x, y in points), color, stroke, dashed)

    def circle(self, x: float, y: float, radius: float, fill: str, line: str | None = None) -> None:
        """A dot."""
        self._add("circle", cx=x, cy=y, r=radius, fill=fill, stroke=line)

    def head(self, x: float, y: float, dx: float, dy: float, color: str = LINE, size: float = 7) -> None:
        """The head of an arrow: its tip at (x, y), in the direction (dx, dy)."""
        length = math.hypot(dx, dy)
        dx, dy = dx / length * size, dy / length * size
        corners = [(x, y), (x - dx - dy * 0.45, y - dy + dx * 0.45), (x - dx + dy * 0.45, y - dy - dx * 0.45)]
        self._add("polygon", points=" ".join(f"{number(a)},{number(b)}" for a, b in corners), fill=color)

    def arrow(
        self, points: Sequence[tuple[float, float]], color: str = LINE, stroke: float = 1.4, dashed: bool = False
    ) -> None:
        """A line from point to point that ends in an arrow."""
        (x0, y0), (x1, y1) = points[-2:]
        length = math.hypot(x1 - x0, y1 - y0)
        end = (x1 - (x1 - x0) / length * 5, y1 - (y1 - y0) / length * 5)
        self.line([*points[:-1], end], color, stroke, dashed)
        self.head(x1, y1, x1 - x0, y1 - y0, color)

    def __repr__(self) -> str:
        return f"Sheet({number(self.width)}, {number(self.height)}, {self.title!r})"

    def _repr_svg_(self) -> str:
        return str(self)

    def __str__(self) -> str:
        width, height = number(self.width), number(self.height)
        frame = (
            f'<rect x="0.5" y="0.5" width="{number(self.width - 1)}" height="{number(self.height - 1)}" rx="8" '
            f'fill="{PAPER}" stroke="#d8dee5"/>'
        )
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                f'viewBox="0 0 {width} {height}" role="img">',
                f"<title>{escape(self.title)}</title>",
                frame,
                *self.parts,
                "</svg>",
            ]
        )
