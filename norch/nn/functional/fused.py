"""How a function chooses between a fused kernel and the formula that the kernel computes."""

from __future__ import annotations

from typing import Callable

from ...tensor import Tensor


def fused_or(fused: Callable[..., Tensor], formula: Callable[..., Tensor], *operands: object) -> Tensor:
    """fused(*operands), one C call; if it refuses their shapes or dtypes, formula(*operands).

    The formula, in tensor operations, takes other shapes and dtypes too, or says what is wrong with them. An error that
    does not come from the operands, such as MemoryError, surfaces.
    """
    try:
        return fused(*operands)
    except RuntimeError:  # ShapeError is one too
        pass  # so that an error of the formula does not mention this one
    return formula(*operands)
