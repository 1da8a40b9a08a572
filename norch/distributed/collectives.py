"""The collectives, with torch.distributed's names, on norch's own memory."""

from __future__ import annotations

from typing import Any, Sequence

from ..arguments import flags
from ..functions.creation import empty
from ..tensor import Tensor
from .group import ProcessGroup, _groups, of
from .places import (
    Group,
    ReduceOp,
    alone,
    checked,
    copy_each,
    description,
    known_of,
    mean_of,
    memory_of,
    operation_of,
    placed,
    remember,
    run,
    run_again,
    written_back,
)
from .work import Work

__all__ = [
    "ReduceOp", "all_gather", "all_gather_into_tensor", "all_reduce", "allreduce_sum_tensor", "barrier", "broadcast",
    "broadcast_tensor", "gather", "monitored_barrier", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter",
]  # fmt: skip

# ---- To all ---------------------------------------------------------------------------------------------------------


@flags
def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False) -> Work | None:
    """Replace the tensor, in each rank, by the sum (or another `op`) of the tensors of all ranks.

    All ranks give the same shape and dtype, any of norch's; 16-bit floats are summed as float32. With `async_op` a Work
    is returned at once, and the tensor is valid after its `wait()`. Raises RuntimeError for an op that the dtype does
    not have, ValueError for an unknown one, DistBackendError if it fails or takes longer than the timeout.

    >>> norch.distributed.init_process_group()
    >>> x = norch.ones(2)
    >>> norch.distributed.all_reduce(x)  # of one rank
    >>> x
    tensor([1., 1.])
    >>> norch.distributed.destroy_process_group()
    """
    ranks = of(group)
    known, key = known_of(ranks, "all_reduce", op, tensor)
    if ranks is not None and known is not None:
        return run_again(ranks, async_op, known, tensor, tensor)
    checked(tensor, "all_reduce")
    name, wide = operation_of(op, tensor, "all_reduce")
    if ranks is None:
        return None
    if ranks.size() == 1:
        return alone(async_op)
    place, what = placed(tensor, wide), description("all_reduce", tensor, str(op).upper())
    MPI, memory, scale = _groups.MPI, memory_of(place), mean_of(op, ranks)
    call = lambda comm: comm.Iallreduce(MPI.IN_PLACE, memory, getattr(MPI, name))  # noqa: E731
    if scale is None:
        remember(ranks, key, what, call, (tensor, place))
    return run(ranks, async_op, what, call, (tensor, place), written_back(tensor, place, scale))


@flags
def broadcast(tensor: Tensor, src: int = 0, group: Group = None, async_op: bool = False) -> Work | None:
    """Replace the tensor, in each rank, by that of rank `src`. Shapes and dtypes are the same in all ranks.

    Raises ValueError if `src` is not in the group, DistBackendError if it fails or takes longer than the timeout.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.broadcast(norch.ones(2), src=0)
    >>> norch.distributed.destroy_process_group()
    """
    ranks = of(group)
    known, key = known_of(ranks, "broadcast", src, tensor)
    if ranks is not None and known is not None:
        return run_again(ranks, async_op, known, tensor, None if ranks.ranks[ranks.rank()] == src else tensor)
    checked(tensor, "broadcast")
    if ranks is None:
        return None
    root = ranks.place_of(src, "broadcast")
    if ranks.size() == 1:
        return alone(async_op)
    sends = ranks.rank() == root
    place, what = placed(tensor, filled=sends), description("broadcast", tensor, f"src={src}")
    memory = memory_of(place)
    call = lambda comm: comm.Ibcast(memory, root)  # noqa: E731
    remember(ranks, key, what, call, (tensor, place))
    return run(ranks, async_op, what, call, (tensor, place), None if sends else written_back(tensor, place))


def _same(parts: Sequence[Any], like: Tensor, count: int, name: str) -> list[Tensor]:
    """A list of tensors, one for each rank, each like one. Raises ValueError for another number, shape or dtype."""
    if len(parts) != count:
        raise ValueError(f"{name}: expected a list of {count} tensors, one for each rank, got {len(parts)}")
    for part in parts:
        checked(part, name)
        if part.shape != like.shape or part.dtype is not like.dtype:
            raise ValueError(
                f"{name}: expected tensors of shape {list(like.shape)} and {like.dtype}, got {list(part.shape)} and "
                f"{part.dtype}"
            )
    return list(parts)


def _divided(whole: Tensor, part: Tensor, ranks: ProcessGroup, name: str) -> None:
    if whole.numel() != part.numel() * ranks.size() or whole.dtype is not part.dtype:
        raise ValueError(
            f"{name}: {ranks.size()} parts of shape {list(part.shape)} and {part.dtype} are not a tensor of shape "
            f"{list(whole.shape)} and {whole.dtype}"
        )


