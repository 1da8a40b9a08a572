"""Memory shared with other libraries, by the names that PyTorch gives it here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..methods.dlpack import from_dlpack
from ..operation import check_tensor

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> object:
    """The capsule that another library's `from_dlpack` takes, once; TypeError for what is no tensor.

    >>> norch.utils.dlpack.from_dlpack(norch.utils.dlpack.to_dlpack(norch.ones(2)))
    tensor([1., 1.])
    """
    return check_tensor(tensor, "to_dlpack").detach().__dlpack__()
