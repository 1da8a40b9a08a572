"""DistributedDataParallel: each rank trains a copy of the model on its part of the batch, with the mean gradients."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterable, Iterator, Sequence
from weakref import finalize, ref

from ... import distributed as dist
from ...arguments import flags
from ...autograd.callbacks import queue_callback
from ...autograd.mode import is_grad_enabled, no_grad
from ...distributed.group import of
from ...functions.creation import empty, tensor
from ...functions.generator import default_generator
from ...functions.joining import cat
from ...operation import mode
from ...tensor import Tensor
from ..module import Module
from ..modules.sync_batchnorm import SyncBatchNorm
from .buckets import MIB, Schedule, buckets_of

# The states of a wrapped module: what its gradients do in the next backward
_IDLE, _LOCAL, _SUMS, _SUMMED = "idle", "local", "sums", "summed"


class _Bucket:
    """Gradients in one flat tensor, which is new in each backward: `.grad` shares it. Behind them a 1 for each used."""

    def __init__(self, indices: Sequence[int], parameters: Sequence[Tensor]) -> None:
        self.indices, self.parameters = indices, parameters
        self.ends = [0]
        for p in parameters:
            self.ends.append(self.ends[-1] + p.numel())
        self.place = {index: i for i, index in enumerate(indices)}

    def begin(self) -> None:
        first = self.parameters[0]
        self.flat = empty(self.ends[-1] + len(self.parameters), dtype=first.dtype, device=first.device)
        self.used = [0.0] * len(self.parameters)
        self.work: Any = None

    def view(self, i: int) -> Tensor:
        return self.flat[self.ends[i] : self.ends[i + 1]].reshape(self.parameters[i].shape)

    def put(self, index: int, gradient: Tensor | None, share: float) -> None:
        """Copy a gradient to its place, divided by the number of ranks."""
        i = self.place[index]
        if gradient is None:
            self.view(i).zero_()
        else:
            self.view(i).copy_(gradient).mul_(share)
            self.used[i] = 1.0

    def start(self, group: Any) -> None:
        self.flat[self.ends[-1] :] = tensor(self.used, dtype=self.flat.dtype, device=self.flat.device)
        self.work = dist.all_reduce(self.flat, group=group, async_op=True)

    def finish(self) -> None:
        """Give each parameter its part of the sum, in the gradient that it has; one that no rank used keeps that."""
        self.work.wait()
        for i, (p, used) in enumerate(zip(self.parameters, self.flat[self.ends[-1] :].tolist())):
            if used and p.grad is not None and not p.grad.requires_grad:
                p.grad.copy_(self.view(i))
            elif used:
                p.grad = self.view(i)
        del self.flat


class DistributedDataParallel(Module):
    """Calls `module`, whose gradients are the mean over all ranks when `backward` returns.

        dist.init_process_group()
        model = nn.parallel.DistributedDataParallel(Net())
        for x, y in DataLoader(data, batch_size=32, sampler=DistributedSampler(data)): ...    # as with one process

    Ranks start from rank 0's parameters and buffers; models are compared, and RuntimeError names the first parameter
    that differs. Gradients are copied into buckets of `bucket_cap_mb` MiB, from the last parameter to the first, and a
    bucket is summed over the ranks while backward computes the next. A parameter that this rank did not use counts as
    zeros; if no rank used it, its `.grad` stays. With `broadcast_buffers`, rank 0's buffers go to all ranks before each
    forward of training. One forward belongs to each backward: a second backward raises RuntimeError.

    `state_dict` has the module's own names, and `load_state_dict` accepts names with "module." before them too. Random
    numbers drawn after this, such as dropout's, differ between the ranks; the same seed gives the same ones again.
    `device_ids`, `output_device`, `dim`, `find_unused_parameters`, `gradient_as_bucket_view` and `static_graph` are
    accepted and change nothing. Raises ValueError without a process group, RuntimeError for a module without parameters
    that require gradients.

    >>> norch.distributed.init_process_group()
    >>> model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
    >>> model(norch.ones(3, 2)).shape, list(model.state_dict())
    (norch.Size([3, 1]), ['weight', 'bias'])
    >>> norch.distributed.destroy_process_group()
    """

    @flags
    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
    ) -> None:
        super().__init__()
        ranks = of(process_group)
        if ranks is None:
            raise ValueError("DistributedDataParallel: this rank is not in the process group")
        trained = [p for p in module.parameters() if p.requires_grad]
        if not trained:
            raise RuntimeError("DistributedDataParallel: the module has no parameters that require gradients")
        cap = 25.0 if bucket_cap_mb is None else float(bucket_cap_mb)
        if not cap > 0:
            raise ValueError(f"DistributedDataParallel: bucket_cap_mb is {bucket_cap_mb}, expected more than 0")
        self.module: Any = module
        self.broadcast_buffers, self.process_group, self.bucket_bytes_cap = broadcast_buffers, process_group, cap * MIB
        self.require_backward_grad_sync = True
        self._group, self._share, self._state = ranks, 1 / ranks.size(), _IDLE
        self._backward: Any = None  # which one the schedule is of: the list of its callbacks
        self._names = {id(p): name for name, p in module.named_parameters()}
        if ranks.size() == 1:
            return
        if init_sync:
            self._check_same()
            self._from_first([*module.parameters(), *module.buffers()])
        kinds = [(p.dtype, p.device) for p in trained]
        sizes = [p.numel() * p.element_size() for p in trained]
        self._parts = buckets_of(sizes, kinds, self.bucket_bytes_cap)
        self._buckets = [_Bucket(part, [trained[i] for i in part]) for part in self._parts]
        self._index = {id(p): i for i, p in enumerate(trained)}
        this = ref(self)
        handles = [p.register_post_accumulate_grad_hook(lambda p: _arrived(this, p)) for p in trained]
        finalize(self, _remove, handles)
        layers = [m for m in module.modules() if isinstance(m, SyncBatchNorm) and m.process_group is None]
        if layers:  # their sums are not among those of the buckets, whose order differs where ranks use other layers
            own = dist.new_group(ranks.ranks)
            for layer in layers:
                layer.process_group = own
        state = default_generator.initial_seed()
        default_generator.manual_seed((state + ranks.rank() * 0x9E3779B97F4A7C15) % 2**64)

    def _check_same(self) -> None:
        """Raise RuntimeError, in every rank, if the ranks have different models."""
        mine = [(name, list(p.shape), str(p.dtype), p.requires_grad) for name, p in self.module.named_parameters()]
        mine += [(name, list(b.shape), str(b.dtype), False) for name, b in self.module.named_buffers()]
        everyone: list[Any] = [None] * self._group.size()
        dist.all_gather_object(everyone, mine, self.process_group)
        for rank, other in zip(self._group.ranks, everyone):
            if other != everyone[0]:
                pairs = list(zip([*other, None], [*everyone[0], None]))
                theirs, first = next(pair for pair in pairs if pair[0] != pair[1])
                raise RuntimeError(
                    f"DistributedDataParallel: rank {rank} has another model than rank {self._group.ranks[0]}: "
                    f"{_shown(theirs)}, not {_shown(first)}"
                )

    def _from_first(self, tensors: Iterable[Tensor]) -> None:
        """Give the tensors the values of the group's first rank, those of a dtype and device at once."""
        kinds: dict[Any, list[Tensor]] = {}
        for t in tensors:
            kinds.setdefault((t.dtype, t.device), []).append(t.detach())
        with no_grad():
            for together in kinds.values():
                flat = cat([t.reshape(-1) for t in together])
                dist.broadcast(flat, self._group.ranks[0], self.process_group)
                if self._group.rank():
                    for t, part in zip(together, flat.split([t.numel() for t in together])):
                        t.copy_(part.reshape(t.shape))

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        if self._group.size() > 1 and is_grad_enabled():
            sums = self.require_backward_grad_sync
            if sums and self.broadcast_buffers and self.training:
                self._from_first(self.module.buffers())
            self._state = _SUMS if sums else _LOCAL
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """In this block, forward and backward accumulate each rank's own gradients; the next backward sums them too."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    # ---- In backward

    def _on_gradient(self, p: Tensor) -> None:
        if self._state == _LOCAL:
            return
        if self._state != _SUMS:
            raise RuntimeError(
                "DistributedDataParallel: a backward without a forward of its own: call the wrapped model (not its "
                "`module`) once before each backward, or accumulate under no_sync()"
            )
        if mode.callbacks is not self._backward:
            self._backward, self._schedule = mode.callbacks, Schedule(self._parts)
            for bucket in self._buckets:
                bucket.begin()
            queue_callback(self._end)
        self._place(self._index[id(p)], p)
        self._start_ready()

    def _place(self, index: int, p: Tensor) -> None:
        try:
            number = self._schedule.arrived(index)
        except RuntimeError:
            name = self._names[id(p)]
            raise RuntimeError(
                f"DistributedDataParallel: parameter {name} got gradients twice in one backward: use it in one "
                "checkpoint alone"
            ) from None
        with no_grad():
            self._buckets[number].put(index, p.grad, self._share)

    def _start_ready(self) -> None:
        for number in self._schedule.ready():
            with no_grad():
                self._buckets[number].start(self.process_group)
        for bucket in self._buckets:
            if bucket.work is not None:
                bucket.work.is_completed()  # MPI goes on where it is called

    def _end(self) -> None:
        """The last gradients have come: sum those of parameters that this rank did not use, and wait."""
        parameters = {i: p for bucket in self._buckets for i, p in zip(bucket.indices, bucket.parameters)}
        for index in self._schedule.missing():
            self._place(index, parameters[index])
        self._start_ready()
        for bucket in self._buckets:
            bucket.finish()
        self._backward, self._state = None, _SUMMED

    # ---- Checkpoints: the names of the module itself

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The module's own state_dict, so that it fits the module without this wrapper."""
        return self.module.state_dict(*args, **kwargs)

    def load_state_dict(self, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
        """Load the module's state; names may begin with "module.", as PyTorch's wrapper writes them."""
        if state_dict and all(name.startswith("module.") for name in state_dict):
            state_dict = {name[len("module.") :]: value for name, value in state_dict.items()}
        return self.module.load_state_dict(state_dict, *args, **kwargs)


def _remove(handles: Sequence[Any]) -> None:
    for handle in handles:
        handle.remove()


def _shown(entry: Any) -> str:
    """A parameter's description in a message."""
    if entry is None:
        return "nothing more"
    name, shape, dtype, trained = entry
    return f"{name} {shape} {dtype}" + ("" if trained else " without gradient")


def _arrived(wrapper: Any, p: Tensor) -> None:
    """The hook of each parameter. (It must not keep the wrapper alive.)"""
    found = wrapper()
    if found is not None:
        found._on_gradient(p)
