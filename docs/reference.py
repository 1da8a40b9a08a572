"""Builds the API reference from the docstrings, with pdoc: `make docs`, or

    pip install pdoc
    PYTHONPATH=. python docs/reference.py build/docs

Each public module has a page. The page of Tensor has all methods, although several files define them.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pdoc
import pdoc.doc
import pdoc.doc_types
import pdoc.render

import norch

MODULES = """
norch norch.nn norch.nn.functional norch.nn.init norch.nn.utils norch.optim norch.optim.lr_scheduler norch.autograd
norch.utils norch.utils.data norch.cuda
""".split()


def offered(module: ModuleType) -> list[str]:
    """The public names of a module without `__all__`: what norch defines, except modules."""
    names = []
    for name, value in vars(module).items():
        home = getattr(value, "__module__", None) or type(value).__module__
        if not name.startswith("_") and home.startswith("norch") and not isinstance(value, ModuleType):
            names.append(name)
    return names


def named_by_parent(name: str) -> bool:
    """Whether the parent module lists this one, so that pdoc finds it there."""
    parent, _, last = name.rpartition(".")
    return bool(parent) and last in importlib.import_module(parent).__all__


def gather_methods(cls: type) -> None:
    """Copy the methods that a class inherits from norch's other files into it, so that its page has them."""
    for base in cls.__mro__[1:]:
        if base.__module__.startswith("norch"):
            for name, value in list(vars(base).items()):
                if not name.startswith("_") and name not in vars(cls):
                    setattr(cls, name, value)


class Written(str):
    """An annotation as its source has it: `Dims` and `int | None`. (In a Tensor's page `int` would be its method.)"""

    __repr__ = str.__str__


def written(annotation: object, *_: object) -> object:
    """In place of pdoc's evaluation of an annotation."""
    return Written(annotation) if isinstance(annotation, str) else annotation


def main() -> None:
    target = Path(sys.argv[1])
    modules = [name for name in MODULES if importlib.util.find_spec(name) is not None]
    for name in modules:
        module = importlib.import_module(name)
        if not hasattr(module, "__all__"):
            module.__all__ = offered(module)  # type: ignore[attr-defined]
    gather_methods(norch.Tensor)
    pdoc.doc.safe_eval_type = pdoc.doc_types.safe_eval_type = written
    pdoc.render.configure(docformat="google", footer_text=f"norch {norch.__version__}", search=True)
    inner = "|".join(name.replace(".", r"\.") for name in modules)
    pdoc.pdoc(*[name for name in modules if not named_by_parent(name)], f"!(?!({inner})$)", output_directory=target)
    print(f"reference: {target / 'index.html'}")


if __name__ == "__main__":
    main()
