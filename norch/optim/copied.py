"""What optimizers that began as copies of PyTorch's own import from `torch.optim.optimizer`."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar, cast

from ..autograd import set_grad_enabled
from ..functions.promotion import get_default_dtype
from ..tensor import Tensor
from ..types import dtype, float32, float64
from ..utils._foreach_utils import _group_tensors_by_device_and_dtype as _group_tensors_by_device_and_dtype

F = TypeVar("F", bound=Callable[..., Any])


def _use_grad_for_differentiable(step: F) -> F:
    """`step` with gradients on if "differentiable" is set, else without."""

    @functools.wraps(step)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(self.defaults.get("differentiable", False)):
            return step(self, *args, **kwargs)

    return cast(F, call)


def _get_value(x: Any) -> Any:
    return x.item() if isinstance(x, Tensor) else x


def _dispatch_sqrt(x: Any) -> Any:
    return x**0.5


def _stack_if_compiling(x: Any) -> Any:
    return x


def _to_scalar(x: Any) -> Any:
    """A hyperparameter of one element as a tensor of no dimensions; a number as it is."""
    return x.squeeze() if isinstance(x, Tensor) else x


def _view_as_real(params: list[Tensor], *state_and_grads: object) -> None:
    """Nothing: no parameter is complex."""


def _get_scalar_dtype(is_fused: bool | None = None) -> dtype:
    return float64 if get_default_dtype() is float64 and not is_fused else float32


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    return ["cuda"]


def _disable_dynamo_if_unsupported(single_tensor_fn: object = None) -> Callable[[F], F]:
    return lambda function: function


def _default_to_fused_or_foreach(params: object, differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """Neither: norch has one implementation, and their loops over the parameters do the same."""
    return False, False


# Lines of docstrings
_params_doc = "params (iterable): parameters, named parameters, or dicts that are groups of them"
_foreach_doc = "foreach (bool, optional): taken, as PyTorch's optimizers do"
_fused_doc = "fused (bool, optional): taken, as PyTorch's optimizers do"
_capturable_doc = "capturable (bool, optional): taken, as PyTorch's optimizers do"
_differentiable_doc = "differentiable (bool, optional): record the steps"
_maximize_doc = "maximize (bool, optional): maximize the objective"
