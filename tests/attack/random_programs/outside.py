"""torch's transforms without its transforms: a loop over samples, and two passes backward, in torch's plain tensors.

What norch computes as these do is right wherever torch's own transforms refuse, or compute something else. Norms are
composed of operations, as torch's tangents of them, and their gradients, forget how the mean changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import torch

from .execution import Pair

Tensor = torch.Tensor
Function = Callable[..., Any]


def vmap(f: Function, in_dims: int = 0, out_dims: int = 0, chunk_size: int | None = None) -> Function:
    """The function of each sample, one after the other; of no samples, that of one without its elements."""

    def mapped(*args: Tensor) -> Any:
        count = args[0].shape[in_dims]
        results = [f(*(x.select(in_dims, place) for x in args)) for place in range(count)]
        if not results:
            results = [f(*(x.new_ones(x.movedim(in_dims, 0).shape[1:]) for x in args))]
        if isinstance(results[0], (tuple, list)):
            return tuple(_stacked(parts, out_dims, count) for parts in zip(*results))
        return _stacked(results, out_dims, count)

    return mapped


def _stacked(parts: Sequence[Tensor], dim: int, count: int) -> Tensor:
    whole = torch.stack(list(parts), dim)
    return whole if count else whole.narrow(dim, 0, 0)


def jacrev(f: Function) -> Function:
    return lambda x: _released(torch.autograd.functional.jacobian(f, x, create_graph=True), f, x)


def grad(f: Function) -> Function:
    return lambda x: _released(torch.autograd.functional.vjp(f, x, create_graph=True)[1], f, x)


def jvp(f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    return _released(torch.autograd.functional.jvp(f, primals, tangents, create_graph=True), f, *primals)


def _released(found: Any, f: Function, x: Tensor) -> Any:
    """What was found, outside of the graph if x is, and what else the function computes with."""
    results = f(x.detach().clone())
    results = results if isinstance(results, (tuple, list)) else (results,)
    if x.requires_grad or any(y.requires_grad for y in results):
        return found
    return torch.utils._pytree.tree_map(torch.Tensor.detach, found)


def linearize(f: Function, x: Tensor) -> tuple[Any, Function]:
    return f(x.view_as(x)), lambda tangent: torch.autograd.functional.jvp(f, (x,), (tangent,), create_graph=True)[1]


def vjp(f: Function, x: Tensor) -> tuple[Any, Function]:
    return f(x.view_as(x)), lambda g: torch.autograd.functional.vjp(f, x, g, create_graph=True)[1:]


def layer_norm(x: Tensor, shape: Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    dims = tuple(range(-len(shape), 0))
    far = x - x.mean(dims, keepdim=True)
    y = far / (far.square().mean(dims, keepdim=True) + eps).sqrt()
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def group_norm(x: Tensor, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    y = layer_norm(x.reshape(x.shape[0], groups, -1), [x.numel() // x.shape[0] // groups], eps=eps).reshape(x.shape)
    weight, bias = (p if p is None else p.reshape(-1, *[1] * (x.ndim - 2)) for p in (weight, bias))
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


PLAIN = {
    "vmap": vmap,
    "grad": grad,
    "jacrev": jacrev,
    "jacfwd": jacrev,
    "jvp": jvp,
    "vjp": vjp,
    "linearize": linearize,
}
NAMES = {f"plain_{name}": function for name, function in PLAIN.items()}
CALL = re.compile(rf"lib\.func\.({'|'.join(PLAIN)})\(")


def plain(line: str) -> str:
    """The statement with plain functions in the place of torch's transforms."""
    return CALL.sub(r"plain_\1(", line)


def agrees_without_transforms(lines: Sequence[str]) -> bool:
    """Whether norch does what torch does without its transforms, errors and gradients included."""
    if not any(map(CALL.search, lines)):
        return False
    pair = Pair()
    pair.theirs.update(NAMES)
    with mock.patch.multiple(torch.nn.functional, layer_norm=layer_norm, group_norm=group_norm):
        if any(pair.step(plain(line), line) for line in lines):
            return False
    return all("shares memory" in found for found in pair.ends())
