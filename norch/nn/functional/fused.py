"""How a function chooses between a fused kernel and the formula that the kernel computes."""

from __future__ import annotations

from typing import Callable

from ..._C import ShapeError
from ...tensor import Tensor


def fused_or(fused: Callable[..., Tensor], formula: Callable[..., Tensor], *operands: object) -> Tensor:
    """fused(*operands), one C call; if it refuses their shapes, dtypes or devices, formula(*operands).

    The formula, in tensor operations, takes more of them, or says what is wrong. Any other error surfaces, such as
    MemoryError or the failure of a device.
    """
    try:
        return fused(*operands)
    except AttributeError:  # an operand that is not a tensor has no address: the formula says so
        pass
    except RuntimeError as error:  # a ShapeError is one too
        if not isinstance(error, ShapeError) and _of_one_kind(operands):
            raise
    return formula(*operands)  # out here, so that its error does not mention the other


def _of_one_kind(operands: tuple[object, ...]) -> bool:
    """Whether all tensors have one floating dtype and one device, which no kernel refuses."""
    kinds = {(x.dtype, x.device) for x in operands if isinstance(x, Tensor)}
    return len(kinds) == 1 and all(dtype.is_floating_point for dtype, _ in kinds)
