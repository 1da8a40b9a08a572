"""Builds the site with Sphinx: `make docs`, or

    pip install ".[docs]"
    PYTHONPATH=. python docs/site/build.py build/docs

The documents of the repository keep their places, so that their links to each other hold. What they name of norch's
source becomes a page with numbered lines, and the docstrings become the reference (reference.py). A warning of Sphinx
is an error: no link leads nowhere.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from latex2mathml.converter import convert
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from reference import pages

import norch

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
START = "README.md"  # becomes index.md
FOLDERS = ["docs", "examples", "examples/tutorial", "examples/tutorial/steps", "benchmarks", "tests"]
FOUND = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.md"))]
DOCUMENTS = [START, "CONTRIBUTING.md", *(str(path.relative_to(ROOT)) for path in FOUND)]
PICTURES = (".svg", ".png")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FORMULA = re.compile(r"^\$\$(.+?)\$\$$", re.DOTALL | re.MULTILINE)
FENCE = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)

CHAPTERS = sorted(name for name in DOCUMENTS if re.match(r"examples/tutorial/\d", name))
STEPS = sorted(name for name in DOCUMENTS if re.match(r"examples/tutorial/steps/\d", name))
TREES = {  # the documents that lead to others: captions and what stands below them
    START: [
        ("Learn", ["examples/tutorial/README.md", "examples/tutorial/steps/README.md", "examples/README.md"]),
        (
            "Use",
            [
                f"docs/{name}.md"
                for name in ("moving", "features", "compile", "distributed", "departures", "differences")
            ],
        ),
        ("Look up", ["reference/index.md"]),
        (
            "Understand and change",
            [
                *(f"docs/{name}.md" for name in ("architecture", "reliability", "performance")),
                *("benchmarks/README.md", "tests/README.md", "CONTRIBUTING.md", "docs/publishing.md"),
            ],
        ),
    ],
    "examples/tutorial/README.md": [("", [*CHAPTERS, "examples/tutorial/map.md"])],
    "examples/tutorial/steps/README.md": [("", STEPS)],
}


class Site:
    """The folder of documents that Sphinx reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sources: set[str] = set()  # files of the repository that become pages of code

    def assemble(self) -> None:
        placed = {name for trees in TREES.values() for _, names in trees for name in names} | {START}
        if left := sorted({*DOCUMENTS} - placed):
            sys.exit(f"no menu leads to {', '.join(left)}: name them in TREES of docs/site/build.py")
        for name in DOCUMENTS:
            text = self.linked((ROOT / name).read_text(encoding="utf-8"), name)
            self.write(place_of(name), text + "".join(self.tree(name, *tree) for tree in TREES.get(name, ())))
        for name, text in pages().items():
            self.write(f"reference/{name}.md", text)
        for page in (ROOT / "examples/tutorial/pages").glob("*.html"):
            text = page.read_text(encoding="utf-8")
            self.write(f"_extra/{page.relative_to(ROOT)}", text.replace("README.md", "README.html"))
        for source in self.sources:
            self.write(f"_extra/source/{source}.html", code_page(source))
        self.write("_static/site.css", "table.genindextable td { overflow-wrap: anywhere }")
        shutil.copy(HERE / "conf.py", self.folder)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def copy(self, name: str) -> None:
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)

    def tree(self, name: str, caption: str, names: list[str]) -> str:
        paths = [os.path.relpath(place_of(each), Path(name).parent) for each in names]
        head = f":caption: {caption}\n" if caption else ""
        return f"\n:::{{toctree}}\n:hidden:\n{head}\n" + "\n".join(paths) + "\n:::\n"

    def linked(self, text: str, name: str) -> str:
        """The text of a document with links for the site; blocks of code stay as they are."""
        parts, end = [], 0
        for fence in FENCE.finditer(text):
            parts += [self._linked(text[end : fence.start()], name), fence.group()]
            end = fence.end()
        return "".join([*parts, self._linked(text[end:], name)])

    def _linked(self, text: str, name: str) -> str:
        folder = Path(name).parent

        def link(match: re.Match) -> str:
            mark, shown, target = match.groups()
            if "://" in target or target.startswith(("#", "mailto:")):
                return match.group()
            path, _, anchor = target.partition("#")
            file = os.path.normpath(folder / path)
            if file in DOCUMENTS:
                there = os.path.relpath(place_of(file), folder)
                return f"{mark}[{shown}]({there}{'#' + anchor if anchor else ''})"
            if not (ROOT / file).is_file():  # a folder
                return shown
            if file.endswith(PICTURES):
                self.copy(file)
                return match.group()
            if file.startswith("examples/tutorial/pages/") and file.endswith(".html"):
                return f'<a href="{os.path.relpath(file, folder)}">{shown}</a>'
            self.sources.add(file)
            line = f"#L-{anchor[1:]}" if re.fullmatch(r"L\d+", anchor) else ""
            return f'<a href="{os.path.relpath(f"source/{file}.html", folder)}{line}">{shown}</a>'

        return FORMULA.sub(mathml, LINK.sub(link, text))


def mathml(formula: re.Match) -> str:
    """A formula in the HTML that browsers draw by themselves: no script, no font from elsewhere."""
    return f'<div style="overflow-x: auto; padding: 4px 0">{convert(formula[1], display="block")}</div>'


def place_of(name: str) -> str:
    return "index.md" if name == START else name


def code_page(name: str) -> str:
    """A file of the repository as a page with numbered lines, in light and in dark."""
    text = (ROOT / name).read_text(encoding="utf-8")
    try:
        lexer = get_lexer_for_filename(name)
    except ClassNotFound:
        lexer = TextLexer()
    options = {"linenos": "inline", "lineanchors": "L", "anchorlinenos": True}
    body = highlight(text, lexer, HtmlFormatter(**options))
    light = HtmlFormatter(style="friendly").get_style_defs(".highlight")
    dark = HtmlFormatter(style="monokai").get_style_defs(".highlight")
    up = os.path.relpath("index.html", Path("source", name).parent)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(name)}</title>'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        "<style>body{font-family:sans-serif;margin:1em}pre{font-size:13px;overflow:auto}a{color:inherit}\n"
        f"{light}\n@media (prefers-color-scheme: dark){{body{{background:#131416;color:#ddd}}\n{dark}}}</style>"
        f'<p><a href="{up}">norch</a> · {html.escape(name)}</p>{body}</html>'
    )


def main() -> None:
    target = Path(sys.argv[1]).resolve()
    source = target.with_name(target.name + "-source")
    for folder in (source, target):
        shutil.rmtree(folder, ignore_errors=True)
    Site(source).assemble()
    environment = {**os.environ, "NORCH_RELEASE": norch.version.release}
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-j", "auto", str(source), str(target)]
    status = subprocess.run(command, env=environment).returncode
    shutil.rmtree(target / ".doctrees", ignore_errors=True)
    (target / ".nojekyll").touch()  # a code host would leave out folders that begin with _
    print(f"site: {target / 'index.html'}" if status == 0 else "the site has errors")
    sys.exit(status)


if __name__ == "__main__":
    main()
