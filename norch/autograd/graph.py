"""The nodes of the graph, and what PyTorch may do with the values that they keep: norch keeps them where they are."""

from __future__ import annotations

from typing import Any, Callable, NoReturn

from ..guards import Guard
from .function import Function as Node

__all__ = ["Node", "save_on_cpu", "saved_tensors_hooks"]


def save_on_cpu(pin_memory: bool = False, device_type: str = "cuda") -> Guard:
    """A `with` block in which PyTorch keeps saved values on the CPU; norch keeps them on their device.

    >>> with norch.autograd.graph.save_on_cpu():
    ...     norch.ones(1, requires_grad=True).exp().backward()
    """
    return Guard()


def saved_tensors_hooks(pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> NoReturn:
    """Raise RuntimeError: saved values are not packed. `utils.checkpoint` saves memory by computing them again.

    >>> norch.utils.checkpoint.checkpoint(norch.exp, norch.zeros(1), use_reentrant=False)
    tensor([1.])
    """
    raise RuntimeError(
        "norch has no hooks of saved tensors: norch.utils.checkpoint computes them again, to save memory"
    )
