"""The one way from Python to a kernel and back: operands go in as addresses, a result comes out with its node.

    result = wrap(lib.exp_tensor(x._ptr))           # call the kernel, own what it made
    if x._edge and mode.enabled:                    # x is part of a graph, and this thread records:
        record(result, ExpBackward(x), (x._edge,))  # remember how to differentiate the result

`recorded` is the same for any number of operands.
"""

from __future__ import annotations

import threading
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Callable, Sequence, TypeVar
from weakref import ref

from ._C import CPYTHON, Number, lib, number, raise_error, write_clock
from .given import to_floating, type_name

if TYPE_CHECKING:
    from .forward_declarations import Node

T = TypeVar("T")

# The class, which is built with this module: tensor.py puts it here. (The package's one slot that another file fills.)
Tensor: Any = None

# ---- Results ----------------------------------------------------------------------------------------------------


def wrap_as(kind: Any, ptr: int) -> Any:
    """A new C tensor's Handle as one of a class derived from Tensor; 0 raises what the C call left."""
    if not ptr:
        raise_error()
    result = object.__new__(kind)
    result._ptr = ptr
    result._edge = None
    return result


def wrap(ptr: int) -> Any:
    """The Tensor of a new C tensor's Handle; 0 raises what the C call left."""
    return wrap_as(Tensor, ptr)


def several(handles: Sequence[int]) -> tuple[Any, ...]:
    """The Tensors of a C function with several results; None for each that it left out. No handles raise its error."""
    return tuple([wrap(handle) if handle else None for handle in handles]) or raise_error()


if CPYTHON and not TYPE_CHECKING:
    wrap, several = lib.wrap_handle, lib.wrap_handles  # in C they take half as long, and every operation calls one


def check(status: int) -> None:
    """Raise what a C call left behind whose status is not 0."""
    if status != 0:
        raise_error()


def check_range(
    x: Tensor,
    low: float,
    high: float,
    message: str,
    kind: type[Exception] = RuntimeError,
    nan_fits: bool = False,
) -> None:
    """Raise an error if an element is outside of [low, high]: the message, with the element for {}.

    It waits for no device: on a GPU the error comes with a later call, as that of an index out of range does.
    """
    check(lib.expect_range(x._ptr, low, high, nan_fits, _KINDS[kind], message.encode()))


_KINDS = {ValueError: 1, IndexError: 3, RuntimeError: 4}  # ErrorKind in csrc/core/errors.h


def at_once(*calls: partial[Any]) -> None:
    """Make calls of C functions one after another, with no bytecode in between that an interrupt could come before.

    A status that is not 0 is the last: what that call left behind is raised.
    """
    if any(map(partial.__call__, calls)):
        raise_error()


def set_at_once(x: Any, **attributes: Any) -> None:
    """Set attributes of a tensor: neither an interrupt nor another thread finds a part of it."""
    at_once(*(partial(object.__setattr__, x, name, value) for name, value in attributes.items()))


def assigning(targets: Sequence[Any], values: Sequence[Any]) -> partial[int]:
    """A call that writes tensors into others like them, for `at_once`: all of them or, if one cannot be, none."""
    return partial(lib.assign_all, len(targets), *([x._ptr for x in xs] for xs in (targets, values)))


# ---- Operands ---------------------------------------------------------------------------------------------------


def operand(value: Any) -> Any:
    """A Tensor as it is, a Python number as a Number, an array as a tensor; NotImplemented for anything else."""
    kind = type(value)
    if kind is Tensor:
        return value
    if kind is float or kind is int:  # isinstance takes long to say no
        return number(value)
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, Number):  # which a node kept
        return value
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # a NumPy scalar
        return number(value.item())
    if hasattr(value, "__array_interface__"):
        array = Tensor._over(value)
        if array is None:
            return NotImplemented
        return array.clone() if mode.enabled else array  # a graph that kept it would not notice a change of the array
    return NotImplemented


def check_tensor(value: Any, name: str) -> Any:
    """Return a Tensor; raise TypeError for anything else."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}: expected a Tensor, got {type_name(value)}")
    return value


def check_floating(x: Any, name: str) -> Any:
    """Return x; raise RuntimeError if its dtype is not floating."""
    if not x.dtype.is_floating_point:
        raise RuntimeError(f"{name}: expected a floating dtype, got {x.dtype}{to_floating(x.dtype)}")
    return x


def check_kind(value: Any, kind: type[T], name: str) -> T:
    """Return an instance of a class; raise TypeError for anything else."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}: expected a {kind.__name__}, got {type(value).__name__}")
    return value


def check_operand(value: Any, name: str) -> Any:
    """Like `operand`, but raise TypeError if the value is neither a tensor nor a number."""
    kind = type(value)
    if kind is float or kind is int:  # most often
        return number(value)
    found = operand(value)
    if found is NotImplemented:
        if getattr(value, "is_sparse", False) is True and name in ("add", "sub", "add_", "sub_", "mul_"):
            return value.to_dense()
        raise TypeError(f"{name}: expected a Tensor or a number, got {type_name(value)}")
    return found


