"""norch beside torch, across the board: every operation, layer, loss and optimizer, in one run (rows: wide_rows.py).

    PYTHONPATH=. python benchmarks/wide.py --only "exp |LSTM"       # the rows whose "family name column" matches
    PYTHONPATH=. python benchmarks/wide.py --limit 300              # seconds for all rows of each number of threads
    PYTHONPATH=. python benchmarks/wide.py --scaling                # what a second thread gains, beside torch's

Ratios are torch's time over norch's (above 1: norch is faster), of medians over rounds in which the two take turns. It
prints geometric means by family and by column, the twenty worst rows, and the rows that lost a fifth or more against
those recorded on such a processor, in wide_records/; `--record` writes what was measured there. Times are as in run.py.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import re
import statistics
import timeit
import warnings
from pathlib import Path
from typing import Any, Iterable

from run import Budget, duration, load, measure, of_processor, prepared, processor, run_apart

RECORDS = Path(__file__).parent / "wide_records"  # a file for each kind of processor: torch has other kernels on each
LOST = 0.8  # of a recorded ratio: below that a row is named
WORST = 20
# What a second thread is to gain: 1.8 where arithmetic is the limit, as in these rows, and 1.3 where memory is.
ARITHMETIC = re.compile(
    r"products (matmul|A @|addmm|bmm)|Linear|Conv|[sS]oftmax|attention|Attention|Transformer|RNN|GRU|LSTM|"
    r"elementwise (a?(sin|cos|tan)h? |exp|log|pow |erf|lgamma|digamma|sigmoid|special|igamma|i[01])|GELU|ELU|SiLU|Mish"
)


class Share(Budget):
    """A budget whose rounds are short, and shorter still where rows are left and little time."""

    def __init__(self, threads: int, seconds: float) -> None:
        super().__init__(False, threads)
        self.round, self.fewest, self.most = 0.001, 3, 11
        self.rest, self.warm = (0.01, 0.005) if threads > 1 else (0.0, 0.0)  # torch's threads spin only shortly
        self.end = self.clock() + seconds

    def cut(self, rows: int) -> None:
        self.total = max(0.0, self.end - self.clock()) / rows * 1.5  # most rows take less than they may


def measured(row: Any, frameworks: dict[str, Any], budget: Share) -> dict[str, float]:
    """Median seconds a call, by framework."""
    codes = {}
    for name, framework in frameworks.items():
        names = row.setup(framework)
        codes[name] = timeit.Timer(row.code, "import gc; gc.enable()", timer=budget.clock, globals=names)
    times = measure(codes, budget)
    return {name: statistics.median(rounds) for name, rounds in times.items()}


def run(arguments: argparse.Namespace, threads: int) -> dict[str, Any]:
    """Measure the rows with a number of threads, in this process."""
    warnings.filterwarnings("ignore")  # of what torch calls a beta
    frameworks, missing = prepared(threads)
    frameworks = {name: one for name, one in frameworks.items() if name in ("norch", "torch")}
    from wide_rows import ROWS

    rows = [row for row in ROWS if row.large or threads == 1]
    rows = [row for row in rows if threads == 1 or "x" not in row.column or row.column.endswith("contiguous")]
    rows = [row for row in rows if re.search(arguments.only, f"{row.line} {row.column}")]
    budget, found, failed = Share(threads, arguments.limit), {}, [line for line in missing if line.startswith("torch")]
    recorded = read(arguments.record_file)
    for number, row in enumerate(rows):
        if budget.clock() > budget.end:
            failed += [f"{len(rows) - number} rows are left out: --limit {arguments.limit:g} seconds are over"]
            break
        budget.cut(len(rows) - number)
        column = row.column + (f", {threads} threads" if threads > 1 else "")
        try:
            seconds = measured(row, frameworks, budget)
            if lost(ratio(seconds), recorded.get(row.line, {}).get(column)):
                budget.total = max(budget.total, 0.5)  # to be sure of it
                seconds = measured(row, frameworks, budget)
        except Exception as error:
            failed.append(f"{row.line}, {column}: {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        found.setdefault(row.line, {})[column] = seconds
        if arguments.only:
            print(f"{row.line:60} {column:22} " + "".join(f"{duration(s):>9} " for s in seconds.values())
                  + f"{ratio(seconds):6.2f}", flush=True)  # fmt: skip
    return {"threads": threads, "processor": processor(), "load": load(), "rows": found, "failed": failed}


def scaling(arguments: argparse.Namespace) -> None:
    """Each large row with one thread and with two, taking turns: what the second gains, in norch and in torch."""
    warnings.filterwarnings("ignore")
    frameworks, _ = prepared(2)
    from wide_rows import ROWS

    import norch

    rows = [row for row in ROWS if row.large and ("x" not in row.column or row.column.endswith("contiguous"))]
    rows = [row for row in rows if re.search(arguments.only, f"{row.line} {row.column}")]
    budget, gains = Share(2, arguments.limit), []
    for number, row in enumerate(rows):
        budget.cut(len(rows) - number)
        codes = {}
        for name in ("norch", "torch"):
            names = {**row.setup(frameworks[name]), "library": {"norch": norch, **frameworks[name].modules}[name]}
            for n in (1, 2):
                start = f"import gc; gc.enable(); library.set_num_threads({n})"
                codes[f"{name} {n}"] = timeit.Timer(row.code, start, timer=budget.clock, globals=names)
        times = {name: statistics.median(rounds) for name, rounds in measure(codes, budget).items()}
        gains.append((times["norch 1"] / times["norch 2"], times["torch 1"] / times["torch 2"], row, times["norch 1"]))
    for kind, asked in (("arithmetic", 1.8), ("memory", 1.3)):
        found = [gain for gain in gains if bool(ARITHMETIC.search(gain[2].line)) == (kind == "arithmetic")]
        if found:
            ours, theirs = (statistics.geometric_mean(gain[k] for gain in found) for k in (0, 1))
            below = sorted((gain for gain in found if gain[0] < asked), key=lambda gain: gain[0])
            print(f"{kind}: norch {ours:.2f}, torch {theirs:.2f}; {len(below)} of {len(found)} rows under {asked}")
            for norchs, torchs, row, seconds in below:
                print(f"{norchs:6.2f} {torchs:6.2f} {duration(seconds):>9}  {row.line}, {row.column}")


def ratio(seconds: dict[str, float]) -> float:
    return seconds["torch"] / seconds["norch"] if "torch" in seconds else math.nan


# ---- The record ------------------------------------------------------------------------------------------------------


def record_of_this_processor() -> str:
    """Such as wide_records/AuthenticAMD-25-17.json: vendor, family and model."""
    kind = [of_processor(field) for field in ("vendor_id", "cpu family", "model")]
    return str(RECORDS / f"{'-'.join(kind) if all(kind) else platform.machine()}.json")


def read(path: str) -> dict[str, dict[str, float]]:
    """Ratios by row and column."""
    return json.loads(Path(path).read_text()) if path and Path(path).exists() else {}


def write(path: str, ratios: dict[str, dict[str, float]]) -> None:
    """A line for each row, those that were not measured as they were."""
    merged = read(path)
    for line, columns in ratios.items():
        merged[line] = {**merged.get(line, {}), **{column: round(value, 2) for column, value in columns.items()}}
    lines = ",\n".join(f"{json.dumps(line)}: {json.dumps(columns)}" for line, columns in merged.items())
    Path(path).write_text(f"{{\n{lines}\n}}\n")


def lost(now: float, before: float | None) -> bool:
    return before is not None and now < LOST * before


# ---- The report ------------------------------------------------------------------------------------------------------


def mean(ratios: Iterable[float]) -> str:
    """The geometric mean, how many rows, and how many of them are under 1 and under 0.8."""
    values = list(ratios)
    middle = statistics.geometric_mean(values)
    return f"{middle:6.2f} {len(values):6} {sum(v < 1 for v in values):8} {sum(v < 0.8 for v in values):9}"


def report(ratios: dict[str, dict[str, float]], recorded: dict[str, dict[str, float]]) -> None:
    cells = [(value, line, column) for line, columns in ratios.items() for column, value in columns.items()]
    if not cells:
        return
    print(f"\n{'torch / norch: geometric mean':40} {'':6}   rows  under 1 under 0.8")
    print(f"{'all':40} {mean(value for value, *_ in cells)}")
    for kind, key in (("family", lambda cell: cell[1].split()[0]), ("column", lambda cell: cell[2])):
        for group in dict.fromkeys(key(cell) for cell in cells):
            print(f"{kind + ' ' + group:40} {mean(cell[0] for cell in cells if key(cell) == group)}")
    print(f"\nthe {min(WORST, len(cells))} worst")
    for value, line, column in sorted(cells)[:WORST]:
        print(f"{value:6.2f}  {line}, {column}")
    worse = [cell for cell in cells if lost(cell[0], recorded.get(cell[1], {}).get(cell[2]))]
    known = sum(column in recorded.get(line, {}) for _, line, column in cells)
    print(f"\nlost {1 - LOST:.0%} or more against the record: {len(worse)} of {known} recorded rows")
    for value, line, column in sorted(worse, key=lambda cell: cell[0] / recorded[cell[1]][cell[2]]):
        print(f"{recorded[line][column]:6.2f} -> {value:.2f}  {line}, {column}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help='the rows whose "family name column" matches')
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N", help="default: 1 2")
    parser.add_argument("--limit", type=float, default=360, metavar="SECONDS", help="for each number of threads")
    parser.add_argument("--json", default="", metavar="PATH", help="write times in seconds there")
    parser.add_argument("--picture", default="", metavar="PATH", help="draw a heat map there: .svg or .png")
    parser.add_argument("--record", action="store_true", help="keep the ratios as the record")
    parser.add_argument("--record-file", default=record_of_this_processor(), metavar="PATH")
    parser.add_argument("--scaling", action="store_true", help="norch's two threads over its one, and torch's")
    parser.add_argument("--part", action="store_true", help=argparse.SUPPRESS)  # one of run_apart's
    arguments = parser.parse_args()

    if arguments.scaling:
        print(f"two threads over one on {processor()}; load {load()}; norch, torch, norch's time with one")
        return scaling(arguments)
    if len(arguments.threads) == 1:
        results = [run(arguments, *arguments.threads)]
    else:
        results = [run_apart(__file__, n, "--part") for n in arguments.threads]
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results))
    if arguments.part:
        return
    ratios: dict[str, dict[str, float]] = {}
    for result in results:
        print(
            f"{result['threads']} thread(s) on {result['processor']}; load {result['load']}",
            *result["failed"],
            sep="\n",
        )
        for line, columns in result["rows"].items():
            ratios.setdefault(line, {}).update({column: ratio(seconds) for column, seconds in columns.items()})
    ratios = {line: kept for line, columns in ratios.items() if (kept := {c: r for c, r in columns.items() if r == r})}
    report(ratios, read(arguments.record_file))
    if arguments.picture:
        from picture import heat_map

        heat_map(ratios, arguments.picture)
    if arguments.record:
        write(arguments.record_file, ratios)
        print(f"recorded: {arguments.record_file}")


if __name__ == "__main__":
    main()
