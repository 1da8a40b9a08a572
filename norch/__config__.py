"""How this norch was built and what it runs on: `print(norch.__config__.show())`."""

from __future__ import annotations

from . import _C


def instruction_set() -> str:
    """Which copy of the CPU kernels was chosen when norch was loaded: "baseline", "avx2" or "avx512"."""
    return _C.lib.instruction_set().decode()


def show() -> str:
    """The instruction set of the CPU kernels, the number of threads and the CUDA devices, as text."""
    devices = _C.lib.device_count()
    return "\n".join(
        [
            f"CPU kernels: {instruction_set()} (NORCH_ISA)",
            f"threads: {_C.lib.get_num_threads()} (NORCH_NUM_THREADS)",
            f"CUDA: {devices} devices" if devices else f"CUDA: none, {_C.lib.why_no_cuda().decode()}",
        ]
    )
