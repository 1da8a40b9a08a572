"""GradScaler: losses multiplied by a large factor, so that gradients of 16 bits do not round to 0."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any, Iterable

from .._C import lib
from ..arguments import flags
from ..autograd import no_grad
from ..given import warn
from ..operation import refuse_recording
from ..tensor import Tensor
from ..types import float16


class OptState(Enum):
    """What was done with the gradients of an optimizer since the last update of the scale."""

    READY, UNSCALED, STEPPED = range(3)


class GradScaler:
    """Scales losses, unscales gradients before a step, and skips the step if a gradient is infinite or NaN.

    The factor grows by `growth_factor` after `growth_interval` steps without a skip, and shrinks by `backoff_factor`
    after one. With `enabled=False`, or for "cuda" (with a warning) where there is none, every method passes on what it
    was given.

    >>> w = norch.nn.Parameter([1.0])
    >>> optimizer, scaler = norch.optim.SGD([w], lr=0.5), norch.amp.GradScaler("cpu", init_scale=4.0)
    >>> scaler.scale((w * w).sum()).backward()
    >>> w.grad
    tensor([8.])
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> w.detach()
    tensor([0.])
    """

    @flags
    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device, self._enabled = device, enabled
        if enabled and device == "cuda" and lib.device_count() == 0:
            warn("GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        if growth_factor <= 1.0:
            raise ValueError(f"GradScaler: growth_factor is {growth_factor}, expected more than 1")
        if not backoff_factor < 1.0:
            raise ValueError(f"GradScaler: backoff_factor is {backoff_factor}, expected less than 1")
        self._scale, self._growth_tracker = float(init_scale), 0
        self._growth_factor, self._backoff_factor, self._growth_interval = (
            growth_factor,
            backoff_factor,
            growth_interval,
        )
        # of each optimizer: its stage, and whether a gradient overflowed
        self._stages: dict[int, tuple[OptState, bool]] = {}

    def scale(self, outputs: Any) -> Any:
        """A tensor, or each of a list or tuple of them, times the factor.

        >>> norch.amp.GradScaler("cpu", init_scale=2.0).scale(norch.ones(2))
        tensor([2., 2.])
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * Tensor(self._scale).to(outputs.device)  # 0-d: halves stay halves
        if isinstance(outputs, Iterable) and not isinstance(outputs, (str, bytes)):
            scaled = [self.scale(value) for value in outputs]
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the factor, for example to clip them before `step`.

        Raises RuntimeError if it was done since the last `update`, ValueError for gradients of float16.

        >>> norch.amp.GradScaler("cpu").unscale_(norch.optim.SGD([norch.nn.Parameter([1.0])], lr=0.1))
        """
        if not self._enabled:
            return
        refuse_recording("GradScaler looks for infinite gradients")
        stage, _ = self._stages.get(id(optimizer), (OptState.READY, False))
        if stage == OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if stage == OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        if not hasattr(optimizer, "param_groups"):
            raise TypeError(f"GradScaler: expected an Optimizer, got {type(optimizer).__name__}")
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if any(gradient.dtype is float16 for gradient in gradients):
            raise ValueError("Attempting to unscale FP16 gradients.")
        overflowed = self._scale == 0.0  # which has lost them
        with no_grad():
            for gradient in gradients:
                overflowed |= not gradient.isfinite().all().item()
                gradient *= 1.0 / (self._scale or 1.0)
        self._stages[id(optimizer)] = (OptState.UNSCALED, overflowed)

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Unscale the gradients, if `unscale_` has not, and step unless one is infinite or NaN.

        Raises RuntimeError for a closure, or after another `step` without an `update`.

        >>> scaler = norch.amp.GradScaler("cpu")
        >>> scaler.step(norch.optim.SGD([norch.nn.Parameter([1.0])], lr=0.1))
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs or args:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        stage, _ = self._stages.get(id(optimizer), (OptState.READY, False))
        if stage == OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if stage == OptState.READY:
            self.unscale_(optimizer)
        overflowed = self._stages[id(optimizer)][1]
        result = None if overflowed else optimizer.step(*args, **kwargs)
        self._stages[id(optimizer)] = (OptState.STEPPED, overflowed)
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Grow or shrink the factor after the steps of an iteration, or set it.

        >>> scaler = norch.amp.GradScaler("cpu")
        >>> scaler.update(8.0)
        >>> scaler.get_scale()
        8.0
        """
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            if not self._stages:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(overflowed for _, overflowed in self._stages.values()):
                self._scale, self._growth_tracker = self._scale * self._backoff_factor, 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    larger = self._scale * self._growth_factor
                    self._scale = larger if math.isfinite(Tensor(larger).item()) else self._scale
                    self._growth_tracker = 0
        self._stages.clear()

    def get_scale(self) -> float:
        """The factor; 1.0 if disabled.

        >>> norch.amp.GradScaler("cpu").get_scale()
        65536.0
        """
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """What the factor grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the factor grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the factor shrinks by."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the factor shrinks by."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many steps the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many steps the factor grows."""
        self._growth_interval = new_interval

    def __repr__(self) -> str:
        return f"GradScaler(scale={self.get_scale()}, enabled={self._enabled})"

    def is_enabled(self) -> bool:
        """Whether it scales."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The settings, the factor and the steps since it changed; empty if disabled.

        >>> norch.amp.GradScaler("cpu").state_dict()["growth_interval"]
        2000
        """
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned. Raises RuntimeError for that of a disabled scaler.

        >>> scaler = norch.amp.GradScaler("cpu")
        >>> scaler.load_state_dict(scaler.state_dict())
        """
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled GradScaler."
            )
        self._scale = state_dict["scale"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval, self._growth_tracker = state_dict["growth_interval"], state_dict["_growth_tracker"]
