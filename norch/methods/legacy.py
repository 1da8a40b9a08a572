"""What scripts ask of a tensor beside its values: its type, older names of methods, and traits that are fixed here."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any, Callable

from .._C import lib
from ..operation import check_tensor
from ..packing import tensor_of
from ..tensor_types import legacy_tensor, type_name, type_of
from .interop import frombuffer

if TYPE_CHECKING:
    from ..forward_declarations import Tensor


class LegacyMethods:
    """The methods of Tensor that older scripts use, and those that say what kind of tensor it is."""

    _memory: int | None = None  # the address to which share_memory_ moved the elements

    def type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of this tensor's type; or, given a dtype, a type or its name, this tensor converted to it.

        The name is PyTorch's, for scripts that compare with it. Raises ValueError for what names no type, TypeError for
        what is no name.

        >>> norch.ones(2).type(), norch.ones(2).type(norch.LongTensor)
        ('torch.FloatTensor', tensor([1, 1]))
        """
        if dtype is None:
            return type_name(self.dtype, self.is_cuda)
        kind, device = type_of(dtype)
        stays = device is None or device == self.device.type  # "cuda" is any of its devices
        return self.to(dtype=kind) if stays else self.to(device, kind)

    def new(self: Tensor, *args: Any, device: str | int | None = None) -> Tensor:
        """A tensor of this dtype and device: of a shape, its values not set, or of data.

        (`new_empty`, `new_zeros` and `new_tensor` say which.) Raises TypeError for a lone float.

        >>> norch.ones(2).new([1, 2, 3])
        tensor([1., 2., 3.])
        """
        return legacy_tensor(args, self.dtype, self.device if device is None else device, "new")

    def nelement(self: Tensor) -> int:
        """The number of elements, as `numel()`.

        >>> norch.ones(2, 3).nelement()
        6
        """
        return lib.count_of(self._ptr)

    def ndimension(self: Tensor) -> int:
        """The number of dimensions, as `dim()`.

        >>> norch.ones(2, 3).ndimension()
        2
        """
        return self.ndim

    @property
    def itemsize(self: Tensor) -> int:
        """Bytes of an element.

        >>> norch.ones(2).itemsize
        4
        """
        return self.dtype.itemsize

    def get_device(self: Tensor) -> int:
        """The index of the CUDA device; -1 on the CPU.

        >>> norch.ones(2).get_device()
        -1
        """
        return lib.device_of(self._ptr) - 1

    def is_complex(self: Tensor) -> bool:
        """Whether the dtype is complex: norch has no such dtype.

        >>> norch.ones(2).is_complex()
        False
        """
        return False

    def is_conj(self: Tensor) -> bool:
        """Whether the elements are to be conjugated when they are read: they never are.

        >>> norch.ones(2).is_conj()
        False
        """
        return False

    def is_neg(self: Tensor) -> bool:
        """Whether the elements are to be negated when they are read: they never are.

        >>> norch.ones(2).is_neg()
        False
        """
        return False

    @property
    def volatile(self: Tensor) -> bool:
        """False: what it said before PyTorch 0.4 is in `requires_grad`.

        >>> norch.ones(2).volatile
        False
        """
        return False

    def record_stream(self: Tensor, s: object) -> None:
        """Do nothing: in norch all work of a device is queued on one stream, so its memory is free after its last use.

        >>> norch.ones(2).record_stream(None)
        """

    def is_signed(self: Tensor) -> bool:
        """Whether the dtype has negative numbers.

        >>> norch.ones(2).is_signed(), norch.ones(2).bool().is_signed()
        (True, False)
        """
        return self.dtype.name not in ("bool", "uint8")

    def is_nonzero(self: Tensor) -> bool:
        """Whether the one element is not zero. Raises RuntimeError for a tensor of no element or several.

        >>> norch.tensor([2.5]).is_nonzero()
        True
        """
        return bool(self)

    def is_same_size(self: Tensor, other: Tensor) -> bool:
        """Whether another tensor has the same shape.

        >>> norch.ones(2).is_same_size(norch.zeros(2))
        True
        """
        return self.shape == check_tensor(other, "is_same_size").shape

    def is_set_to(self: Tensor, tensor: Tensor) -> bool:
        """Whether another tensor is the same view of the same memory.

        >>> x = norch.ones(2)
        >>> x.is_set_to(x.detach()), x.is_set_to(x.clone())
        (True, False)
        """
        x, y = self._ptr, check_tensor(tensor, "is_set_to")._ptr
        if not lib.shares_memory(x, y) or self.storage_offset() != tensor.storage_offset():
            return False
        return lib.form_of_tensor(x) == lib.form_of_tensor(y)

    def is_inference(self: Tensor) -> bool:
        """Whether the tensor may not enter a graph: in norch every tensor may.

        >>> norch.ones(2).is_inference()
        False
        """
        return False

    # ---- Memory shared with other processes and devices: on the CPU it always is --------------------------------

    def share_memory_(self: Tensor) -> Tensor:
        """Move the elements to memory that this process shares with those it forks later; return this tensor.

        Writes of either then show in both, as training in several processes needs. Views made before stay behind. The
        shape and dtype stay.

        >>> x = norch.ones(2).share_memory_()
        >>> x, x.is_shared()
        (tensor([1., 1.]), True)
        """
        if not self.is_shared() and self.numel:
            shared = frombuffer(mmap.mmap(-1, self.nbytes), dtype=self.dtype).reshape(self.shape)
            self.data = shared.copy_(self.detach())
            self._memory = shared.untyped_storage().data_ptr()
        return self

    def is_shared(self: Tensor) -> bool:
        """Whether the memory is shared with other processes.

        >>> norch.ones(2).is_shared()
        False
        """
        return self.is_cuda or self._memory == self.untyped_storage().data_ptr()

    def pin_memory(self: Tensor, device: str | int | None = None) -> Tensor:
        """Return this tensor, whose shape and dtype stay: norch has no pinned memory.

        >>> norch.ones(2).pin_memory()
        tensor([1., 1.])
        """
        return self

    def is_pinned(self: Tensor, device: str | int | None = None) -> bool:
        """Whether the memory is pinned: it never is.

        >>> norch.ones(2).is_pinned()
        False
        """
        return False

    # ---- Traits that tensors of norch have or lack --------------------------------------------------------------

    @property
    def is_cpu(self: Tensor) -> bool:
        """Whether the elements live on the CPU.

        >>> norch.ones(2).is_cpu
        True
        """
        return not self.is_cuda

    @property
    def is_mps(self: Tensor) -> bool:
        """Whether the elements live on an Apple GPU: never.

        >>> norch.ones(2).is_mps
        False
        """
        return False

    is_xpu = is_meta = is_quantized = is_nested = is_mkldnn = is_sparse_csr = is_mps

    @property
    def output_nr(self: Tensor) -> int:
        """Which result of its operation this tensor is.

        >>> norch.ones(2, 2, requires_grad=True).exp().output_nr
        0
        """
        return getattr(self.grad_fn, "key", 0)

    @property
    def names(self: Tensor) -> tuple[None, ...]:
        """The names of the dimensions: norch has none.

        >>> norch.ones(2, 2).names
        (None, None)
        """
        return (None,) * self.ndim

    @property
    def retains_grad(self: Tensor) -> bool:
        """Whether a tensor that is no leaf gets a `.grad`: as long as it is held.

        >>> (2 * norch.ones(2, requires_grad=True)).retains_grad
        True
        """
        return not self.is_leaf

    def apply_(self: Tensor, callable: Callable[[float], float]) -> Tensor:
        """In place: each element replaced by what a Python function makes of it. Slow.

        Shape and dtype stay. Raises RuntimeError for a leaf that requires gradients.

        >>> norch.tensor([1.0, 2.0]).apply_(lambda value: value + 10)
        tensor([11., 12.])
        """
        values = [callable(value) for value in self.detach().reshape(-1).tolist()]
        return self.copy_(tensor_of(values, self.dtype).reshape(self.shape))
