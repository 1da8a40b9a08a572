"""Programs in phases, for faults to come into: calls of all layers, optimizers and operations, files, loaders.

A workload builds a state (a namespace); each phase takes it further. `state` is what has to be as before or as after a
phase that failed, `results` what the whole gives.
"""

from __future__ import annotations

import math
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, Iterator

import norch
from norch import nn, optim

from .attempt import values
from .layers import LAYERS, OPTIMIZERS
from .scripts import FILES, SCRIPTS, Script, parsed

for _folder in ("shared", "tables"):
    sys.path.append(str(Path(__file__).parents[2] / _folder))
Phase = Callable[[Any], Any]


class Workload:
    """One phase that gives a result, with no state: what most of the others are made of."""

    def __init__(self, name: str, build: Callable[[], Any], *phases: Phase, kept: tuple[str, ...] = ()) -> None:
        self.name, self._build, self.phases, self.kept = name, build, phases, kept

    def build(self) -> Any:
        return self._build()

    def state(self, s: Any) -> Any:
        return values({name: getattr(s, name) for name in self.kept})

    def results(self, s: Any) -> Any:
        return values(dict(vars(s)))

    def restart(self, s: Any, phase: int) -> int:
        """Which phase comes next when `phase` is to be repeated."""
        return phase

    def end(self, s: Any) -> None:
        vars(s).clear()


class Differentiated(Workload):
    """Forward, then backward. A failed backward may have released a part of the graph: forward comes again."""

    def __init__(self, name: str, build: Callable[[], Any]) -> None:
        super().__init__(name, build, self.forward, self.backward)

    def forward(self, s: Any) -> None:
        s.out = s.call()

    def backward(self, s: Any) -> None:
        for leaf in s.leaves:
            leaf.grad = None
        outputs = [out for out in tensors_in(s.out) if out.requires_grad]
        total = sum((out * out).sum() for out in outputs)
        if outputs:
            total.backward()

    def state(self, s: Any) -> Any:
        return values([getattr(s, "layer", None), s.inputs])

    def restart(self, s: Any, phase: int) -> int:
        if getattr(s, "layer", None) is not None and phase == 1:
            s.layer.load_state_dict(s.saved)
        return 0

    def results(self, s: Any) -> Any:
        return values([s.out, [leaf.grad for leaf in s.leaves], getattr(s, "layer", None), s.inputs])


def tensors_in(x: Any) -> list[Any]:
    if isinstance(x, (list, tuple)):
        return [tensor for item in x for tensor in tensors_in(item)]
    return [x] if isinstance(x, norch.Tensor) else []


# ---- Layers, operations and optimizers -------------------------------------------------------------------------------


def layer(row: str, device: str) -> Workload:
    made, inputs = row.split("): ")

    def build() -> Any:
        def x(*shape: int) -> Any:
            return norch.randn(*shape, device=device).requires_grad_()

        def i(below: int, *shape: int) -> Any:
            return norch.randint(0, below, shape, device=device)

        names = {"nn": nn, "norch": norch, "x": x, "i": i}
        with norch.device(device):
            module = eval(f"nn.{made})", names)
            given = eval(f"({inputs},)", names)
        given = tuple(t.detach().requires_grad_() if getattr(t, "requires_grad", False) else t for t in given)
        leaves = [t for t in given if getattr(t, "requires_grad", False)]
        if made.startswith("Lazy"):
            module(*given)
        saved = {name: value.clone() for name, value in module.state_dict().items()}
        leaves += module.parameters()
        return SimpleNamespace(layer=module, inputs=given, leaves=leaves, saved=saved, call=lambda: module(*given))

    return Differentiated(f"layer: {row}", build)


def operation(row: Any, device: str) -> Workload:
    from operations import Elementwise

    def build() -> Any:
        rng = random.Random(3)
        if isinstance(row, Elementwise):
            shapes, draws = [(2, 3)] * (1 if row in unary() else 2), row.gradient_draws
            call = getattr(norch, row.name, None) or getattr(norch.Tensor, row.name)
        else:
            shapes, draws, call = row.shapes, row.draws, None
        from draws import any_numbers, truths

        whole = isinstance(row, Elementwise) and row.rule == "whole"
        inputs = []
        for number, shape in enumerate(shapes):
            draw = draws[number] if number < len(draws) and not whole else any_numbers
            kind = "bool" if draw is truths else "int64" if whole else "float64"
            count = math.prod(shape)
            flat = draw(rng, count) if isinstance(row, Elementwise) and not whole else draw(rng, count, kind)
            made = norch.tensor(flat, dtype=getattr(norch, kind)).reshape(*shape).to(device)
            has_gradient = kind == "float64" and not (repr(row).startswith("igamma") and number == 0)
            inputs.append(made.requires_grad_(has_gradient))
        leaves = [tensor for tensor in inputs if tensor.requires_grad]

        def run() -> Any:
            operands = [tensor * 1 if tensor.requires_grad else tensor for tensor in inputs]  # leaves refuse writes
            return call(*operands) if call else row.call(norch, *operands)

        return SimpleNamespace(layer=None, inputs=inputs, leaves=leaves, call=run)

    return Differentiated(f"operation: {row!r}", build)


