"""Makes the files of each step from framework/, the finished framework, in which comments say what a step adds.

The comments begin with `#:` (in C++ with `//:`). Without them, the files are the solution of the last step.

    #: step 4               what follows, up to `#: end`, is there from step 4 on (also behind a line, for that line)
    #: gap 3 operator       what follows, up to `#: end`, is what the learner writes in step 3; later steps have it
    #: ? what to write      the text of this gap
    #: | code               what stands in the gap until then; without it, in Python, `raise NotImplementedError`
    #: 2-6 | code           a line that only steps 2 to 6 have (`3 |`: only step 3)
"""

import re
import textwrap
from pathlib import Path

FRAMEWORK = Path(__file__).resolve().parent / "framework"
TITLES = {
    1: "a tensor in memory",
    2: "the mirror in Python",
    3: "operators",
    4: "views and broadcasting",
    5: "errors",
    6: "sums and matrix products",
    7: "derivatives and the graph",
    8: "backward",
    9: "modules",
    10: "training",
}
FILES = {"tensor.cpp": 1, "tensor.py": 2, "functions.py": 7, "nn.py": 9, "optim.py": 10, "train.py": 10}  # from step
COMMENT = re.compile(r"^( *)(?:#|//): ?(.*)$")
LAST = re.compile(r"^(.*\S)  (?:#|//): step (\d+)$")  # a line that is there from a step on
OLD = re.compile(r"^(\d+)(?:-(\d+))? \|(?: (.*))?$")


class Block:
    """What stands between a comment that begins a block and its `end`."""

    def __init__(self, shown, gap="", is_open=False):
        self.shown = shown
        self.gap = gap  # the name, of a gap of the step that is being made
        self.is_open = is_open  # a gap without its solution: `text` and `stub` stand there instead
        self.text, self.stub = "", None


def folder_of(step, solved):
    """The files of a step, name and text: with its gaps, or with its solution."""
    return {name: text_of(name, step, solved) for name, first in FILES.items() if first <= step}


def text_of(name, step, solved):
    """A file in a step, without the empty lines that the lines left out have around them."""
    text = "\n".join(line for line, _ in marked(name, step, solved)).strip("\n") + "\n"
    text = re.sub(r"\n{3,}(?=[ }])", "\n\n", text)
    return re.sub(r"\n{3,}", "\n\n" if name.endswith(".cpp") else "\n\n\n", text)


def gaps_of(name, step):
    """What goes into the gaps of a step: the name of each gap, and its lines."""
    gaps = {}
    for line, gap in marked(name, step, solved=True):
        if gap:
            gaps.setdefault(gap, []).append(line)
    return gaps


def marked(name, step, solved):
    """(line, gap) for each line of a file in a step; gap is the name of this step's gap around it, or empty."""
    blocks = [Block(shown=True)]  # around a line
    for line in (FRAMEWORK / name).read_text(encoding="utf-8").splitlines():
        block, comment, last = blocks[-1], COMMENT.match(line), LAST.match(line)
        if comment is None:
            if block.shown and (last is None or int(last[2]) <= step):
                yield (last[1] if last else line), block.gap
            continue
        indent, text = comment.groups()
        word, _, rest = text.partition(" ")
        if word == "step":
            blocks.append(Block(block.shown and int(rest) <= step, block.gap))
        elif word == "gap":
            first, title = rest.split()
            mine = block.shown and int(first) == step
            is_open = mine and not solved
            blocks.append(Block(block.shown and int(first) <= step and not is_open, title if mine else "", is_open))
        elif word == "?":
            block.text += f" {rest}"
        elif word == "|":
            block.stub = rest
        elif word == "end":
            blocks.pop()
            if block.is_open:
                yield from todo(block, indent, "//" if name.endswith(".cpp") else "#")
        else:
            first, until, code = OLD.match(text).groups()
            if block.shown and int(first) <= step <= int(until or first):
                yield (indent + code if code else ""), block.gap


def todo(block, indent, sign):
    """The lines of an open gap."""
    text = textwrap.wrap(f"todo ({block.gap}):{block.text}", 110 - len(indent))
    yield from ((f"{indent}{sign} {line}", block.gap) for line in text)
    stub = f'raise NotImplementedError("todo ({block.gap})")' if block.stub is None and sign == "#" else block.stub
    if stub:
        yield indent + stub, block.gap
