"""Mixed precision: `autocast` runs the expensive operations in 16 bits, `GradScaler` keeps small gradients from 0.

with norch.autocast("cpu"):           # products and convolutions in bfloat16, losses in float32
    loss = F.cross_entropy(model(x), y)
loss.backward()                       # outside: backward runs in the dtypes of the forward
"""

from __future__ import annotations

from .custom import custom_bwd, custom_fwd
from .grad_scaler import GradScaler
from .mode import autocast, is_autocast_available

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
