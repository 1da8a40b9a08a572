"""The nodes of the graph, and hooks that pack the values which they keep for backward."""

from __future__ import annotations

from typing import Any, Callable

from ..guards import Guard
from ..operation import mode, refuse_recording
from .function import Function as Node

__all__ = ["Node", "disable_saved_tensors_hooks", "save_on_cpu", "saved_tensors_hooks"]


class saved_tensors_hooks(Guard):
    """In the `with` block, what operations keep for backward is `pack_hook(tensor)`; `unpack_hook` makes it a tensor.

    Of nested blocks the inner one counts. norch may keep other tensors than PyTorch does.

    >>> x = norch.ones(2, requires_grad=True)
    >>> with norch.autograd.graph.saved_tensors_hooks(lambda x: x.half(), lambda x: x.float()):
    ...     y = (x * 3).exp()
    >>> y.sum().backward()
    >>> x.grad
    tensor([60.2812, 60.2812])
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        super().__init__((mode, {"hooks_of_saved": (pack_hook, unpack_hook)}))
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> Any:
        """Raises RuntimeError inside of `disable_saved_tensors_hooks`."""
        if mode.refuses_hooks_of_saved is not None:
            raise RuntimeError(mode.refuses_hooks_of_saved)
        refuse_recording("saved tensors were packed by hooks")
        return super().__enter__()


class save_on_cpu(saved_tensors_hooks):
    """In the `with` block, what operations keep for backward is kept on the CPU, and goes back to its device for it.

    >>> with norch.autograd.graph.save_on_cpu():
    ...     norch.ones(1, requires_grad=True).exp().backward()
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(
            lambda x: (x.device, x.cpu().pin_memory() if pin_memory else x.cpu()),
            lambda packed: packed[1].to(packed[0], non_blocking=pin_memory),
        )


def disable_saved_tensors_hooks(error_message: str) -> Guard:
    """A `with` block in which `saved_tensors_hooks` raise a RuntimeError with this message.

    >>> with norch.autograd.graph.disable_saved_tensors_hooks("not here"):
    ...     y = norch.ones(1, requires_grad=True).exp()
    """
    return Guard((mode, {"refuses_hooks_of_saved": error_message}))
