"""Functions that norch.compile replays, beside norch as it is, torch, torch.compile and others, on one thread.

    PYTHONPATH=. python benchmarks/replays.py                    # or: make bench
    python benchmarks/replays.py --only "sin2|gelu" --quick
    python benchmarks/replays.py --record                       # keeps the figures in replays.json, for the tutorial

Everything runs in turn in one process, as in run.py. A cell is a peer's time over that of the replay (above 1: the
replay is faster) with the spread of the ratio. `recording` is what the first three calls cost more than three plain
ones, in plain calls. What is not installed is left out, and a line says so.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import time
import timeit
from pathlib import Path
from typing import Any, Callable, NamedTuple

import replay_steps as steps
from frameworks import found_compiled
from run import LIMITS, NOISE, Budget, compared, disagreement, duration, load, measure, processor

RECORDED = Path(__file__).with_name("replays.json")
TOLERANCE = 1e-4  # of the largest element: generated code rounds otherwise
RECORDING = 3.0  # what recording may cost, in plain calls
MOST_RECORDED = 101  # functions that are recorded for the median

LAYERS = {"eager", "torch", "inductor"}
ALL = {*LAYERS, "magnetron", "tinyjit", "numpy"}


class Goal(NamedTuple):
    """A time in microseconds that a replay should not exceed, or a ratio to a peer that it should reach."""

    peer: str  # "" for a time
    floor: float
    aim: float


class Row(NamedTuple):
    name: str
    setup: Callable[[Any], dict[str, Any]]
    peers: set[str]
    goals: list[Goal]


ROWS = [
    Row("sin2 step, from lists", steps.sin2, ALL - {"tinyjit"}, [Goal("", 10, 7), Goal("torch", 20, 20)]),
    Row("sin2 step, tensors ready", lambda f: steps.sin2(f, True), ALL - {"numpy"}, [Goal("", 4, 2.5)]),
    Row("MLP 784-128-10 step, batch 64", steps.mlp, ALL, [Goal("torch", 2.0, 2.2)]),
    Row("LSTM 32x20x64 to 128 step", steps.lstm, LAYERS, [Goal("torch", 1.2, 1.6)]),
    Row("character transformer step", steps.char_transformer, LAYERS, [Goal("torch", 1.2, 1.6)]),
    Row("digits CNN step", steps.digits_cnn, LAYERS, [Goal("torch", 1.2, 1.6)]),
    Row("20 operations on 8x8", steps.small, ALL, [Goal("torch", 8, 20)]),
    Row("gelu, 9 operations on 10M", steps.gelu, ALL, [Goal("torch", 6, 6), Goal("inductor", 0.8, 1)]),
    Row("Adam, 11 operations on 10M", steps.adam, ALL, [Goal("torch", 6, 6), Goal("inductor", 0.8, 1)]),
    Row("empty, two inputs", steps.empty, {"eager", "inductor", "tinyjit"}, [Goal("", 1.5, 1)]),
]


def measure_row(row: Row, frameworks: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """The times of all that agree with norch, and what is missing."""
    codes: dict[str, timeit.Timer] = {}
    wrong: dict[str, str] = {}
    ours = None
    for name, framework in frameworks.items():
        if name != "norch" and name not in row.peers:
            continue
        try:
            made = row.setup(framework)
            result = made["state"]()
        except Exception as error:  # whatever a compiler raises
            if name in ("norch", "eager"):
                raise
            wrong[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
            continue
        ours = result if ours is None else ours
        if not (difference := disagreement(ours, result, framework)) <= TOLERANCE:
            wrong[name] = f"differs by {difference:.0e}"
            continue
        codes[name] = timeit.Timer(made["step"], "import gc; gc.enable()", timer=budget.clock)
    times = measure(codes, budget)
    medians = {name: statistics.median(rounds) for name, rounds in times.items()}
    ratios = {}
    for name in medians.keys() - {"norch"}:
        low, middle, high = statistics.quantiles([b / a for a, b in zip(times["norch"], times[name])], n=4)
        ratios[name] = (medians[name] / medians["norch"], (high - low) / 2 / middle)
    plain = medians["eager"]
    recording = cost_of_recording(row, frameworks, budget) / plain if plain > 1e-6 else 0.0  # an empty one has no step
    met = [reached(goal, medians["norch"], ratios) for goal in row.goals]
    return {
        "row": row.name,
        "seconds": medians,
        "ratios": ratios,
        "recording": recording,
        "wrong": wrong,
        "met": met,
    }


def cost_of_recording(row: Row, frameworks: dict[str, Any], budget: Budget) -> float:
    """Seconds that three calls of a new compiled function take more than three of a plain one, a median."""
    extra: list[float] = []
    end = time.perf_counter() + budget.total / 8
    while len(extra) <= budget.fewest or (time.perf_counter() < end and len(extra) < MOST_RECORDED):
        spent = {}
        for name in ("eager", "norch"):
            step = row.setup(frameworks[name])["step"]
            start = budget.clock()
            for _ in range(3):
                step()
            spent[name] = budget.clock() - start
        extra.append(spent["norch"] - spent["eager"])
    return statistics.median(extra)


def reached(goal: Goal, seconds: float, ratios: dict[str, tuple[float, float]]) -> str:
    """Which of its two values a goal reaches."""
    if not goal.peer:
        return "aim" if seconds <= goal.aim * 1e-6 else "floor" if seconds <= goal.floor * 1e-6 else "below"
    if goal.peer not in ratios:
        return "-"
    ratio, spread = ratios[goal.peer]
    return "noise" if spread > NOISE else "aim" if ratio >= goal.aim else "floor" if ratio >= goal.floor else "below"


def header(peers: list[str]) -> str:
    return f"{'':31}{'norch':>8}" + "".join(f"{name:>7}      " for name in peers) + "recording  goals: floor, aim, met"


def line(result: dict[str, Any], row: Row, peers: list[str]) -> str:
    cells = "".join(
        f" {compared(*result['ratios'][name]):12}" if name in result["ratios"] else " " * 13 for name in peers
    )
    goals = [f"{goal.peer or 'us'} {goal.floor:g}, {goal.aim:g}: {met}" for goal, met in zip(row.goals, result["met"])]
    ours = duration(result["seconds"]["norch"])
    recording = f"{result['recording']:8.1f}" if result["recording"] else " " * 8
    return f"{row.name:31}{ours:>8}{cells}{recording}   {'; '.join(goals)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="the rows whose name matches")
    parser.add_argument("--quick", action="store_true", help="few and short rounds, to see that it runs")
    parser.add_argument("--record", action="store_true", help=f"keep the figures in {RECORDED.name}")
    arguments = parser.parse_args()

    start = time.perf_counter()
    os.environ.update(dict.fromkeys((*LIMITS, "NUM_CPU_THREADS"), "1"))  # the libraries read them when they are loaded
    frameworks, missing = found_compiled(1)
    peers = [name for name in frameworks if name != "norch"]
    print(f"1 thread on {processor()}, {os.cpu_count()} processors; load {load()}")
    print(", ".join(f"{name} {framework.version}" for name, framework in frameworks.items()), *missing, sep="\n")
    print(header(peers), flush=True)
    budget, results = Budget(arguments.quick, 1), []
    for row in ROWS:
        if re.search(arguments.only, row.name):
            results.append(measure_row(row, frameworks, budget))
            print(line(results[-1], row, peers), flush=True)
            for name, why in results[-1]["wrong"].items():
                print(f"    {name} is not timed: {why}")
    dearest = max(results, key=lambda result: result["recording"], default=None)
    if dearest:
        kept = "at most" if dearest["recording"] <= RECORDING else "MORE than"
        print(f"recording costs up to {dearest['recording']:.1f} plain calls ({dearest['row']}), {kept} {RECORDING:g}")
    print(f"load at the end: {load()}; {time.perf_counter() - start:.0f} s")
    if arguments.record:
        RECORDED.write_text(json.dumps({"processor": processor(), "rows": results}, indent=1) + "\n")
    if any("differs" in why for result in results for why in result["wrong"].values()):
        sys.exit("some results differ from norch's; those were not timed")


if __name__ == "__main__":
    main()
