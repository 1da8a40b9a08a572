"""Makes every file that the tutorial names a link, to the line of the name that stands beside it.

    python tools/links.py examples/tutorial/*.md    # make links

"`strides_for` in `norch/csrc/api/views.cpp`" and "`norch/methods/views.py`: `reshape`, `view`" lead to the lines where
these names are defined; a file named alone is a link to its beginning. tests/docs/test_tutorial.py checks that no
link leads further than a screen or two from its name, so a change in norch seldom needs this program.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATH = r"(?:norch|tests|examples|benchmarks|tools|docs)/[\w/.-]*\w"
FILE = f"`({PATH})`"
LINK = re.compile(rf"\[(`{PATH}`)\]\([^)\s]*\)|\[(`[^`\n]+`)\]\([^)\s]*#L\d+\)")
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LISTED = re.compile(FILE + r": ((?:`[^`]+`(?:, )?)+)")  # `file`: `name`, `name`
BESIDE = re.compile(r"`([^`\n]+)`(\s+(?:\w+\s+)?in\s+|\s+\()" + FILE)  # `name` in `file`, `name` (`file`)
ALONE = re.compile(r"(?<!\[)" + FILE)


def plain(text: str) -> str:
    """The text without the links that `linked` makes."""
    return LINK.sub(lambda match: match[1] or match[2], text)


def linked(text: str, folder: Path) -> str:
    """The text of a document in a folder, with links; code blocks stay as they are."""
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [_linked(plain(text[end : fence.start()]), folder), fence.group()]
        end = fence.end()
    return "".join([*parts, _linked(plain(text[end:]), folder)])


def _linked(text: str, folder: Path) -> str:
    def link(shown: str, file: str, name: str = "") -> str:
        path, line = ROOT / file, name and line_of(name, file)
        return (
            f"[`{shown}`]({os.path.relpath(path, folder)}{f'#L{line}' if line else ''})"
            if path.exists()
            else f"`{shown}`"
        )

    def listed(match: re.Match) -> str:
        file, names = match[1], re.findall(r"`([^`]+)`", match[2])
        rest = match[2][match[2].rindex("`") + 1 :]
        return f"{link(file, file, names[0])}: {', '.join(link(name, file, name) for name in names)}{rest}"

    text = LISTED.sub(listed, text)
    text = BESIDE.sub(lambda m: f"`{m[1]}`{m[2]}{link(m[3], m[3], m[1])}", text)
    return ALONE.sub(lambda m: link(m[1], m[1]), text)


@cache
def line_of(name: str, file: str) -> int:
    """The line of a file that defines a name, or the first that has it; 0 if none has."""
    path = ROOT / file
    if not path.is_file():
        return 0
    word = rf"(?<!\w){re.escape(name.removeprefix('struct '))}(?!\w)"
    lines = path.read_text(encoding="utf-8").splitlines()
    for pattern in (
        rf"^\s*(def|class|struct|enum|#define)\s+{word}",  # defined
        rf"^\s*OP\({word},",  # a row of a table
        rf"^(?!\s*(//|#|return\b)).*{word}\(.*\{{$",  # a function in C++
        rf"^\s*(\w+, )*{word}.*[^=]=[^=]",  # assigned
        rf"^(?!\s*(//|#|\"\"\")).*{word}",
        word,
    ):
        for number, line in enumerate(lines, 1):
            if re.search(pattern, line):
                return number
    return 0


if __name__ == "__main__":
    for document in map(Path, sys.argv[1:]):
        document.write_text(linked(document.read_text(encoding="utf-8"), document.resolve().parent), encoding="utf-8")
