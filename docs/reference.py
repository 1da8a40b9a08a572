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
norch norch.linalg norch.special norch.fft norch.sparse norch.signal.windows norch.nn norch.nn.functional norch.nn.init
norch.nn.parallel norch.nn.utils norch.nn.utils.rnn norch.nn.utils.parametrize norch.nn.utils.parametrizations
norch.optim norch.optim.lr_scheduler norch.optim.swa_utils norch.autograd norch.autograd.functional norch.amp
norch.distributions norch.distributions.constraints norch.distributions.transforms norch.utils norch.utils.data
norch.utils.checkpoint norch.cuda norch.backends.cudnn norch.compiler norch.distributed norch.hub norch.jit
norch.multiprocessing norch.onnx norch.profiler norch.random
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
    """Whether pdoc, from a module that has a page, finds this one in the list of its parent."""
    parent, _, last = name.rpartition(".")
    listed = bool(parent) and last in getattr(importlib.import_module(parent), "__all__", ())
    return listed and (parent in MODULES or named_by_parent(parent))


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
        for listed in module.__all__:  # pdoc looks where names lie, and some load at their first use
            vars(module).setdefault(listed, getattr(module, listed))
    gather_methods(norch.Tensor)
    pdoc.doc.safe_eval_type = pdoc.doc_types.safe_eval_type = written
    pdoc.render.configure(docformat="google", footer_text=f"norch {norch.__version__}", search=True)
    inner = "|".join(name.replace(".", r"\.") for name in modules)
    pdoc.pdoc(*[name for name in modules if not named_by_parent(name)], f"!(?!({inner})$)", output_directory=target)
    print(f"reference: {target / 'index.html'}")


if __name__ == "__main__":
    main()
