"""Storage as an object: the memory beneath a tensor, and the place of a tensor in it.

A tensor is a shape, strides and an offset over a storage; views are other shapes over the same one. Element (i, j) of a
matrix is `storage()[storage_offset() + i * stride(0) + j * stride(1)]`.
"""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import ctypes
import operator
import weakref
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Callable, Iterator, SupportsIndex, overload

from .._C import int64_array, lib
from ..arguments import axis_of
from ..autograd.derivatives.views import CloneBackward
from ..devices import device, of_number
from ..display import formatting
from ..operation import asked, recorded, refuse_recording, wrap, wrap_as
from ..threads import holding, shared_lock
from ..types import DTYPES, Operand, Scalar, dtype, layout, order_of, shown, strided, uint8

if TYPE_CHECKING:
    from ..forward_declarations import Tensor
    from ..types import memory_format

_TYPE_NAMES = dict(zip(DTYPES, ("Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double")))


class Storage:
    """The memory beneath a tensor as a flat row of elements: `t.storage()`, or of bytes: `t.untyped_storage()`.

    It keeps the memory alive. A write through it shows in every tensor over it. Tensors that share memory give the same
    object as long as something holds it; a tensor that was asked for it does.

    >>> norch.tensor([[1, 2], [3, 4]]).T.storage().tolist()
    [1, 2, 3, 4]
    """

    __slots__ = ("_memory", "_name", "dtype", "__weakref__")

    def __init__(self, tensor: Tensor, kind: dtype, name: str) -> None:
        self._memory = lib.hold_storage(tensor._ptr)
        self._name = name
        self.dtype = kind

    def _elements(self) -> Tensor:
        """The elements as a vector."""
        return wrap(lib.storage_tensor(self._memory, self.dtype.number))

    def __len__(self) -> int:
        return lib.count_of(self._elements()._ptr)

    def size(self) -> int:
        """The number of elements."""
        return len(self)

    def nbytes(self) -> int:
        """The number of bytes."""
        return len(self) * self.dtype.itemsize

    def __sizeof__(self) -> int:
        return super().__sizeof__() + self.nbytes()

    def element_size(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._elements().data_ptr()

    @property
    def device(self) -> str:
        """Where the memory is: "cpu" or "cuda:0"."""
        return self._elements().device

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is that of a CUDA device."""
        return self.device != "cpu"

    def _place(self, index: SupportsIndex) -> int:
        try:
            place = operator.index(index)
        except TypeError:
            raise TypeError(
                f"a storage has one dimension: expected an integer as its index, got {shown(index)}"
            ) from None
        size = len(self)
        if not -size <= place < size:
            raise IndexError(f"index {place} is out of range for a storage of {size} elements")
        return place % size

    def __getitem__(self, index: SupportsIndex) -> Tensor:
        return self._elements()[self._place(index)]

    def __setitem__(self, index: SupportsIndex, value: Operand) -> None:
        self._elements()[self._place(index)] = value

    def __iter__(self) -> Iterator[Tensor]:
        elements = self._elements()
        return (elements[i] for i in range(len(self)))

    def tolist(self) -> list[Scalar]:
        """The elements as Python numbers."""
        return self._elements().tolist()

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: the bytes, and where they are."""
        elements = self._elements().cpu()
        content = (ctypes.c_char * elements.nbytes).from_address(elements.data_ptr()).raw if len(self) else b""
        return restored_storage, (content, self.dtype, self._name, str(self.device))

    def __deepcopy__(self, memo: dict[int, object]) -> Storage:
        """A copy of the memory, which the copies of all tensors over it share again."""
        return Storage(self._elements().clone(), self.dtype, self._name)

    def untyped(self) -> Storage:
        """The same memory, as bytes."""
        return storage_of(self._elements(), uint8, "Untyped")

    def __repr__(self) -> str:
        size, edge = len(self), formatting.options.edgeitems
        shown = self.tolist() if size <= formatting.options.threshold else self._edges(edge)
        where = f" ({self.device})" if self.is_cuda else ""
        return "".join(f" {element}\n" for element in shown) + f"[norch.{self._name}Storage of size {size}{where}]"

    def _edges(self, count: int) -> list[Scalar]:
        elements, size = self._elements(), len(self)
        return [*elements[:count].tolist(), "...", *elements[size - count :].tolist()]


TypedStorage = UntypedStorage = Storage  # PyTorch's two classes


def restored_storage(
    content: bytes,
    kind: dtype,
    name: str,
    device: str,
    place: Callable[[str, Storage], str] | None = None,
) -> Storage:
    """The storage that `__reduce__` described; `place` says where it goes, given where it was."""
    size = int64_array((len(content),))
    made = Storage(wrap(lib.create_tensor(content, size, 1, uint8.number, 0)), kind, name)
    device = device if place is None else place(device, made)
    if device == "cpu":
        return made
    elements = wrap(lib.storage_tensor(made._memory, uint8.number))
    return Storage(elements.to(device), kind, name)


def restored_tensor(
    cls: type,
    storage: Storage,
    kind: dtype,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
    requires_grad: bool,
    attributes: dict[str, object],
) -> Tensor:
    """The tensor that its `__reduce_ex__` described: a view of a storage."""
    elements = wrap(lib.storage_tensor(storage._memory, kind.number))
    ptr = lib.as_strided_tensor(elements._ptr, int64_array(shape), int64_array(strides), len(shape), offset)
    result = wrap_as(cls, ptr)
    result.__dict__.update(attributes)
    return result.requires_grad_() if requires_grad else result


# Plain references: an interrupt in the callbacks of a WeakValueDictionary would be lost.
_storages: dict[tuple[int, str], weakref.ref[Storage]] = {}
_lock = shared_lock()  # without it two threads could make two objects of one storage


def storage_of(tensor: Tensor, kind: dtype, name: str) -> Storage:
    """The one object for a tensor's storage under this name; the tensor keeps it."""
    found = _known_storage(tensor, kind, name)
    if found not in tensor._storages:
        tensor._storages = (*tensor._storages, found)
    return found


@holding(_lock)
def _known_storage(tensor: Tensor, kind: dtype, name: str) -> Storage:
    key = (lib.storage_of(tensor._ptr), name)
    known = _storages.get(key)
    found = None if known is None else known()
    if found is None:
        found = Storage(tensor, kind, name)
        _storages[key] = weakref.ref(found)
        if len(_storages) > 64 and len(_storages) & (len(_storages) - 1) == 0:  # at each power of two
            for gone in [old for old, reference in _storages.items() if reference() is None]:
                del _storages[gone]
    return found


class StorageMethods:
    """The methods of Tensor about the memory of its elements."""

    # The objects asked for, held because arrays over this tensor need the memory even if `data` is replaced.
    _storages: tuple[Storage, ...] = ()

    def storage(self: Tensor) -> Storage:
        """The memory beneath this tensor, as elements of its dtype.

        >>> len(norch.ones(2, 3)[0].storage())
        6
        """
        return storage_of(self, self.dtype, _TYPE_NAMES[self.dtype])

    def untyped_storage(self: Tensor) -> Storage:
        """The memory beneath this tensor, as bytes.

        >>> len(norch.ones(2, 3).untyped_storage())
        24
        """
        return storage_of(self, uint8, "Untyped")

    def storage_offset(self: Tensor) -> int:
        """The index in the storage of the first element.

        >>> norch.ones(2, 3)[1].storage_offset()
        3
        """
        return lib.offset_of(asked(self)._ptr)

    @overload
    def stride(self: Tensor) -> tuple[int, ...]: ...
    @overload
    def stride(self: Tensor, dim: int) -> int: ...

    def stride(self: Tensor, dim: int | None = None) -> tuple[int, ...] | int:
        """How many elements to step in the storage for the next index of each dimension, or of one.

        >>> norch.ones(2, 3).stride(), norch.ones(2, 3).T.stride()
        ((3, 1), (1, 3))
        """
        strides: tuple[int, ...] = lib.strides_of(self._ptr)
        return strides if dim is None else strides[axis_of(self, dim, "stride")]

    def data_ptr(self: Tensor) -> int:
        """The address of the first element.

        >>> x = norch.ones(4)
        >>> x[1:].data_ptr() - x.data_ptr()
        4
        """
        refuse_recording("a value is read")
        return lib.data_of(self._ptr)

    def element_size(self: Tensor) -> int:
        """Bytes of an element.

        >>> norch.ones(2).element_size()
        4
        """
        return self.dtype.itemsize

    @property
    def nbytes(self: Tensor) -> int:
        """Bytes of all elements.

        >>> norch.ones(2, 3).nbytes
        24
        """
        return lib.count_of(self._ptr) * self.dtype.itemsize

    @property
    def layout(self: Tensor) -> layout:
        """How memory is read as a tensor: always `norch.strided`.

        >>> norch.ones(2).layout
        norch.strided
        """
        return strided

    @property
    def device(self: Tensor) -> device:
        """Where the elements live: the device "cpu" or "cuda:0", which is also its name.

        >>> norch.ones(2).device, norch.ones(2).device == "cpu"
        (device(type='cpu'), True)
        """
        return of_number(lib.device_of(self._ptr))

    @property
    def is_cuda(self: Tensor) -> bool:
        """Whether the elements live on a CUDA device.

        >>> norch.ones(2).is_cuda
        False
        """
        return lib.device_of(self._ptr) != 0

    def is_contiguous(self: Tensor, memory_format: memory_format | None = None) -> bool:
        """Whether the elements lie in row order without gaps, or in the order of a memory format.

        False for `channels_last` and another rank.

        >>> norch.ones(2, 3).T.is_contiguous()
        False
        """
        if memory_format is None:  # most often
            return bool(lib.is_in_row_order(self._ptr))
        try:
            order = order_of(memory_format, self.ndim, "is_contiguous")
        except RuntimeError:  # another rank
            return False
        if order is not None:
            return self.detach().permute(order).is_contiguous()
        return bool(lib.is_in_row_order(self._ptr))

    def contiguous(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        """This tensor if its elements lie in row order without gaps, else a copy of its shape and dtype that does.

        Or in the order of a memory format. Raises RuntimeError for `channels_last` and another rank.

        >>> x = norch.tensor([[1, 2], [3, 4]]).T
        >>> x.stride(), x.contiguous().stride()
        ((1, 2), (2, 1))
        """
        if memory_format is not None and order_of(memory_format, self.ndim, "contiguous") is not None:
            return self if self.is_contiguous(memory_format) else self.clone(memory_format=memory_format)
        if lib.is_in_row_order(self._ptr):
            return self
        return recorded(wrap(lib.contiguous_tensor(self._ptr)), CloneBackward, (self,))

    # ---- Copies and pickles

    def __deepcopy__(self: Tensor, memo: dict[int, object]) -> Tensor:
        if self.grad_fn is not None:
            raise RuntimeError("only leaf tensors can be deep-copied; detach() this one first")
        kind, storage, *place, own = StorageMethods.__reduce_ex__(self, 4)[1]
        parts: list[Any] = [kind, deepcopy(storage, memo), *place, {}]
        copy = memo[id(self)] = restored_tensor(*parts)
        copy.__dict__.update(deepcopy(own, memo))  # which may hold this tensor
        copy.grad = deepcopy(self.grad, memo)
        return copy

    def __reduce_ex__(self: Tensor, protocol: SupportsIndex) -> tuple[Any, ...]:
        """For pickle: the storage, which tensors that share it share again, and the place in it."""
        own = {name: value for name, value in self.__dict__.items() if not name.startswith("_")}
        place = tuple(self.shape), self.stride(), self.storage_offset()
        return restored_tensor, (type(self), self.untyped_storage(), self.dtype, *place, self.requires_grad, own)