@flags
def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Group = None, async_op: bool = False
) -> Work | None:
    """Fill the output, in each rank, with the inputs of all ranks one after another (concatenated, or stacked).

    The output has W times the input's elements for W ranks: shape [W * n, ...] or [W, n, ...]. The input may be its
    part of the output. Raises ValueError for other sizes or dtypes, DistBackendError if it fails.

    >>> norch.distributed.init_process_group()
    >>> every = norch.empty(2)
    >>> norch.distributed.all_gather_into_tensor(every, norch.ones(2))
    >>> every
    tensor([1., 1.])
    >>> norch.distributed.destroy_process_group()
    """
    name = "all_gather_into_tensor"
    ranks = of(group)
    known, key = known_of(ranks, name, None, output_tensor, input_tensor)
    if ranks is not None and known is not None:
        return run_again(ranks, async_op, known, (output_tensor, input_tensor), output_tensor)
    checked(output_tensor, name), checked(input_tensor, name, writes=False)
    if ranks is None:
        return None
    _divided(output_tensor, input_tensor, ranks, name)
    if ranks.size() == 1:
        return alone(async_op, [output_tensor], [input_tensor])
    whole, part = placed(output_tensor, filled=False), placed(input_tensor)
    start = whole.data_ptr() + ranks.rank() * part.numel() * part.element_size()
    source = _groups.MPI.IN_PLACE if part.data_ptr() == start else memory_of(part)
    target, what = memory_of(whole, part.numel()), description(name, input_tensor)
    call = lambda comm: comm.Iallgather(source, target)  # noqa: E731
    remember(ranks, key, what, call, (output_tensor, whole), (input_tensor, part))
    return run(ranks, async_op, what, call, (output_tensor, whole, part), written_back(output_tensor, whole))


@flags
def all_gather(
    tensor_list: Sequence[Tensor], tensor: Tensor, group: Group = None, async_op: bool = False
) -> Work | None:
    """Fill the list's tensors, one for each rank, with the tensors of all ranks, in each rank.

    Raises ValueError for a list of another length, or tensors of another shape or dtype.

    >>> norch.distributed.init_process_group()
    >>> every = [norch.empty(2)]
    >>> norch.distributed.all_gather(every, norch.ones(2))
    >>> every
    [tensor([1., 1.])]
    >>> norch.distributed.destroy_process_group()
    """
    checked(tensor, "all_gather", writes=False)
    ranks = of(group)
    if ranks is None:
        return None
    parts = _same(tensor_list, tensor, ranks.size(), "all_gather")
    if ranks.size() == 1:
        return alone(async_op, parts, [tensor])
    part = placed(tensor)
    whole = empty([ranks.size(), *part.shape], dtype=part.dtype, device=part.device)
    call = lambda comm: comm.Iallgather(memory_of(part), memory_of(whole, part.numel()))  # noqa: E731
    finish = lambda: copy_each(parts, whole.unbind(0))  # noqa: E731
    return run(ranks, async_op, description("all_gather", tensor), call, (part, whole), finish)


# ---- To one, or from one --------------------------------------------------------------------------------------------


@flags
def reduce(
    tensor: Tensor, dst: int = 0, op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """Replace rank `dst`'s tensor by the sum (or another `op`) of the tensors of all ranks; the others keep theirs.

    Raises as `all_reduce`, and ValueError if `dst` is not in the group.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.reduce(norch.ones(2), dst=0)
    >>> norch.distributed.destroy_process_group()
    """
    checked(tensor, "reduce")
    name, wide = operation_of(op, tensor, "reduce")
    ranks = of(group)
    if ranks is None:
        return None
    root = ranks.place_of(dst, "reduce")
    if ranks.size() == 1:
        return alone(async_op)
    MPI, receives, place = _groups.MPI, ranks.rank() == root, placed(tensor, wide)
    source, target = (MPI.IN_PLACE, memory_of(place)) if receives else (memory_of(place), None)
    finish = written_back(tensor, place, mean_of(op, ranks)) if receives else None
    call = lambda comm: comm.Ireduce(source, target, getattr(MPI, name), root)  # noqa: E731
    return run(
        ranks, async_op, description("reduce", tensor, f"{str(op).upper()}, dst={dst}"), call, (tensor, place), finish
    )


@flags
def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """Fill each rank's output with its part of the sum (or another `op`) of the inputs of all ranks.

    The input has W times the output's elements for W ranks. Raises ValueError for other sizes or dtypes, and as
    `all_reduce`.

    >>> norch.distributed.init_process_group()
    >>> part = norch.empty(2)
    >>> norch.distributed.reduce_scatter_tensor(part, norch.ones(2))
    >>> part
    tensor([1., 1.])
    >>> norch.distributed.destroy_process_group()
    """
    name = "reduce_scatter_tensor"
    ranks = of(group)
    known, key = known_of(ranks, name, op, output, input)
    if ranks is not None and known is not None:
        return run_again(ranks, async_op, known, (output, input), output)
    checked(output, name), checked(input, name, writes=False)
    operation, wide = operation_of(op, output, name)
    if ranks is None:
        return None
    _divided(input, output, ranks, name)
    if ranks.size() == 1:
        return alone(async_op, [output], [input])
    part, whole, MPI = placed(output, wide, filled=False), placed(input, wide), _groups.MPI
    source, target = memory_of(whole, part.numel()), memory_of(part)
    scale, what = mean_of(op, ranks), description(name, output, str(op).upper())
    call = lambda comm: comm.Ireduce_scatter_block(source, target, getattr(MPI, operation))  # noqa: E731
    if scale is None:
        remember(ranks, key, what, call, (output, part), (input, whole))
    return run(ranks, async_op, what, call, (output, part, whole), written_back(output, part, scale))


@flags
def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: Any = ReduceOp.SUM, group: Group = None, async_op: bool = False
) -> Work | None:
    """Fill each rank's output with the sum (or another `op`) over all ranks of the list's tensor for that rank.

    Raises ValueError for a list of another length, or tensors of another shape or dtype, and as `all_reduce`.

    >>> norch.distributed.init_process_group()
    >>> part = norch.empty(2)
    >>> norch.distributed.reduce_scatter(part, [norch.ones(2)])
    >>> norch.distributed.destroy_process_group()
    """
    ranks = of(group)
    if ranks is None:
        return None
    parts = _same(input_list, checked(output, "reduce_scatter"), ranks.size(), "reduce_scatter")
    whole = empty([len(parts), *output.shape], dtype=output.dtype, device=output.device)
    copy_each(whole.unbind(0), parts)
    return reduce_scatter_tensor(output, whole, op, group, async_op)


