"""Checkpointing: a part of a model that keeps no intermediate results, and computes them again in backward.

With `use_reentrant=False` the nodes of the part keep, in the place of each tensor, its number. The first that backward
asks for runs the part again, which fills in all of them. Otherwise the part is one node, whose rule is a backward of
its own.
"""

from __future__ import annotations

import enum
from contextlib import nullcontext
from functools import partial
from typing import Any, Callable, ContextManager, Iterable, Sequence

from .._C import lib as _lib
from ..arguments import flags as _flags
from ..autograd.engine import backward
from ..autograd.engine import refuse_rehearsal as _refuse_rehearsal
from ..autograd.function import Function
from ..autograd.function import SavedTensor as _SavedTensor
from ..autograd.graph import saved_tensors_hooks as _hooks
from ..autograd.mode import enable_grad, is_grad_enabled
from ..autograd.node import Node as _Node
from ..functions.generator import get_rng_state
from ..given import warn as _warn
from ..guards import Guard as _Guard
from ..operation import edge as _edge
from ..operation import mode as _mode
from ..operation import record as _record
from ..random import fork_rng, set_rng_state
from ..tensor import Tensor
from ..types import shown as _shown

Contexts = Callable[[], "tuple[ContextManager[Any], ContextManager[Any]]"]


class CheckpointError(RuntimeError):
    """Backward computed a part again, and it was another than in forward."""


class _Stop(Exception):
    """All that backward needs has been computed again."""


class _Settings:
    def __init__(self) -> None:
        self.early_stop: bool | None = None  # what `set_checkpoint_early_stop` says, for all


_settings = _Settings()


def noop_context_fn() -> tuple[ContextManager[Any], ContextManager[Any]]:
    """The contexts of forward and of the second run that change nothing.

    >>> len(norch.utils.checkpoint.noop_context_fn())
    2
    """
    return nullcontext(), nullcontext()


class CheckpointPolicy(enum.Enum):
    """What a policy of PyTorch's selective checkpoints may say of an operation.

    >>> norch.utils.checkpoint.CheckpointPolicy.MUST_SAVE.value
    0
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


def create_selective_checkpoint_contexts(
    policy_fn_or_list: object, allow_cache_entry_mutation: bool = False
) -> tuple[ContextManager[Any], ContextManager[Any]]:
    """The contexts of a checkpoint that saves what a policy names: in norch it computes everything again.

    The numbers are the same. (An operation asks nobody before it runs, so the policy is not called.)

    >>> len(norch.utils.checkpoint.create_selective_checkpoint_contexts([]))
    2
    """
    return noop_context_fn()


def set_checkpoint_early_stop(enable: bool) -> _Guard:
    """A `with` block whose checkpoints stop the second run at the last value that backward needs, or never do.

    >>> with norch.utils.checkpoint.set_checkpoint_early_stop(False):
    ...     y = norch.utils.checkpoint.checkpoint(norch.exp, norch.zeros(1), use_reentrant=False)
    """
    return _Guard((_settings, {"early_stop": enable}))


# ---- The part as its nodes ------------------------------------------------------------------------------------------


def _kind_of(x: Tensor) -> tuple[Any, ...]:
    return tuple(x.shape), x.dtype, x.device, getattr(_mode.saver, "__name__", "")


class _Part:
    """One call of a function, and the kinds of the tensors that its nodes would keep."""

    def __init__(
        self, function: Callable[..., Any], args: Any, kwargs: dict[str, Any], preserve: bool, early_stop: bool
    ) -> None:
        self.function = function
        self.early_stop = early_stop if _settings.early_stop is None else _settings.early_stop
        self.args = [_Argument(x) if isinstance(x, Tensor) else x for x in args]
        self.kwargs = {k: _Argument(x) if isinstance(x, Tensor) else x for k, x in kwargs.items()}
        self.state = get_rng_state() if preserve else None
        self.modes = {"enabled": True, "autocast": _mode.autocast, "autocast_cache": {}}
        self.kinds: list[tuple[Any, ...]] = []
        self.found: dict[int, Tensor] = {}
        self.ended = False  # whether the first run has: a backward in it may need the second
        self.written = False  # whether the function changed an argument

    def run(self, args: Any, kwargs: dict[str, Any], contexts: Contexts, check: str) -> Any:
        """The function's result, whose nodes keep numbers."""
        forward, self.context = contexts()
        self.check = check
        with _hooks(self.note, self.tensor), forward:
            result = self.function(*args, **kwargs)
        self.ended = True
        self.written = any(isinstance(x, _Argument) and x.is_written() for x in [*self.args, *self.kwargs.values()])
        return result

    def note(self, x: Tensor) -> int:
        """The number of a tensor that a node would keep."""
        self.kinds.append(_kind_of(x))
        return len(self.kinds) - 1

    def tensor(self, number: int) -> Tensor:
        """The tensor of a number, once: asked again, it is computed again."""
        if number not in self.found:
            self._run_again()
        return self.found.pop(number)

    def _run_again(self) -> None:
        if self.written:
            raise RuntimeError("checkpoint: the function writes to an argument, which cannot be computed from again")
        kinds: list[tuple[Any, ...]] = []

        def keep(x: Tensor) -> Tensor:
            stops = self.early_stop or not self.ended
            if len(kinds) == len(self.kinds):
                if stops:  # a write that was stopped packs once more, as it must not be left half done
                    raise _Stop
                raise CheckpointError(
                    "checkpoint: the function saves more tensors when it is computed again than the "
                    f"{len(kinds)} of forward"
                )
            kept = self.found[len(kinds)] = x.detach()
            kinds.append(_kind_of(x))
            if stops and len(kinds) == len(self.kinds):
                raise _Stop
            return kept

        args = [_again(x) for x in self.args]
        kwargs = {k: _again(x) for k, x in self.kwargs.items()}
        try:
            with _Guard((_mode, self.modes)), fork_rng(enabled=self.state is not None), self.context:
                if self.state is not None:
                    set_rng_state(self.state)
                with _hooks(keep, lambda x: x):
                    self.function(*args, **kwargs)
        except _Stop:
            pass
        self._compare(kinds)

    def _compare(self, kinds: list[tuple[Any, ...]]) -> None:
        """Raise CheckpointError if the second run saved other tensors than the first."""
        if len(kinds) != len(self.kinds):
            raise CheckpointError(
                "checkpoint: A different number of tensors was saved during the original forward and recomputation: "
                f"{len(self.kinds)} and {len(kinds)}"
            )
        differing = [i for i, (kind, before) in enumerate(zip(kinds, self.kinds)) if kind != before]
        if differing and self.check != "none":
            lines = [f"tensor at position {i}: saved {self.kinds[i]}, recomputed {kinds[i]}" for i in differing]
            raise CheckpointError(
                "checkpoint: Recomputed values for the following tensors have different metadata than during the "
                "forward pass.\n" + "\n".join(lines)
            )


