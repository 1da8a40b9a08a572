"""torch's transforms without its transforms: a loop over samples, and two passes backward, in torch's plain tensors.

What norch computes as these do is right wherever torch's own transforms refuse, or compute something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .execution import Pair

Function = Callable[..., Any]


def vmap(f: Function, in_dims: int = 0, out_dims: int = 0, chunk_size: int | None = None) -> Function:
    """The function of each sample, one after the other; of no samples, that of one without its elements."""

    def mapped(x: torch.Tensor) -> Any:
        results = [f(x.select(in_dims, place)) for place in range(x.shape[in_dims])]
        if not results:
            results = [f(x.new_ones(x.movedim(in_dims, 0).shape[1:]))]
        if isinstance(results[0], (tuple, list)):
            return tuple(_stacked(parts, out_dims, x.shape[in_dims]) for parts in zip(*results))
        return _stacked(results, out_dims, x.shape[in_dims])

    return mapped


def _stacked(parts: Sequence[torch.Tensor], dim: int, count: int) -> torch.Tensor:
    whole = torch.stack(list(parts), dim)
    return whole if count else whole.narrow(dim, 0, 0)


def jacrev(f: Function) -> Function:
    return lambda x: _released(torch.autograd.functional.jacobian(f, x, create_graph=True), f, x)


def jvp(f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    return _released(torch.autograd.functional.jvp(f, primals, tangents, create_graph=True), f, *primals)


def _released(found: Any, f: Function, x: torch.Tensor) -> Any:
    """What was found, outside of the graph if x is, and what else the function computes with."""
    results = f(x.detach().clone())
    results = results if isinstance(results, (tuple, list)) else (results,)
    if x.requires_grad or any(y.requires_grad for y in results):
        return found
    return torch.utils._pytree.tree_map(torch.Tensor.detach, found)


def linearize(f: Function, x: torch.Tensor) -> tuple[Any, Function]:
    return f(x.view_as(x)), lambda tangent: torch.autograd.functional.jvp(f, (x,), (tangent,), create_graph=True)[1]


def vjp(f: Function, x: torch.Tensor) -> tuple[Any, Function]:
    return f(x.view_as(x)), lambda g: torch.autograd.functional.vjp(f, x, g, create_graph=True)[1:]


PLAIN = {"vmap": vmap, "jacrev": jacrev, "jacfwd": jacrev, "jvp": jvp, "vjp": vjp, "linearize": linearize}
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
    if any(pair.step(plain(line), line) for line in lines):
        return False
    return all("shares memory" in found for found in pair.ends())
