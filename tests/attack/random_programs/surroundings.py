"""Ways to call what a statement computes: by a transform, in a mode, behind hooks."""

from __future__ import annotations

import random
import re
from typing import Any

import torch

# Of a function of one tensor: {f} is it, {x} the tensor, {v} the name of its argument
CALLS = """
lib.func.vmap({f})({x})
lib.func.vmap({f}, -1)({x})
lib.func.vmap({f}, out_dims=-1)({x})
lib.func.vmap({f}, chunk_size=1)({x})
lib.func.jacrev({f})({x})
lib.func.jacfwd({f})({x})
lib.func.jvp({f}, ({x},), (lib.ones_like({x}),))
lib.func.vjp({f}, {x})[0]
lib.func.linearize({f}, {x})[0]
lib.func.vmap(lib.func.jacrev({f}))({x})
lib.autograd.functional.jacobian({f}, {x})
lib.utils.checkpoint.checkpoint({f}, {x}, use_reentrant=False)
lib.utils.checkpoint.checkpoint({f}, {x}, use_reentrant=True)
""".strip().splitlines()

MODES = """
with lib.no_grad():
with lib.inference_mode():
with lib.set_grad_enabled(True):
with lib.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
with lib.autograd.graph.save_on_cpu():
with lib.autograd.detect_anomaly():
with lib.autocast('cpu', lib.bfloat16):
with lib.autocast('cpu', lib.float16):
""".strip().splitlines()

SMALL = 64  # elements of tensors whose Jacobians are taken


def around(line: str, new: str, world: dict[str, Any], rng: random.Random) -> str:
    """A statement that computes the same in another way."""
    if rng.random() < 0.4:
        return line if line.startswith("with ") else f"{rng.choice(MODES)} {line}"
    made = re.fullmatch(rf"{new} = ([^;]*)", line)
    values = {name: world.get(name) for name in re.findall(r"\bv\d+\b", line)}
    tensors = [name for name, x in values.items() if isinstance(x, torch.Tensor) and x.numel() <= SMALL]
    if not made or not tensors:
        return line
    name = rng.choice(tensors)
    call = rng.choice(CALLS).replace("{f}", f"lambda {name}: {made[1]}").replace("{x}", name)
    return f"{new} = {call}"
