"""Messages from each rank to each, and from one to another, with torch.distributed's names, on norch's own memory."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from ..arguments import flags
from ..functions.creation import empty
from ..tensor import Tensor
from ..types import shown
from .group import ProcessGroup, _groups, of
from .places import Group, alone, checked, copy_each, description, memory_of, placed, run, written_back
from .work import Work

__all__ = ["P2POp", "all_to_all", "all_to_all_single", "batch_isend_irecv", "irecv", "isend", "recv", "send"]

# ---- Each to each ---------------------------------------------------------------------------------------------------


@flags
def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Send part i of the input to rank i, and fill the output with the parts from all ranks in their order.

    Parts are along dim 0: equal, or of the split sizes. Raises ValueError if the sizes do not add up.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.all_to_all_single(norch.empty(2), norch.ones(2))
    >>> norch.distributed.destroy_process_group()
    """
    name = "all_to_all_single"
    checked(output, name), checked(input, name, writes=False)
    ranks = of(group)
    if ranks is None:
        return None
    if output.dtype is not input.dtype:
        raise ValueError(f"{name}: the input is {input.dtype}, the output {output.dtype}")
    sent, received = _splits(input, input_split_sizes, ranks), _splits(output, output_split_sizes, ranks)
    if ranks.size() == 1:
        return alone(async_op, [output], [input])
    source, target = placed(input), placed(output, filled=False)
    what = f"{name} of {str(input.dtype).split('.')[-1]}" + ("" if input_split_sizes else f" {list(input.shape)}")
    call = lambda comm: comm.Ialltoallv(_parts(source, sent), _parts(target, received))  # noqa: E731
    return run(ranks, async_op, what, call, (source, target, output), written_back(output, target))


