"""The processor that norch computes on."""

from __future__ import annotations

from ..__config__ import instruction_set


def get_cpu_capability() -> str:
    """The instruction set of the kernels: "BASELINE", "AVX2" or "AVX512".

    >>> norch.backends.cpu.get_cpu_capability() in ("BASELINE", "AVX2", "AVX512")
    True
    """
    return instruction_set().upper()
