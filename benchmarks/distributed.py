"""What collectives and data-parallel training cost: mpi4py on NumPy arrays, memcpy and torch's DDP in the same run.

    python -m norch.distributed.run --nproc-per-node 2 benchmarks/distributed.py [--size quick] [--only steps]

It needs mpi4py with an MPI and NumPy; torch is optional. Those compared take turns. A turn takes as long as its slowest
rank, and the figure is the best turn, which needs an idle machine. `--size tiny` only shows that it runs.
"""

from __future__ import annotations

import argparse
import math
import os
import socket
import time
from typing import Any, Callable

import norch
import norch.distributed as dist
from norch import nn

try:
    import torch
except ImportError:
    torch = None

Calls = dict[str, Callable[[], Any]]
SIZES = {  # rounds, numbers in an array, widths of the model, samples a rank
    "full": (15, (1, 256, 4096, 65536, 2**20, 10_000_000), (784, 2048, 2048, 2048, 10), 512),
    "quick": (5, (1, 4096, 2**20, 10_000_000), (784, 2048, 2048, 2048, 10), 512),
    "tiny": (1, (1, 4096), (16, 8, 10), 4),
}


def say(*words: object) -> None:
    if dist.get_rank() == 0:
        print(*words, flush=True)


def turns(calls: Calls, repeats: int, rounds: int) -> dict[str, float]:
    """The seconds of each call: the best round of the slowest rank. They take turns, from another one in each round."""
    names = list(calls)
    best = dict.fromkeys(names, math.inf)
    for number in range(-1, rounds):  # the first only warms up
        for place in range(len(names)):
            name = names[(number + place) % len(names)]
            dist.barrier()
            start = time.perf_counter()
            for _ in range(repeats):
                calls[name]()
            took = norch.tensor([(time.perf_counter() - start) / repeats], dtype=norch.float64)
            dist.all_reduce(took, "max")
            if number >= 0:
                best[name] = min(best[name], took.item())
    return best


# ---- Collectives -----------------------------------------------------------------------------------------------------


