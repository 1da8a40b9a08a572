"""What is compared: norch, torch, NumPy and magnetron behind the few functions that their interfaces do not share.

Inputs are made once, by norch; the others `take` them, so that all compute with the same numbers. norch alone is
needed; a peer that is not installed is missing from `found()`, which says why.
"""

from __future__ import annotations

import importlib.metadata
from typing import Any

import small_steps

import norch
from norch import nn, optim


class Norch:
    name = "norch"
    version = norch.version.release
    Tensor, nn, optim, no_grad = norch.Tensor, nn, optim, staticmethod(norch.no_grad)
    modules: dict[str, Any] = {}  # what the code of a row may name beside its inputs

    def __init__(self, threads: int) -> None:
        norch.set_num_threads(threads)

    def take(self, x: Any) -> Any:
        """x, a norch tensor, as a tensor of this framework; it may share memory with x."""
        return x

    def seen(self, result: Any) -> Any:
        """A result without its graph, as what abs(), max() and float() understand."""
        return result.detach()

    def leaf(self, x: Any) -> Any:
        """A copy of x that requires gradients."""
        copy = self.take(x.clone())
        copy.requires_grad = True
        return copy

    def copy(self, x: Any) -> Any:
        """A copy of this framework's tensor, without its graph."""
        return x.detach().clone()

    def classes(self, target: Any, count: int) -> Any:
        """Class numbers as the framework's cross-entropy wants them."""
        return self.take(target)

    def load(self, model: Any, values: list) -> None:
        """Copy norch tensors into the parameters of a model."""
        with self.no_grad():
            for parameter, value in zip(model.parameters(), values):
                parameter.copy_(self.take(value))

    def forget(self, leaf: Any) -> None:
        """No gradient yet."""
        leaf.grad = None

    def compile(self, function: Any) -> Any:
        """What calls a function, the fastest way that the framework has."""
        return function

    @staticmethod
    def tanh(x: Any) -> Any:
        return x.tanh()

    @staticmethod
    def sqrt(x: Any) -> Any:
        return x.sqrt()


class Compiled(Norch):
    def compile(self, function: Any) -> Any:
        return norch.compile(function)


class Torch(Norch):
    name = "torch"

    def __init__(self, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)
        self.version, self.torch, self.modules = torch.__version__, torch, {"torch": torch}
        self.Tensor, self.nn, self.optim, self.no_grad = torch.tensor, torch.nn, torch.optim, torch.no_grad

    def take(self, x: Any) -> Any:
        return self.torch.from_dlpack(x)


class Inductor(Torch):
    """torch.compile, which writes C++ and compiles it with g++."""

    name = "inductor"

    def compile(self, function: Any) -> Any:
        return self.torch.compile(function)


class NumPy(Norch):
    """Arrays only: what needs gradients is written out by hand in steps.py."""

    name = "numpy"

    def __init__(self, threads: int) -> None:
        import numpy

        self.version, self.numpy, self.modules = numpy.__version__, numpy, {"np": numpy}
        self.tanh, self.sqrt = numpy.tanh, numpy.sqrt  # type: ignore[method-assign]

    def take(self, x: Any) -> Any:
        return x.numpy()

    def seen(self, result: Any) -> Any:
        return result

    def copy(self, x: Any) -> Any:
        return x.copy()


class Magnetron(Norch):
    """A C core behind a CPython binding. It reads NumPy's arrays, and its cross-entropy wants one-hot targets."""

    name = "magnetron"

    def __init__(self, threads: int) -> None:
        import magnetron
        import magnetron.nn
        import magnetron.optim
        import numpy  # noqa: F401  (take and seen need it)

        self.version = magnetron.__version__
        self.Tensor, self.nn, self.optim = magnetron.Tensor, magnetron.nn, magnetron.optim

    def take(self, x: Any) -> Any:
        return self.Tensor(x.numpy())

    def seen(self, result: Any) -> Any:
        return result.detach().contiguous().numpy()

    def classes(self, target: Any, count: int) -> Any:
        return self.take(nn.functional.one_hot(target, count).float())

    def load(self, model: Any, values: list) -> None:
        for parameter, value in zip(model.parameters(), values):
            parameter.data = self.take(value)

    def forget(self, leaf: Any) -> None:
        leaf.zero_grad()


class TinyJit(Norch):
    """tinygrad, whose TinyJit records the kernels of a function once and runs them again."""

    name = "tinyjit"

    def __init__(self, threads: int) -> None:
        import tinygrad

        _, self.plan = small_steps.tinygrad(jit=True)  # sets the device
        self.version, self.tinygrad = importlib.metadata.version("tinygrad"), tinygrad

    def take(self, x: Any) -> Any:
        return self.tinygrad.Tensor(x.numpy()).realize()

    def seen(self, result: Any) -> Any:
        return result.numpy()

    def compile(self, function: Any) -> Any:
        """Results are there when a call returns."""

        def realized(*inputs: Any) -> Any:
            found = function(*inputs)
            return tuple(x.realize() for x in found) if isinstance(found, tuple) else found.realize()

        compiled, wait = self.tinygrad.TinyJit(realized), self.tinygrad.Device[self.tinygrad.Device.DEFAULT].synchronize

        def call(*inputs: Any) -> Any:
            result = compiled(*inputs)
            wait()
            return result

        return call

    def trained(self, row: dict[str, Any]) -> dict[str, Any]:
        """`step` and `state` of a row of small.py, whose model is written in tinygrad's words."""
        parameters = [p.tolist() for p in row["parameters"]]
        plan = self.plan({**row, "parameters": parameters})
        step, _, wait = plan

        def state() -> list:
            changed = small_steps.changes(plan)
            return [self.take(norch.tensor(c).reshape(p.shape)) for c, p in zip(changed, row["parameters"])]

        return {"step": lambda: (step(), wait()), "state": state}


PEERS = {"torch": Torch, "numpy": NumPy, "magnetron": Magnetron}
COMPILED_PEERS = {"torch": Torch, "inductor": Inductor, "numpy": NumPy, "magnetron": Magnetron, "tinyjit": TinyJit}


def found_compiled(threads: int) -> tuple[dict[str, Any], list[str]]:
    """The frameworks beside which norch.compile is measured: norch is what replays, eager is norch as it is."""
    others, missing = found(threads, COMPILED_PEERS)
    return {"norch": Compiled(threads), "eager": others.pop("norch"), **others}, missing


def found(threads: int, peers: dict[str, Any] = PEERS) -> tuple[dict[str, Any], list[str]]:
    """The frameworks that can be compared, norch first, and a line for each that cannot."""
    frameworks: dict[str, Any] = {"norch": Norch(threads)}
    missing = []
    for name, peer in peers.items():
        try:
            frameworks[name] = peer(threads)
        except ImportError as error:
            absent = error.name or name
            missing.append(f"{name} is not compared: no module {absent} (pip install {absent})")
    return frameworks, missing
