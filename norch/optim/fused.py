"""FusedOptimizer: what Adam and RMSprop share, a step of a whole group in one call into C."""

from __future__ import annotations

from norch import _C
from norch._C import addresses
from norch.tensor import Tensor

from .optimizer import Optimizer


class FusedOptimizer(Optimizer):
    """An optimizer that remembers of each parameter how many steps it took, and up to three tensors like it.

    A subclass names the C function that steps, packs its options, and names the tensors in the order of StepEntry in
    csrc/api.h, None for one that the settings do without.
    """

    function: str

    def options(self, group: dict) -> bytes:
        """The group's settings as the C struct that `function` takes."""
        raise NotImplementedError

    def remembered(self, group: dict) -> tuple[str | None, str | None, str | None]:
        """The keys in `state` of what the settings ask to remember."""
        raise NotImplementedError

    def _step_group(self, group: dict) -> None:
        keys = self.remembered(group)
        fresh: dict[Tensor, dict] = {}
        entries: list[int] = []  # of each parameter, those of StepEntry
        for parameter in group["params"]:
            gradient = parameter._leaf and parameter._leaf.grad  # parameter.grad, without the call
            if gradient is None:
                continue
            state = self.state.get(parameter, {})
            if "step" not in state or any(key and key not in state for key in keys):
                state = fresh[parameter] = _completed(state, keys, parameter)
            entries += parameter._ptr, gradient._ptr, state["step"]._ptr
            entries += [state[key]._ptr if key else 0 for key in keys]
        if getattr(_C.lib, self.function)(len(entries) // (3 + len(keys)), addresses(entries), self.options(group)):
            _C.raise_error()
        self.state.update(fresh)


def _completed(state: dict, keys: tuple, parameter: Tensor) -> dict:
    """The state with what is missing from it: no steps, and zeros."""
    start: dict[str, Tensor] = {} if "step" in state else {"step": Tensor([0.0], device="cpu")}
    start.update((key, parameter.detach().zeros_like()) for key in keys if key and key not in state)
    return {**start, **state}
