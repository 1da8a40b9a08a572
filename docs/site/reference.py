"""The reference: pages in Markdown, made of norch's docstrings, grouped by what a reader looks for.

Each operation has a page: the function, the method and the method in place. Each module besides has a page, each family
of layers too. What is private has none, and the head of a class names no base class.
"""

from __future__ import annotations

import importlib
import inspect
import re
import types
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import norch

MODULES = """
norch norch.linalg norch.special norch.fft norch.sparse norch.signal.windows norch.nn norch.nn.functional
norch.nn.grad norch.nn.init norch.nn.parallel norch.nn.utils norch.nn.utils.prune norch.nn.utils.rnn
norch.nn.utils.parametrize norch.nn.utils.parametrizations norch.optim norch.optim.lr_scheduler norch.optim.swa_utils
norch.autograd norch.autograd.functional norch.func norch.amp norch.distributions norch.distributions.constraints
norch.distributions.transforms norch.utils norch.utils.data norch.utils.checkpoint norch.utils.benchmark
norch.utils.dlpack norch.utils.hooks norch.testing norch.cuda norch.backends.cudnn norch.compiler norch.distributed
norch.distributed.nn norch.hub norch.jit norch.library norch.multiprocessing norch.onnx norch.profiler norch.random
norch.return_types
""".split()

# A title, and the files of norch/ whose functions and methods stand below it; each name goes to the first that fits.
GROUPS = {
    "Making tensors": "functions.creation functions.ranges methods.new_tensors methods.interop methods.dlpack "
    "functions.windows tensor_types",
    "Random numbers": "functions.random functions.random_counts functions.generator methods.random_fill "
    "methods.random_draws",
    "Shapes and views": "methods.views methods.in_place_views methods.view_writes methods.splitting "
    "methods.rearranging functions.view_copies functions.layouts nn.functional.shuffling",
    "Joining, selecting and masking": "functions.joining methods.selection methods.scattering methods.masking",
    "Sorting and searching": "methods.sorting functions.searching",
    "Sums, means and statistics": "methods.reductions methods.statistics functions.statistics methods.composed",
    "Matrices": "methods.products methods.linalg functions.linalg functions.products nn.functional.linear",
    "Element by element": "methods.elementwise methods.elementary methods.special_values functions.elementary "
    "methods.activations",
    "Dtypes, devices and memory": "methods.conversion functions.promotion functions.questions types devices memory "
    "threads methods.storage methods.values",
    "Gradients": "autograd methods.gradient amp",
    "Layers as functions of norch": "nn",
    "Files and pictures": "functions.serialization display",
    "Everything else": "",
}


