"""Clipping of gradients, between `backward` and the optimizer's step."""

from __future__ import annotations

from collections.abc import Iterable

from ...autograd import no_grad
from ...functions.creation import zeros
from ...functions.joining import cat
from ...tensor import Tensor

__all__ = ["clip_grad_norm_", "clip_grad_value_"]


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Scale all gradients together, in place, so that the norm of them all, as one vector, is at most `max_norm`.

    Returns the norm before, of shape [1]; its order is `norm_type`, which may be inf. A norm that is infinite or NaN
    makes the gradients 0 or NaN; with `error_if_nonfinite` it raises RuntimeError and leaves them as they are.

    >>> w = nn.Parameter([1.0])
    >>> w.grad = norch.tensor([10.0])
    >>> nn.utils.clip_grad_norm_([w], max_norm=1.0)
    tensor([10.])
    >>> w.grad
    tensor([1.0000])
    """
    gradients = _gradients(parameters)
    if not gradients:
        return zeros(1)
    norms = [gradient.norm(norm_type).to(gradients[0].device) for gradient in gradients]
    total = cat(norms).norm(norm_type)
    if error_if_nonfinite and not total.isfinite().all():
        raise RuntimeError(
            f"clip_grad_norm_: the gradients' norm of order {norm_type} is {total.item()}, expected a finite one "
            "(error_if_nonfinite=False scales by it all the same)"
        )
    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(factor.to(gradient.device).to(gradient.dtype))
    return total


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Clamp every element of all gradients, in place, to -clip_value and clip_value.

    >>> w = nn.Parameter([1.0])
    >>> w.grad = norch.tensor([10.0])
    >>> nn.utils.clip_grad_value_([w], 0.5)
    >>> w.grad
    tensor([0.5000])
    """
    for gradient in _gradients(parameters):
        gradient.clamp_(-float(clip_value), float(clip_value))


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """The gradients of a tensor or of several, without those that are None."""
    listed = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    for parameter in listed:
        if not isinstance(parameter, Tensor):
            raise TypeError(f"clip_grad was given a {type(parameter).__name__}, expected tensors")
    return [parameter.grad for parameter in listed if parameter.grad is not None]
