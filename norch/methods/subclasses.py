"""Classes that programs derive from Tensor: how one makes its tensors, and how a tensor becomes one.

Operations give plain Tensors, also those on an instance of such a class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from .._C import lib
from ..autograd.derivatives.views import ReshapeBackward
from ..autograd.in_place import view
from ..operation import check_tensor
from ..types import shown

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

T = TypeVar("T", bound="Tensor")


class SubclassMethods:
    """The hooks of a class statement, and the changes of a tensor's class."""

    # Of a class whose `__new__` is its own, as in PyTorch: the class above it that this one's `super().__new__` means.
    _made_as: ClassVar[type[Any] | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__new__" in vars(cls):
            cls._made_as = next(kind for kind in cls.__mro__[1:] if getattr(kind, "_made_as", None) is None)
            if getattr(cls.__init__, "__module__", "").startswith("norch."):  # it would not take these arguments
                cls.__init__ = object.__init__  # type: ignore[method-assign]
            # Now: others need none, and are made faster. An assignment type checkers would take for every Tensor's.
            setattr(SubclassMethods, "__new__", _new)  # noqa: B010

    def as_subclass(self: Any, cls: type[T]) -> T:
        """A view of all elements, in the same shape and dtype, as an instance of a class that is derived from Tensor.

        Operations on it give plain Tensors. Raises TypeError for any other class.

        >>> class Image(norch.Tensor):
        ...     def brightness(self):
        ...         return self.mean().item()
        >>> norch.ones(2, 2).as_subclass(Image).brightness()
        1.0
        """
        result = view(self, lib.alias_tensor(self._ptr), ReshapeBackward)
        result.__class__ = _derived(cls, "as_subclass")
        return cast(T, result)

    @staticmethod
    def _make_subclass(cls: type[T], data: Tensor, require_grad: bool = False) -> T:
        """A leaf over the memory of a tensor, of a class that is derived from Tensor: for the `__new__` of such."""
        result = check_tensor(data, "_make_subclass").detach()
        result.__class__ = _derived(cls, "_make_subclass")
        return cast(T, result.requires_grad_(require_grad))


def _new(cls: Any, *args: Any, **options: Any) -> Any:
    """What `super().__new__` gives: a complete tensor. Other classes are made by their `__init__`."""
    if cls._made_as is None:
        return object.__new__(cls)
    made = cls._made_as(*args, **options)
    made.__class__ = cls
    return made


def _derived(cls: Any, name: str) -> type[Any]:
    """Return a class that is derived from Tensor, or Tensor; raise TypeError for anything else."""
    if not (isinstance(cls, type) and issubclass(cls, SubclassMethods)):
        raise TypeError(f"{name}: expected a class that is derived from Tensor, got {shown(cls)}")
    return cls
