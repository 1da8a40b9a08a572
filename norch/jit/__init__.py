"""The names of PyTorch's compiler of scripts: norch runs the Python, so they give back what they are given."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Final, Generic, Iterator, NoReturn, TypeVar

from ..missing import missing
from ..nn.module import Module

__all__ = [
    "Attribute",
    "Final",
    "ScriptFunction",
    "ScriptModule",
    "TracerWarning",
    "annotate",
    "export",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "optimize_for_inference",
    "optimized_execution",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "trace",
    "trace_module",
    "unused",
    "wait",
]

T = TypeVar("T")
ScriptFunction = type(lambda: None)
isinstance = isinstance  # noqa: A001, PLW0127  (a name of this module in PyTorch)


class ScriptModule(Module):
    """The base class of old scripted modules: a Module. Others are no instances of it, which tools ask.

    >>> isinstance(nn.ReLU(), norch.jit.ScriptModule)
    False
    """


TracedModule = RecursiveScriptModule = ScriptModule


class TracerWarning(Warning):
    """What PyTorch's trace warns with, for scripts that silence it.

    >>> import warnings
    >>> warnings.filterwarnings("ignore", category=norch.jit.TracerWarning)
    """


def script(obj: T, *_: object, **__: object) -> T:
    """The module, function or class itself; also as a decorator.

    >>> @norch.jit.script
    ... def double(x):
    ...     return 2 * x
    >>> double(norch.ones(2))
    tensor([2., 2.])
    """
    return obj


def trace(func: T, example_inputs: Any = None, *_: object, **__: object) -> T:
    """The module or function itself. (PyTorch's trace would follow one path of its Python; norch runs it each time.)

    >>> norch.jit.trace(nn.Linear(2, 1), norch.ones(1, 2))(norch.ones(3, 2)).shape
    norch.Size([3, 1])
    """
    return func


def trace_module(mod: T, inputs: Any = None, *_: object, **__: object) -> T:
    """The module itself, as `trace`.

    >>> layer = nn.Linear(2, 1)
    >>> norch.jit.trace_module(layer, {"forward": norch.ones(1, 2)}) is layer
    True
    """
    return mod


def freeze(mod: Module, *_: object, **__: object) -> Module:
    """The module itself.

    >>> norch.jit.freeze(nn.ReLU()).training
    True
    """
    return mod


optimize_for_inference = freeze


def _unchanged(function: T) -> T:
    """The function itself, as a decorator.

    >>> @norch.jit.export
    ... def double(x):
    ...     return 2 * x
    >>> double(norch.ones(2))
    tensor([2., 2.])
    """
    return function


script_method = export = script_if_tracing = interface = _unchanged
_overload = _overload_method = _script_if_tracing = _unchanged


def ignore(drop: Any = False, **_: object) -> Any:
    """A decorator, with or without parentheses, that leaves a function as it is.

    >>> @norch.jit.ignore
    ... def name(x):
    ...     return "x"
    >>> name(1)
    'x'
    """
    return drop if callable(drop) else _unchanged


unused = ignore


def annotate(the_type: object, the_value: T) -> T:
    """The value; its type is for readers.

    >>> norch.jit.annotate(int, 3)
    3
    """
    return the_value


class Attribute(Generic[T]):
    """A value with a type, for readers: `.value` and `.type`.

    >>> norch.jit.Attribute(3, int).value
    3
    """

    def __init__(self, value: T, type: object) -> None:
        self.value, self.type = value, type


def is_scripting() -> bool:
    """Whether a script is being compiled: never.

    >>> norch.jit.is_scripting()
    False
    """
    return False


is_tracing = is_scripting


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A `with` block that changes nothing.

    >>> with norch.jit.optimized_execution(False):
    ...     x = norch.ones(2)
    """
    yield


def fork(func: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run the function at once; `wait` gives its result.

    >>> norch.jit.wait(norch.jit.fork(norch.exp, norch.zeros(1)))
    tensor([1.])
    """
    return func(*args, **kwargs)


def wait(future: T) -> T:
    """The result of `fork`.

    >>> norch.jit.wait(3)
    3
    """
    return future


def save(m: object, f: object, *_: object, **__: object) -> NoReturn:
    """Raise RuntimeError: norch has no compiled scripts to save.

    >>> norch.save(nn.Linear(2, 1), "model.norch")  # the way to save a whole module
    """
    raise RuntimeError("jit.save: norch compiles no scripts; save the module with norch.save(model, path)")


def load(f: object, *_: object, **__: object) -> NoReturn:
    """Raise RuntimeError: norch cannot run compiled scripts.

    >>> norch.save(nn.Linear(2, 1), "model.norch")
    >>> model = norch.load("model.norch", weights_only=False)
    """
    raise RuntimeError(
        "jit.load: norch compiles no scripts; a module saved with norch.save is loaded with "
        "norch.load(path, weights_only=False)"
    )


__getattr__ = missing("jit")
