"""The tutorial's steps: each skeleton fails its check and says why, each solution passes, the last one trains."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from documents import ROOT, blocks_of, find_compiler
from test_article import LOSSES

FOLDER = ROOT / "examples" / "tutorial" / "steps"
sys.path.insert(0, str(FOLDER))

import course  # noqa: E402
import start  # noqa: E402

STEPS = list(course.TITLES)
PAGES = sorted(FOLDER.glob("[0-9][0-9]-*.md"))
CALLED = "**What this is called elsewhere.**"

needs_compiler = pytest.mark.skipif(
    find_compiler() is None,
    reason="the steps compile C++, and there is no compiler: neither g++, c++ nor clang++, nor what CXX names",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One for all tests: what a step leaves as it is need not be compiled again."""
    return tmp_path_factory.mktemp("steps") / "my_framework"


@pytest.fixture(scope="module", params=STEPS)
def step(request):
    """All tests of a step, then all of the next one."""
    return request.param


def run(*arguments, folder, clean=True):
    """A script as a learner calls it, with neither norch nor the variables of this session."""
    environment = {name: os.environ[name] for name in ("PATH", "CXX", "LD_LIBRARY_PATH") if name in os.environ}
    command = [sys.executable, *(["-I"] if clean else []), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def gaps_of(step):
    return {(name, gap) for name, first in course.FILES.items() if first <= step for gap in course.gaps_of(name, step)}


def passed_of(output):
    passed, checks = re.search(r"^(\d+) of (\d+) checks pass\.$", output, re.MULTILINE).groups()
    return int(passed), int(checks)


@needs_compiler
def test_a_skeleton_says_what_is_missing(step, folder):
    start.begin(step, folder)
    check = run("check.py", folder=folder)
    assert check.returncode == 1, check.stderr
    assert set(re.findall(r"^  (\w+\.\w+), line \d+: todo \((\w+)\)$", check.stdout, re.MULTILINE)) == gaps_of(step)
    passed, checks = passed_of(check.stdout)
    assert passed < checks and checks >= 7
    failures = re.split(r"^  --   .+\n", check.stdout, flags=re.MULTILINE)[1:]
    assert failures
    for failure in failures:
        assert re.match(r"       tried:     \S(.*\n)+?       expected:  \S(.*\n)+?       found:     \S", failure)


@needs_compiler
def test_a_solution_passes_and_its_page_tells_the_truth(step, folder):
    """The code of the page runs beside the solution."""
    start.begin(step, folder, solved=True)
    check = run("check.py", step, folder=folder)
    assert check.returncode == 0, check.stdout + check.stderr
    passed, checks = passed_of(check.stdout)
    assert passed == checks
    assert "todo" not in check.stdout and "warning" not in check.stdout
    page = PAGES[step - 1]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "error", str(ROOT / "tests" / "docs" / "documents.py"), str(page)]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert shown.returncode == 0, shown.stderr


@needs_compiler
def test_the_framework_prints_the_losses_of_the_article_by_itself(folder):
    """With a compiler and Python alone; its size is what the pages say."""
    start.begin(10, folder, solved=True)
    assert run("check.py", "10", folder=folder).returncode == 0
    training = run("train.py", folder=folder, clean=False)
    assert training.stdout.splitlines() == [f"Epoch [{i}/10], Loss: {loss}" for i, loss in enumerate(LOSSES, 1)]
    assert f"```text\n{training.stdout}```" in text_of(PAGES[-1])
    texts = [course.text_of(name, 10, solved=True) for name in course.FILES]
    modules = set(re.findall(r"^(?:import|from) (\w+)", "".join(texts[1:]), re.MULTILINE))
    assert modules <= {*sys.builtin_module_names, "contextlib", "ctypes", "math", "os", "random"} | {
        name[:-3] for name in course.FILES
    }
    lines = [line for text in texts for line in text.splitlines()]
    filled = len([line for line in lines if line])
    assert f"{len(lines)} lines, {filled} without the empty ones" in text_of(FOLDER / "README.md")
    assert 500 < filled < 600


# ---- What goes wrong in C++, and with a learner's files --------------------------------------------------------------


def broken(folder, name, old, new):
    """Step 6, solved, with a mistake."""
    start.begin(6, folder, solved=True)
    text = text_of(folder / name)
    assert old in text
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    check = run("check.py", "6", folder=folder)
    assert check.returncode == 1
    return check.stdout + check.stderr


