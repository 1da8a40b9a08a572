"""Whole training steps of programs as people write them, norch beside torch: what a user notices.

    PYTHONPATH=. python benchmarks/programs.py                    # or: make bench
    python benchmarks/programs.py --threads 1 --only "GPT|LSTM"

Both run the same lines (program_steps.py) in turn in one process, from the same parameters; losses that do not depend
on random numbers must agree before anything is timed. A ratio is torch's time over norch's, as in run.py.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import timeit
from types import SimpleNamespace
from typing import Any, Callable

from program_steps import DRAWN, PROGRAMS, Made
from run import Budget, compared, duration, load, measure, prepared, processor, run_apart, summary

TOLERANCE = 1e-4  # of the loss: networks add up what their layers round
STEPS = 3  # after which losses are compared
NO_GOAL = SimpleNamespace(floor=None, aim=None, against=[])


def agreed(make: Callable[[Any], Made], frameworks: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """The step of each framework, from the parameters that norch drew. Raises ValueError if two losses differ."""
    frameworks["norch"].manual_seed(0)
    made = {name: make(framework) for name, framework in frameworks.items()}
    for name, (modules, _) in made.items():
        for ours, theirs in zip(made["norch"][0], modules):
            if theirs is not ours:
                tensor = frameworks[name].tensor
                theirs.load_state_dict({key: tensor(value.tolist()) for key, value in ours.state_dict().items()})
    losses = {name: [float(step().detach()) for _ in range(STEPS)][-1] for name, (_, step) in made.items()}
    for name, loss in losses.items():
        if make not in DRAWN and not abs(loss - losses["norch"]) <= TOLERANCE * abs(loss):
            raise ValueError(f"{make.__name__}: the loss of {name} is {loss:g}, that of norch {losses['norch']:g}")
    return {name: step for name, (_, step) in made.items()}


def measured(name: str, frameworks: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Times and ratios of a program."""
    steps = agreed(PROGRAMS[name], frameworks)
    codes = {peer: timeit.Timer(step, "import gc; gc.enable()", timer=budget.clock) for peer, step in steps.items()}
    return {"row": name, **summary(measure(codes, budget), NO_GOAL)}


def run(threads: int, only: str, quick: bool) -> dict[str, Any]:
    """Measure the programs with a number of threads, in this process."""
    peers, missing = prepared(threads)
    import norch

    frameworks = {"norch": norch, **(peers["torch"].modules if "torch" in peers else {})}
    budget = Budget(quick, threads)
    rows = [measured(name, frameworks, budget) for name in PROGRAMS if re.search(only, name)]
    missing = [line for line in missing if line.startswith("torch")]
    return {"threads": threads, "processor": processor(), "load": load(), "rows": rows, "missing": missing}


def report(result: dict[str, Any]) -> None:
    print(f"\n{result['threads']} thread(s) on {result['processor']}; load {result['load']}")
    print(*result["missing"], sep="\n", end="\n" if result["missing"] else "")
    print(f"{'a step of':26} {'norch':>9} {'torch':>9} ratio")
    for row in result["rows"]:
        times = "".join(f" {duration(row['seconds'][name]):>9}" for name in row["seconds"])
        print(f"{row['row']:26}{times} {''.join(compared(*row['ratios'][name]) for name in row['ratios'])}".rstrip())
    ratios = [row["ratios"]["torch"][0] for row in result["rows"] if row["ratios"]]
    if ratios:
        print(f"{'geometric mean':26} {'':19} {statistics.geometric_mean(ratios):5.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="the programs whose names match")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N", help="default: 1 2")
    parser.add_argument("--quick", action="store_true", help="a few rounds, to see that it runs")
    parser.add_argument("--json", default="", metavar="PATH", help="write the results there")
    parser.add_argument("--part", action="store_true", help=argparse.SUPPRESS)  # one of run_apart's
    arguments = parser.parse_args()
    if len(arguments.threads) == 1:
        results = [run(*arguments.threads, arguments.only, arguments.quick)]
    else:
        results = [run_apart(__file__, n, "--part") for n in arguments.threads]
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(results, file)
    for result in [] if arguments.part else results:
        report(result)


if __name__ == "__main__":
    main()
