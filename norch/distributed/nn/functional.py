"""The collectives as operations of the graph: each returns new tensors, and backward sends gradients the other way.

The loss that is differentiated is the sum of the losses of all ranks, as in PyTorch: a rank's gradient counts what its
tensor did for every rank. All ranks call backward, or none.
"""

from __future__ import annotations

from typing import Any, Sequence

from ...autograd.function import Function
from ...tensor import Tensor
from .. import collectives
from ..group import of
from ..places import Group, ReduceOp

__all__ = ["all_gather", "all_reduce", "broadcast", "reduce_scatter"]


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, op: Any, group: Group) -> Tensor:
        ctx.op, ctx.group = op, group
        result = x.clone()
        collectives.all_reduce(result, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return all_reduce(gradient, ctx.op, ctx.group), None, None


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, src: int, group: Group) -> Tensor:
        ctx.src, ctx.group = src, group
        result = x.clone()
        collectives.broadcast(result, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        total = all_reduce(gradient, group=ctx.group)
        ranks = of(ctx.group)
        sends = ranks is not None and ranks.ranks[ranks.rank()] == ctx.src
        return total if sends else total * 0.0, None, None


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> tuple[Tensor, ...]:
        ctx.group = group
        ranks = of(group)
        results = [x.detach().clone() for _ in range(1 if ranks is None else ranks.size())]
        collectives.all_gather(results, x, group)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        return reduce_scatter(gradients[0], gradients, group=ctx.group), None


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, group: Group, op: Any, *parts: Tensor) -> Tensor:
        ctx.group, ctx.op, ctx.count = group, op, len(parts)
        result = parts[0].detach().clone()
        collectives.reduce_scatter(result, parts, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        share = 1.0 / ctx.count if str(ctx.op).upper() == ReduceOp.AVG else 1.0
        return None, None, *(part * share for part in all_gather(gradient, ctx.group))


def _check_op(op: Any, tensors: Sequence[Tensor], name: str) -> None:
    if str(op).upper() not in (ReduceOp.SUM, ReduceOp.AVG) and any(x.requires_grad for x in tensors):
        raise ValueError(f"{name}: {op} has no gradient here, only SUM and AVG have")


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Group = None) -> Tensor:
    """The sum (or mean: AVG) of the tensors of all ranks, in each rank. Shape and dtype are the tensor's.

    Raises ValueError for another op if the tensor requires gradients, and as `norch.distributed.all_reduce`.

    >>> norch.distributed.init_process_group()
    >>> x = norch.ones(2, requires_grad=True)
    >>> norch.distributed.nn.all_reduce(x).sum().backward()
    >>> x.grad
    tensor([1., 1.])
    >>> norch.distributed.destroy_process_group()
    """
    _check_op(op, [tensor], "all_reduce")
    return _AllReduce.apply(tensor, op, group)


def broadcast(tensor: Tensor, src: int, group: Group = None) -> Tensor:
    """Rank `src`'s tensor, in each rank. The gradients of all ranks are summed there; the others' are zeros.

    Raises as `norch.distributed.broadcast`.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.nn.broadcast(norch.ones(2), src=0)
    tensor([1., 1.])
    >>> norch.distributed.destroy_process_group()
    """
    return _Broadcast.apply(tensor, src, group)


def all_gather(tensor: Tensor, group: Group = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks, in each rank, in the order of the ranks. All have the same shape and dtype.

    Raises as `norch.distributed.all_gather`.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.nn.all_gather(norch.ones(2))
    (tensor([1., 1.]),)
    >>> norch.distributed.destroy_process_group()
    """
    return _AllGather.apply(tensor, group)


def reduce_scatter(output: Tensor, input_list: Sequence[Tensor], op: Any = ReduceOp.SUM, group: Group = None) -> Tensor:
    """The sum (or mean: AVG) over the ranks of their lists' part i, in rank i. `output` only says that there is one.

    Raises ValueError for another op if a part requires gradients, and as `norch.distributed.reduce_scatter`.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.nn.reduce_scatter(norch.empty(2), [norch.ones(2)])
    tensor([1., 1.])
    >>> norch.distributed.destroy_process_group()
    """
    _check_op(op, input_list, "reduce_scatter")
    return _ReduceScatter.apply(group, op, *input_list)
