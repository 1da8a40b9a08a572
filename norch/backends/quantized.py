"""Kernels of quantized numbers, which norch does not have: the engine can be assigned and changes nothing."""

from __future__ import annotations

engine = "none"
supported_engines = ["none"]
