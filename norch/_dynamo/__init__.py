"""The compiler that PyTorch's `torch.compile` has and norch has not: its settings change nothing.

>>> norch._dynamo.config.suppress_errors = True
"""

from __future__ import annotations

from typing import Any, Callable

from ..compiler import allow_in_graph, assume_constant_result, compile, disable, is_compiling, reset
from ..missing import missing
from ..recording.module import CompiledModule as OptimizedModule
from . import config


def optimize(backend: Any = None, **_: Any) -> Callable[[Any], Any]:
    """PyTorch's older name for `norch.compile`, as a decorator.

    >>> norch._dynamo.optimize("inductor")(norch.exp)(norch.zeros(1))
    tensor([1.])
    """
    return compile()


def graph_break() -> None:
    """Do nothing.

    >>> norch._dynamo.graph_break()
    """


def mark_dynamic(t: Any, index: Any, **_: Any) -> None:
    """Do nothing: a program is recorded for each shape.

    >>> norch._dynamo.mark_dynamic(norch.ones(3), 0)
    """


mark_static = maybe_mark_dynamic = mark_dynamic


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Do nothing: a program asks for the addresses of its arguments at each call.

    >>> norch._dynamo.mark_static_address(norch.ones(3))
    """


__getattr__ = missing("_dynamo")
