"""The older names of `norch.amp` for CUDA: `norch.cuda.amp.autocast()`, `norch.cuda.amp.GradScaler()`."""

from __future__ import annotations

import functools
from typing import Any

from .. import amp
from ..amp.grad_scaler import OptState as OptState
from ..given import warn
from ..types import DType, float16

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
__path__: list[str] = []  # (paths.py has modules below it)


class autocast(amp.autocast):
    """`norch.autocast("cuda", dtype, enabled, cache_enabled)`. (Like PyTorch, warns that it is the older name.)"""

    def __init__(self, enabled: bool = True, dtype: DType = float16, cache_enabled: bool = True) -> None:
        _warn("autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """`norch.amp.GradScaler("cuda", ...)`. (Like PyTorch, warns that it is the older name.)"""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _warn("GradScaler")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def _warn(name: str) -> None:
    text = f'`norch.cuda.amp.{name}(args...)` is deprecated. Please use `norch.amp.{name}("cuda", args...)` instead.'
    warn(text, FutureWarning)


custom_fwd: Any = functools.partial(amp.custom_fwd, device_type="cuda")
custom_bwd: Any = functools.partial(amp.custom_bwd, device_type="cuda")
