"""The methods that a row of csrc/ops/operations.h becomes: tensor.py makes them by `unary` and `binary`, a line each.

`unary("exp", ExpBackward, ...)` makes `exp` and `exp_` of the C functions `exp_tensor` and `exp_into`; `binary` makes
an operator, its reflected and in-place forms, and the named methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, TypeVar

from .. import operation
from .._C import Number, ShapeError, lib
from ..autograd.in_place import write
from ..docstrings import documentation
from ..functions.promotion import can_cast
from ..operation import check_operand, edge, mode, operand, record, wrap
from ..types import Operand

if TYPE_CHECKING:
    from typing import ParamSpec

    from ..autograd.node import Node
    from ..forward_declarations import Tensor

    Unary = Callable[[Tensor], Tensor]
    Binary = Callable[[Tensor, Operand], Tensor]
    P = ParamSpec("P")

Method = TypeVar("Method", "Unary", "Binary")


def unary(name: str, backward: type[Node] | None, doc: str) -> tuple[Unary, Unary]:
    """The methods `name()` and `name_()` of a unary operation; `backward` is None if it has no derivative."""
    function, into = getattr(lib, f"{name}_tensor"), getattr(lib, f"{name}_into")

    def method(self: Tensor) -> Tensor:
        result = wrap(function(self._ptr))
        if self._edge and backward and mode.enabled:
            record(result, backward(self), (self._edge,))
        return result

    def method_(self: Tensor) -> Tensor:
        return write(self, backward, (), into, self._ptr, self._ptr)

    return _documented(method, name, doc, 1), _documented(method_, f"{name}_", doc, 1)


def binary(
    name: str,
    backward: type[Node] | None,
    doc: str,
    method_name: str = "",
    numbers: bool = True,
    second: str = "other",
) -> tuple[Binary, Binary, Binary, Binary, Binary]:
    """The operator of a binary operation, reflected and in place, and its methods `name(other)`, `name_(other)`.

    Without `numbers` the methods refuse a Python number, as PyTorch's. `second` is what they call their operand.
    """
    checked = check_operand if numbers else _checked_tensor
    function, into = getattr(lib, f"{name}_tensor"), getattr(lib, f"{name}_into")
    method_name = method_name or name

    def forward(self: Tensor, other: Operand) -> Tensor:
        b = operand(other)
        if b is NotImplemented:
            return NotImplemented
        result = wrap(function(self._ptr, b._ptr))
        if (self._edge or b._edge) and backward and mode.enabled:
            record(result, backward(self, b), (self._edge, b._edge))
        return result

    def reflected(self: Tensor, other: Operand) -> Tensor:
        a = operand(other)
        if a is NotImplemented:
            return NotImplemented
        result = wrap(function(a._ptr, self._ptr))
        if (a._edge or self._edge) and backward and mode.enabled:
            record(result, backward(a, self), (a._edge, self._edge))
        return result

    def in_place(self: Tensor, other: Operand) -> Tensor:
        b = operand(other)
        if b is NotImplemented:
            return NotImplemented
        return write(self, backward, (b,), into, self._ptr, self._ptr, b._ptr)

    def method(self: Tensor, other: Operand) -> Tensor:
        b = checked(other, method_name)
        result = wrap(function(self._ptr, b._ptr))
        if (self._edge or b._edge) and backward and mode.enabled:
            record(result, backward(self, b), (self._edge, b._edge))
        return result

    def method_(self: Tensor, other: Operand) -> Tensor:
        b = checked(other, f"{method_name}_")
        return write(self, backward, (b,), into, self._ptr, self._ptr, b._ptr)

    for named in (method, method_):
        code = named.__code__
        named.__code__ = code.replace(co_varnames=("self", second, *code.co_varnames[2:]))
    return (
        _named(forward, f"__{method_name}__", doc),
        _named(reflected, f"__r{method_name}__", doc),
        _named(in_place, f"__i{method_name}__", doc),
        _documented(method, method_name, doc, 2),
        _documented(method_, f"{method_name}_", doc, 2),
    )


def ternary(name: str, backward: type[Node]) -> Callable[[Any, Any, Any], Tensor]:
    """A function of three operands, a tensor and two others, for the methods of a row of TERNARY_OPS."""
    function = getattr(lib, f"{name}_tensor")

    def forward(x: Tensor, y: Any, z: Any) -> Tensor:
        y = y if isinstance(y, operation.Tensor) else check_operand(y, name)
        z = z if isinstance(z, operation.Tensor) else check_operand(z, name)
        result = wrap(function(x._ptr, y._ptr, z._ptr))
        if (x._edge or y._edge or z._edge) and mode.enabled:
            record(result, backward(x, y, z), (x._edge, y._edge, z._edge))
        return result

    return forward


def _checked_tensor(value: Operand, name: str) -> Tensor:
    """What `check_operand` returns, if that is a tensor."""
    found = check_operand(value, name)
    if type(found) is Number:
        raise TypeError(f"{name}: expected a Tensor, got the number {value}")
    return found


IN_PLACE = """

        Shape and dtype stay. Raises RuntimeError for a result that the dtype cannot hold and for a leaf that requires
        gradients, ShapeError if the result has another shape."""


def in_place(method: Callable[P, Tensor], direct: Callable[..., Tensor | None] | None = None) -> Callable[P, Tensor]:
    """The form in place of a method that is composed of others: the result is written over the tensor.

    `direct` is asked first: a function of the same arguments that lets a kernel write into the tensor, or returns None.
    """
    name = f"{method.__name__}_"

    def method_(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if direct is not None and (written := direct(self, *args, **kwargs)) is not None:
            return written
        recording = mode.enabled and (self._edge is not None or any(map(edge, (*args, *kwargs.values()))))
        result = method(self.clone() if recording else self, *args, **kwargs)  # type: ignore[arg-type]
        if lib.same_kind(result._ptr, self._ptr):
            return self.copy_(result)
        if result.dtype is not self.dtype and not can_cast(result.dtype, self.dtype):
            raise RuntimeError(f"{name}: result type {result.dtype} cannot be cast to {self.dtype}, the tensor's own")
        if result.shape != self.shape:
            raise ShapeError(f"{name}: the result has shape {list(result.shape)}, the tensor {list(self.shape)}")
        return self.copy_(result)

    doc = method.__doc__ or ""
    text, example, result = f"In place: {doc[0].lower()}{doc[1:]}".partition("\n\n        >>> ")
    text += IN_PLACE
    text += (example + result).replace(f".{method.__name__}(", f".{name}(")
    return _named(method_, name, text)  # type: ignore[return-value]


def _named(function: Method, name: str, doc: str) -> Method:
    function.__name__ = name
    function.__qualname__ = f"Tensor.{name}"
    function.__doc__ = doc
    return function


def _documented(function: Method, name: str, doc: str, operands: int) -> Method:
    return _named(function, name, documentation(name, doc, operands))
