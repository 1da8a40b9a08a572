"""norch beside torch, NumPy and magnetron on the CPU: the table of rows.py, with 1 thread and then with 2.

    make bench                                                    # or: PYTHONPATH=. python benchmarks/run.py
    python benchmarks/run.py --threads 1 --only "exp|matmul" --quick

Each cell is a peer's time, its ratio to norch's (above 1: norch is faster) and the spread of that ratio, within which
the middle half of the rounds lie. Everything runs in turn in one process (norch, torch, NumPy, magnetron, torch, ...),
in many short rounds; times are medians, a ratio is one of medians. With one thread a time is the processor's, which
other work on the machine disturbs little; with more it is the clock's. Results are compared before they are timed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path
from typing import Any

WIDTH, PEER_WIDTH = 36, 21
TOLERANCE = 1e-5  # of the largest element
NOISE = 0.3  # a spread from which on a ratio says nothing
LIMITS = "OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS MAG_CPU_THREADS NORCH_NUM_THREADS".split()

# ---- Measuring -------------------------------------------------------------------------------------------------------


class Budget:
    """How long a row may take, in seconds, and how that is cut into rounds."""

    def __init__(self, quick: bool, threads: int) -> None:
        self.total, self.round, self.fewest, self.most = (0.15, 0.002, 3, 9) if quick else (4.0, 0.01, 5, 61)
        self.total *= 2 if threads > 1 and not quick else 1
        self.clock = time.perf_counter if threads > 1 else time.process_time  # which stands still while others work
        self.rest = 0.12 if threads > 1 else 0.0  # OpenBLAS's threads spin for a tenth of a second after their work
        self.warm = 0.04 if threads > 1 else 0.0  # a processor that slept is given back to a virtual machine late


def calls_of_a_round(code: timeit.Timer, seconds: float) -> tuple[int, float]:
    """How many calls take about as long as a round should, and how long one takes. Warms up, too."""
    code.timeit(1)
    count = 1
    while (spent := code.timeit(count)) < seconds / 4:
        count *= 4
    return max(1, round(count * seconds / spent)), spent / count


def warm_up(code: timeit.Timer, seconds: float) -> None:
    """Run it once, which fetches what the others pushed out of the caches, and then until some time has passed."""
    end = time.perf_counter() + seconds
    code.timeit(1)
    while time.perf_counter() < end:
        code.timeit(1)


def measure(codes: dict[str, timeit.Timer], budget: Budget) -> dict[str, list[float]]:
    """Seconds a call of each code, a list over the rounds; in each round all take their turn."""
    plans = {name: calls_of_a_round(code, budget.round) for name, code in codes.items()}
    expected = sum(count * seconds + budget.rest + budget.warm for count, seconds in plans.values())
    times: dict[str, list[float]] = {name: [] for name in codes}
    shuffler = random.Random(1)
    for _ in range(min(budget.most, max(budget.fewest, int(budget.total / expected)))):
        for name in shuffler.sample(list(codes), len(codes)):  # nobody always inherits the same caches
            count, _ = plans[name]
            time.sleep(budget.rest)
            if count > 1 or budget.warm:
                warm_up(codes[name], budget.warm)
            times[name].append(codes[name].timeit(count) / count)
    return times


def difference(ours: Any, theirs: Any) -> float:
    """The largest difference between two results of one size, relative to the largest element."""
    ours, theirs = ours.reshape(-1), theirs.reshape(-1)  # a scalar has shape [1] here and () there
    if tuple(ours.shape) != tuple(theirs.shape):
        return math.inf
    return float(abs(ours - theirs).max()) / float(abs(theirs).max())


def disagreement(ours: Any, theirs: Any, peer: Any) -> float:
    """The difference between what norch and a peer computed: tensors or lists of them."""
    ours, theirs = [value if isinstance(value, list) else [value] for value in (ours, theirs)]
    if len(ours) != len(theirs):
        return math.inf
    return max(difference(peer.seen(peer.take(a.detach())), peer.seen(b)) for a, b in zip(ours, theirs))


def measure_row(row: Any, frameworks: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """The times of every framework that can run a row and agrees with norch on it; what disagrees is not timed."""
    import norch

    norch.manual_seed(0)
    inputs = {name: make() for name, make in row.inputs.items()}
    codes, wrong, ours = {}, {}, None
    for name, framework in frameworks.items():
        code = row.code_for(framework)
        if code is None:
            continue
        names = {**framework.modules, **row.names(framework, inputs)}
        result = eval(row.check or code, names)
        if name == "norch":
            ours = result
        elif not (error := disagreement(ours, result, framework)) <= TOLERANCE:  # so that NaN is refused too
            wrong[name] = error
            continue
        codes[name] = timeit.Timer(code, "import gc; gc.enable()", timer=budget.clock, globals=names)
    times = measure(codes, budget)
    norch.empty_cache()
    return {"row": row.name, "wrong": wrong, **summary(times, row)}


def summary(times: dict[str, list[float]], row: Any) -> dict[str, Any]:
    """Medians in seconds, ratios to norch's with their spread, and whether they are what the row asks for."""
    ours = times["norch"]
    ratios = {}
    for name in times.keys() - {"norch"}:
        low, middle, high = statistics.quantiles([b / a for a, b in zip(ours, times[name])], n=4)
        spread = (high - low) / 2 / middle
        ratios[name] = (statistics.median(times[name]) / statistics.median(ours), spread)
    return {
        "seconds": {name: statistics.median(rounds) for name, rounds in times.items()},
        "ratios": ratios,
        "rounds": len(ours),
        "floor": row.floor,
        "aim": row.aim,
        "met": met([ratios[name] for name in row.against if name in ratios], row.floor, row.aim),
    }


