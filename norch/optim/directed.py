"""What Adafactor and Muon share: a direction found in tensor operations, then a step along it in C."""

from __future__ import annotations

from typing import Any, ClassVar

from ..autograd.mode import no_grad
from ..operation import assigning
from ..tensor import Tensor
from .groups import Group
from .optimizer import Optimizer, State, Work


class DirectedOptimizer(Optimizer):
    """Base class of optimizers that define `direction`; `go`, a function of C, takes the step along it.

    Nothing changes before all directions are found, so a failure leaves everything as it was.
    """

    go: ClassVar[Any]  # takes a count, entries and options, as `fused` does
    live = ("lr", "weight_decay")
    _changes: tuple[list[Tensor], list[Tensor]]  # tensors of states, and what they become
    _directions: list[Tensor]  # alive until the step was taken

    def direction(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """Where to go, downhill if it is positive; puts what the next step needs into `state`."""
        raise NotImplementedError(f"{type(self).__name__} does not define direction()")

    def fused(self, *step: Any) -> int:
        """Write what the states become, and take the step; a status of C."""
        olds, news = self._changes
        status = assigning(olds, news)() or int(type(self).go(*step))
        self._changes, self._directions = ([], []), []
        return status

    def entries(self, work: Work, number: int, new: dict[Tensor, State]) -> tuple[list[int], bytes]:
        """Of each parameter the entry with its direction in place of the gradient."""
        parameters, _, states, group = work
        return super().entries((parameters, self.directions(work, number), states, group), number, new)

    def directions(self, work: Work, number: int) -> list[Tensor]:
        """The direction of each parameter of a group, which stays alive until the step was taken."""
        if number == 0:
            self._changes, self._directions = ([], []), []
        found = []
        parameters, gradients, states, group = work
        with no_grad():
            for parameter, gradient, state in zip(parameters, gradients, states):
                changed = dict(state)
                gradient = -gradient if group.get("maximize") else gradient
                found.append(self.direction(parameter, gradient, changed, group).to(parameter.dtype).contiguous())
                for name, value in changed.items():
                    if value is not state[name]:
                        self._changes[0].append(state[name])
                        self._changes[1].append(value)
        self._directions += found
        return found
