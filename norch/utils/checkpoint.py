"""Checkpointing: a part of a model that keeps no intermediate results, and computes them again in backward."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Iterable, Sequence

from ..arguments import flags as _flags
from ..autograd.engine import backward
from ..autograd.function import Function
from ..autograd.mode import enable_grad, is_grad_enabled
from ..functions.generator import get_rng_state
from ..operation import edge as _edge
from ..operation import record as _record
from ..random import fork_rng, set_rng_state
from ..tensor import Tensor


class _Start(Function):
    """Where the part begins that is computed again: what is before it is reached only by a derivative of the walk."""

    keeps_input = False

    def backward(self, gradient: Tensor) -> Any:
        return [gradient] * len(self.edges)


class _Checkpoint(Function):
    """A call of a function, of which only the arguments are kept."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], kwargs: dict[str, Any], preserve: bool, *args: Any) -> Any:
        ctx.function, ctx.kwargs, ctx.args = function, kwargs, args
        ctx.state = get_rng_state() if preserve else None
        ctx.save_for_backward(*[x for x in args if isinstance(x, Tensor)])
        return function(*args, **kwargs)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        tensors = iter(ctx.saved_tensors)  # an error if one was changed
        targets, create_graph = ctx.edges[3:], is_grad_enabled()
        args = [next(tensors).detach() if isinstance(x, Tensor) else x for x in ctx.args]
        nodes = [None if target is None else _Start() for target in targets]
        for x, node in zip(args, nodes):
            if node is not None:
                _record(x, node, ())
        with enable_grad(), fork_rng(enabled=ctx.state is not None):
            if ctx.state is not None:
                set_rng_state(ctx.state)
            result = ctx.function(*args, **ctx.kwargs)
        if any(node is not None and _edge(x) is not node for x, node in zip(args, nodes)):
            raise RuntimeError("checkpoint: the function writes to an argument, which cannot be computed from again")
        results = result if isinstance(result, (tuple, list)) else (result,)
        pairs = [(y, g) for y, g in zip(results, gradients) if isinstance(y, Tensor) and y.requires_grad]
        backward([y for y, _ in pairs], [g for _, g in pairs], create_graph=create_graph)
        for node, target in zip(nodes, targets):
            if node is not None and create_graph:
                node.edges = (target,)
        return (None, None, None, *(node and node.grad for node in nodes))


@_flags
def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn: Any = None,
    determinism_check: str = "default",
    debug: bool = False,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, computed again in backward instead of keeping what its derivative needs.

    With `preserve_rng_state` it draws the same random numbers again. If no argument requires gradients, the function
    is called as always. Only `backward` may follow, not `autograd.grad`.

    >>> layer = nn.Linear(2, 1)
    >>> x = norch.ones(1, 2, requires_grad=True)
    >>> y = norch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
    >>> y.sum().backward()
    >>> layer.bias.grad
    tensor([1.])
    """
    if not any(isinstance(x, Tensor) and x.requires_grad for x in args):
        return function(*args, **kwargs)
    return _Checkpoint.apply(function, kwargs, preserve_rng_state, *args)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors of a tuple out of their graphs, still requiring gradients; what is no tensor as it is.

    >>> norch.utils.checkpoint.detach_variable((norch.ones(1, requires_grad=True) * 2, 3))
    (tensor([2.], requires_grad=True), 3)
    """
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs
    )


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The devices of the tensors among args, and the states of their generators, for `set_device_states`.

    norch has one generator for all devices, whose state `norch.get_rng_state` returns: both lists are empty.

    >>> norch.utils.checkpoint.get_device_states(norch.ones(1))
    ([], [])
    """
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Tensor]) -> None:
    """Put the generators of devices back to the states of `get_device_states`.

    >>> norch.utils.checkpoint.set_device_states(*norch.utils.checkpoint.get_device_states())
    """
    for state in states:
        set_rng_state(state)


def _run(steps: Sequence[Callable[..., Any]], x: Any) -> Any:
    for step in steps:
        x = step(x)
    return x


@_flags
def checkpoint_sequential(
    functions: Iterable[Callable[..., Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **options: Any,
) -> Any:
    """The functions one after another, in `segments` parts of about one length, all but the last checkpointed.

    Raises ValueError for fewer than 1 segment, and for more than there are functions.

    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> x = norch.ones(1, 2, requires_grad=True)
    >>> norch.utils.checkpoint.checkpoint_sequential(model, 2, x, use_reentrant=False).shape
    norch.Size([1, 1])
    """
    steps = list(functions)
    if not 1 <= segments <= max(len(steps), 1):
        raise ValueError(f"checkpoint_sequential: {segments} segments of {len(steps)} functions")
    size = len(steps) // segments
    for i in range(segments - 1):
        part = partial(_run, steps[i * size : (i + 1) * size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, **options)
    return _run(steps[(segments - 1) * size :], input)