@needs_compiler
def test_a_crash_is_named(folder):
    output = broken(folder, "tensor.cpp", "float sum = 0;", "float sum = *(volatile float*)8;")
    assert "ended Python (SIGSEGV)" in output
    assert "  --   x @ y: rows times columns." in output


@needs_compiler
def test_what_does_not_compile_is_shown(folder):
    output = broken(folder, "tensor.cpp", "float sum = 0;", "float sum = 0")
    assert "tensor.cpp does not compile" in output and "error: expected" in output
    output = broken(folder, "tensor.cpp", "return tensor->data[place];", "")
    assert "tensor.cpp does not compile" in output and "return-type" in output


@needs_compiler
def test_an_error_names_the_learners_line(folder):
    output = broken(folder, "tensor.py", "return self.sum_to([1])", "return self.sum_up([1])")
    assert re.search(r"AttributeError: 'Tensor' object has no attribute 'sum_up'.* \(tensor\.py, line \d+\)", output)


def test_start_keeps_what_was_there(tmp_path):
    assert start.begin(1, tmp_path) is None
    assert start.begin(6, tmp_path) is None  # nobody had written anything
    assert start.begin(1, tmp_path) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["check.py", "tensor.cpp"]
    (tmp_path / "tensor.cpp").write_text("mine", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    kept = start.begin(2, tmp_path)
    assert text_of(kept / "tensor.cpp") == text_of(tmp_path / "notes.txt") == "mine"
    assert text_of(tmp_path / "tensor.cpp") == course.text_of("tensor.cpp", 1, solved=True)
    (tmp_path / "tensor.cpp").write_text("again", encoding="utf-8")
    assert text_of(start.begin(2, tmp_path) / "tensor.cpp") == "again" and text_of(kept / "tensor.cpp") == "mine"


def test_a_solution_has_no_gap_and_no_sign_of_the_course():
    for step in STEPS:
        for name, text in course.folder_of(step, solved=True).items():
            assert re.findall("todo|#:|//:", text) == [], name


def test_the_solution_is_shown_when_asked_for():
    shown = run(FOLDER / "check.py", "8", "--solution", folder=FOLDER, clean=False)
    assert shown.returncode == 0
    for name, gap in gaps_of(8):
        assert f"{name}, {gap}:\n" in shown.stdout
    assert "    waiting.append((tensor, True))" in shown.stdout


def test_a_folder_without_files_is_told_how_to_begin(tmp_path):
    check = run(FOLDER / "check.py", "1", folder=tmp_path, clean=False)
    assert check.returncode == 1 and "start.py 1 my_framework" in check.stdout
    begin = run(FOLDER / "start.py", "4", folder=tmp_path, clean=False)
    assert begin.returncode == 2 and "start.py 4 my_framework" in begin.stderr
    assert list(tmp_path.iterdir()) == []


# ---- The pages -------------------------------------------------------------------------------------------------------


def text_of(path):
    return path.read_text(encoding="utf-8")


def test_pages_are_numbered_and_listed():
    assert [int(page.name[:2]) for page in PAGES] == STEPS
    assert re.findall(r"\]\((\d\d-[\w-]+\.md)\)", text_of(FOLDER / "README.md")) == [page.name for page in PAGES]
    assert "(steps/README.md)" in text_of(FOLDER.parent / "README.md")


def test_a_page_has_its_parts(step):
    text = text_of(PAGES[step - 1])
    assert text.startswith(f"# Step {step}: {course.TITLES[step]}\n")
    assert 80 <= text.count("\n") <= 200
    assert "**Predict first.**" in text and "<details>" in text
    before = f"[Step {step - 1}]({PAGES[step - 2].name})" if step > 1 else ""
    after = f"[Step {step + 1}]({PAGES[step].name})" if step < STEPS[-1] else ""
    links = " · ".join(link for link in (before, "[All steps](README.md)", after) if link)
    assert text.rstrip().endswith(links)
    assert CALLED in text.split("\n## ")[-1]
    assert f"python3 check.py {step}" in text
    missing = [gap for _, gap in gaps_of(step) if f"`{gap}`" not in text]
    assert missing == []
    assert all(len(block.argument) > 10 for block in blocks_of(text) if block.marker == "shown")


@pytest.mark.parametrize("page", [*PAGES, FOLDER / "README.md"], ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", re.sub("`.*?`", "", text)) if "://" not in link]
    assert [link for link in links if not (FOLDER / link).exists()] == []
    named = re.findall(r"`((?:norch|tests|examples)/[\w/.-]+)`", text)
    assert [name for name in named if not (ROOT / name).exists()] == []
