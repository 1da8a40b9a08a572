"""What norch has of torch's databases, in words: python tests/oracle/databases/report.py [names or patterns] [options].

With names ("softmax", "nn.functional.*", "nn.Conv2d", "Adam") each operation, module or optimizer with its first
failure, with -v with all of them; without names a summary.
"""

from __future__ import annotations

import argparse
import fnmatch
import signal
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2])]

import module_database  # noqa: E402
import op_database  # noqa: E402
import optim_database  # noqa: E402
import torch  # noqa: E402
from reports import Report  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="names of torch, or patterns such as 'index_*'")
    parser.add_argument("--dtype", nargs="*", help="all that norch has if left out")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every failure")
    parser.add_argument("--reference", action="store_true", help="run torch's larger set of samples of operations")
    options = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # for `| head`
    torch.set_num_threads(1)
    dtypes = tuple(getattr(torch, name) for name in options.dtype) if options.dtype else None
    for title, entries, report in (
        ("operations", op_database.operations(), op_database.report),
        ("modules", module_database.modules(), module_database.report),
        ("optimizers", optim_database.optimizers(), optim_database.report),
    ):
        found = []
        for name, entry in entries.items():
            if matches(entry.name, options.names) or matches(name, options.names):
                start = time.process_time()
                chosen = {"dtypes": dtypes} if dtypes else {}
                if options.reference and title == "operations":
                    chosen["reference"] = True
                found.append(report(entry, **chosen))
                show(found[-1], options.verbose, time.process_time() - start)
        if found:
            summarize(title, found)


def matches(name: str, patterns: list[str]) -> bool:
    """Whether a name, or its last part, fits one of the patterns; without patterns, all do."""
    words = (name, name.split(".")[-1])
    return not patterns or any(fnmatch.fnmatchcase(word, pattern) for word in words for pattern in patterns)


def summarize(title: str, reports: list[Report]) -> None:
    """How many have passed, and the names of the others."""
    print(f"\n{title}:")
    for status in ("passing", "failing", "lacking", "missing"):
        names = [report.name for report in reports if report.status == status]
        print(f"  {status}: {len(names)}")
        if status in ("lacking", "missing") and names:
            print(f"    {' '.join(names)}")
    print()


def show(report: Report, verbose: bool, seconds: float) -> None:
    """A line for the operation, then its failures."""
    print(
        f"{report.status:8} {report.name:42} {report.passed:5} passed {len(report.failures):5} failed {seconds:6.1f} s"
    )
    for failure in report.failures[: None if verbose else 1]:
        print(f"    {failure}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
