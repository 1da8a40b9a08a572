"""The gradients of convolutions as functions, for a `backward` of one's own that convolves.

`stride`, `padding`, `dilation` and `groups` are those of the convolution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from .. import autograd
from ..functions.creation import zeros
from ..operation import check_tensor
from . import functional

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _gradient(
    convolve: Callable[..., Tensor], place: int, size: Sequence[int], other: Tensor, grad_output: Tensor, options: Any
) -> Tensor:
    """The gradient of operand `place`; a convolution is linear in it, so that zeros stand for it."""
    check_tensor(other, f"{convolve.__name__}: {'weight' if place == 0 else 'input'}")
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

    dims = int(name[4])
    of_two, of_three = (f"norch.ones(1, 1{f', {size}' * dims})" for size in (2, 3))
    for function, operand, shape, call in (
        (of_input, "input", "[N, C, ...]", f"{of_three}.shape, {of_two}"),
        (of_weight, "weight", "[K, C / groups, ...]", f"{of_three}, {of_two}.shape"),
    ):
        function.__name__ = function.__qualname__ = f"{name}_{operand}"
        function.__doc__ = f"""The gradient of `{name}` to its {operand}, {shape} of a floating dtype.

        Raises ShapeError if the sizes do not fit.

        >>> norch.nn.grad.{name}_{operand}({call}, {of_two}).sum()
        tensor({4**dims}.)
        """
    return [of_input, of_weight]


conv1d_input, conv1d_weight = _pair("conv1d")
conv2d_input, conv2d_weight = _pair("conv2d")
conv3d_input, conv3d_weight = _pair("conv3d")