def address(tensor: Any) -> int | None:
    """The address of an optional operand; null for None."""
    return None if tensor is None else tensor._ptr


# ---- Recording --------------------------------------------------------------------------------------------------
#
# A tensor that takes part in a graph has an `_edge`: the node where its gradient goes. That is the Node of the
# operation that computed it, or, for a leaf, an AccumulateGrad. `record` notes four things on a new node:
#
#   edges    the `_edge` of each operand: the next nodes for backward, None if an operand needs no gradient
#   age      its number in the order of recording. An operand is older than the result, so backward takes the youngest
#            node first and then has all gradients of a node before it reaches it
#   stamp    the write clock at that moment. The clock ticks at every write in place, and each storage keeps the time
#            of its last write: if that is after the stamp, a saved value is no longer the value that was saved
#   result   a weak reference to the tensor. If it is still alive in backward, somebody can ask for its `.grad`


class _Mode(threading.local):
    enabled = True  # in every thread until it is switched off there (autograd/mode.py)
    inference = False  # whether an inference_mode switched it off
    autocast: dict[str, Any] = {}  # kind of device -> the dtype of 16 bits that it computes in (amp/mode.py)
    autocast_dtypes: dict[str, Any] = {}  # the same, whether it is on or not
    autocast_depth = 0  # how many contexts this thread is in
    autocast_cache: dict[Any, Any] | None = None  # converted parameters (autocasting.py); None: they are not kept
    recorder: Any = None  # what records this thread's launches, for norch.compile (recording/)
    anomaly: bool | None = None  # whether backward looks for NaN (autograd/anomaly_mode.py); None: it does not look
    # where the walk begins, and if it goes to some inputs alone the nodes that it visits (autograd/engine.py)
    walk: tuple[Any, set[Any] | None] = (None, None)

    hooks_of_saved: tuple[Callable[[Any], Any], Callable[[Any], Any]] | None = None  # (autograd/saved.py)
    saver: type | None = None  # the class of the node that keeps what a hook packs
    refuses_hooks_of_saved: str | None = None  # why a block refuses them
    rehearses = False  # a backward is recorded before its gradients are known: none may accumulate (recording/call.py)
    callbacks: list[Callable[[], object]] | None = None  # what to call when backward has ended (autograd/callbacks.py)

    def __init__(self) -> None:  # in each thread, which finds its own attributes faster
        self.enabled, self.autocast, self.recorder, self.anomaly = True, {}, None, None
        self.autocast_cache = {}


mode = _Mode()


class _Structure:
    version = 0  # ticks when a module, or what a tensor is, changes: programs then look whether they still fit


structure = _Structure()


def refuse_recording(why: str) -> None:
    """What happens now would not happen in a replay: a recording of this thread cannot become a program."""
    if mode.recorder is not None:
        lib.refuse_this_recording(why.encode())


def asked(x: Any) -> Any:
    """The tensor to answer for x when it is asked for what two arguments of one program may have otherwise."""
    return x if mode.recorder is None else mode.recorder.behind(x)


next_age = count(1).__next__


def recorded(result: Any, backward: Any, inputs: Sequence[Any], *parameters: Any) -> Any:
    """Make backward(*inputs, *parameters) the grad_fn of `result` if an input requires gradients; return `result`.

    Inputs that are no tensors have no edge. `backward` is None for an operation without a derivative. A result that was
    computed as a view, of memory that nobody else knows, is none.
    """
    if result._base is not None:
        own(result)
    for x in inputs:
        if getattr(x, "_edge", None) is not None:
            break
    else:  # most often: no graph
        return result
    if backward is not None and mode.enabled:
        record(result, backward(*inputs, *parameters), [getattr(x, "_edge", None) for x in inputs])
    return result


def own(result: Any) -> Any:
    """A result that was computed as a view of memory that nobody else knows, which makes it none; return it."""
    result._base, result._untracked = None, False
    return result


def computed(name: str, backward: Any, *values: Any) -> Any:
    """The result of a row of csrc/ops/operations.h, of tensors and numbers."""
    operands = [value if isinstance(value, Tensor) else check_operand(value, name) for value in values]
    return recorded(wrap(getattr(lib, f"{name}_tensor")(*[x._ptr for x in operands])), backward, operands)


def edge(x: Any) -> Node | None:
    """Where the gradient of an operand goes: a node, or None (numbers have no gradient)."""
    return x._edge if isinstance(x, Tensor) else None


def record(result: Any, node: Node, edges: Sequence[Any]) -> Any:
    """Make `node` the grad_fn of `result`, with the edges of the tensors it was computed from; return `result`."""
    node.edges = edges
    node.age = next_age()
    node.stamp = write_clock.value
    node.result = ref(result)
    if node.saves_output or not node.keeps_input:
        node.save(result)
    if mode.hooks_of_saved is not None:
        node.pack()
    result._edge = node
    return result