def _splits(x: Tensor, sizes: Sequence[int] | None, ranks: ProcessGroup) -> list[int]:
    """How many elements go to, or come from, each rank."""
    rows = x.shape[0] if x.ndim else 1
    if sizes is None and rows % ranks.size() == 0:
        sizes = [rows // ranks.size()] * ranks.size()
    if sizes is None or len(sizes) != ranks.size() or sum(sizes) != rows or min(sizes) < 0:
        given = "equal parts" if sizes is None else f"parts of {list(sizes)}"
        raise ValueError(f"all_to_all_single: {rows} rows are not {given} for {ranks.size()} ranks")
    return [size * (x.numel() // max(rows, 1)) for size in sizes]


def _parts(x: Tensor, counts: list[int]) -> list[Any]:
    memory, _, kind = memory_of(x)
    return [memory, (counts, [sum(counts[:i]) for i in range(len(counts))]), kind]


@flags
def all_to_all(
    output_tensor_list: Sequence[Tensor],
    input_tensor_list: Sequence[Tensor],
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Send the list's tensor i to rank i, and fill the other list with the tensors from all ranks. Shapes may differ.

    Raises ValueError for lists of another length or of several dtypes.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.all_to_all([norch.empty(2)], [norch.ones(2)])
    >>> norch.distributed.destroy_process_group()
    """
    ranks = of(group)
    if ranks is None:
        return None
    if not len(output_tensor_list) == len(input_tensor_list) == ranks.size():
        raise ValueError(f"all_to_all: expected two lists of {ranks.size()} tensors, one for each rank")
    outputs = [checked(x, "all_to_all") for x in output_tensor_list]
    inputs = [checked(x, "all_to_all", writes=False) for x in input_tensor_list]
    dtype = inputs[0].dtype
    if any(x.dtype is not dtype for x in [*inputs, *outputs]):
        raise ValueError("all_to_all: the tensors have different dtypes, expected one")
    if ranks.size() == 1:
        return alone(async_op, outputs, inputs)
    sent, received = [x.numel() for x in inputs], [x.numel() for x in outputs]
    source, target = (empty(sum(sizes), dtype=dtype, device="cpu") for sizes in (sent, received))
    copy_each(source.split(sent), inputs)
    finish = lambda: copy_each(outputs, target.split(received))  # noqa: E731
    call = lambda comm: comm.Ialltoallv(_parts(source, sent), _parts(target, received))  # noqa: E731
    return run(ranks, async_op, f"all_to_all of {dtype}", call, (source, target), finish)


# ---- From one to another --------------------------------------------------------------------------------------------


def _message(x: Tensor, rank: int | None, group: Group, tag: int, sends: bool) -> Work | None:
    name = "send" if sends else "recv"
    checked(x, name, writes=not sends)
    ranks = of(group)
    if ranks is None:
        return None
    if rank == ranks.ranks[ranks.rank()]:
        raise ValueError(f"{name}: rank {rank} is this rank")
    if ranks.size() == 1:
        raise ValueError(f"{name}: the group has no rank {rank}, only this one")
    other = _groups.MPI.ANY_SOURCE if rank is None else ranks.place_of(rank, name)
    place = placed(x, filled=sends)
    request = (ranks.comm.Isend if sends else ranks.comm.Irecv)(memory_of(place), other, tag)
    what = description(name, x, f"{'dst' if sends else 'src'}={'any' if rank is None else rank}, tag={tag}")
    return Message(ranks, what, request, None if sends else written_back(x, place), (x, place))


class Message(Work):
    """A message under way, as `isend` and `irecv` return it: `wait()` ends when the tensor has gone, or has come."""

    def __init__(self, group: ProcessGroup, what: str, request: Any, finish: Any, keep: Any) -> None:
        super().__init__(group, 0, what, request, finish, keep)
        self._status = _groups.MPI.Status()

    def is_completed(self) -> bool:
        """Whether it has gone, or come."""
        if self._request is not None and self._request.Test(self._status):
            self._request = self._keep = None
            finish, self._finish = self._finish, None
            if finish is not None:
                finish()
        return self._request is None

    def source_rank(self) -> int:
        """The rank that sent what has come."""
        return self._group.ranks[self._status.Get_source()]


@flags
def isend(tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0) -> Work | None:
    """Start to send the tensor to rank `dst`; it must not change before `wait()` of the returned Work.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.isend(norch.ones(2), dst=0)
    Traceback (most recent call last):
    ValueError: send: rank 0 is this rank
    >>> norch.distributed.destroy_process_group()
    """
    if dst is None:
        raise ValueError("isend: dst is missing")
    return _message(tensor, dst, group, tag, True)


@flags
def irecv(tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0) -> Work | None:
    """Start to receive a tensor of this shape and dtype from rank `src`, or from any; valid after `wait()`.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.irecv(norch.ones(2), src=0)
    Traceback (most recent call last):
    ValueError: recv: rank 0 is this rank
    >>> norch.distributed.destroy_process_group()
    """
    return _message(tensor, src, group, tag, False)


@flags
def send(tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0) -> None:
    """Send the tensor to rank `dst`, which calls `recv` with a tensor of the same shape and dtype.

    Raises ValueError for this rank itself or one that does not exist, DistBackendError after the timeout.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.send(norch.ones(2), dst=0)
    Traceback (most recent call last):
    ValueError: send: rank 0 is this rank
    >>> norch.distributed.destroy_process_group()
    """
    work = isend(tensor, dst, group, tag)
    if work is not None:
        work.wait()


@flags
def recv(tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0) -> int:
    """Fill the tensor with what rank `src` (or any) sends; return the sender's rank, or -1 outside of the group.

    Raises ValueError for this rank itself or one that does not exist, DistBackendError after the timeout.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.recv(norch.ones(2), src=0)
    Traceback (most recent call last):
    ValueError: recv: rank 0 is this rank
    >>> norch.distributed.destroy_process_group()
    """
    work = irecv(tensor, src, group, tag)
    if work is None:
        return -1
    work.wait()
    return work.source_rank()  # type: ignore[attr-defined]


class P2POp:
    """A message for `batch_isend_irecv`: `op`, which is `isend` or `irecv`, of a tensor to or from rank `peer`.

    Raises ValueError for another op.

    >>> norch.distributed.P2POp(norch.distributed.isend, norch.ones(2), 1).peer
    1
    """

    def __init__(
        self, op: Callable[..., Any], tensor: Tensor, peer: int | None = None, group: Group = None, tag: int = 0
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(f"P2POp: expected norch.distributed.isend or irecv as op, got {shown(op)}")
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Work]:
    """Start all these messages, and return a Work for each: of a ring, in which each rank sends and receives.

    Raises ValueError for an empty list or what is no P2POp, and as `isend` and `irecv`.

    >>> norch.distributed.init_process_group()
    >>> norch.distributed.batch_isend_irecv([norch.distributed.P2POp(norch.distributed.isend, norch.ones(2), 0)])
    Traceback (most recent call last):
    ValueError: send: rank 0 is this rank
    >>> norch.distributed.destroy_process_group()
    """
    if not p2p_op_list or not all(isinstance(message, P2POp) for message in p2p_op_list):
        raise ValueError(f"batch_isend_irecv: expected a list of P2POp, got {shown(p2p_op_list)}")
    works = [each.op(each.tensor, each.peer, each.group, each.tag) for each in p2p_op_list]
    return [work for work in works if work is not None]
