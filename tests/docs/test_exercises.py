"""The program that checks a learner's answers takes the chapters' own solutions, and says what is wrong with others."""

from __future__ import annotations

import subprocess
import sys

import pytest
from documents import ROOT, find_compiler

FOLDER = ROOT / "examples" / "tutorial"
sys.path.insert(0, str(FOLDER))

import exercise  # noqa: E402

CHAPTERS = [int(path.name[:2]) for path in sorted(FOLDER.glob("[0-9][0-9]-*.md"))]
KINDS = {"python": "py", "cpp": "cpp"}


def run(*arguments, folder):
    command = [sys.executable, str(FOLDER / "exercise.py"), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def answers():
    """(chapter, exercise, language) of each exercise whose solution is one file that prints something."""
    for number in CHAPTERS:
        chapter = exercise.Chapter(number)
        for each in chapter.tasks:
            languages = {block.language for block in chapter.blocks(each)}
            one_file = languages == {"python"} or [block.language for block in chapter.blocks(each)] == ["cpp"]
            if chapter.expected(each) and one_file:
                yield number, each, languages.pop()


@pytest.mark.parametrize("number", CHAPTERS)
def test_each_exercise_has_a_solution(number):
    chapter = exercise.Chapter(number)
    assert len(chapter.tasks) >= 2 and sorted(chapter.tasks) == sorted(chapter.solutions)
    assert any(map(chapter.expected, chapter.tasks))


@pytest.mark.parametrize("number, each, language", [(3, 1, "cpp"), (6, 1, "cpp"), (2, 1, "python"), (9, 2, "python")])
def test_the_solution_is_right_and_another_is_not(number, each, language, tmp_path):
    assert (number, each, language) in list(answers())
    if language == "cpp" and find_compiler() is None:
        pytest.skip("this exercise is in C++, and there is no compiler")
    chapter = exercise.Chapter(number)
    file = tmp_path / f"mine.{KINDS[language]}"
    file.write_text("\n".join(block.code for block in chapter.blocks(each)), encoding="utf-8")
    right = run(number, each, "mine." + KINDS[language], folder=tmp_path)
    assert right.returncode == 0 and right.stdout.startswith("Right"), right.stdout + right.stderr
    file.write_text('print("mine")\n' if language == "python" else '#include <stdio.h>\nint main() { puts("mine"); }\n')
    wrong = run(number, each, file, folder=tmp_path)
    assert wrong.returncode == 1 and wrong.stdout.startswith("Not yet") and "+mine" in wrong.stdout


def test_the_solution_is_hidden_until_asked_for(tmp_path):
    task = run(3, 1, folder=tmp_path).stdout
    assert "select_tensor" in task and "A right answer prints:\n\n2 5 (stride 3)\n" in task and "int main" not in task
    assert "int main" in run(3, 1, "--solution", folder=tmp_path).stdout
    assert "is a question" in run(3, 2, folder=tmp_path).stdout
    assert "has the exercises 1, 2" in run(3, 9, folder=tmp_path).stderr
    assert "no chapter 99" in run(99, folder=tmp_path).stderr
    assert list(tmp_path.iterdir()) == []
