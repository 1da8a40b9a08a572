"""Checks what you wrote for an exercise of a chapter:

    python3 exercise.py 4                  # the exercises of chapter 4, and what a right answer prints
    python3 exercise.py 4 1 mine.cpp       # whether yours prints it (a file of Python for an exercise in Python)
    python3 exercise.py 4 1 --solution     # the chapter's own solution

Your file may use what the chapter defined before: its Python runs first, its headers lie in the same folder.
"""

import argparse
import difflib
import os
import re
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "docs")]

from documents import USES, Block, Document, blocks_of, file_of  # noqa: E402

NUMBER = re.compile(r"^(\d)\. ", re.MULTILINE)


class Chapter:
    """A chapter's text before the exercises, and its exercises and solutions by number."""

    def __init__(self, number):
        found = sorted(FOLDER.glob(f"{number:02}-*.md"))
        if not found:
            sys.exit(f"there is no chapter {number}")
        self.path = found[0]
        text = self.path.read_text(encoding="utf-8")
        self.before, _, rest = text.partition("\n## Exercises\n")
        tasks, _, solutions = rest.partition("<details>")
        self.tasks = by_number(tasks)
        self.solutions = by_number(solutions.partition("</details>")[0])

    def blocks(self, number):
        """The blocks of code of a solution."""
        return [block for block in blocks_of(self.solutions[number]) if not block.marker]

    def expected(self, number):
        """What a right answer prints; "" if the exercise is a question."""
        return "".join(block.output for block in self.blocks(number))

    def printed(self, number, file):
        """What the file prints in a folder where the chapter was followed up to its exercises."""
        code = file.read_text(encoding="utf-8")
        is_python = file.suffix == ".py"
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            os.environ.update(NORCH=str(ROOT), PYTHONPATH=str(ROOT))
            document = Document(self.path, Path(folder))
            for name, other in USES.findall(self.before):
                Path(name).write_text(file_of(self.path.with_name(other), name), encoding="utf-8")
            for block in self.blocks_before(number):
                if block.language == "cpp":
                    Path(block.code[3 : block.code.index("\n")]).write_text(block.code, encoding="utf-8")
                elif block.language == "bash" or is_python:
                    getattr(document, f"run_{block.language}")(block)
            if is_python:
                return document.run_python(Block(1, "python", code))
            Path("mine.cpp").write_text(code, encoding="utf-8")
            return document.shell("g++ -std=c++17 -O2 -Wall -I$NORCH/norch/csrc -o mine mine.cpp && ./mine")

    def blocks_before(self, number):
        """What a solution may use: the chapter, and the solutions before it."""
        texts = [self.before, *(self.solutions[each] for each in sorted(self.solutions) if each < number)]
        return [block for text in texts for block in blocks_of(text) if not block.marker]


def by_number(text):
    """The items of a numbered list in Markdown, without their indents."""
    pieces = NUMBER.split(re.sub(r"^   (?=\S)", "", text, flags=re.MULTILINE))
    return {int(number): piece.strip() for number, piece in zip(pieces[1::2], pieces[2::2])}


def check(chapter, number, file):
    """Compare, say the first difference, and return whether there is none."""
    printed, details = chapter.printed(number, file)
    expected, found = ([line.rstrip() for line in text.splitlines()] for text in (chapter.expected(number), printed))
    if expected == found:
        print("Right: it prints what the solution prints.")
        return True
    print("Not yet. - is expected, + is what yours prints:")
    print("\n".join(list(difflib.unified_diff(expected, found, n=99, lineterm=""))[3:]))
    print(details.strip())
    return False


def main():
    parser = argparse.ArgumentParser(description="Check what you wrote for an exercise of a chapter.")
    parser.add_argument("chapter", type=int)
    parser.add_argument("exercise", type=int, nargs="?")
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--solution", action="store_true", help="show the chapter's solution")
    arguments = parser.parse_args()
    chapter = Chapter(arguments.chapter)
    numbers = sorted(chapter.tasks) if arguments.exercise is None else [arguments.exercise]
    if not {*numbers} <= {*chapter.tasks}:
        parser.error(f"chapter {arguments.chapter} has the exercises {', '.join(map(str, sorted(chapter.tasks)))}")
    if arguments.file is not None:
        if not arguments.file.is_file():
            parser.error(f"{arguments.file} is no file")
        if not chapter.expected(numbers[0]):
            sys.exit("This exercise is a question: compare your answer with the one that --solution shows.")
        sys.exit(0 if check(chapter, numbers[0], arguments.file.resolve()) else 1)
    for number in numbers:
        print(f"{number}. {chapter.tasks[number]}\n")
        if arguments.solution:
            print(f"The solution:\n\n{chapter.solutions[number]}\n")
        elif chapter.expected(number):
            print(f"A right answer prints:\n\n{chapter.expected(number)}")
        else:
            print("This is a question; --solution shows the answer.\n")


if __name__ == "__main__":
    main()