def _many(values: Any, like: Tensor, ranks: ProcessGroup, here: bool, name: str, argument: str) -> list[Tensor]:
    """The list that only the root gives."""
    if here:
        return _same(values or [], like, ranks.size(), name)
    if values:
        raise ValueError(f"{name}: {argument} is for the root alone, expected None in the other ranks")
    return []


@flags
def gather(
    tensor: Tensor,
    gather_list: Sequence[Tensor] | None = None,
    dst: int = 0,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Fill the list of rank `dst`, a tensor for each rank, with the tensors of all ranks. The others give no list.

    Raises ValueError for a list in another rank, or one of another length, shape or dtype.

    >>> norch.distributed.init_process_group()
    >>> every = [norch.empty(2)]
    >>> norch.distributed.gather(norch.ones(2), every, dst=0)
    >>> norch.distributed.destroy_process_group()
    """
    checked(tensor, "gather", writes=False)
    ranks = of(group)
    if ranks is None:
        return None
    root = ranks.place_of(dst, "gather")
    receives = ranks.rank() == root
    parts = _many(gather_list, tensor, ranks, receives, "gather", "gather_list")
    if ranks.size() == 1:
        return alone(async_op, parts, [tensor])
    part = placed(tensor)
    whole = empty([len(parts), *part.shape], dtype=part.dtype, device=part.device)
    target = memory_of(whole, part.numel()) if receives else None
    call = lambda comm: comm.Igather(memory_of(part), target, root)  # noqa: E731
    what = description("gather", tensor, f"dst={dst}")
    return run(ranks, async_op, what, call, (part, whole), lambda: copy_each(parts, whole.unbind(0)))


@flags
def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None = None,
    src: int = 0,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Fill each rank's tensor with its one of the list of rank `src`. The others give no list.

    Raises ValueError for a list in another rank, or one of another length, shape or dtype.

    >>> norch.distributed.init_process_group()
    >>> mine = norch.empty(2)
    >>> norch.distributed.scatter(mine, [norch.ones(2)], src=0)
    >>> norch.distributed.destroy_process_group()
    """
    checked(tensor, "scatter")
    ranks = of(group)
    if ranks is None:
        return None
    root = ranks.place_of(src, "scatter")
    sends = ranks.rank() == root
    parts = _many(scatter_list, tensor, ranks, sends, "scatter", "scatter_list")
    if ranks.size() == 1:
        return alone(async_op, [tensor], parts)
    part = placed(tensor, filled=False)
    whole = empty([len(parts), *part.shape], dtype=part.dtype, device=part.device)
    copy_each(whole.unbind(0), parts)
    source = memory_of(whole, part.numel()) if sends else None
    call = lambda comm: comm.Iscatter(source, memory_of(part), root)  # noqa: E731
    what = description("scatter", tensor, f"src={src}")
    return run(ranks, async_op, what, call, (tensor, part, whole), written_back(tensor, part))


# ---- Together -------------------------------------------------------------------------------------------------------


@flags
def barrier(group: Group = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Wait until all ranks have called it. Raises DistBackendError if they do not within the timeout.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.barrier()
    >>> norch.distributed.destroy_process_group()
    """
    ranks = of(group)
    if ranks is None:
        return None
    if ranks.size() == 1:
        return alone(async_op)
    return run(ranks, async_op, "barrier()", lambda comm: comm.Ibarrier(), None, None)


@flags
def monitored_barrier(group: Group = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """A barrier with a timeout of its own; the exception names the ranks that did not come, if the launcher knows.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.monitored_barrier(timeout=10)
    >>> norch.distributed.destroy_process_group()
    """
    ranks = of(group)
    if ranks is not None and ranks.size() > 1:
        ranks.start("monitored_barrier()", lambda comm: comm.Ibarrier(), None).wait(timeout)


# Names of other packages
broadcast_tensor, allreduce_sum_tensor = broadcast, all_reduce
