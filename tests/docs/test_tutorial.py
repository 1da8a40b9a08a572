"""The tutorial tells the truth: its code runs and prints what it shows, its links lead somewhere, its map is right."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import links
import pytest
from documents import ROOT, Block, blocks_of, find_compiler, quoted

FOLDER = ROOT / "examples" / "tutorial"
CHAPTERS = sorted(FOLDER.glob("[0-9][0-9]-*.md"))
STEPS = sorted((FOLDER / "steps").glob("*.md"))
COUNT = len(CHAPTERS)
PICTURES = sorted(path.stem for path in (FOLDER / "pictures").glob("*.svg"))
NEAR = 60  # lines that a link may be off, a screen or two: few changes in norch need `make links`
MOST_SHOWN = 6  # blocks that are shown and not run, in all chapters together


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_the_code_of_a_chapter_prints_what_is_shown(chapter):
    if "```cpp" in text_of(chapter) and find_compiler() is None:
        pytest.skip(
            "this chapter compiles C++, and there is no compiler: neither g++, c++ nor clang++, nor what CXX names"
        )
    command = [sys.executable, "-W", "error", str(ROOT / "tests" / "docs" / "documents.py"), str(chapter)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    if "NORCH_LIBRARY" in environment:  # may be relative, and a chapter runs in a folder of its own
        environment["NORCH_LIBRARY"] = os.path.abspath(environment["NORCH_LIBRARY"])
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_chapters_are_numbered_and_listed():
    assert COUNT >= 16
    assert [path.name[:2] for path in CHAPTERS] == [f"{number:02}" for number in range(1, COUNT + 1)]
    listed = re.findall(r"\]\((\d\d-[\w-]+\.md)\)", text_of(FOLDER / "README.md"))
    assert listed == [path.name for path in CHAPTERS]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_has_its_parts(chapter):
    text = text_of(chapter)
    assert text.startswith(f"# {int(chapter.name[:2])}. ")
    assert "**What you will see.**" in text.split("\n## ")[0]
    lesson, exercises = text.split("\n## Exercises\n")
    question = re.split(r"\*\*Predict\s+first\*\*:\s", lesson)[1]
    assert "?" in question.split("\n\n")[0]
    solutions = exercises.split("<details>")[1]
    for part in (exercises.split("<details>")[0], solutions):
        assert 2 <= len(re.findall(r"^\d\. ", part, re.MULTILINE)) <= 3
    assert "```python" in solutions or "```cpp" in solutions


def test_a_block_with_empty_lines_can_be_pasted_at_the_prompt():
    """As the tutorial's README says. The end of a pipe stands for Ctrl-D.

    -u: the prompt reads its one line as it does at a terminal, and leaves the rest.
    """
    (line,) = re.findall(r"^>>> (.*)$", text_of(FOLDER / "README.md"), re.MULTILINE)
    code = "class A:\n    x = 1\n\n    y = 2\n\n\nfor i in range(2):\n    print(i)\nprint(A.y)\n"
    run = subprocess.run([sys.executable, "-ui"], input=f"{line}\n{code}", capture_output=True, text=True, timeout=60)
    assert run.stdout == "0\n1\n2\n", run.stderr


def test_nearly_every_block_runs():
    blocks = [block for path in CHAPTERS for block in blocks_of(text_of(path))]
    shown = [block for block in blocks if block.marker == "shown" and block.language != "text"]  # a text is a drawing
    assert len(shown) <= MOST_SHOWN and all(len(block.argument) > 10 for block in shown)


@pytest.mark.parametrize("document", [*CHAPTERS, FOLDER / "README.md", FOLDER / "map.md"], ids=lambda path: path.stem)
def test_links_and_files_named_exist(document):
    text = re.sub(r"```.*?```", "", text_of(document), flags=re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    assert [link for link in links if not (FOLDER / link).exists()] == []
    named = re.findall(r"`((?:norch|tests|examples|benchmarks)/[\w/.-]+)`", text)
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    "document", [*CHAPTERS, *STEPS, FOLDER / "README.md", FOLDER / "map.md"], ids=lambda path: path.stem
)
def test_a_file_named_is_a_link_to_its_line(document):
    text = text_of(document)
    made, line = links.linked(text, document.parent), r"#L(\d+)\)"
    assert re.sub(line, "#L)", text) == re.sub(line, "#L)", made), "run `make links`"
    pairs = zip(re.findall(line, text), re.findall(line, made))
    assert all(abs(int(ours) - int(new)) <= NEAR for ours, new in pairs), "run `make links`"


def test_links_lead_to_definitions():
    source = text_of(ROOT / "norch" / "csrc" / "api" / "views.cpp").splitlines()
    made = links.linked("`strides_for` in `norch/csrc/api/views.cpp`, `norch/_C.py`: `CTensor`, `none_such`\n", FOLDER)
    (line,) = re.findall(r"^`strides_for` in \[`norch/csrc/api/views\.cpp`\]\(\S+views\.cpp#L(\d+)\)", made)
    assert "strides_for(" in source[int(line) - 1] and source[int(line) - 1].endswith("{")
    assert re.search(r"\[`CTensor`\]\(\.\./\.\./norch/_C\.py#L\d+\), \[`none_such`\]\(\.\./\.\./norch/_C\.py\)", made)
    assert links.linked(made, FOLDER) == made and links.plain(made).startswith("`strides_for` in `norch/csrc")
    assert links.linked("```\n`norch/_C.py`\n```\n", FOLDER) == "```\n`norch/_C.py`\n```\n"


@pytest.mark.parametrize("place", range(COUNT))
def test_a_chapter_leads_to_its_neighbours_and_ends_with_other_names(place):
    *_, elsewhere, leads = text_of(CHAPTERS[place]).rstrip("\n").split("\n\n")
    assert elsewhere.startswith("**What this is called elsewhere.** ") and len(elsewhere) > 100
    around = [CHAPTERS[at] for at in (place - 1, place + 1) if 0 <= at < COUNT]
    named = {path.name: text_of(path).splitlines()[0].removeprefix("# ") for path in around}
    found = {target: title for title, target in re.findall(r"\[([^]]+)\]\((\d\d-[\w-]+\.md)\)", leads)}
    assert found == named and "[Index](README.md)" in leads


def test_chapters_lead_to_every_step():
    named = {step for path in CHAPTERS for step in re.findall(r"\]\(steps/(\d\d-[\w-]+\.md)\)", text_of(path))}
    assert named == {path.name for path in (FOLDER / "steps").glob("[0-9]*.md")}


WORDS = (
    *("row-major", "cache lines", "SIMD", "warps", "coalesced", "forward pass", "reverse mode", "backpropagation"),
    *("vector-Jacobian product", "computational graph", "non-linearity", "activation function", "overfitting"),
)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_the_field_is_explained_where_it_first_stands(word):
    """In italics, in running text. (Captions of pictures and the lists of other names are apart.)"""
    texts = [
        re.sub(r"```.*?```|!\[[^]]*\]|^\*\*What this is called.*", "", text_of(path), flags=re.S | re.M)
        for path in CHAPTERS
    ]
    (first, *_) = [text for text in texts if word.rstrip("sd").lower() in re.sub(r"\s+", " ", text).lower()]
    text = re.sub(r"\s+", " ", first)
    at = text.lower().index(word.rstrip("sd").lower())
    assert text[at - 1] == "*" and text[at:].startswith(word + "*"), text[at - 40 : at + 40]


@pytest.mark.parametrize("document", [ROOT / "README.md", FOLDER / "README.md", FOLDER / "map.md"], ids=str)
def test_the_article_is_named_with_author_and_date(document):
    text = re.sub(r"\s+", " ", text_of(document))
    assert "[*Recreating PyTorch from Scratch (with GPU Support and Automatic Differentiation)*][article]" in text
    assert "Lucas de Lima Nogueira" in text and "14 May 2024" in text
    assert re.search(r"\[article\]: https://towardsdatascience\.com/recreating-pytorch-from-scratch\S+", text)


def test_every_picture_is_in_a_chapter():
    shown = {name for path in CHAPTERS for name in re.findall(r"\]\(pictures/(\w+)\.svg\)", text_of(path))}
    assert sorted(shown) == PICTURES


# ---- The map ---------------------------------------------------------------------------------------------------------

# | listing of the article | `file`: `name`, `name` | yes, partly or no | what differs |
ROW = re.compile(r"^\| (.+?) \| (.+?) \| (.+?) \| ?(.*?) ?\|$", re.MULTILINE)


def places():
    """(file, name) for each place that the map names."""
    for _, place, _, _ in ROW.findall(links.plain(text_of(FOLDER / "map.md"))):
        for file, names in re.findall(r"`(norch/[\w/.]+|examples/\w+\.py)`: ((?:`[^`]+`(?:, )?)+)", place):
            yield from ((file, name) for name in re.findall(r"`([^`]+)`", names))


def test_the_map_names_what_is_there():
    found = list(places())
    assert len(found) >= 40
    assert [f"{file}: {name}" for file, name in found if not occurs(name, text_of(ROOT / file))] == []


def occurs(name, text):
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def rows():
    found = ROW.findall(links.plain(text_of(FOLDER / "map.md")))
    return [row for row in found if row[0] != "listing" and not set(row[1]) <= {"-"}]


def test_every_row_of_the_map_names_a_place():
    assert len(rows()) == 49
    assert [row for row in rows() if "`norch/" not in row[1] and "`examples/" not in row[1]] == []


def test_every_row_of_the_map_says_whether_it_looks_alike():
    assert {row[2] for row in rows()} == {"yes", "partly", "no"}
    assert [row[0] for row in rows() if row[2] != "yes" and not row[3]] == []  # then something differs


# ---- The harness itself: it finds what is wrong ----------------------------------------------------------------------

WRONG = {
    "a value": "```python\nprint(1 + 1)\n```\n```\n3\n```\n",
    "output that is not shown": "```python\nprint(1)\n```\n",
    "an exception": "```python\n1 / 0\n```\n",
    "a name of another document": "```python\nprint(x)\n```\n```\n1\n```\n",
    "no such line": "<!-- quote: norch/csrc/tensor.h -->\n```cpp\nstruct Tensor { // ours\n```\n",
    "a command": "```bash\ncurl example.org\n```\n",
    "a language": "```ruby\nputs 1\n```\n",
    "a file without a name": "```cpp\nint main() { return 0; }\n```\n",
    "an exit status": "```cpp\n// one.cpp\nint main() { return 1; }\n```\n",
    "what does not compile": "```cpp\n// one.cpp\nint main() { return x; }\n```\n",
}
RIGHT = {
    "namespace": "```python\nx = 1\n```\n\n```python\nprint(x)\n```\n\n```\n1\n```\n",
    "exception": "```python\n1 / 0\n```\n```\nZeroDivisionError: division by zero\n```\n",
    "program": '```cpp\n// one.cpp\n#include <stdio.h>\nint main() { puts("one"); }\n```\n```text\none\n```\n'
    "```bash\n./one\n```\n```\none\n```\n",
    "quote": "<!-- quote: norch/csrc/tensor.h -->\n```cpp\nint32_t ndim;\n...\nunion {\n```\n",
    "shown": "<!-- shown: it takes an hour -->\n```bash\nmake everything\n```\n",
}


def problems_of(text, folder):
    (folder / "document.md").write_text(text, encoding="utf-8")
    command = [sys.executable, str(ROOT / "tests" / "docs" / "documents.py"), str(folder / "document.md")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.stdout == "" and bool(run.stderr) == bool(run.returncode)
    return run.stderr


@pytest.mark.parametrize("case", WRONG)
def test_the_harness_finds_what_is_wrong(case, tmp_path):
    assert "document.md:" in problems_of(WRONG[case], tmp_path)


@pytest.mark.parametrize("case", RIGHT)
def test_the_harness_passes_what_is_right(case, tmp_path):
    assert problems_of(RIGHT[case], tmp_path) == ""


def test_output_must_follow_a_block():
    with pytest.raises(ValueError, match="line 6"):
        blocks_of("```python\n1\n```\ntext\n```\n1\n```\n")


def test_a_quote_keeps_the_order_of_lines():
    lines = "int32_t ndim;\nint32_t device;\n"
    assert quoted(Block(1, "cpp", lines, "quote", "norch/csrc/tensor.h"))
    assert not quoted(Block(1, "cpp", "\n".join(reversed(lines.splitlines())) + "\n", "quote", "norch/csrc/tensor.h"))
