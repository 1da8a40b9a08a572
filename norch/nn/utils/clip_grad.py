"""Clipping of gradients, between `backward` and the optimizer's step."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from ...arguments import flags, plain_number
from ...autograd import no_grad
from ...functions.creation import zeros
from ...functions.joining import stack
from ...given import no_parameters, warn
from ...operation import check_tensor
from ...tensor import Tensor

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


@no_grad()
@flags
def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float | str = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all tensors, as one vector, of no dimensions; its order is `norm_type`, which may be inf or "inf".

    `foreach` changes nothing. With `error_if_nonfinite` a norm that is infinite or NaN raises RuntimeError.

    >>> nn.utils.get_total_norm([norch.tensor([3.0]), norch.tensor([4.0])])
    tensor(5.)
    """
    listed = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not listed:
        return zeros(())
    order = inf if norm_type == "inf" else norm_type
    norms = [check_tensor(tensor, "get_total_norm").norm(order).to(listed[0].device) for tensor in listed]
    total = stack(norms).norm(order)
    if error_if_nonfinite and not total.isfinite().all():
        raise RuntimeError(
            f"the gradients' norm of order {norm_type} is {total.item()}, expected a finite one "
            "(error_if_nonfinite=False scales by it all the same)"
        )
    return total


@no_grad()
@flags
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale all gradients, in place, by max_norm / total_norm if that is below 1. `foreach` changes nothing.

    >>> w = nn.Parameter([1.0])
    >>> w.grad = norch.tensor([10.0])
    >>> nn.utils.clip_grads_with_norm_(w, 1.0, norch.tensor(10.0))
    >>> w.grad
    tensor([1.0000])
    """
    factor = (plain_number(max_norm, "max_norm") / (check_tensor(total_norm, "clip_grads_with_norm_") + 1e-6)).clamp(
        max=1.0
    )
    for gradient in _gradients(parameters):
        gradient.mul_(factor.to(gradient.device).to(gradient.dtype))


@flags
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float | str = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients together, in place, so that the norm of them all, as one vector, is at most `max_norm`.

    Returns the norm before, of no dimensions; its order is `norm_type`, which may be inf or "inf". A norm that is
    infinite or NaN makes the gradients 0 or NaN; with `error_if_nonfinite` it raises RuntimeError and leaves them.

    >>> w = nn.Parameter([1.0])
    >>> w.grad = norch.tensor([10.0])
    >>> nn.utils.clip_grad_norm_([w], max_norm=1.0)
    tensor(10.)
    >>> w.grad
    tensor([1.0000])
    """
    listed = _listed(parameters)
    total = get_total_norm(_gradients(listed), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, max_norm, total)
    return total


@flags
def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float | str = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The old name of `clip_grad_norm_`, with a warning.

    >>> nn.utils.clip_grad_norm.__name__
    'clip_grad_norm'
    """
    warn("clip_grad_norm is now deprecated in favor of clip_grad_norm_.", FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)


@no_grad()
@flags
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Clamp every element of all gradients, in place, to -clip_value and clip_value.

    >>> w = nn.Parameter([1.0])
    >>> w.grad = norch.tensor([10.0])
    >>> nn.utils.clip_grad_value_([w], 0.5)
    >>> w.grad
    tensor([0.5000])
    """
    limit = plain_number(clip_value, "clip_value")
    for gradient in _gradients(parameters):
        gradient.clamp_(-limit, limit)


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """The gradients of a tensor or of several, without those that are None."""
    return [parameter.grad for parameter in _listed(parameters) if parameter.grad is not None]


def _listed(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """Parameters given alone or together. Raises TypeError for what is none, such as the model."""
    if not isinstance(parameters, Iterable):
        raise TypeError(f"clip_grad was given {no_parameters(parameters)}")
    listed = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    for parameter in listed:
        if not isinstance(parameter, Tensor):
            raise TypeError(f"clip_grad was given {no_parameters(parameter)}")
    return listed
