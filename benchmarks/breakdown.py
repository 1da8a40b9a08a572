"""Where the time of one sin2 step goes: by phase, in C and in Python, call by call.

    PYTHONPATH=. python benchmarks/breakdown.py

Times of phases come from a norch as it is, with a look at the clock between them. Calls into C, and the time in them,
come from a second process whose calls are watched; "in C" is what a call takes as Python sees it, ctypes included, and
"Python" is the rest of the phase. A call that does nothing shows what crossing costs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from typing import Any, Callable

PHASES = ["inputs", "forward", "loss", "zero_grad", "backward", "optimizer step", "letting go"]
FREES = ("free_tensor", "free_storage")


def step_of(norch: Any) -> Callable[[Callable[[str], None]], None]:
    """The step of steps.sin2, which says what phase begins."""
    import steps
    from frameworks import Norch

    framework = Norch(1)
    model, criterion, optimizer = steps.trainer(framework, [1, 10, 1], "Sigmoid", "MSELoss", steps.SIN2_RATE)

    def step(begin: Callable[[str], None]) -> None:
        begin("inputs")
        inputs, target = norch.Tensor([[0.4]]), norch.Tensor([[0.15]])
        begin("forward")
        outputs = model(inputs)
        begin("loss")
        loss = criterion(outputs, target)
        begin("zero_grad")
        optimizer.zero_grad()
        begin("backward")
        loss.backward()
        begin("optimizer step")
        optimizer.step()
        begin("letting go")
        del inputs, target, outputs, loss
        begin("")

    return step


def timed(rounds: int) -> dict[str, float]:
    """Microseconds of each phase and of the step as a whole, the medians over the rounds."""
    import norch

    step = step_of(norch)
    stamps: list[int] = []
    clock = time.perf_counter_ns
    begin = lambda phase: stamps.append(clock())  # noqa: E731
    quiet = lambda phase: None  # noqa: E731
    spans, wholes = [], []
    for _ in range(rounds):
        stamps.clear()
        step(begin)
        spans.append([b - a for a, b in zip(stamps, stamps[1:])])
        start = clock()
        step(quiet)
        wholes.append(clock() - start)
    found = {name: statistics.median(column) / 1e3 for name, column in zip(PHASES, zip(*spans))}
    return {**found, "step": statistics.median(wholes) / 1e3}


def watched(rounds: int) -> dict[str, Any]:
    """For each phase and function: how often one step calls it, and the microseconds of one call."""
    from ccalls import cost_of_clock, import_watched

    calls: list[tuple[str, str, int]] = []
    phase = ""

    def report(name: str, nanoseconds: int) -> None:
        calls.append((phase, name, nanoseconds))

    def begin(name: str) -> None:
        nonlocal phase
        phase = name

    norch = import_watched(report)
    step = step_of(norch)
    for _ in range(20):
        step(begin)
    calls.clear()
    step(begin)
    counts = Counter((phase, name) for phase, name, _ in calls)
    for _ in range(rounds):
        step(begin)
    times: dict[tuple[str, str], list[int]] = {}
    for phase_name, name, nanoseconds in calls:
        times.setdefault((phase_name, name), []).append(nanoseconds)
    calls.clear()
    for _ in range(rounds):
        norch.get_num_threads()  # returns a number that is there
    empty = statistics.median(nanoseconds for _, _, nanoseconds in calls)
    clock = cost_of_clock()
    rows = [
        [phase, name, counts[phase, name], max(0, statistics.median(times[phase, name]) - clock) / 1e3]
        for phase, name in counts
    ]
    return {"calls": rows, "empty": max(0, empty - clock) / 1e3}


def watched_apart(rounds: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--rounds", str(rounds), "--watched"]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


def show(phases: dict[str, float], seen: dict[str, Any]) -> None:
    total = Counter()
    print(f"{'phase':16} {'us':>7} {'share':>6} {'calls':>6} {'frees':>6} {'in C':>7} {'Python':>7}")
    whole = sum(phases[name] for name in PHASES)
    for name in [*PHASES, "sum"]:
        if name != "sum":
            mine = [(function, count, each) for phase, function, count, each in seen["calls"] if phase == name]
            row = Counter(
                us=phases[name],
                calls=sum(count for function, count, _ in mine if function not in FREES),
                frees=sum(count for function, count, _ in mine if function in FREES),
                c=sum(count * each for _, count, each in mine),
            )
            total.update(row)
        else:
            row = total
        print(
            f"{name:16} {row['us']:7.1f} {row['us'] / whole:6.0%} {row['calls']:6} {row['frees']:6} {row['c']:7.1f} "
            f"{row['us'] - row['c']:7.1f}"
        )
    crossings = total["calls"] + total["frees"]
    print(f"the step without looking at the clock: {phases['step']:.1f} us")
    print(f"crossing: {crossings} calls of {seen['empty'] * 1e3:.0f} ns each, if they did nothing: ", end="")
    print(f"{crossings * seen['empty']:.1f} us\n")

    functions: dict[str, list[float]] = {}
    for _, function, count, each in seen["calls"]:
        entry = functions.setdefault(function, [0, 0.0])
        entry[0] += count
        entry[1] += count * each
    print(f"{'function of C':28} {'calls':>5} {'us':>6}")
    for function, (count, spent) in sorted(functions.items(), key=lambda item: -item[1][1]):
        print(f"{function:28} {count:5} {spent:6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5000, metavar="N", help="steps to take (default: 5000)")
    parser.add_argument("--watched", action="store_true", help="print the watched calls as JSON, and no more")
    arguments = parser.parse_args()
    if arguments.watched:
        print(json.dumps(watched(arguments.rounds)))
    else:
        show(timed(arguments.rounds), watched_apart(arguments.rounds))


if __name__ == "__main__":
    main()
