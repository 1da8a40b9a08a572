"""norch beside small frameworks to learn from: one step of training, each framework in an interpreter of its own.

    python benchmarks/small.py                                                 # what this Python has
    python benchmarks/small.py --tinygrad venv/bin/python --pynorch other/bin/python

PyNorch, the package of the article's author, is imported as `norch` too, so that no interpreter can have both. Every
framework starts from the same parameters and trains on the same samples; those whose parameters have not changed as
norch's have, after 50 steps, are not timed. They take turns in short rounds; a time is the processor's, with one
thread, and a median over the rounds. What an interpreter does not have is left out, in a line that says so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from run import LIMITS, compared, duration, load, processor  # noqa: E402
from steps import MLP_RATE, POINTS, SIN2_RATE, mlp_batch, parameters_of  # noqa: E402

FRAMEWORKS = ("norch", "torch", "magnetron", "tinygrad", "tinyjit", "micrograd", "pynorch")
TOLERANCE = 1e-4  # of the largest change: micrograd computes with float64
ROUND = 0.02  # seconds
ONE_THREAD = dict.fromkeys((*LIMITS, "NUM_CPU_THREADS"), "1")


def rows() -> list[dict[str, Any]]:
    """What every framework is given, as lists of numbers."""
    batch = [values.tolist() for values in mlp_batch(64)]
    return [
        {"row": "sin2", "parameters": numbers([1, 10, 1]), "samples": list(zip(*POINTS)), "rate": SIN2_RATE},
        {"row": "MLP 784-128-10", "parameters": numbers([784, 128, 10]), "samples": batch, "rate": MLP_RATE},
    ]


def numbers(sizes: list[int]) -> list:
    return [parameter.tolist() for parameter in parameters_of(sizes)]


class Worker:
    """A framework in an interpreter of its own, which small_steps.py makes do as it is told."""

    def __init__(self, name: str, python: str) -> None:
        paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if Path(path).resolve() != ROOT]
        environment = {**os.environ, **ONE_THREAD}
        environment["PYTHONPATH"] = os.pathsep.join(paths if name == "pynorch" else [str(ROOT), *paths])
        script = str(Path(__file__).with_name("small_steps.py"))
        self.process = subprocess.Popen(
            [python, script, name], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.name = name
        self.hello = self.receive()

    def receive(self) -> dict[str, Any]:
        line = self.process.stdout.readline()  # type: ignore[union-attr]
        return json.loads(line) if line else {"absent": f"its interpreter ended with status {self.process.wait()}"}

    def ask(self, **question: Any) -> dict[str, Any]:
        self.process.stdin.write(json.dumps(question) + "\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        return self.receive()

    def end(self) -> None:
        self.process.communicate()

    def seconds(self, count: int) -> float:
        """The processor's time of a step, over some of them."""
        return self.ask(count=count)["seconds"] / count


def difference(ours: list, theirs: list) -> float:
    """The largest difference between two lists of numbers, relative to the largest of ours; inf where sizes differ."""
    if len(ours) != len(theirs):
        return float("inf")
    largest = max(map(abs, ours))
    return max((abs(a - b) / largest if b == b else float("inf")) for a, b in zip(ours, theirs))


def measure(workers: list[Worker], rounds: int) -> dict[str, list[float]]:
    """Seconds a step of each, a list over the rounds; in each round all take their turn."""
    counts = {worker.name: max(1, round(ROUND / worker.seconds(3))) for worker in workers}
    times: dict[str, list[float]] = {worker.name: [] for worker in workers}
    shuffler = random.Random(1)
    for _ in range(rounds):
        for worker in shuffler.sample(workers, len(workers)):
            worker.seconds(1)  # fetches what the others pushed out of the caches
            times[worker.name].append(worker.seconds(counts[worker.name]))
    return times


def measure_row(row: dict[str, Any], workers: list[Worker], rounds: int) -> list[tuple[str, str, str]]:
    """(framework, its time, its ratio to norch's or why there is none) for each."""
    able, remarks, ours = [], {}, None
    for worker in workers:
        answer = worker.ask(**row)
        if "cannot" in answer:
            remarks[worker.name] = answer["cannot"]
            continue
        ours = ours or answer["changes"]
        error = max(map(difference, ours, answer["changes"])) if len(ours) == len(answer["changes"]) else float("inf")
        if error <= TOLERANCE:
            able.append(worker)
        else:
            remarks[worker.name] = f"not timed: its parameters differ by {error:.0e} after 50 steps"
    times = measure(able, rounds)
    lines = []
    for worker in workers:
        if worker.name in times:
            median = statistics.median(times[worker.name])
            ratio = median / statistics.median(times["norch"])
            low, _, high = statistics.quantiles([b / a for a, b in zip(times["norch"], times[worker.name])], n=4)
            lines.append((worker.name, duration(median), compared(ratio, (high - low) / 2 / ratio)))
        else:
            lines.append((worker.name, "", remarks[worker.name]))
    return lines


def print_trials(workers: list[Worker]) -> None:
    """What each framework made of the trials of small_trials.py, side by side."""
    found = [worker.ask(trials=True)["outcomes"] for worker in workers]
    print(f"\n{'':33}" + "".join(f"{worker.name:>17}" for worker in workers))
    for trial in found[0]:
        print(f"{trial:33}" + "".join(f"{outcomes[trial]:>17}" for outcomes in found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in FRAMEWORKS[1:]:
        parser.add_argument(f"--{name}", default=sys.executable, metavar="PYTHON", help=f"the interpreter for {name}")
    parser.add_argument("--rounds", type=int, default=31, metavar="N", help="default: 31")
    parser.add_argument("--quick", action="store_true", help="3 rounds, to see that it runs")
    arguments = parser.parse_args()
    rounds = 3 if arguments.quick else max(2, arguments.rounds)

    print(f"1 thread on {processor()}, {os.cpu_count()} processors; load {load()}")
    workers = []
    for name in FRAMEWORKS:
        worker = Worker(name, sys.executable if name == "norch" else getattr(arguments, name))
        if "absent" in worker.hello:
            print(f"{name} is not compared: {worker.hello['absent']}")
        else:
            workers.append(worker)
            print(f"{name}: {worker.hello['version']}")
    for row in rows():
        print(f"\n{row['row'] + ' step':24} {'time':>8} {'ratio':>5}")
        for name, time, remark in measure_row(row, workers, rounds):
            print(f"{name:24} {time:>8} {remark}".rstrip(), flush=True)
    print_trials([worker for worker in workers if worker.name != "tinyjit"])
    for worker in workers:
        worker.end()
    print(f"\nload at the end: {load()}")


if __name__ == "__main__":
    main()
