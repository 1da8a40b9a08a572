"""The peak of memory in steps of training, norch beside torch: parameters, gradients, the batch and all in between.

    PYTHONPATH=. python benchmarks/memory.py

norch: bytes of element data alive, asked for after each call into C (`norch.memory_allocated`), and what norch took
from the system for them with an empty cache (`norch.memory_reserved`): that counts what a kernel needs on the way too,
and rounds up. torch: the running sum of the allocations and frees that torch.profiler records with profile_memory.
Neither counts the objects of Python and C that describe tensors. Each peak is one of three steps.
"""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any, Callable

from ccalls import import_watched

STEPS = 3


class Peak:
    """The most bytes of tensors that were alive after any call into C, and the most that were the system's."""

    bytes = reserved = 0

    def __init__(self) -> None:
        self.norch: Any = None
        self.norch = import_watched(self.sample)

    def sample(self, function: str, _: int) -> None:
        if self.norch and function not in ("memory_allocated", "memory_reserved"):  # which is how it is asked
            self.bytes = max(self.bytes, self.norch.memory_allocated())
            self.reserved = max(self.reserved, self.norch.memory_reserved())


def in_norch(peak: Peak, setup: Callable[[Any], dict[str, Any]]) -> tuple[int, int]:
    """Peak bytes of tensors, and bytes taken from the system."""
    from frameworks import Norch

    import norch

    framework = Norch(1)
    norch.empty_cache()
    before, reserved_before = norch.memory_allocated(), norch.memory_reserved()
    step = setup(framework)["step"]
    norch.empty_cache()
    peak.bytes = peak.reserved = 0
    for _ in range(STEPS):
        step()
    if not peak.bytes:
        raise RuntimeError("no call into C was seen: norch finds its functions where ccalls.py does not look")
    return peak.bytes - before, peak.reserved - reserved_before


def in_torch(setup: Callable[[Any], dict[str, Any]], batch_bytes: int) -> int:
    """Peak bytes of allocations; the batch is norch's memory, which torch only borrows, and is added."""
    from frameworks import Torch
    from torch.profiler import ProfilerActivity, profile

    framework = Torch(1)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        step = setup(framework)["step"]
        for _ in range(STEPS):
            step()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    changes = [event for event in events if event["name"] == "[memory]"]
    if not changes:
        raise RuntimeError("torch.profiler recorded no allocations")
    alive = most = 0
    for event in sorted(changes, key=lambda event: event["ts"]):
        alive += event["args"]["Bytes"]
        most = max(most, alive)
    return most + batch_bytes


def size(count: int) -> str:
    return f"{count} B" if count < 10_000 else f"{count / 1e3:.1f} kB" if count < 1e6 else f"{count / 1e6:.2f} MB"


LAYERS = [  # constructor, shape of the input, how many inputs
    ("Conv2d(64, 64, 3, padding=1)", (8, 64, 32, 32), 1),
    ("BatchNorm2d(64)", (16, 64, 32, 32), 1),
    ("LayerNorm(768)", (8, 128, 768), 1),
    ("GroupNorm(8, 64)", (16, 64, 32, 32), 1),
    ("LSTM(64, 64, batch_first=True)", (16, 20, 64), 1),
    ("MultiheadAttention(256, 8, batch_first=True)", (8, 128, 256), 3),
]


def of_layer(constructor: str, shape: tuple[int, ...], inputs: int) -> Callable[[Any], dict[str, Any]]:
    """Forward, loss and backward of a layer, with gradients of its parameters and inputs."""
    from wide_layers import built

    def setup(framework: Any) -> dict[str, Any]:
        names = built(f"nn.{constructor}", *[("normal", shape)] * inputs)(framework)
        given = [names[letter].requires_grad_() for letter in "abc"[:inputs]]
        layer = names["layer"]

        def step() -> None:
            for leaf in [*given, *layer.parameters()]:
                leaf.grad = None
            result = layer(*given)
            result = result[0] if isinstance(result, tuple) else result
            # Through a loss: a gradient that is given would be in memory twice, as `result` gets a .grad of its own.
            names["F"].mse_loss(result, names["lib"].zeros_like(result)).backward()

        return {"step": step}

    return setup


def main() -> None:
    peak = Peak()  # imports norch
    import steps

    def mlp(batch: int) -> Callable[[Any], dict[str, Any]]:
        return lambda framework: steps.mlp(framework, batch)

    rows = [("sin2 step, batch 1", steps.sin2, 0)]
    rows += [(f"MLP 784-128-10 step, batch {n}", mlp(n), n * (784 * 4 + 8)) for n in (64, 1024)]
    rows += [
        (f"{constructor} {list(shape)}", of_layer(constructor, shape, count), 4 * count * math.prod(shape))
        for constructor, shape, count in LAYERS
    ]
    lines = []
    for name, setup, batch_bytes in rows:
        tensors, system = in_norch(peak, setup)
        line = f"{name:60} {size(tensors):>10} {size(system):>12}"
        try:
            theirs = in_torch(setup, batch_bytes)
            line += f" {size(theirs):>10} {theirs / tensors:6.2f}"
        except ImportError:
            pass
        lines.append(line)
    print(f"{'peak of':60} {'norch':>10} {'from system':>12} {'torch':>10} {'ratio':>6}", *lines, sep="\n")


if __name__ == "__main__":
    main()
