"""Parameter: a tensor that a Module trains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn, Union

from .._C import lib, raise_error
from ..functions.creation import empty
from ..functions.saved_kinds import saved_in_parts
from ..operation import wrap_as
from ..tensor import Tensor
from ..types import DType, shown
from ..utils import utils

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]


class Parameter(Tensor):
    """A trainable tensor: a Module finds it, an optimizer changes it. Results of operations are plain Tensors.

    `Parameter(shape=[3, 2])`, or a list of ints alone, draws each element in row order from `random.uniform(-1, 1)`.
    `Parameter(tensor)` wraps given values and shares the tensor's storage, dtype and device; nested lists and floats
    are values too, and without any it is empty. Raises TypeError for a lone int, RuntimeError for values that cannot
    have a gradient (integers).

    >>> nn.Parameter([[1.0, 2.0]])
    Parameter containing:
    tensor([[1., 2.]], requires_grad=True)
    >>> nn.Parameter(shape=[3, 2]).shape
    norch.Size([3, 2])
    """

    def __init__(self, data: Any = None, requires_grad: bool = True, *, shape: Sequence[int] | None = None) -> None:
        if self._made_as is not None:  # its `__new__` has made it
            return
        if data is not None and shape is not None:
            raise TypeError("Parameter expects either values (a tensor, nested lists) or shape=[...], and not both")
        if data is None and shape is None:
            data = empty(0)
        if isinstance(data, int) and not isinstance(data, bool):
            raise TypeError(f"Parameter({data}) could be a shape or a value: write [{data}] or {float(data)}")
        if _is_shape(data):
            data, shape = None, data
        if shape is not None:
            shape = _check_shape(shape)
            super().__init__([])
            self.data = utils.draw_uniform(empty(shape))
        elif isinstance(data, Tensor):
            self._ptr = lib.data_tensor(data._ptr, None) or raise_error()
            self._edge = self._shape = self._base = self._views = None  # it may be a second __init__
        else:
            super().__init__(data)
        self.requires_grad_(requires_grad)

    def __deepcopy__(self, memo: dict[int, object]) -> Tensor:
        """A copy of the elements alone: the gradient of a copied model is its own."""
        copy = memo[id(self)] = wrap_as(type(self), lib.clone_tensor(self._ptr))
        copy.requires_grad = self.requires_grad
        return copy

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


def _restored(data: Tensor, requires_grad: bool) -> Parameter:
    """The parameter of a file."""
    if not isinstance(data, Tensor) or not isinstance(requires_grad, bool):
        raise TypeError("a tensor and a bool are expected")
    return Parameter(data, requires_grad=requires_grad)


saved_in_parts(Parameter, lambda parameter: [parameter.detach(), parameter.requires_grad], _restored)


class Buffer(Tensor):
    """A tensor that a Module registers as a buffer when it is assigned, as `register_buffer` does.

    It shares the storage of `data`, a tensor of any shape and dtype. With `persistent=False`, state_dict leaves it out.

    >>> class Scale(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = nn.Buffer(norch.tensor(2.0))
    >>> [name for name, _ in Scale().named_buffers()]
    ['factor']
    """

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        if self._made_as is not None:  # its `__new__` has made it
            return
        super().__init__([])
        if data is not None:
            self.data = data.detach()
        self.persistent = persistent


class _Uninitialized(Tensor):
    """A tensor whose shape is not known yet: `materialize` gives it one, and its class."""

    becomes: ClassVar[type[Tensor]]

    def materialize(self, shape: Sequence[int], device: str | int | None = None, dtype: DType | None = None) -> None:
        """Take a shape, with values that are not set yet, and with it the class of an ordinary one."""
        kind, place = self.dtype if dtype is None else dtype, self.device if device is None else device
        self.data = empty(shape, dtype=kind, device=place)
        self.__class__ = self.becomes  # type: ignore[assignment]  # for good

    @property
    def shape(self) -> NoReturn:
        """Raises RuntimeError: there is none yet."""
        raise RuntimeError(f"{type(self).__name__} has no shape before the first call of its module")

    def share_memory_(self) -> NoReturn:
        """Raises RuntimeError: there is no memory yet."""
        raise RuntimeError(f"{type(self).__name__} has no memory to share before the first call of its module")

    def __reduce_ex__(self, protocol: object) -> Any:
        return type(self), (self.requires_grad, str(self.device), self.dtype)

    def __deepcopy__(self, memo: dict[int, object]) -> Tensor:
        kind, arguments = self.__reduce_ex__(4)
        memo[id(self)] = copied = kind(*arguments)
        return copied

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter of a dtype, whose shape a lazy module learns from its first input.

    >>> nn.LazyLinear(3).weight
    <UninitializedParameter>
    """

    becomes = Parameter

    def __init__(self, requires_grad: bool = True, device: str | int | None = None, dtype: DType | None = None) -> None:
        Parameter.__init__(self, empty(0, dtype=dtype, device=device), requires_grad)


class UninitializedBuffer(_Uninitialized):
    """A buffer of a dtype, whose shape a lazy module learns from its first input; a Module registers it as a `Buffer`.

    >>> nn.LazyBatchNorm1d().running_mean
    <UninitializedBuffer>
    """

    becomes = Tensor

    def __init__(
        self,
        requires_grad: bool = False,
        device: str | int | None = None,
        dtype: DType | None = None,
        persistent: bool = True,
    ) -> None:
        super().__init__([])
        self.data = empty(0, dtype=dtype, device=device)
        self.requires_grad_(requires_grad)
        self.persistent = persistent


def is_lazy(param: object) -> bool:
    """Whether a parameter or buffer waits for its shape.

    >>> nn.parameter.is_lazy(nn.LazyLinear(3).weight)
    True
    """
    return isinstance(param, _Uninitialized)


UninitializedTensorMixin = _Uninitialized  # PyTorch's name
ParameterOrNone = Union[Parameter, Any]  # of a layer that may have none; a type checker does not ask for a test


def _is_shape(data: object) -> bool:
    """True for a list or tuple of ints: the article's Parameter([3, 2]) asks for a shape."""
    return isinstance(data, (list, tuple)) and all(
        isinstance(size, int) and not isinstance(size, bool) for size in data
    )


def _check_shape(shape: Sequence[int]) -> tuple[int, ...]:
    if not _is_shape(shape):
        raise TypeError(f"Parameter: shape is {shown(shape)}, expected a list or tuple of ints")
    if any(size < 0 for size in shape):
        raise ValueError(f"Parameter: shape is {list(shape)}, expected no negative size")
    return tuple(shape)
