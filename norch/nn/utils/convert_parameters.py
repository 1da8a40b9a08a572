"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from ...functions.joining import cat
from ...operation import check_tensor
from ...tensor import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters as one vector, in their order; gradients go through.

    >>> nn.utils.parameters_to_vector([norch.tensor([[1.0, 2.0]]), norch.tensor([3.0])])
    tensor([1., 2., 3.])
    """
    return cat([check_tensor(parameter, "parameters_to_vector").reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make pieces of a vector the data of the parameters, in their order; they share its memory, as in PyTorch.

    Raises TypeError if `vec` is not a tensor, RuntimeError if it is too short.

    >>> w = nn.Parameter([[1.0, 2.0]])
    >>> nn.utils.vector_to_parameters(norch.tensor([5.0, 6.0]), [w])
    >>> w.detach()
    tensor([[5., 6.]])
    """
    check_tensor(vec, "vector_to_parameters")
    start = 0
    for parameter in parameters:
        count = int(check_tensor(parameter, "vector_to_parameters").numel)
        parameter.data = vec.detach()[start : start + count].reshape(parameter.shape)
        start += count