class _Argument(_SavedTensor):
    def __init__(self, tensor: Tensor) -> None:
        super().__init__(tensor, None)
        self.requires_grad = tensor.requires_grad

    def is_written(self) -> bool:
        """Whether it was changed; of one that other hooks packed nobody knows."""
        return isinstance(self.value, Tensor) and _lib.written_at(self.value._ptr) > self.stamp

    def again(self) -> Tensor:
        """The argument, in its graph, for the second run. Raises RuntimeError if it was changed since."""
        x = self.tensor("checkpoint")
        return x if x.requires_grad == self.requires_grad else x.detach().requires_grad_(self.requires_grad)


def _again(x: Any) -> Any:
    return x.again() if isinstance(x, _Argument) else x


# ---- The part as one node -------------------------------------------------------------------------------------------


class _Start(_Node):
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
        _refuse_rehearsal()  # before the function moves a statistic
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
    context_fn: Contexts = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, computed again in backward instead of keeping what its derivative needs.

    With `preserve_rng_state` it draws the same random numbers again. With `use_reentrant=False` the two runs go within
    the contexts that `context_fn` returns, and a CheckpointError says if the second saves other tensors for backward
    than the first: in number, or, unless `determinism_check` is "none", in shape, dtype and device. (A program of
    `norch.compile` computes once, and keeps the values, which nobody may write to before backward.) Otherwise only
    `backward` may follow, not `autograd.grad`, and a function whose arguments need no gradients is called as always.

    >>> layer = nn.Linear(2, 1)
    >>> x = norch.ones(1, 2, requires_grad=True)
    >>> y = norch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
    >>> y.sum().backward()
    >>> layer.bias.grad
    tensor([1.])
    """
    if determinism_check not in ("default", "none"):
        raise ValueError(f"checkpoint: determinism_check is {_shown(determinism_check)}, expected 'default' or 'none'")
    if use_reentrant is False:
        if not is_grad_enabled():
            return function(*args, **kwargs)
        if _mode.recorder is not None:  # a program keeps what its backward needs
            with context_fn()[0]:
                return function(*args, **kwargs)
        part = _Part(function, args, kwargs, preserve_rng_state, early_stop)
        return part.run(args, kwargs, context_fn, determinism_check)
    if not any(isinstance(x, Tensor) and x.requires_grad for x in args):
        return function(*args, **kwargs)
    return _Checkpoint.apply(function, kwargs, preserve_rng_state, *args)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if none of the inputs requires gradients.

    >>> norch.utils.checkpoint.check_backward_validity([norch.ones(1, requires_grad=True)])
    """
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        _warn("None of the inputs have requires_grad=True. Gradients will be None")


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors of a tuple out of their graphs, still requiring gradients; what is no tensor as it is.

    >>> norch.utils.checkpoint.detach_variable((norch.ones(1, requires_grad=True) * 2, 3))
    (tensor([2.], requires_grad=True), 3)
    """
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs)


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
