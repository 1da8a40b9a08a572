"""`norch.compile`: norch runs the Python, so a compiled module or function is itself."""

from __future__ import annotations

from typing import Any, Callable, TypeVar, overload

from .arguments import flags as _flags

F = TypeVar("F", bound=Callable[..., Any])


@overload
def compile(model: F, **options: Any) -> F: ...
@overload
def compile(model: None = None, **options: Any) -> Callable[[F], F]: ...


def compile(model: Any = None, **options: Any) -> Any:
    """The module or function itself; with options alone, a decorator. The options are PyTorch's and change nothing.

    Raises TypeError for an option that PyTorch does not have.

    >>> layer = nn.Linear(2, 1)
    >>> norch.compile(layer, mode="reduce-overhead") is layer
    True
    """
    unknown = options.keys() - {"fullgraph", "dynamic", "backend", "mode", "options", "disable"}
    if unknown:
        raise TypeError(f"compile() got an unexpected keyword argument {sorted(unknown)[0]!r}")
    return (lambda function: function) if model is None else model


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
    """Whether a module is being compiled: never.

    >>> norch.compiler.is_compiling()
    False
    """
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset() -> None:
    """Do nothing: nothing compiled is kept.

    >>> norch.compiler.reset()
    """


def cudagraph_mark_step_begin() -> None:
    """Do nothing: norch records no graphs of CUDA.

    >>> norch.compiler.cudagraph_mark_step_begin()
    """
