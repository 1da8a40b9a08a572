"""Every public name has a docstring that says what it does and what it raises, and an example that runs.

Public are the names of the modules below, the methods and attributes of Tensor, and those of the other classes there.
Of a method or attribute of another class than Tensor a docstring is asked for, and the example of its class serves.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import random
import re
import types

import pytest

import norch

MODULES = """
norch norch.nn norch.nn.functional norch.nn.init norch.nn.utils norch.optim norch.optim.lr_scheduler norch.autograd
norch.utils norch.utils.data norch.cuda
""".split()
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules():
    """Those of MODULES that there are."""
    for name in MODULES:
        try:
            yield importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name not in MODULES:
                raise


def public(module):
    """The (name, value) pairs that a module offers: what is callable and norch's own."""
    for name in getattr(module, "__all__", None) or vars(module):
        value = getattr(module, name)
        home = getattr(value, "__module__", None) or "norch"
        ours = home.startswith("norch") and (module is norch or home != "norch._C")
        if (
            not name.startswith(("_", "check_"))
            and callable(value)
            and ours
            and not isinstance(value, types.ModuleType)
        ):
            yield f"{module.__name__}.{name}", value


def members(cls):
    """The (name, value) pairs of the public methods and attributes that norch defines for a class."""
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("norch"):
            for name, value in vars(base).items():
                value = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
                if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    yield f"{cls.__module__}.{cls.__qualname__}.{name}", value


NAMES = dict(pair for module in modules() for pair in public(module))
CLASSES = {value for value in NAMES.values() if inspect.isclass(value) and not issubclass(value, Exception)}
TENSOR = {name.replace("norch.tensor.", "norch."): value for name, value in members(norch.Tensor)}
MEMBERS = dict(pair for cls in CLASSES if cls is not norch.Tensor for pair in members(cls))
ILLUSTRATED = {**NAMES, **TENSOR}


def text_of(value):
    """The docstring, of a method or attribute that has none that of the one it overrides."""
    return (inspect.getdoc(value) or "").strip()


def inherited(name, value):
    """Whether a method without docstring overrides one with: forward(), inner_repr() and the like."""
    cls = next(cls for cls in CLASSES if f"{cls.__module__}.{cls.__qualname__}" == name.rpartition(".")[0])
    return any(
        text_of(vars(base).get(name.rpartition(".")[2])) for base in cls.__mro__[1:] if base.__module__ != "builtins"
    )


def test_every_name_says_what_it_does():
    silent = [name for name, value in ILLUSTRATED.items() if len(text_of(value).split(">>>")[0].split()) < 3]
    silent += [name for name, value in MEMBERS.items() if not text_of(value) and not inherited(name, value)]
    assert sorted(silent) == []


def test_every_name_has_an_example():
    """Exceptions and dtypes aside."""
    missing = [
        name
        for name, value in ILLUSTRATED.items()
        if ">>>" not in text_of(value) and not (inspect.isclass(value) and issubclass(value, Exception))
    ]
    assert sorted(missing) == []


def raised(value):
    """The errors that a function's own body raises."""
    function = value.fget if isinstance(value, property) else inspect.unwrap(value)
    if not inspect.isfunction(function):
        return set()
    return set(re.findall(r"raise (?:\w+\.)*(\w+Error)\b", inspect.getsource(function)))


def test_every_function_tells_its_errors():
    """By name, where it raises them itself; NotImplementedError is what an abstract method is."""
    untold = [
        f"{name}: {', '.join(sorted(raised(value)))}"
        for name, value in ILLUSTRATED.items()
        if raised(value) - {"NotImplementedError"} and not re.search(r"\bRaises\b|\w+Error", text_of(value))
    ]
    assert sorted(untold) == []


def examples():
    """Each docstring with an example, once, by the first name that has it."""
    texts: dict[str, str] = {}
    for name, value in {**ILLUSTRATED, **MEMBERS}.items():
        if ">>>" in text_of(value):
            texts.setdefault(text_of(value), name)
    return {name: text for text, name in texts.items()}


@pytest.mark.parametrize("name", examples())
def test_the_example_shows_what_happens(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random.seed(0)
    norch.manual_seed(0)
    names = {"norch": norch, "nn": norch.nn, "F": norch.nn.functional, "optim": norch.optim}
    test = doctest.DocTestParser().get_doctest(examples()[name], names, name, None, None)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)
