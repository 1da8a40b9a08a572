"""Where the time of one sin2 step goes: by phase, in C and in Python, call by call.

    PYTHONPATH=. python benchmarks/breakdown.py

Times of phases come from a norch as it is, with a look at the clock between them. Calls into C, and the time in them,
come from a second process whose calls are watched; "in C" is what a call takes as Python sees it, ctypes included, and
"Python" is the rest of the phase, and calls that call Python back. A call that does nothing shows what crossing costs.
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
    """Microseconds of each phase, and of the "step" without a look at the clock: medians over the rounds."""
    import norch

    step, clock = step_of(norch), time.perf_counter_ns
    stamps: list[int] = []
    spans, wholes = [], []

    def begin(phase: str) -> None:
        stamps.append(clock())

    def go_on(phase: str) -> None:
        pass

    for _ in range(rounds):
        stamps.clear()
        step(begin)
        spans.append([b - a for a, b in zip(stamps, stamps[1:])])
        start = clock()
        step(go_on)
        wholes.append(clock() - start)
    phases = {name: statistics.median(column) / 1e3 for name, column in zip(PHASES, zip(*spans))}
    return {**phases, "step": statistics.median(wholes) / 1e3}


def watched(rounds: int) -> dict[str, Any]:
    """The "calls" of a step, [phase, function, how often, microseconds of one], and those of an "empty" call."""
    from ccalls import cost_of_clock, import_watched

    phase = ""
    calls: list[tuple[str, str, int]] = []

    def report(function: str, nanoseconds: int) -> None:
        calls.append((phase, function, nanoseconds))

    def begin(name: str) -> None:
        nonlocal phase
        phase = name

    norch = import_watched(report)
    step = step_of(norch)
    for _ in range(20):
        step(begin)  # the first steps fill caches
    calls.clear()
    for _ in range(rounds):
        step(begin)
    if not calls:
        raise RuntimeError("no call into C was seen: norch finds its functions where ccalls.py does not look")
    phase = "empty"
    for _ in range(rounds):
        norch.get_num_threads()  # reads a number

    spent: dict[tuple[str, str], list[int]] = {}
    for where, function, nanoseconds in calls:
        spent.setdefault((where, function), []).append(nanoseconds)
    clock = cost_of_clock()
    found = [
        [where, function, len(times) // rounds, max(0, statistics.median(times) - clock) / 1e3]
        for (where, function), times in spent.items()
    ]
    return {"calls": [row for row in found if row[0] != "empty"], "empty": found[-1][3]}


def watched_apart(rounds: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--rounds", str(rounds), "--watched"]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)


# ---- The tables ------------------------------------------------------------------------------------------------------


def show_phases(phases: dict[str, float], calls: list, empty: float) -> None:
    print(f"{'phase':16} {'us':>7} {'share':>6} {'calls':>6} {'in C':>7} {'Python':>7}")
    rows = {name: Counter(us=phases[name], calls=0, c=0.0) for name in PHASES}
    for phase, _, count, each in calls:
        rows[phase].update({"calls": count, "c": count * each})
    rows["sum"] = total = sum(rows.values(), Counter())
    for name, row in rows.items():
        print(
            f"{name:16} {row['us']:7.1f} {row['us'] / total['us']:6.0%} {row['calls']:6} "
            f"{row['c']:7.1f} {row['us'] - row['c']:7.1f}"
        )
    crossings = total["calls"]
    print(f"the step without a look at the clock: {phases['step']:.1f} us")
    print(f"{crossings} calls that do nothing, {empty * 1e3:.0f} ns each: {crossings * empty:.1f} us")


def show_functions(calls: list) -> None:
    counts, spent = Counter(), Counter()
    for _, function, count, each in calls:
        counts[function] += count
        spent[function] += count * each
    print(f"\n{'function of C':28} {'calls':>5} {'us':>6}")
    for function, us in spent.most_common():
        print(f"{function:28} {counts[function]:5} {us:6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5000, metavar="N", help="steps to take (default: 5000)")
    parser.add_argument("--watched", action="store_true", help="print the watched calls as JSON, and no more")
    arguments = parser.parse_args()
    if arguments.watched:
        print(json.dumps(watched(arguments.rounds)))
    else:
        phases, seen = timed(arguments.rounds), watched_apart(arguments.rounds)
        show_phases(phases, seen["calls"], seen["empty"])
        show_functions(seen["calls"])


if __name__ == "__main__":
    main()
