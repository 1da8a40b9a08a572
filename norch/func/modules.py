"""Modules for functions of functions: stacked parameters, BatchNorm without a memory; and `functionalize`."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from ..functions.joining import stack
from ..nn.module import Module
from ..nn.modules.normalization import _BatchNorm
from ..operation import check_kind
from ..tensor import Tensor
from ..types import shown


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """(parameters, buffers) of models of one kind, each with those of all models stacked in a new first dimension.

    For `vmap` over an ensemble: the parameters are new leaves that require gradients. Raises RuntimeError for no
    models, and for models of several classes or modes.

    >>> parameters, buffers = norch.func.stack_module_state([nn.Linear(2, 1), nn.Linear(2, 1)])
    >>> parameters["weight"].shape
    norch.Size([2, 1, 2])
    """
    if not models:
        raise RuntimeError("stack_module_state: expected at least one model, got none")
    for model in models:
        check_kind(model, Module, "stack_module_state")
    if len({type(model) for model in models}) > 1 or len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: expected models of one class, all in training or all in eval mode")

    def stacked(trees: list[dict[str, Any]]) -> dict[str, Tensor]:
        return {name: stack([tree[name].detach() for tree in trees]) for name in trees[0]}

    trained = {name: p.requires_grad for name, p in models[0].named_parameters()}
    parameters = stacked([dict(model.named_parameters()) for model in models])
    made = {name: x.requires_grad_(trained[name]) for name, x in parameters.items()}
    return made, stacked([dict(model.named_buffers()) for model in models])


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """The module, whose BatchNorm layers (all dimensions) use the statistics of their batch alone, in eval mode too.

    Running statistics are written in place, which functions of `vmap` and `grad` must not do. Raises TypeError if
    `root` is no Module.

    >>> norm = norch.func.replace_all_batch_norm_modules_(nn.BatchNorm1d(2))
    >>> norm.track_running_stats, list(norm.buffers())
    (False, [])
    """
    for module in check_kind(root, Module, "replace_all_batch_norm_modules_").modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """`func`, which computes the same: PyTorch takes writes and views out of what its compilers record of it.

    Raises RuntimeError for a `remove` other than "mutations" and "mutations_and_views".

    >>> norch.func.functionalize(lambda x: x.clone().add_(1))(norch.zeros(1))
    tensor([1.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize: remove is {shown(remove)}, expected 'mutations' or 'mutations_and_views'")
    return func