def unary() -> list[Any]:
    from operations import UNARY

    return UNARY


def optimizer(row: str, device: str, dtype: Any) -> Workload:
    def build() -> Any:
        def parameter(*shape: int) -> Any:
            made = nn.Parameter(norch.randn(*shape, device=device).to(dtype))
            made.grad = norch.randn(*shape, device=device).to(dtype)
            return made

        first, second = [parameter(2, 3), parameter(3, 2)], [parameter(4, 1)]
        one_group = row.startswith("LBFGS")
        groups = [*first, *second] if one_group else [{"params": first}, {"params": second, "lr": 0.03}]
        made = eval(f"optim.{row}", {"optim": optim, "p": groups})
        everything = [*first, *second]

        def closure() -> Any:
            made.zero_grad()
            loss = sum(((p - 1) ** 2).sum() for p in everything)
            loss.backward()
            return loss

        run = (lambda: made.step(closure)) if one_group else made.step
        return SimpleNamespace(optimizer=made, run=run)

    def step(s: Any) -> None:
        s.run()

    return Workload(f"optimizer: {row} of {dtype}", build, step, step, kept=("optimizer",))


# ---- Models in training, and settings --------------------------------------------------------------------------------


def training(device: str) -> Workload:
    def build() -> Any:
        with norch.device(device):
            model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3))
            x, y = norch.randn(5, 3), norch.randint(0, 3, (5,))
        return SimpleNamespace(
            model=model, sgd=optim.SGD(model.parameters(), lr=0.1, momentum=0.9), x=x, y=y, loss=None
        )

    def gradients(s: Any) -> None:
        s.sgd.zero_grad()
        loss = nn.CrossEntropyLoss()(s.model(s.x), s.y)
        loss.backward()
        s.loss = loss.detach()

    def step(s: Any) -> None:
        s.sgd.step()

    return Workload("a training step", build, gradients, step, gradients, step, kept=("model", "sgd"))


def script(row: Script) -> Workload:
    """Each line is a phase; what it names is the state."""
    code = [compile(line, row.name, "exec") for line in row.lines]

    def build() -> Any:
        s = SimpleNamespace(norch=norch, nn=nn, optim=optim)
        exec(row.before, vars(s))
        return s

    def phase(line: Any) -> Phase:
        return lambda s: exec(line, vars(s))

    return Workload(f"script: {row.name}", build, *map(phase, code), kept=row.kept)


class Files(Workload):
    """Phases that write into or read from a folder, whose files are part of the state."""

    def __init__(self, row: Script) -> None:
        inner = script(row._replace(before=""))
        super().__init__(f"files: {row.name}", inner.build, *inner.phases)
        self.before = compile(row.before, row.name, "exec")

    def build(self) -> Any:
        s = super().build()
        s.folder = tempfile.mkdtemp(prefix="norch-attack-")
        exec(self.before, vars(s))
        return s

    def state(self, s: Any) -> Any:
        return {name: Path(s.folder, name).read_bytes() for name in sorted(os.listdir(s.folder))}

    def results(self, s: Any) -> Any:
        return values([self.state(s), {name: v for name, v in vars(s).items() if name not in ("path", "folder")}])

    def end(self, s: Any) -> None:
        shutil.rmtree(s.folder, ignore_errors=True)
        super().end(s)


def everything(device: str) -> Iterator[Callable[[], Workload]]:
    """Builders of all workloads but the examples of docstrings."""
    from cases import CASES
    from operations import ELEMENTWISE

    for row in LAYERS.strip().splitlines():
        yield lambda row=row: layer(row, device)
    for row in OPTIMIZERS.strip().splitlines():
        for dtype in (norch.float32, norch.float16):
            if dtype is norch.float32 or row.startswith(("SGD", "Adam(", "RMSprop")):
                yield lambda row=row, dtype=dtype: optimizer(row, device, dtype)
    for row in [*ELEMENTWISE, *CASES]:
        yield lambda row=row: operation(row, device)
    yield lambda: training(device)
    for found in parsed(SCRIPTS):
        yield lambda found=found: script(found)
    for found in parsed(FILES):
        yield lambda found=found: Files(found)