def collectives(counts: tuple[int, ...], rounds: int) -> float:
    """Each collective by size, beside mpi4py's on NumPy arrays and memcpy; returns alpha, the latency of a message."""
    import numpy
    from mpi4py import MPI

    world, peers = dist.get_world_size(), MPI.COMM_WORLD.Dup()
    say(f"{'bytes':>11} {'collective':15} {'norch':>11} {'mpi4py':>11} {'ratio':>6} {'memcpy':>11}")
    found = {}
    for count in counts:
        part = max(1, count // world)
        # All are written once: what numpy.zeros gives is, until then, one page of zeros that never leaves the cache.
        x, theirs, copy = norch.ones(count), numpy.ones(count, numpy.float32), norch.ones(count)
        small, many = norch.ones(part), norch.ones(part * world)
        their_small, their_many = (numpy.ones(t.numel(), numpy.float32) for t in (small, many))
        pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "all_reduce": (
                lambda x=x: dist.all_reduce(x),
                lambda a=theirs: peers.Allreduce(MPI.IN_PLACE, a),
            ),
            "broadcast": (
                lambda x=x: dist.broadcast(x, 0),
                lambda a=theirs: peers.Bcast(a, 0),
            ),
            "all_gather": (
                lambda a=many, b=small: dist.all_gather_into_tensor(a, b),
                lambda a=their_many, b=their_small: peers.Allgather(b, a),
            ),
            "reduce_scatter": (
                lambda a=small, b=many: dist.reduce_scatter_tensor(a, b),
                lambda a=their_small, b=their_many: peers.Reduce_scatter_block(b, a),
            ),
        }
        for name, (ours, other) in pairs.items():
            calls = {"norch": ours, "mpi4py": other, "memcpy": lambda a=copy, b=x: a.copy_(b)}
            took = turns(calls, max(1, min(200, 2_000_000 // count)), rounds)
            us = {key: f"{value * 1e6:,.1f} us" for key, value in took.items()}
            ratio = took["norch"] / took["mpi4py"]
            say(f"{4 * count:11,} {name:15} {us['norch']:>11} {us['mpi4py']:>11} {ratio:6.2f} {us['memcpy']:>11}")
            if name == "all_reduce":
                found[4 * count] = took["norch"]
    peers.Free()
    least, most = min(found), max(found)
    alpha = found[least] / (2 * math.log2(world))
    beta = 2 * most * (world - 1) / world / found[most]
    say(f"alpha {alpha * 1e6:.1f} us, beta {beta / 1e9:.2f} GB/s")
    return alpha


# ---- A step of training ----------------------------------------------------------------------------------------------


def stepper(library: Any, wrap: Callable[[Any], Any], widths: tuple[int, ...], batch: int) -> tuple[Calls, int]:
    """A step with sums and one without, and how many parameters there are."""
    nn = library.nn
    layers = [layer for a, b in zip(widths, widths[1:]) for layer in (nn.Linear(a, b), nn.ReLU())][:-1]
    model = nn.Sequential(*layers)
    parallel = wrap(model)
    optimizer = library.optim.SGD(model.parameters(), lr=1e-4)
    x, labels = library.randn(batch, widths[0]), library.randint(0, widths[-1], (batch,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(parallel(x), labels).backward()
        optimizer.step()

    def alone() -> None:
        with parallel.no_sync():
            step()

    return {"with sums": step, "without": alone}, sum(p.numel() for p in model.parameters())


def join_torch() -> None:
    """Let torch's gloo join the same ranks, at a port that rank 0 finds free."""
    with socket.socket() as free:
        free.bind(("", 0))
        port = [free.getsockname()[1]]
    dist.broadcast_object_list(port, src=0)
    os.environ["MASTER_PORT"] = str(port[0])
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    torch.set_num_threads(norch.get_num_threads())
    torch.distributed.init_process_group("gloo", rank=dist.get_rank(), world_size=dist.get_world_size())


def steps(widths: tuple[int, ...], batch: int, rounds: int) -> tuple[int, float]:
    """A step under DistributedDataParallel, with and without sums, and torch's beside it.

    Returns the bytes of the gradients and the seconds of a step without sums.
    """
    ours, count = stepper(norch, nn.parallel.DistributedDataParallel, widths, batch)
    calls = {f"norch {name}": call for name, call in ours.items()}
    if torch is None:
        say("torch is not installed: it is left out")
    else:
        join_torch()
        theirs, _ = stepper(torch, torch.nn.parallel.DistributedDataParallel, widths, batch)
        calls.update({f"torch {name}": call for name, call in theirs.items()})
    took = turns(calls, 1, rounds)
    say(f"a step: {count:,} parameters, {batch} samples a rank, {norch.get_num_threads()} threads a rank")
    for name, seconds in took.items():
        say(f"  {name:16} {seconds * 1e3:9.2f} ms")
    say(f"  efficiency of norch {took['norch without'] / took['norch with sums']:.2f}")
    if torch is not None:
        say(f"  efficiency of torch {took['torch without'] / took['torch with sums']:.2f}")
        say(f"  torch's time over norch's {took['torch with sums'] / took['norch with sums']:.2f}")
        torch.distributed.destroy_process_group()
    return 4 * count, took["norch without"]


def main() -> None:
    """Measure what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--only", choices=["collectives", "steps"])
    options = parser.parse_args()
    dist.init_process_group(timeout=300)
    if dist.get_world_size() == 1:
        raise SystemExit("expected several ranks: python -m norch.distributed.run --nproc-per-node 2 " + __file__)
    rounds, counts, widths, batch = SIZES[options.size]
    if options.only != "steps":
        alpha = collectives(counts, rounds)
    if options.only != "collectives":
        size, step = steps(widths, batch, rounds)
    if options.only is None:
        say(f"for the model of docs/distributed.md: ALPHA, BYTES, STEP = {alpha:.1e}, {size / 1e6:.0f}e6, {step:.2g}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
