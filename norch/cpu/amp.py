"""The older names of `norch.amp` for the CPU: `norch.cpu.amp.autocast()`, `norch.cpu.amp.GradScaler()`."""

from __future__ import annotations

from .. import amp
from ..given import warn
from ..types import DType, bfloat16

__all__ = ["GradScaler", "autocast"]


class autocast(amp.autocast):
    """`norch.autocast("cpu", dtype, enabled, cache_enabled)`. (Like PyTorch, warns that it is the older name.)"""

    def __init__(self, enabled: bool = True, dtype: DType = bfloat16, cache_enabled: bool = True) -> None:
        _warn("autocast")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """`norch.amp.GradScaler("cpu", ...)`. (Like PyTorch, warns that it is the older name.)"""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _warn("GradScaler")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def _warn(name: str) -> None:
    text = f'`norch.cpu.amp.{name}(args...)` is deprecated. Please use `norch.amp.{name}("cpu", args...)` instead.'
    warn(text, FutureWarning)
