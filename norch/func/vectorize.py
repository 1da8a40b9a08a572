"""vmap: a function of single samples applied to batches, one after another."""

from __future__ import annotations

import functools
from typing import Any, Callable

from .._C import lib
from ..arguments import whole
from ..functions.generator import default_generator
from ..functions.joining import cat, stack
from ..given import given
from ..random import fork_rng
from ..tensor import Tensor
from ..types import shown
from ..utils._pytree import broadcast_prefix, tree_flatten, tree_unflatten

Function = Callable[..., Any]


def vmap(
    func: Function, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None
) -> Function:
    """`func`, which takes samples, as a function of batches: it is called for each sample, and the results are stacked.

    `in_dims` says along which dimension an argument is a batch, None if it is the same for all samples: one int for
    all arguments, or a tuple, whose elements may be trees. `out_dims` says where the results' dimension goes. Keyword
    arguments are the same for all. `randomness` says what random functions may do: "error" to be called, "same" to
    give all samples the same numbers, "different". (PyTorch computes the samples at once, which the loop does not:
    write the batch out where that matters. `chunk_size` changes nothing.)

    Raises ValueError for batches of different sizes, if func returns other things than tensors, and for a result that
    `out_dims` says to be the same for all samples, and is not; RuntimeError if func writes to an argument that is.

    >>> norch.func.vmap(norch.dot)(norch.ones(2, 3), norch.arange(6.0).view(2, 3))
    tensor([ 3., 12.])
    """
    if randomness not in ("error", "same", "different"):
        raise RuntimeError(f"vmap: randomness is {shown(randomness)}, expected 'error', 'different' or 'same'")
    check_chunks(chunk_size, "vmap")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        dims = broadcast_prefix(tuple(in_dims) if isinstance(in_dims, list) else in_dims, args, "vmap: in_dims")
        leaves, spec = tree_flatten(args)
        mapped = [(leaf, _checked_dim(leaf, dim)) for leaf, dim in zip(leaves, dims)]
        sizes = sorted({leaf.shape[dim] for leaf, dim in mapped if dim is not None})
        if len(sizes) != 1:
            reason = "all are None" if not sizes else f"the batches have the sizes {sizes}"
            raise ValueError(f"vmap: expected arguments with one batch size; {reason}")
        if empty := sizes[0] == 0:  # a sample of zeros tells the form of the results
            mapped, sizes = [(leaf if dim is None else _of_one(leaf, dim), dim) for leaf, dim in mapped], [1]
        shared = [(leaf, lib.version_of(leaf._ptr)) for leaf, dim in mapped if dim is None and isinstance(leaf, Tensor)]
        state, results = bytes(default_generator._state), []
        for i in range(sizes[0]):
            sample = [leaf if dim is None else leaf.select(dim, i) for leaf, dim in mapped]
            if randomness == "same" and i < sizes[0] - 1:
                with fork_rng():
                    results.append(func(*tree_unflatten(sample, spec), **kwargs))
            else:
                results.append(func(*tree_unflatten(sample, spec), **kwargs))
            if randomness == "error" and bytes(default_generator._state) != state:
                raise RuntimeError("vmap: the function draws random numbers; pass randomness='different' or 'same'")
            if any(lib.version_of(leaf._ptr) != version for leaf, version in shared):
                raise RuntimeError("vmap: the function writes to an argument that is the same for all samples")
        return _stacked(results, out_dims, empty)

    return wrapper


def check_chunks(size: Any, name: str) -> None:
    """Raise ValueError unless a chunk has at least one sample."""
    if size is not None and whole(size, f"{name}: chunk_size") < 1:
        raise ValueError(f"{name}: chunk_size is {size}, expected at least 1")


def _checked_dim(leaf: Any, dim: Any) -> int | None:
    if dim is None:
        return None
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise ValueError(f"vmap: in_dims holds {shown(dim)}, expected ints and None")
    if not isinstance(leaf, Tensor):
        raise ValueError(f"vmap: in_dims is {dim} for {given(leaf)}, expected None: it is no tensor")
    if not -leaf.ndim <= dim < leaf.ndim:
        raise ValueError(f"vmap: in_dims is {dim} for a tensor of shape {list(leaf.shape)}")
    return dim


def _of_one(leaf: Tensor, dim: int) -> Tensor:
    """A batch of no samples as one of zeros."""
    return cat([leaf, leaf.new_zeros([1 if d == dim % leaf.ndim else size for d, size in enumerate(leaf.shape)])], dim)


def _stacked(results: list[Any], out_dims: Any, empty: bool) -> Any:
    """The results of all samples as one, of the form of each; of none if `empty`."""
    rows = [tree_flatten(result) for result in results]
    spec = rows[0][1]
    for leaves, form in rows:
        if form != spec:
            raise ValueError(f"vmap: the function returned the forms {spec} and {form}")
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise ValueError(f"vmap: the function must return tensors, got {type(leaf).__name__}")
    if isinstance(out_dims, tuple) and len(out_dims) == 1 and isinstance(results[0], Tensor):
        out_dims = out_dims[0]
    dims = broadcast_prefix(out_dims, tree_unflatten(rows[0][0], spec), "vmap: out_dims")
    columns = zip(*(leaves for leaves, _ in rows))
    stacked = [_same(column) if dim is None else stack(column, dim) for column, dim in zip(columns, dims)]
    if empty:
        stacked = [x if dim is None else x.narrow(dim, 0, 0).clone() for x, dim in zip(stacked, dims)]
    return tree_unflatten(stacked, spec)


def _same(results: tuple[Tensor, ...]) -> Tensor:
    """The result of all samples. Raises ValueError if it is not the same for all."""
    first = results[0]
    for other in results[1:]:
        if other is not first and (
            other.shape != first.shape or not bool(((other == first) | ((other != other) & (first != first))).all())
        ):
            raise ValueError("vmap: out_dims is None for a result that differs from sample to sample")
    return first