def met(ratios: list[tuple[float, float]], floor: float | None, aim: float | None) -> str:
    """What the smallest of some (ratio, spread) reaches: "aim", "floor", "below"; "noise" where they vary too much."""
    if not ratios or floor is None or aim is None:
        return ""
    if any(spread > NOISE for _, spread in ratios):
        return "noise"
    smallest, _ = min(ratios)
    return "aim" if smallest >= aim else "floor" if smallest >= floor else "below"


# ---- The table -------------------------------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    """Three digits and a unit: 1.23 us, 45.6 ms."""
    unit, scale = ("ns", 1e9) if seconds < 1e-6 else ("us", 1e6) if seconds < 1e-3 else ("ms", 1e3)
    value = seconds * scale
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} {unit}"


def compared(ratio: float, spread: float) -> str:
    return f"{ratio:5.{2 if ratio < 99 else 0}f} {f'±{spread:.0%}' if spread < 1 else '>99%':<5}"


def header(peers: list[str]) -> str:
    cells = "".join(f"{name:>9} {'ratio':>5}      " for name in peers)
    return f"{'':{WIDTH}} {'norch':>8} {cells} {'floor':>5} {'aim':>5} met"


def line(result: dict[str, Any], peers: list[str]) -> str:
    cells = ""
    for name in peers:
        if name in result["wrong"]:
            cells += f"differs by {result['wrong'][name]:.0e}".rjust(PEER_WIDTH)
        elif name in result["ratios"]:
            cells += f"{duration(result['seconds'][name]):>9} {compared(*result['ratios'][name])}"
        else:
            cells += " " * PEER_WIDTH
    asked = [f"{value:g}" if value is not None else "" for value in (result["floor"], result["aim"])]
    ours = duration(result["seconds"]["norch"])
    return f"{result['row']:{WIDTH}} {ours:>8} {cells} {asked[0]:>5} {asked[1]:>5} {result['met']}".rstrip()


def of_processor(field: str) -> str:
    """What Linux says of the processor, such as its "model name"; empty elsewhere."""
    try:
        found = re.search(rf"^{field}\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1) if found else ""


def processor() -> str:
    return of_processor("model name") or platform.processor() or platform.machine()


def load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def prepared(threads: int) -> tuple[dict[str, Any], list[str]]:
    """The frameworks of this process with a number of threads, and what is missing."""
    for name in LIMITS:  # read by the libraries when they are loaded
        os.environ[name] = str(threads)
    from frameworks import found

    return found(threads)


def run(arguments: argparse.Namespace, threads: int) -> dict[str, Any]:
    """Measure and print the table with a number of threads, in this process."""
    frameworks, missing = prepared(threads)
    from rows import ROWS

    peers = [name for name in frameworks if name != "norch"]
    versions = {name: framework.version for name, framework in frameworks.items()}
    print(
        f"\n{threads} thread{'s' if threads > 1 else ''} on {processor()}, {os.cpu_count()} processors; load {load()}"
    )
    print(", ".join(f"{name} {version}" for name, version in versions.items()), *missing, sep="\n")
    print(header(peers), flush=True)
    budget, results = Budget(arguments.quick, threads), []
    for row in ROWS:
        if (threads == 1 or row.threads) and re.search(arguments.only, row.name):
            results.append(measure_row(row, frameworks, budget))
            print(line(results[-1], peers), flush=True)
    print(f"load at the end: {load()}")
    return {"threads": threads, "processor": processor(), "versions": versions, "rows": results}


def run_apart(script: str, threads: int, *options: str) -> dict[str, Any]:
    """A script in a process of its own: the number of threads is set before libraries are loaded."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.json"
        command = [sys.executable, script, *sys.argv[1:], "--threads", str(threads), "--json", str(path), *options]
        code = subprocess.run(command).returncode
        if not path.exists():
            raise SystemExit(code or 1)
        return json.loads(path.read_text())[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="the rows whose name matches")
    parser.add_argument("--quick", action="store_true", help="few and short rounds, to see that it runs")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N", help="default: 1 2")
    parser.add_argument("--json", default="", metavar="PATH", help="write the numbers there")
    parser.add_argument("--picture", default="", metavar="PATH", help="draw the ratios there: .svg or .png")
    arguments = parser.parse_args()
    if min(arguments.threads) < 1:
        parser.error("--threads must be at least 1")

    if len(arguments.threads) == 1:
        results = [run(arguments, *arguments.threads)]
    else:
        results = [run_apart(__file__, n, "--picture", "") for n in arguments.threads]
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=1))
    if arguments.picture:
        from picture import draw

        draw(results, arguments.picture)
    if any(row["wrong"] for result in results for row in result["rows"]):
        raise SystemExit("some results differ from norch's; those were not timed")


if __name__ == "__main__":
    main()
