"""The gradients of convolutions as functions, for a `backward` of one's own that convolves.

`convNd_input(input_size, weight, grad_output)` gives that of the input [N, C, ...], `convNd_weight(input, weight_size,
grad_output)` that of the weight [K, C / groups, ...], for 1, 2 and 3 dimensions; `stride`, `padding`, `dilation` and
`groups` as for the convolution. Shapes that do not fit raise a ShapeError.

>>> x, weight = norch.ones(1, 1, 3, requires_grad=True), norch.tensor([[[1.0, 2.0]]])
>>> norch.nn.grad.conv1d_input(x.shape, weight, norch.ones(1, 1, 2))
tensor([[[1., 3., 2.]]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from .. import autograd
from ..functions.creation import zeros
from . import functional

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _gradient(
    convolve: Callable[..., Tensor], place: int, size: Sequence[int], other: Tensor, grad_output: Tensor, options: Any
) -> Tensor:
    """The gradient of operand `place`; a convolution is linear in it, so that zeros stand for it."""
    wanted = zeros(size, dtype=other.dtype, device=other.device, requires_grad=True)
    operands = (wanted, other.detach()) if place == 0 else (other.detach(), wanted)
    with autograd.enable_grad():
        result = convolve(*operands, None, *options)
    return autograd.grad(result, wanted, grad_output)[0]


def _pair(name: str) -> list[Callable[..., Tensor]]:
    convolve = getattr(functional, name)

    def of_input(
        input_size: Sequence[int],
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        return _gradient(convolve, 0, input_size, weight, grad_output, (stride, padding, dilation, groups))

    def of_weight(
        input: Tensor,
        weight_size: Sequence[int],
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        return _gradient(convolve, 1, weight_size, input, grad_output, (stride, padding, dilation, groups))

    for function, operand in (of_input, "input"), (of_weight, "weight"):
        function.__name__ = function.__qualname__ = f"{name}_{operand}"
        function.__doc__ = f"The gradient of {name} to its {operand}, as this module tells."
    return [of_input, of_weight]


conv1d_input, conv1d_weight = _pair("conv1d")
conv2d_input, conv2d_weight = _pair("conv2d")
conv3d_input, conv3d_weight = _pair("conv3d")
