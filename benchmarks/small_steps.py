"""The steps that small.py times, as each framework would have them written; it runs this file in their interpreters.

Told by lines of JSON: a row with its numbers, answered by what 50 steps change or by what the framework lacks; then
how many steps to time.
Asked for trials, it makes those of small_trials.py. torch and magnetron share norch's steps, those of steps.py.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.metadata
import itertools
import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterator

from small_trials import outcomes

# A framework's answer to a row: its step, what its parameters are now as flat lists, and a wait for what is queued.
Plan = tuple[Callable[[], Any], Callable[[], list], Callable[[], None]]


class Cannot(Exception):
    """What a framework lacks for a row."""


def flat(values: Any) -> list[float]:
    return [number for value in values for number in flat(value)] if isinstance(values, list) else [values]


def points(samples: list) -> Iterator[tuple[float, float]]:
    return itertools.cycle(list(zip(*samples)))


def nothing() -> None:
    pass


# ---- norch, torch and magnetron: the steps of steps.py ---------------------------------------------------------------


def shared(name: str) -> tuple[str, Callable[[dict], Plan]]:
    from frameworks import PEERS, Norch
    from steps import mlp, sin2

    framework = {"norch": Norch, **PEERS}[name](1)

    def plan(row: dict) -> Plan:
        made = (sin2 if row["row"] == "sin2" else mlp)(framework)
        return made["step"], lambda: [flat(framework.seen(p).tolist()) for p in made["parameters"]], nothing

    return framework.version, plan


# ---- tinygrad: lazy, so that a step ends where its results are asked for ---------------------------------------------


def tinygrad(jit: bool) -> tuple[str, Callable[[dict], Plan]]:
    os.environ.setdefault("DEV", "CPU")
    from tinygrad import Context, Device, Tensor, TinyJit
    from tinygrad import nn as layers

    Context(TRAINING=1).__enter__()

    def plan(row: dict) -> Plan:
        w1, b1, w2, b2 = [Tensor(p).realize() for p in row["parameters"]]
        first, last = layers.Linear(*reversed(w1.shape)), layers.Linear(*reversed(w2.shape))
        first.weight, first.bias, last.weight, last.bias = w1, b1, w2, b2
        optimizer = layers.optim.SGD([w1, b1, w2, b2], lr=row["rate"])

        def descend(loss: Any) -> Any:
            optimizer.zero_grad()
            return loss.backward().realize(*optimizer.schedule_step())

        def sin2(x: Any, y: Any) -> Any:
            return descend(((last(first(x).sigmoid()) - y) ** 2).mean())

        def mlp(x: Any, y: Any) -> Any:
            return descend(last(first(x).relu()).sparse_categorical_crossentropy(y))

        def tensors(values: Any) -> list:
            return [Tensor(value).realize() for value in values]

        of_points = row["row"] == "sin2"
        train = sin2 if of_points else mlp
        train = TinyJit(train) if jit else train
        batches: Iterator[list]
        if not of_points:
            batches = itertools.repeat(tensors(row["samples"]))
        elif jit:  # made beforehand: to make a tensor takes tinygrad longer than all the rest
            batches = itertools.cycle([tensors(([[x]], [[y]])) for x, y in zip(*row["samples"])])
        else:
            batches = (tensors(([[x]], [[y]])) for x, y in points(row["samples"]))
        state = lambda: [flat(p.tolist()) for p in (w1, b1, w2, b2)]  # noqa: E731
        return lambda: train(*next(batches)), state, Device[Device.DEFAULT].synchronize

    return importlib.metadata.version("tinygrad") + (", TinyJit" if jit else ""), plan


# ---- micrograd: numbers, not tensors ---------------------------------------------------------------------------------


def micrograd() -> tuple[str, Callable[[dict], Plan]]:
    from micrograd.engine import Value
    from micrograd.nn import Layer

    def exp(x: Any) -> Any:
        """micrograd has no exp: one more operation, in the form of its own."""
        out = Value(math.exp(x.data), (x,), "exp")

        def backward() -> None:
            x.grad += out.data * out.grad

        out._backward = backward
        return out

    def plan(row: dict) -> Plan:
        if row["row"] != "sin2":
            raise Cannot("computes with single numbers: 100,000 parameters and 64 samples are millions of objects")
        w1, b1, w2, b2 = row["parameters"]
        first, last = Layer(1, len(w1), nonlin=False), Layer(len(w1), 1, nonlin=False)
        for layer, weight, bias in ((first, w1, b1), (last, w2, b2)):
            for neuron, numbers, number in zip(layer.neurons, weight, bias):
                neuron.w, neuron.b = [Value(w) for w in numbers], Value(number)
        parameters = first.parameters() + last.parameters()
        numbers = points(row["samples"])

        def step() -> None:
            x, y = next(numbers)
            hidden = [1 / (1 + exp(-z)) for z in first([x])]
            loss = (last(hidden) - y) ** 2
            for p in parameters:
                p.grad = 0
            loss.backward()
            for p in parameters:
                p.data -= row["rate"] * p.grad

        def state() -> list:
            layers = (first.neurons, last.neurons)
            return [values for of in layers for values in ([w.data for n in of for w in n.w], [n.b.data for n in of])]

        return step, state, nothing

    return importlib.metadata.version("micrograd"), plan


# ---- PyNorch: the package of the article's author, imported as norch -------------------------------------------------


def pynorch() -> tuple[str, Callable[[dict], Plan]]:
    for folder in map(Path, sys.path):  # its library is linked to CUDA's and NCCL's, which pip puts there
        for library in sorted(folder.glob("nvidia/*/lib/lib*.so.*")):
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    import norch
    from norch import nn, optim

    if hasattr(norch, "memory_allocated"):
        raise ImportError("the norch of its interpreter is not PyNorch")

    def plan(row: dict) -> Plan:
        if row["row"] != "sin2":
            raise Cannot("has no ReLU")
        w1, b1, w2, b2 = row["parameters"]

        class Model(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.first, self.sigmoid, self.last = nn.Linear(1, len(w1)), nn.Sigmoid(), nn.Linear(len(w1), 1)

            def forward(self, x: Any) -> Any:
                return self.last(self.sigmoid(self.first(x)))

        model, criterion = Model(), nn.MSELoss()
        for layer, weight, bias in ((model.first, w1, b1), (model.last, w2, b2)):
            for name, values in (("weight", weight), ("bias", [[value] for value in bias])):
                parameter = getattr(layer, name)
                norch.Tensor.__init__(parameter, values, requires_grad=True)
        optimizer = optim.SGD(model.parameters(), lr=row["rate"])
        numbers = points(row["samples"])

        def step() -> None:
            x, y = next(numbers)
            inputs, target = norch.Tensor([[x]]), norch.Tensor([[y]])
            loss = criterion(model(inputs), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        def state() -> list:
            tensors = [getattr(layer, name) for layer in (model.first, model.last) for name in ("weight", "bias")]
            return [[t[i, j] for i in range(t.shape[0]) for j in range(t.shape[1])] for t in tensors]

        return step, state, nothing

    return norch.__version__, plan


FRAMEWORKS: dict[str, Callable[[], tuple[str, Callable[[dict], Plan]]]] = {
    "norch": lambda: shared("norch"),
    "torch": lambda: shared("torch"),
    "magnetron": lambda: shared("magnetron"),
    "tinygrad": lambda: tinygrad(jit=False),
    "tinyjit": lambda: tinygrad(jit=True),
    "micrograd": micrograd,
    "pynorch": pynorch,
}


def changes(plan: Plan) -> list:
    """By how much 50 steps change each parameter."""
    step, state, wait = plan
    before = state()
    for _ in range(50):
        step()
    wait()
    return [[b - a for a, b in zip(old, new)] for old, new in zip(before, state())]


def seconds(plan: Plan, count: int) -> float:
    step, _, wait = plan
    start = time.process_time()
    for _ in range(count):
        step()
    wait()
    return time.process_time() - start


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer

    def answer(**content: Any) -> None:
        print(json.dumps(content), file=answers, flush=True)

    try:
        version, make = FRAMEWORKS[sys.argv[1]]()
    except (ImportError, OSError) as error:  # OSError: PyNorch's library, without those that it is linked to
        return answer(absent=f"{type(error).__name__}: {error} (in {sys.executable})")
    answer(version=version)
    plan = None
    for line in sys.stdin:
        question = json.loads(line)
        if "trials" in question:
            answer(outcomes=outcomes(sys.argv[1]))
            continue
        if "count" in question:
            answer(seconds=seconds(plan, question["count"]))
            continue
        plan = None
        gc.collect()
        try:
            plan = make(question)
            answer(changes=changes(plan))
        except Cannot as error:
            answer(cannot=str(error))


if __name__ == "__main__":
    main()
