"""norch against torch on one CUDA device, in one run: copies and elementwise operations as a share of the card's copy
bandwidth, reductions, matrix products, a step of a multilayer perceptron and one of the sin2 regression.

    make CUDA=1 && PYTHONPATH=. python benchmarks/gpu.py [--device cuda:0] [--only matmul] [--size quick]

Each row gives norch's time, torch's where it is installed, their ratio (above 1: norch is faster) and what the row is
measured by: GB/s and the share of the copy bandwidth, or TFLOP/s. Times are the best of several rounds, each of them
many calls with one wait at the end. Operands are random: a card that multiplies ones draws less power, and runs faster,
than it does at work. `--size tiny` runs on the emulator too, where times mean nothing.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any, Callable, NamedTuple

import norch
from norch import nn, optim

try:
    import torch
except ImportError:
    torch = None


class Row(NamedTuple):
    """One line of the table: the same work for either library, and its size in bytes moved or operations."""

    group: str
    name: str
    make: Callable[[Any, str], Callable[[], Any]]  # (library, device) -> the call to be timed
    bytes: float = 0
    flops: float = 0


def seconds(call: Callable[[], Any], synchronize: Callable[[], None], budget: float) -> float:
    """The time of one call: the best of five rounds that take about `budget` seconds together."""
    call()
    synchronize()
    start = time.perf_counter()
    call()
    synchronize()
    count = max(1, math.ceil(budget / 5 / max(time.perf_counter() - start, 1e-6)))
    rounds = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            call()
        synchronize()
        rounds.append((time.perf_counter() - start) / count)
    return min(rounds)


# ---- The rows --------------------------------------------------------------------------------------------------------


def on_matrix(size: int, work: Callable[[Any], Any]) -> Callable[[Any, str], Callable[[], Any]]:
    """Work on a matrix and on nothing else."""

    def make(library: Any, device: str) -> Callable[[], Any]:
        x = library.rand(size, size, device=device)
        return lambda: work(x)

    return make


def product(size: int) -> Callable[[Any, str], Callable[[], Any]]:
    def make(library: Any, device: str) -> Callable[[], Any]:
        a, b = library.rand(size, size, device=device), library.rand(size, size, device=device)
        return lambda: a @ b

    return make


def skinny_product(m: int, k: int, n: int) -> Callable[[Any, str], Callable[[], Any]]:
    def make(library: Any, device: str) -> Callable[[], Any]:
        a, b = library.rand(m, k, device=device), library.rand(k, n, device=device)
        return lambda: a @ b

    return make


def embedding(rows: int, width: int, count: int, write: bool) -> Callable[[Any, str], Callable[[], Any]]:
    """Rows of a table read at random places, or added to there, as an embedding layer and its gradient do."""

    def make(library: Any, device: str) -> Callable[[], Any]:
        table, places = library.rand(rows, width, device=device), library.randint(0, rows, (count,), device=device)
        values = library.rand(count, width, device=device)
        if write:
            return lambda: table.index_put_((places,), values, accumulate=True)
        return lambda: table[places]

    return make


def classification(batch: int, classes: int) -> Callable[[Any, str], Callable[[], Any]]:
    """Cross-entropy and its gradient."""

    def make(library: Any, device: str) -> Callable[[], Any]:
        networks = nn if library is norch else library.nn
        logits = library.rand(batch, classes, device=device).requires_grad_()
        labels, loss_of = library.randint(0, classes, (batch,), device=device), networks.CrossEntropyLoss()

        def step() -> None:
            logits.grad = None
            loss_of(logits, labels).backward()

        return step

    return make


def broadcast(size: int) -> Callable[[Any, str], Callable[[], Any]]:
    def make(library: Any, device: str) -> Callable[[], Any]:
        x, row = library.rand(size, size, device=device), library.rand(size, device=device)
        return lambda: x + row

    return make


def training_step(layers: list, activation: str, batch: int) -> Callable[[Any, str], Callable[[], Any]]:
    """Forward, mean squared error, backward and SGD of a multilayer perceptron."""

    def make(library: Any, device: str) -> Callable[[], Any]:
        networks, optimizers = (nn, optim) if library is norch else (library.nn, library.optim)
        modules = [networks.Linear(*sizes).to(device) for sizes in zip(layers, layers[1:])]
        optimizer = optimizers.SGD([p for m in modules for p in m.parameters()], lr=0.001)
        loss_of = networks.MSELoss()
        x, target = library.rand(batch, layers[0], device=device), library.rand(batch, layers[-1], device=device)

        def step() -> None:
            y = x
            for module in modules[:-1]:
                y = getattr(module(y), activation)()
            loss = loss_of(modules[-1](y), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        return step

    return make


# How large the matrices of a table are: for memory, for products, for the batches of steps.
SIZES = {
    "full": (16384, [1024, 2048, 4096, 8192], 256),
    "quick": (2048, [256, 1024], 256),
    "tiny": (48, [40, 65], 4),
}


def rows(sizes: str) -> list[Row]:
    size, edges, batch = SIZES[sizes]
    matrix = 4 * size * size
    elementwise = [
        Row("elementwise", "copy", on_matrix(size, lambda x: x.clone()), 2 * matrix),
        Row("elementwise", "x + 1", on_matrix(size, lambda x: x + 1), 2 * matrix),
        Row("elementwise", "x + x", on_matrix(size, lambda x: x + x), 2 * matrix),
        Row("elementwise", "x * y in place", on_matrix(size, lambda x: x.mul_(x)), 2 * matrix),
        Row("elementwise", "exp", on_matrix(size, lambda x: x.exp()), 2 * matrix),
        Row("elementwise", "x + row", broadcast(size), 2 * matrix),
        Row("elementwise", "x + x.T", on_matrix(size, lambda x: x + x.T), 2 * matrix),
        Row("elementwise", "x.T copied", on_matrix(size, lambda x: x.T.contiguous()), 2 * matrix),
    ]
    reductions = [
        Row("reduction", "sum", on_matrix(size, lambda x: x.sum()), matrix),
        Row("reduction", "sum(0)", on_matrix(size, lambda x: x.sum(0)), matrix),
        Row("reduction", "sum(1)", on_matrix(size, lambda x: x.sum(1)), matrix),
        Row("reduction", "max(1)", on_matrix(size, lambda x: x.amax(1)), matrix),
        Row("reduction", "argmax(1)", on_matrix(size, lambda x: x.argmax(1)), matrix),
        Row("reduction", "softmax(1)", on_matrix(size, lambda x: x.softmax(1)), 2 * matrix),
        Row("reduction", "cumsum(1)", on_matrix(size, lambda x: x.cumsum(1)), 2 * matrix),
        Row("reduction", "cumsum(0)", on_matrix(size, lambda x: x.cumsum(0)), 2 * matrix),
    ]
    products = [Row("matmul", f"{n}", product(n), flops=2 * n**3) for n in edges]
    long = 64 * edges[0]
    products += [Row("matmul", f"64 x {long} x 64", skinny_product(64, long, 64), flops=2 * 64 * 64 * long)]
    width, count = min(size, 1024), 8 * size
    moved = 2 * 4 * count * width
    selections = [
        Row("index", f"[{count}] rows of {width}", embedding(size, width, count, False), moved),
        Row("index", f"[{count}] rows of {width} += y", embedding(size, width, count, True), moved),
        Row("index", "sort(1)", on_matrix(size, lambda x: x.sort(1))),
        Row("index", "nonzero", on_matrix(size, lambda x: (x > 0.5).nonzero())),
    ]
    hidden = max(edges[0], 10)
    steps = [
        Row("step", f"cross-entropy {count} x 1000", classification(count, 1000)),
        Row(
            "step",
            f"MLP 784-{hidden}-{hidden}-10, batch {batch}",
            training_step([784, hidden, hidden, 10], "relu", batch),
        ),
        Row("step", "sin2, 1-10-1, batch 1", training_step([1, 10, 1], "sigmoid", 1)),
    ]
    return elementwise + reductions + products + selections + steps


# ---- The table -------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--only", default="", help="a part of the group's or the row's name")
    parser.add_argument("--size", choices=SIZES, default="full", help="quick and tiny: to see that it runs")
    arguments = parser.parse_args()
    if not norch.cuda.is_available():
        raise SystemExit(f"no CUDA device: {norch._C.lib.why_no_cuda().decode()}")
    budget = 1.0 if arguments.size == "full" else 0.01
    with_torch = torch is not None and torch.cuda.is_available()
    if with_torch:  # as exact as norch
        torch.backends.cuda.matmul.allow_tf32 = False

    peer = torch.__version__ if with_torch else "none"
    print(f"device: {norch.cuda.get_device_name(arguments.device)}; torch: {peer}")
    table = rows(arguments.size)
    bandwidth = 0.0
    if with_torch:  # the card's own: torch's clone is a device-to-device copy by the driver
        copy = table[0]
        bandwidth = copy.bytes / seconds(copy.make(torch, arguments.device), torch.cuda.synchronize, budget)
        print(f"copy bandwidth: {bandwidth / 1e9:.0f} GB/s")
    print(f"{'':44} {'norch':>10} {'torch':>10} {'ratio':>6}")
    for row in table:
        if arguments.only not in f"{row.group} {row.name}":
            continue
        ours = seconds(row.make(norch, arguments.device), lambda: norch.cuda.synchronize(arguments.device), budget)
        line = f"{row.group:12} {row.name:31} {ours * 1e6:8.1f}us"
        if with_torch:
            theirs = seconds(row.make(torch, arguments.device), torch.cuda.synchronize, budget)
            line += f" {theirs * 1e6:8.1f}us {theirs / ours:6.2f}"
        if row.bytes:
            line += f"  {row.bytes / ours / 1e9:7.0f} GB/s"
            line += f"  {row.bytes / ours / bandwidth:5.0%} of a copy" if bandwidth else ""
        if row.flops:
            line += f"  {row.flops / ours / 1e12:7.2f} TFLOP/s"
        print(line)


if __name__ == "__main__":
    main()
