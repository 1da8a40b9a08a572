"""Questions about tensors and other objects, as functions, and settings of the whole process."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ..arguments import flags
from ..devices import set_default_device
from ..methods.storage import Storage
from ..operation import check_range, check_tensor
from ..sparse.coo import SparseTensor
from ..tensor import Tensor
from ..tensor_types import type_of
from ..types import shown
from .promotion import set_default_dtype

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_device",
    "get_float32_matmul_precision",
    "is_complex",
    "is_conj",
    "is_neg",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_floating_point",
    "is_inference",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_storage",
    "is_tensor",
    "is_warn_always_enabled",
    "numel",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_warn_always",
    "typename",
    "use_deterministic_algorithms",
]


def is_tensor(obj: object) -> TypeGuard[Tensor]:
    """Whether an object is a tensor.

    >>> norch.is_tensor(norch.ones(2)), norch.is_tensor([1.0, 1.0])
    (True, False)
    """
    return isinstance(obj, (Tensor, SparseTensor))


def is_storage(obj: object) -> TypeGuard[Storage]:
    """Whether an object is the storage of a tensor.

    >>> norch.is_storage(norch.ones(2).storage())
    True
    """
    return isinstance(obj, Storage)


def numel(input: Tensor) -> int:
    """The number of elements.

    >>> norch.numel(norch.ones(2, 3))
    6
    """
    return check_tensor(input, "numel").numel()


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating one.

    >>> norch.is_floating_point(norch.ones(2))
    True
    """
    return check_tensor(input, "is_floating_point").is_floating_point()


def is_conj(input: Tensor) -> bool:
    """Whether the elements are to be conjugated when they are read: they never are.

    >>> norch.is_conj(norch.ones(2))
    False
    """
    return check_tensor(input, "is_conj").is_conj()


def is_neg(input: Tensor) -> bool:
    """Whether the elements are to be negated when they are read: they never are.

    >>> norch.is_neg(norch.ones(2))
    False
    """
    return check_tensor(input, "is_neg").is_neg()


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex: norch has no such dtype.

    >>> norch.is_complex(norch.ones(2))
    False
    """
    return check_tensor(input, "is_complex").is_complex()


def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers.

    >>> norch.is_signed(norch.ones(2))
    True
    """
    return check_tensor(input, "is_signed").is_signed()


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not zero. Raises RuntimeError for a tensor of no element or several.

    >>> norch.is_nonzero(norch.tensor([0.0]))
    False
    """
    return check_tensor(input, "is_nonzero").is_nonzero()


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape.

    >>> norch.is_same_size(norch.ones(2), norch.zeros(2))
    True
    """
    return check_tensor(input, "is_same_size").is_same_size(other)


def is_inference(input: Tensor) -> bool:
    """Whether the tensor may not enter a graph: in norch every tensor may.

    >>> norch.is_inference(norch.ones(2))
    False
    """
    return check_tensor(input, "is_inference").is_inference()


def get_device(input: Tensor) -> int:
    """The index of the tensor's CUDA device; -1 on the CPU.

    >>> norch.get_device(norch.ones(2))
    -1
    """
    return check_tensor(input, "get_device").get_device()


def typename(obj: Any, /) -> str:
    """The name of a tensor's type, or an object's class with its module.

    >>> norch.typename(norch.ones(2)), norch.typename(norch.nn.Linear(2, 1))
    ('torch.FloatTensor', 'norch.nn.modules.linear.Linear')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    return kind.__qualname__ if kind.__module__ in ("", "builtins", None) else f"{kind.__module__}.{kind.__qualname__}"


# ---- Settings: those that choose among ways of computing, of which norch has one, are kept and change nothing ------


class _Settings:
    deterministic = False
    warn_only = False
    precision = "highest"
    warn_always = False


_settings = _Settings()


@flags
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same results in every run: norch's operations give them already, with one seed and device.

    >>> norch.use_deterministic_algorithms(True)
    >>> norch.are_deterministic_algorithms_enabled()
    True
    >>> norch.use_deterministic_algorithms(False)
    """
    _settings.deterministic, _settings.warn_only = bool(mode), bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was given.

    >>> norch.are_deterministic_algorithms_enabled()
    False
    """
    return _settings.deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What `use_deterministic_algorithms` was given as `warn_only`.

    >>> norch.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _settings.warn_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """0 or "default", 1 or "warn", 2 or "error": other words for `use_deterministic_algorithms`.

    Raises RuntimeError for anything else.

    >>> norch.set_deterministic_debug_mode("default")
    """
    modes: dict[int | str, int] = {"default": 0, "warn": 1, "error": 2, 0: 0, 1: 1, 2: 2}
    if debug_mode not in modes:
        raise RuntimeError(
            f"set_deterministic_debug_mode: expected 0 to 2, default, warn or error, got {shown(debug_mode)}"
        )
    use_deterministic_algorithms(modes[debug_mode] > 0, warn_only=modes[debug_mode] == 1)


def set_float32_matmul_precision(precision: str) -> None:
    """ "highest", "high" or "medium": norch multiplies float32 in float32 always, which all of them allow.

    Raises ValueError for another word.

    >>> norch.set_float32_matmul_precision("high")
    >>> norch.get_float32_matmul_precision()
    'high'
    >>> norch.set_float32_matmul_precision("highest")
    """
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"set_float32_matmul_precision: expected highest, high or medium, got {shown(precision)}")
    _settings.precision = precision


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was given.

    >>> norch.get_float32_matmul_precision()
    'highest'
    """
    return _settings.precision


@flags
def set_flush_denormal(mode: bool) -> bool:
    """Whether numbers near 0 become 0 is left to the processor: always returns False, "not supported".

    >>> norch.set_flush_denormal(True)
    False
    """
    return False


@flags
def set_warn_always(b: bool) -> None:
    """Show every warning each time, or (as at first) once from each place.

    >>> norch.set_warn_always(False)
    """
    if b != _settings.warn_always:
        _settings.warn_always = bool(b)
        warnings.filterwarnings("always" if b else "default", module="norch")


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was given.

    >>> norch.is_warn_always_enabled()
    False
    """
    return _settings.warn_always


def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError with the message if the condition does not hold: `norch._assert`, as models of images do."""
    if not condition:
        raise AssertionError(message)


def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Raise RuntimeError if a tensor of one element is 0; on a GPU with a later call."""
    if input.numel() != 1:
        many = "more than one value" if input.numel() else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
    check_range(input != 0, 1, 1, assert_msg or "Expected Tensor with single nonzero value, but got zero")


def _check(cond: Any, message: Any = None) -> None:
    """Raise RuntimeError, with what the function `message` returns, if the condition does not hold."""
    if not cond:
        raise RuntimeError("Expected cond to be True, but got False" if message is None else str(message()))


def set_default_tensor_type(t: object) -> None:
    """Let new tensors of floats have the dtype of a type such as norch.DoubleTensor, given itself or by name.

    One of CUDA also makes "cuda" the default device. Raises ValueError for what names no type, TypeError for integers.

    >>> norch.set_default_tensor_type("torch.DoubleTensor")
    >>> norch.ones(1).dtype
    norch.float64
    >>> norch.set_default_tensor_type(norch.FloatTensor)
    """
    kind, device = type_of(t)
    set_default_dtype(kind)
    set_default_device(device)
