"""ZeroRedundancyOptimizer: each rank keeps the optimizer's state of its part of the parameters only (ZeRO, stage 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapreplace
from typing import Any

from .. import distributed as dist
from ..autograd.mode import enable_grad, no_grad
from ..distributed.group import of
from ..distributed.objects import gather_object
from ..functions.creation import empty
from ..functions.joining import cat
from ..tensor import Tensor
from .optimizer import Loss, Optimizer, Parameters, StateDict


def parts_of(sizes: Sequence[int], ranks: int) -> list[int]:
    """For each parameter the rank that keeps its state: the largest first, each to the rank that has least.

    >>> from norch.optim.zero import parts_of
    >>> parts_of([5, 9, 3, 2], 2)
    [1, 0, 1, 1]
    """
    if ranks < 1:
        raise ValueError(f"parts_of: ranks is {ranks}, expected at least 1")
    loads = [(0, rank) for rank in range(min(ranks, max(len(sizes), 1)))]  # a heap
    owners = [0] * len(sizes)
    for index in sorted(range(len(sizes)), key=lambda i: (-sizes[i], i)):
        load, rank = loads[0]
        owners[index] = rank
        heapreplace(loads, (load + sizes[index], rank))
    return owners


class ZeroRedundancyOptimizer(Optimizer):
    """Any optimizer of norch, with its state divided among the ranks: each steps its part and sends it to the others.

        model = nn.parallel.DistributedDataParallel(Net())
        optimizer = optim.ZeroRedundancyOptimizer(model.parameters(), optim.Adam, lr=0.01)

    All ranks give the same parameters, with the same mean gradients (DistributedDataParallel), so that clipping and
    schedulers work as ever. `consolidate_state_dict(to=0)`, called by all ranks, brings the parts together: then
    `state_dict()` of that rank is the one of the optimizer itself, and `load_state_dict` takes such a one in any number
    of ranks. Raises ValueError without a process group, and for `overlap_with_ddp`.

    >>> norch.distributed.init_process_group()
    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.ZeroRedundancyOptimizer([w], optim.SGD, lr=0.25)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.5000])
    >>> norch.distributed.destroy_process_group()
    """

    def __init__(
        self,
        params: Parameters,
        optimizer_class: type[Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise ValueError("ZeroRedundancyOptimizer: overlap_with_ddp is not supported; call step() after backward")
        ranks = of(process_group)
        if ranks is None:
            raise ValueError("ZeroRedundancyOptimizer: this rank is not in the process group")
        self._ranks, self.process_group = ranks, process_group
        self.optim = optimizer_class(params, **defaults)
        super().__init__([dict(group) for group in self.optim.param_groups], self.optim.defaults)
        self._divide()

    def _divide(self) -> None:
        """Let the inner optimizer have this rank's parameters alone, and know no others' state."""
        parameters = self.parameters
        owners = parts_of([p.numel() for p in parameters], self._ranks.size())
        self._owned: list[list[Tensor]] = [[] for _ in range(self._ranks.size())]
        for p, owner in zip(parameters, owners):
            self._owned[owner].append(p)
        mine = {id(p) for p in self._owned[self._ranks.rank()]}
        for ours, inner in zip(self.param_groups, self.optim.param_groups):
            inner.update({**ours, "params": [p for p in ours["params"] if id(p) in mine]})
        for p in [p for p in self.state if id(p) not in mine]:
            del self.state[p]
        self.optim.state = self.state

    def add_param_group(self, group: dict[str, Any]) -> None:
        """Add {"params": tensors, setting: value ...}, in all ranks alike."""
        super().add_param_group(group)
        if hasattr(self, "_owned"):
            self.optim.add_param_group(dict(self.param_groups[-1]))
            self._divide()

    def step(self, closure: Callable[[], Loss] | None = None) -> Loss | None:
        """Change this rank's part of the parameters by their gradients, and take the others' parts from the others."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for ours, inner in zip(self.param_groups, self.optim.param_groups):  # a scheduler changed ours
            inner.update({name: value for name, value in ours.items() if name != "params"})
        if self._owned[self._ranks.rank()]:
            self.optim.step()
        if self._ranks.size() > 1:
            self._exchange()
        return loss

    def _exchange(self) -> None:
        """Send this rank's parameters, those of a dtype and device at once, and take the others'."""
        sent = []
        with no_grad():
            for place, owned in enumerate(self._owned):
                kinds: dict[Any, list[Tensor]] = {}
                for p in owned:
                    kinds.setdefault((p.dtype, p.device), []).append(p)
                for (dtype, device), group in kinds.items():
                    if place == self._ranks.rank():
                        flat = cat([p.detach().reshape(-1) for p in group])
                    else:
                        flat = empty(sum(p.numel() for p in group), dtype=dtype, device=device)
                    work = dist.broadcast(flat, self._ranks.ranks[place], self.process_group, async_op=True)
                    sent.append((work, place, flat, group))
            for work, place, flat, group in sent:
                if work is not None:
                    work.wait()
                if place != self._ranks.rank():
                    for p, part in zip(group, flat.split([p.numel() for p in group])):
                        p.detach().copy_(part.reshape(p.shape))

    # ---- Checkpoints

    _whole: StateDict | None = None

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Bring all parts of the state to rank `to`, whose `state_dict()` is then complete. All ranks call it."""
        mine = super().state_dict()
        receives = self._ranks.ranks[self._ranks.rank()] == to
        parts: list[Any] | None = [None] * self._ranks.size() if receives else None
        gather_object(mine["state"], parts, to, self.process_group)
        self._whole = None
        if parts is not None:
            state = {number: values for part in parts for number, values in part.items()}
            self._whole = {"state": dict(sorted(state.items())), "param_groups": mine["param_groups"]}

    def state_dict(self) -> StateDict:
        """The state of all parameters, as the optimizer itself writes it, once it was consolidated to this rank.

        Raises RuntimeError before `consolidate_state_dict`, and in ranks that it was not brought to.
        """
        if self._whole is None:
            raise RuntimeError(
                "ZeroRedundancyOptimizer: the state is divided among the ranks: all ranks call "
                "consolidate_state_dict(to=rank) before that rank calls state_dict()"
            )
        return self._whole

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take this rank's part of a complete state, in all ranks, whose number may be another than before."""
        super().load_state_dict(state_dict)
        self._divide()
