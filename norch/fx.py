"""Graph capture, which norch has not; scripts that mark functions for it run all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from .nn.module import Module

T = TypeVar("T")

__all__ = ["GraphModule", "Proxy", "wrap"]


class GraphModule(Module):
    """What PyTorch's tracer makes of a module. norch has no tracer, so no module is one.

    >>> isinstance(nn.Linear(1, 1), norch.fx.GraphModule)
    False
    """

    def __init__(self, root: Any, graph: Any, class_name: str = "GraphModule") -> None:
        raise NotImplementedError("GraphModule: norch runs the Python: it has no graph capture")


class Proxy:
    """What PyTorch's tracer passes in place of a value. norch has no tracer, so no value is one.

    >>> isinstance(norch.ones(2), norch.fx.Proxy)
    False
    """


def wrap(fn_or_name: T) -> T:
    """The function itself: PyTorch marks it as one that its tracer does not enter.

    >>> norch.fx.wrap(abs)(-1)
    1
    """
    return fn_or_name


if not TYPE_CHECKING:  # (a checker knows what is missing)
    from .missing import missing as _missing

    __getattr__ = _missing("fx")
