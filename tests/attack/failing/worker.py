"""The process that faults come into: python -m failing.worker FAULT DEVICE SECONDS SEED SKIP CASES [NAME]

It says on its standard output, in lines of JSON, what it is about to try, so that a crash has a name;
and what it found.
"""

from __future__ import annotations

import gc
import json
import os
import random
import sys
import time
import warnings
from typing import Any, Callable, Iterator

from . import examples, workloads
from .attempt import Subject
from .faults import Allocation, Call, Interrupt, Launch

AT_ONCE = 12  # attempts at a phase before its turn comes again
FAULTS: dict[str, Callable[[], Any]] = {
    "allocation": Allocation,
    "interrupt": Interrupt,
    "launch": Launch,
    **{kind: lambda kind=kind: Call(kind) for kind in ("EIO", "ENOSPC", "EINTR", "short", "EAGAIN")},
}


class Worker:
    def __init__(
        self, faults: list[str], device: str, seconds: float, seed: int, skip: int, cases: int, only: str
    ) -> None:
        self.faults, self.device, self.only = faults, device, only
        self.end = time.monotonic() + seconds
        self.rng, self.skip, self.cases, self.number = random.Random(seed), skip, cases, 0
        self.say = os.fdopen(os.dup(1), "w", buffering=1)
        sys.stdout = open(os.devnull, "w")

    def tell(self, **what: Any) -> None:
        self.say.write(json.dumps(what) + "\n")

    def run(self) -> None:
        warnings.simplefilter("ignore")
        families: dict[str, list[Any]] = {}
        for name, builder in self.builders():
            families.setdefault(name.split(":")[0], []).append(builder)
        gc.collect()
        gc.freeze()
        while time.monotonic() < self.end and self.number < self.cases:
            turns = []
            for fault in self.faults:
                for builders in families.values():  # evenly spread, so that a short attack meets all families
                    shuffled = self.rng.sample(builders, len(builders))
                    turns += [((i + self.rng.random()) / len(builders), fault, b) for i, b in enumerate(shuffled)]
            for _, fault, builder in sorted(turns, key=lambda turn: turn[0]):
                seed = self.rng.random()
                self.number += 1
                if self.skip < self.number <= self.cases and time.monotonic() < self.end:
                    self.sweep(FAULTS[fault](), fault, builder(), random.Random(seed))

    def builders(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Names of workloads, and what builds them."""
        files_only = isinstance(FAULTS[self.faults[0]](), Call)
        for builder in workloads.everything(self.device):
            name = builder().name
            if self.only in name and (not files_only or name.startswith("files")):
                yield name, builder
        if self.device == "cpu" and not files_only:
            for example in examples.examples():
                if self.only in example.name:
                    yield example.name, lambda example=example: example

    def sweep(self, fault: Any, kind: str, workload: Any, rng: random.Random) -> None:
        """Attempts at each phase of a workload, at opportunities that are drawn."""
        self.tell(at=f"{workload.name} without a fault", number=self.number)
        try:
            subject = Subject(workload)
        except Exception as error:
            self.tell(finding=f"{workload.name} without a fault: {type(error).__name__}: {str(error)[:500]}")
            return
        for phase in range(len(workload.phases)):
            where = f"in phase {phase} of {workload.name} on {self.device}"
            attempt = Attempts(self, subject, fault, phase, kind, where)
            count = highest(attempt) if fault.seen is None else subject.count(fault, phase)
            for n in sorted(rng.sample(range(1, count + 1), min(count, AT_ONCE))):
                attempt(n)
                if time.monotonic() > self.end:
                    return


class Attempts:
    """Those at one phase of a workload; of what is wrong one of a kind is told."""

    def __init__(self, worker: Worker, subject: Subject, fault: Any, phase: int, kind: str, where: str) -> None:
        self.worker, self.subject, self.fault, self.phase = worker, subject, fault, phase
        self.kind, self.where, self.told = kind, where, set()

    def __call__(self, n: int) -> bool:
        where = f"{self.kind} {n} {self.where}"
        self.worker.tell(at=where, number=self.worker.number)
        came, wrong = self.subject.attempt(self.fault, self.phase, n)
        place = getattr(self.fault, "place", "")
        for text in wrong:
            if text[:40] not in self.told:
                self.told.add(text[:40])
                self.worker.tell(finding=f"{where}{f' ({place})' if place else ''}: {text}")
        return came


def highest(comes: Callable[[int], bool]) -> int:
    """The last n at which the fault comes, found by bisection."""
    high = 1
    while comes(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if comes(middle) else (low, middle)
    return low


if __name__ == "__main__":
    chosen, device, seconds, seed, skip, cases, *only = sys.argv[1:]
    Worker(chosen.split(","), device, float(seconds), int(seed), int(skip), int(cases), *only or [""]).run()
