"""Variable, for scripts of the time before PyTorch 0.4: a tensor is a variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import operation
from ..given import warn

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class _VariableType(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, operation.Tensor)


class Variable(metaclass=_VariableType):
    """`Variable(x)` is a leaf over the memory of the tensor x; `requires_grad` says whether it records a graph.

    `volatile` of old scripts changes nothing, with a warning: use `norch.no_grad()`. Raises TypeError for anything but
    a tensor. Every tensor is an instance.

    >>> norch.autograd.Variable(norch.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    def __new__(  # type: ignore[misc]  # it makes tensors
        cls, data: Any = None, requires_grad: bool | None = None, volatile: bool | None = None
    ) -> Tensor:
        if data is None:
            data = operation.Tensor([])
        if not isinstance(data, operation.Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if volatile is not None:
            warn("volatile does nothing; use `with norch.no_grad():` instead")
        return data.detach().requires_grad_(bool(requires_grad))
