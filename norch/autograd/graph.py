"""The nodes of the graph, and hooks that pack the values which they keep for backward."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Iterable, Literal, Sequence
from weakref import WeakSet

from .. import operation
from .._C import lib
from ..guards import Guard
from ..operation import check_tensor, refuse_recording
from .engine import visited
from .hooks import HookHandle
from .node import GradientEdge, Node

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip


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
        super().__init__((operation.mode, {"hooks_of_saved": (pack_hook, unpack_hook)}))
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> Any:
        """Raises RuntimeError inside of `disable_saved_tensors_hooks`."""
        if operation.mode.refuses_hooks_of_saved is not None:
            raise RuntimeError(operation.mode.refuses_hooks_of_saved)
        refuse_recording("saved tensors were packed by hooks")
        return super().__enter__()


def allow_mutation_on_saved_tensors() -> saved_tensors_hooks:
    """A `with` block whose operations keep copies for backward, so that writes in place after them are allowed.

    (PyTorch copies a tensor when it is written to, norch when it is kept.)

    >>> x = norch.ones(2, requires_grad=True)
    >>> y = x * 3
    >>> with norch.autograd.graph.allow_mutation_on_saved_tensors():
    ...     z = y.square()
    ...     y.zero_()
    ...     z.sum().backward()
    tensor([0., 0.], grad_fn=<ZeroBackward>)
    >>> x.grad
    tensor([18., 18.])
    """
    return saved_tensors_hooks(lambda x: x.detach().clone(), lambda x: x)


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
    return Guard((operation.mode, {"refuses_hooks_of_saved": error_message}))


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place in the graph where the gradient of a tensor arrives; `autograd.grad` and `backward` take it for one.

    Raises RuntimeError for a tensor that requires no gradient.

    >>> x = norch.ones(2, requires_grad=True)
    >>> y = 2 * x
    >>> edge = norch.autograd.graph.get_gradient_edge(y)
    >>> norch.autograd.grad(y.sum(), edge)
    (tensor([1., 1.]),)
    """
    node = check_tensor(tensor, "get_gradient_edge")._edge
    if node is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(node)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Note that a tensor was written in place by something that norch does not know of; or each of several.

    >>> x = norch.ones(2)
    >>> norch.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    for x in [tensor] if isinstance(tensor, operation.Tensor) else tensor:
        lib.mark_as_written(check_tensor(x, "increment_version")._ptr)


class _Handles(HookHandle):
    """The handle of several hooks."""

    def __init__(self, handles: Sequence[HookHandle]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> Any:
        return self.handles

    def __setstate__(self, state: Any) -> None:
        self.handles = state


class _Gathered:
    """What the hooks of several tensors have seen of the walk that runs."""

    def __init__(self, nodes: Sequence[Node], fn: Callable[[Any], object], waits: bool) -> None:
        self.nodes, self.fn, self.waits = nodes, fn, waits
        self.walk: Any = None  # what tells it from other walks
        self.gradients: list[Any] = []
        self.missing = 0
        if Node.gathering is None:
            Node.gathering = WeakSet()
        Node.gathering.add(self)

    def hook(self, index: int, gradient: Tensor) -> None:
        """The hook of one tensor, which calls `fn` if it is the last, or the first, to get its gradient."""
        is_first = operation.mode.walk is not self.walk
        if is_first:
            self.walk, self.gradients = operation.mode.walk, [None] * len(self.nodes)
            reached = visited()
            self.missing = sum(node in reached for node in self.nodes)
        self.gradients[index] = gradient
        self.missing -= 1
        gradients, is_last = self.gradients, self.missing == 0
        if is_last:
            self.walk, self.gradients = None, []
        if is_last if self.waits else is_first:
            self.fn(gradients if self.waits else gradient)


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Any], object], *, mode: Literal["all", "any"] = "all"
) -> HookHandle:
    """Call `fn(gradients)` in backward when the gradients of all `tensors` are known: None for those without one.

    A tensor that this backward does not reach is not waited for. With `mode="any"`, `fn` gets the first gradient.
    Raises RuntimeError for a tensor that requires no gradient, ValueError for another mode.

    >>> a, b = norch.ones(1, requires_grad=True), norch.ones(1, requires_grad=True)
    >>> handle = norch.autograd.graph.register_multi_grad_hook([a, b], print)
    >>> (2 * a + 3 * b).backward()
    [tensor([2.]), tensor([3.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    waits = mode == "all"
    chosen = [x for x in tensors if waits or x.requires_grad]
    gathered = _Gathered([get_gradient_edge(x).node for x in chosen], fn, waits)
    return _Handles([x.register_hook(partial(gathered.hook, i)) for i, x in enumerate(chosen)])
