"""Runs the code blocks of a Markdown document, top to bottom, and compares what they print with what it shows.

    python tests/docs/documents.py examples/tutorial/02-strides.md

A block is followed by what it prints: a block without language, or ```text. Its language says what happens:

    python   runs; all of a document share one namespace. An uncaught exception prints its last line, "ValueError: ..."
    cpp      a whole file, whose name is its first line, "// add.cpp". It is saved; with a main it is compiled and run
    bash     commands on files of the same folder, each beginning (behind NAME=value) with one of COMMANDS

A comment above a block, <!-- quote: norch/csrc/tensor.h -->, says that it is a part of that file ("..." leaves lines
out); <!-- shown: why --> that it is only shown, and why it does not run. <!-- uses: mini.h of 03-struct.md --> anywhere
saves a file of another document of the folder first.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("g++", "python3", "./")  # what a shell block may begin with
COMPILE = "g++ -std=c++17 -O2 -Wall -I$NORCH/norch/csrc -o {0} {0}.cpp && ./{0}"  # as the tutorial's README says
LANGUAGES = ("python", "cpp", "bash")

FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
USES = re.compile(r"^<!-- uses: (\S+) of (\S+) -->$", re.MULTILINE)
MARKER = re.compile(r"<!-- (quote|shown): (.+?) -->\n+$")


@dataclass
class Block:
    """A block of code: where it starts, its language and text, its marker, and what it is shown to print."""

    line: int
    language: str
    code: str
    marker: str = ""
    argument: str = ""  # of the marker: a file, or a reason
    output: str = ""


def blocks_of(text: str) -> list[Block]:
    """The code blocks of a document. Raises ValueError for output that follows no block that runs."""
    blocks: list[Block] = []
    end = 0  # of the block before
    for fence in FENCE.finditer(text):
        indent, language, code = fence.groups()
        between, end = text[end : fence.start()], fence.end()
        marker = MARKER.search(between)
        line = text.count("\n", 0, fence.start()) + 2
        if language in ("", "text") and marker is None:
            if between.strip() or not blocks or blocks[-1].marker or blocks[-1].output:
                raise ValueError(f"line {line}: output, but of which block?")
            blocks[-1].output = code
            continue
        blocks.append(Block(line, language, code, *(marker.groups() if marker else ())))
    return blocks


def file_of(document: Path, name: str) -> str:
    """The block of another document that is the file of this name."""
    blocks = blocks_of(document.read_text(encoding="utf-8"))
    return next(block.code for block in blocks if block.code.startswith(f"// {name}\n"))


class Document:
    """A document and the folder in which its blocks run."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self.folder = path, folder
        self.namespace = {"__name__": "__main__"}

    def problems(self) -> list[str]:
        """What is wrong with the document; empty where every block does what is shown."""
        found, text = [], self.path.read_text(encoding="utf-8")
        for name, document in USES.findall(text):
            (self.folder / name).write_text(file_of(self.path.with_name(document), name), encoding="utf-8")
        for block in blocks_of(text):
            problem = self.problem_of(block)
            if problem:
                found.append(f"{self.path}:{block.line}: {problem}")
        return found

    def problem_of(self, block: Block) -> str:
        if block.marker == "quote":
            return "" if quoted(block) else f"{block.argument} has no such lines:\n{block.code}"
        if block.marker == "shown":
            return ""
        if block.language not in LANGUAGES:
            return f"a block of {block.language!r} is neither run nor marked as shown"
        try:
            printed, details = getattr(self, f"run_{block.language}")(block)
        except ValueError as error:
            return str(error)
        shown, new = ([line.rstrip() for line in text.splitlines()] for text in (block.output, printed))
        if shown == new:
            return ""
        lines = difflib.unified_diff(shown, new, "shown", "printed", n=99, lineterm="")
        return "it prints something else\n" + "\n".join(lines) + (f"\n{details}" if details else "")

    # ---- Each gives what a block prints, and what to say of an error in it ------------------------------------------

    def run_python(self, block: Block) -> tuple[str, str]:
        output, details = io.StringIO(), ""
        with contextlib.redirect_stdout(output):
            try:
                # empty lines before it, so that messages name the document's own lines
                code = compile("\n" * (block.line - 1) + block.code, str(self.path), "exec", dont_inherit=True)
                exec(code, self.namespace)
            except Exception as error:
                details = traceback.format_exc()
                kind = type(error)
                module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
                print(f"{module}{kind.__qualname__}: {error}")  # as Python, but without guesses at what was meant
        return output.getvalue(), details

    def run_cpp(self, block: Block) -> tuple[str, str]:
        name = re.match(r"// (\w+)\.(cpp|h|cu)\n", block.code)
        if name is None:
            raise ValueError("the first line of a C++ block is the name of its file: // add.cpp")
        (self.folder / f"{name[1]}.{name[2]}").write_text(block.code, encoding="utf-8")
        if name[2] != "cpp" or "int main(" not in block.code:
            return "", ""
        program = name[1]
        return self.shell(COMPILE.format(program))

    def run_bash(self, block: Block) -> tuple[str, str]:
        for line in block.code.replace("\\\n", " ").splitlines():
            if not re.sub(r"^(\s*\w+=\w+ )*", "", line).startswith(COMMANDS):
                raise ValueError(f"a command that is none of {', '.join(COMMANDS)}: {line}")
        return self.shell(block.code)

    def shell(self, commands: str) -> tuple[str, str]:
        tools = f'g++() {{ "{find_compiler()}" "$@"; }}; python3() {{ "{sys.executable}" "$@"; }}; set -e\n'
        run = subprocess.run(["bash", "-c", tools + commands], cwd=self.folder, capture_output=True, text=True)
        status = f"(exit status {run.returncode})\n" if run.returncode else ""
        return run.stdout + status, run.stderr


def find_compiler() -> str | None:
    """The compiler that CXX names, or one of the usual ones; None where there is none."""
    named = os.environ.get("CXX", "g++").split()[-1]  # "ccache g++"
    return next(filter(None, map(shutil.which, (named, "g++", "c++", "clang++"))), None)


def quoted(block: Block) -> bool:
    """Whether the block's lines stand in the file it names, in order and without gaps but for "..."."""
    source = [line.strip() for line in (ROOT / block.argument).read_text(encoding="utf-8").splitlines()]
    at = 0
    for part in re.split(r"^[ /#]*\.\.\.\n", block.code, flags=re.MULTILINE):
        lines = [line.strip() for line in part.strip("\n").splitlines()]
        starts = [i for i in range(at, len(source)) if source[i : i + len(lines)] == lines]
        if not starts:
            return False
        at = starts[0] + len(lines)
    return True


def main() -> None:
    path = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ.update(NORCH=str(ROOT), PYTHONPATH=str(ROOT))  # as the tutorial's README sets them
        problems = Document(path, Path(folder)).problems()
    if problems:
        sys.exit("\n\n".join(problems))


if __name__ == "__main__":
    main()
