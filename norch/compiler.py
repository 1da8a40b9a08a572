"""`norch.compile`: a function is recorded once and replayed from C (recording/ has the parts)."""

from __future__ import annotations

from functools import partial as _partial
from typing import Any, Callable, TypeVar, overload

from .arguments import flag as _flag
from .arguments import flags as _flags
from .nn.module import Module as _Module
from .operation import mode as _mode
from .recording.function import CompiledFunction as _CompiledFunction
from .recording.function import compiled_functions as _compiled_functions
from .recording.module import CompiledModule as _CompiledModule
from .types import shown as _shown

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = {  # PyTorch's, which change nothing here: what each takes beside None
    "dynamic": ("True or False", lambda x: isinstance(x, bool)),
    "backend": ("a str or a function", lambda x: isinstance(x, str) or callable(x)),
    "mode": ("a str", lambda x: isinstance(x, str)),
    "options": ("a dict", lambda x: isinstance(x, dict)),
}


@overload
def compile(model: F, **options: Any) -> F: ...
@overload
def compile(model: None = None, **options: Any) -> Callable[[F], F]: ...


def compile(model: Any = None, *, fullgraph: bool = False, **options: Any) -> Any:
    """A function, or a module, whose calls replay from C what an earlier call did; with options alone, a decorator.

    The first call of each form of arguments runs plainly, the second and third are recorded; if both did the same,
    later calls replay. If they did not, two more are recorded, as first calls may do more than those after them. What
    cannot be replayed stays as it is, with a warning that names the line; with `fullgraph` a RuntimeError. `programs`
    are what replays. The other options are PyTorch's and change nothing. Raises TypeError for an option that PyTorch
    does not have or of another type, and for what is not callable.

    >>> @norch.compile
    ... def double(x):
    ...     return 2 * x
    >>> for _ in range(4):
    ...     y = double(norch.ones(2))
    >>> y, len(double.programs)
    (tensor([2., 2.]), 1)
    """
    fullgraph = _flag(fullgraph, "compile: fullgraph")
    disabled = _flag(options.pop("disable", False), "compile: disable")
    for name, value in options.items():
        if name not in _OPTIONS:
            raise TypeError(f"compile() got an unexpected keyword argument {_shown(name)}")
        expected, fits = _OPTIONS[name]
        if value is not None and not fits(value):
            raise TypeError(f"compile: {name}: expected {expected}, got {_shown(value)}")
    if model is None:
        return _partial(compile, fullgraph=fullgraph, disable=disabled)
    if disabled:
        return model
    if isinstance(model, _Module):
        return _CompiledModule(model, fullgraph)
    if isinstance(model, type) or not callable(model):
        raise TypeError(f"compile: expected a function or a module, got {_shown(model)}")
    return _CompiledFunction(model, fullgraph)


@_flags
def disable(fn: Any = None, recursive: bool = True, **_: object) -> Any:
    """A decorator, with or without parentheses, that leaves a function as it is.

    >>> @norch.compiler.disable
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """
    return (lambda function: function) if fn is None else fn


allow_in_graph = assume_constant_result = disable


def is_compiling() -> bool:
    """Whether this thread records a function for `norch.compile`.

    >>> norch.compiler.is_compiling()
    False
    """
    return _mode.recorder is not None


is_dynamo_compiling = is_exporting = is_compiling


def reset() -> None:
    """Forget all programs: what is compiled begins anew.

    >>> norch.compiler.reset()
    """
    for function in list(_compiled_functions):
        function.reset()


def cudagraph_mark_step_begin() -> None:
    """Do nothing: results of a program are tensors of their own, which the next call does not overwrite.

    >>> norch.compiler.cudagraph_mark_step_begin()
    """