def public(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """The names that a module offers, with their values: what is callable and norch's own."""
    for name in getattr(module, "__all__", None) or vars(module):
        value = getattr(module, name)
        home = getattr(value, "__module__", None) or "norch"
        if (
            not name.startswith(("_", "check_"))
            and callable(value)
            and not isinstance(value, types.ModuleType)
            and home.startswith("norch")
            and (module is norch or home != "norch._C")
        ):
            yield name, value


def members(cls: type, known: set[type]) -> Iterator[tuple[str, Any]]:
    """The public methods and attributes of a class, but for those of base classes that have pages."""
    seen = set()
    for base in cls.__mro__:
        if base is not cls and base in known:
            return
        if base.__module__.startswith("norch"):
            for name, value in vars(base).items():
                value = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
                shown = inspect.isfunction(value) or isinstance(value, property)
                if shown and not name.startswith("_") and name not in seen and value.__doc__:
                    seen.add(name)
                    yield name, value


# ---- Markdown of a docstring and of a signature ----------------------------------------------------------------------


def markdown(text: str) -> str:
    """A docstring as Markdown: examples become blocks of code, prose is protected from Markdown's signs."""
    parts = []
    for paragraph in re.split(r"\n\s*\n(?=\S)", text.strip()):
        start = paragraph.find(">>> ")
        if paragraph.lstrip().startswith(">>> "):
            parts.append(f"```pycon\n{inspect.cleandoc(paragraph)}\n```")
        elif start > 0 and paragraph[start - 1] == "\n":
            parts += [_prose(paragraph[:start]), f"```pycon\n{paragraph[start:]}\n```"]
        elif "\n\n" in paragraph or re.search(r"^    ", paragraph, re.MULTILINE):
            lines = paragraph.split("\n")
            first = next(number for number, line in enumerate([*lines, "    "]) if line.startswith("    "))
            parts += [_prose("\n".join(lines[:first])), "```text\n" + "\n".join(lines[first:]) + "\n```"]
        else:
            parts.append(_prose(paragraph))
    return "\n\n".join(filter(None, parts))


def _prose(text: str) -> str:
    pieces = re.split(r"(`[^`]+`)", text.strip("\n"))
    return "".join(piece if piece.startswith("`") else re.sub(r"([*_<>\[\]|#~\\])", r"\\\1", piece) for piece in pieces)


def signature(value: Any, receiver: str = "") -> str:
    """The parameters with their defaults; `receiver` is what stands in place of `self`, nothing for a method."""
    try:
        given = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return "(*args, **kwargs)"
    given = [each.replace(annotation=inspect.Parameter.empty) for each in given if not each.name.startswith("_")]
    if given and given[0].name in ("self", "cls") and not isinstance(value, type):
        given = ([given[0].replace(name=receiver)] if receiver else []) + given[1:]
    given = [each.replace(default=_Shown(each.default)) if each.default is not each.empty else each for each in given]
    try:
        return str(inspect.Signature(given))
    except ValueError:
        return "(*args, **kwargs)"


class _Shown:
    """A default that is printed as a program would write it."""

    def __init__(self, value: Any) -> None:
        plain = value is None or isinstance(value, (bool, int, float, str, tuple))
        self.text = repr(value) if plain or repr(value).startswith("norch.") else "..."

    def __repr__(self) -> str:
        return self.text


def summary(value: Any) -> str:
    """The first sentence of a docstring."""
    text = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return _prose(re.split(r"(?<=[.:;]) (?=[A-Z`(])", text)[0].rstrip(":;"))


def entry(kind: str, name: str, value: Any, body: str, colons: int = 3) -> str:
    """A directive that describes one name."""
    shown = "" if kind in ("property", "attribute") else signature(value, "input" if kind == "function" else "")
    fence = ":" * colons
    return f"{fence}{{py:{kind}}} {name}{shown}\n\n{body}\n\n{fence}\n"


def described(name: str, value: Any, known: set[type]) -> str:
    """A function, or a class with its methods and attributes."""
    text = markdown(inspect.getdoc(value) or "")
    if not isinstance(value, type):
        return entry("function", name, value, text)
    inner = []
    for member, each in members(value, known - {value}):
        kind = "property" if isinstance(each, property) else "method"
        inner.append(entry(kind, f"{name}.{member}", each, markdown(inspect.getdoc(getattr(value, member)) or "")))
    return entry("class", name, value, "\n\n".join([text, *inner]), colons=4)


# ---- Pages -----------------------------------------------------------------------------------------------------------


def group_of(home: str) -> str:
    """The title of the group for what a file of norch defines."""
    home = home.removeprefix("norch").lstrip(".")
    for title, files in GROUPS.items():
        if any(home == file or home.startswith(file + ".") for file in files.split()):
            return title
    return "Everything else"


def slug(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def operations() -> dict[str, dict[str, list[tuple[str, str, Any]]]]:
    """For each group the names of its operations, each with the (kind, full name, value) of all its forms."""
    found: dict[str, dict[str, list[tuple[str, str, Any]]]] = defaultdict(lambda: defaultdict(list))
    functions, homes = dict(public(norch)), {}
    methods = dict(members(norch.Tensor, set()))
    every = {**functions, **methods}
    plain_of = {name: name.rstrip("_") if name.rstrip("_") in every else name for name in every}  # add_ is with add
    for name, value in [*functions.items(), *methods.items()]:
        home = getattr(getattr(value, "fget", None) or value, "__module__", None) or "norch"
        homes.setdefault(plain_of[name], group_of(home))
    for name, value in functions.items():
        if value is not norch.Tensor:
            kind = "class" if isinstance(value, type) else "function"
            found[homes[plain_of[name]]][plain_of[name]].append((kind, f"norch.{name}", value))
    for name, value in methods.items():
        kind = "property" if isinstance(value, property) else "method"
        found[homes[plain_of[name]]][plain_of[name]].append((kind, f"norch.Tensor.{name}", value))
    return found


def operation_page(name: str, forms: Any, known: set[type], around: list[str], group: str) -> str:
    """The page of an operation; `around` are the names before and after it in its group."""
    parts, told = [f"---\norphan: true\n---\n# {_prose(name)}\n"], set()
    for kind, full, value in forms:
        text = inspect.getdoc(value) or ""
        if kind == "class":
            parts.append(described(full, value, known))
        else:
            parts.append(entry(kind, full, value, markdown(text) if text not in told else "The same, as a method."))
        told.add(text)
    links = [f"{which}: [{_prose(each)}]({each}.md)" for which, each in zip(("Previous", "Next"), around) if each]
    parts.append(" · ".join([*links[:1], f"[{group}](../{slug(group)}.md)", *links[1:]]))
    return "\n".join(parts)


def pages() -> dict[str, str]:
    """The text of each page of the reference by its path."""
    modules = [importlib.import_module(name) for name in MODULES]
    known = {value for module in modules for _, value in public(module) if isinstance(value, type)}
    made, listed = {}, []
    for title, found in sorted(operations().items(), key=lambda pair: [*GROUPS].index(pair[0])):
        names = sorted(found, key=lambda name: (name.lower(), name))
        rows = [f"| [`{name}`](op/{name}.md) | {summary(found[name][0][2])} |".replace("\n", " ") for name in names]
        made[slug(title)] = f"# {title}\n\n| name | |\n|---|---|\n" + "\n".join(rows) + "\n"
        listed.append((title, slug(title)))
        for at, name in enumerate(names):
            around = ["" if at == 0 else names[at - 1], "" if at + 1 == len(names) else names[at + 1]]
            made[f"op/{name}"] = operation_page(name, found[name], known, around, title)
    families = []
    for module in modules[1:]:
        name = module.__name__
        offered = dict(public(module))
        if name in ("norch.nn", "norch.nn.functional"):
            families += family_pages(name, offered, known, made)
            continue
        text = (inspect.getdoc(module) or "").split("\n\n")[0]
        made[name] = f"# {name}\n\n{_prose(text)}\n\n" + "\n".join(
            described(f"{name}.{each}", value, known) for each, value in offered.items()
        )
    made["Tensor"] = tensor_page(listed)
    made["index"] = index_page(listed, families)
    names = {name for text in made.values() for name in re.findall(HEAD, text, re.MULTILINE)}
    return {page: cross_linked(text, names) for page, text in made.items()}


HEAD = r"^:+\{py:\w+\} ([\w.]+)"
PLACES = ("", "norch.", "norch.nn.", "norch.Tensor.", "norch.nn.functional.", "norch.nn.utils.", "norch.optim.")


COMMON = ("data", "device", "dim", "dtype", "layout", "size")  # in a summary these are parameters


def cross_linked(text: str, names: set[str]) -> str:
    """A page in which each name in backticks leads to its entry, but for parameters and the entry it stands in."""
    lines, own, parameters, code = [], "", set(), False

    def link(match: re.Match) -> str:
        name, call = match.groups()
        found = next((place + name for place in PLACES if place + name in names), own)
        if found == own or (name in {*parameters, *COMMON} and not call):
            return match.group()
        return f"{{py:obj}}`{name}{call or ''} <{found}>`"

    for line in text.split("\n"):
        if line.startswith("```"):
            code = not code
        elif head := re.match(HEAD + "(.*)", line):
            own, parameters = head[1], {*re.findall(r"\w+", head[2])}
        elif not code:
            line = re.sub(r"(?<!\[)`([A-Za-z][\w.]*)(\([^`<>]*\))?`", link, line)
        lines.append(line)
    return "\n".join(lines)


def family_pages(name: str, offered: dict[str, Any], known: set[type], made: dict[str, str]) -> list[tuple[str, str]]:
    """A page for each file of norch.nn or norch.nn.functional."""
    by_file: dict[str, list[str]] = defaultdict(list)
    for each, value in offered.items():
        by_file[FAMILIES.get(value.__module__.rpartition(".")[2], value.__module__.rpartition(".")[2])].append(each)
    for file, names in by_file.items():
        title = f"{name}: {file.replace('_', ' ')}"
        made[f"{name}.{slug(file)}"] = f"# {title}\n\n" + "\n".join(
            described(f"{name}.{each}", offered[each], known) for each in names
        )
    return [(f"{name}: {file.replace('_', ' ')}", f"{name}.{slug(file)}") for file in sorted(by_file)]


FAMILIES = {  # two files that hold one family
    "activation": "activations",
    "loss": "losses",
    "lazy": "layers that find their sizes",
    "container": "containers",
    "conv": "convolutions",
    "products": "bilinear, cosine and others",
    "module": "Module",
    "parameter": "parameters",
    "summary": "Module",
}


def tensor_page(groups: list[tuple[str, str]]) -> str:
    text = markdown(inspect.getdoc(norch.Tensor) or "")
    links = "\n".join(f"- [{title}]({page}.md)" for title, page in groups)
    return f"# Tensor\n\n{entry('class', 'norch.Tensor', norch.Tensor, text)}\nIts methods:\n\n{links}\n"


def index_page(groups: list[tuple[str, str]], families: list[tuple[str, str]]) -> str:
    rest = [name for name in MODULES[1:] if name not in ("norch.nn", "norch.nn.functional")]
    parts = {
        "Tensors and their operations": [("Tensor", "Tensor"), *groups],
        "Models": [family for family in families if "functional" not in family[1]],
        "The functions of layers": [family for family in families if "functional" in family[1]],
        "Training, data and everything else": [(name, name) for name in rest],
    }
    text = "# Reference\n\nEvery public name, by what it is for. The search finds names too.\n"
    for title, entries in parts.items():
        toctree = "\n".join(f"{label} <{page}>" for label, page in entries)
        text += f"\n## {title}\n\n:::{{toctree}}\n:maxdepth: 1\n\n{toctree}\n:::\n"
    return text
