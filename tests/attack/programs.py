"""Random programs against torch: the same statements in both libraries, every value and gradient compared.

    python tests/attack/programs.py [--seconds 60] [--seed 0] [--only SEED.NUMBER]

A program has 5 to 40 statements of any operation, drawn so that most of them are valid. What differs is shortened to a
few lines, and is a finding unless a row of random_programs/differences.py explains it. Programs run in child processes,
because some of them make torch itself read freed memory.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import gc
import os
import pickle
import re
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator

import torch
from random_programs.differences import explained
from random_programs.execution import RUNNING, unsteady
from random_programs.generator import Program, families
from random_programs.shrinking import kind, shrunk
from report import Report

import norch

FINDINGS = 30  # after so many, one has enough to do
BATCH = 500  # programs of one child process
PROGRESS = 10_000  # programs, after which it tells how many ran
HANG = 120  # seconds that one program may take, with those that make it short
CASES = 1500  # programs of a short attack
TOLD = 600  # characters of a difference


Outcome = tuple[dict[str, int], str, str]  # what was tried, the kind of what was found, and the finding
Attempt = Callable[[str, set[str]], Outcome]  # of a seed, and the kinds that were seen before


def attack(
    seconds: float,
    cases: int,
    seed: int,
    tell: Callable[[str], None] = lambda finding: None,
    attempt: Attempt | None = None,
) -> Report:
    """Run random programs until the time is up, or so many ran; each finding is told at once."""
    report, seen, number = Report(), set(), 0
    attempt = attempt or attempted
    torch.set_num_threads(1)
    norch.set_num_threads(1)
    families()
    end = time.monotonic() + seconds  # after the start, which takes its time
    while time.monotonic() < end and number < cases and len(report.findings) < FINDINGS:
        for tried, label, text in batch(attempt, seed, range(number, min(number + BATCH, cases)), seen, end):
            number += 1
            if number % PROGRESS == 0:
                print(f"{number:,} programs", file=sys.stderr, flush=True)
            for what, count in tried.items():
                report.count(what, count)
            if text and label not in seen:
                seen.add(label)
                report.findings.append(text)
                tell(text)
            if report.is_enough:
                return report
    return report


def batch(attempt: Attempt, seed: int, numbers: range, seen: set[str], end: float) -> Iterator[Outcome]:
    """The outcomes of programs that a child runs, of all that it came to."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            with warnings.catch_warnings(), open(writing, "wb") as pipe:
                warnings.simplefilter("ignore")
                for number in numbers:
                    if time.monotonic() < end:
                        signal.alarm(HANG)  # which ends the process
                        pickle.dump(attempt(f"{seed}.{number}", seen), pipe)
                        pipe.flush()
                        gc.collect(0)
        except BaseException:  # a fault of the attacker itself
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(writing)
    number = numbers[0]
    try:
        with open(reading, "rb") as pipe:  # which the child notices if nobody reads on
            while True:
                try:
                    outcome = pickle.load(pipe)
                except EOFError:
                    break
                yield outcome
                number += 1
    finally:
        status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and RUNNING[0]:
        name = signal.Signals(os.WTERMSIG(status)).name
        yield {"programs": 1}, "crash", f"program {seed}.{number}: {name} inside norch"
    elif status and not os.WIFSIGNALED(status):
        raise RuntimeError(f"program {seed}.{number} made the attacker fail")
    elif os.WIFSIGNALED(status):
        yield {"programs": 1, "that end torch": 1}, "", ""


def attempted(seed: str, seen: set[str]) -> Outcome:
    """One program: what it found, unless it is explained, or was seen before."""
    program = Program(seed)
    program.grow()
    tried = {"programs": 1, "statements": len(program.lines), "errors alike": program.errors}
    lines, found = program.lines, program.found
    if not found:
        return tried, "", ""
    called = re.search(r"\w+(?=\()", lines[-1])
    label, reason = f"{kind(found)} of {called[0] if called else 'operators'}", explained(lines, found)
    if not reason and unsteady(lines):
        reason = "rounding decides"
    if not reason and label not in seen:
        lines, found = shrunk(lines, found)
        reason = explained(lines, found)
    if reason or label in seen:
        return {**tried, f"differences ({reason or 'found before'})": 1}, "", ""
    start = "  import norch as lib; from math import inf, nan"
    return tried, label, "\n".join([f"program {seed}: {found[:TOLD]}", start, *(f"  {x}" for x in lines)])


def main(text: str, attempt: Attempt) -> None:
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", metavar="SEED.NUMBER", help="one program, as a finding names it")
    options = parser.parse_args()
    if options.only:
        warnings.simplefilter("ignore")
        print(*attempt(options.only, set()), sep="\n")
        return
    told = functools.partial(print, end="\n\n", flush=True)
    report = attack(options.seconds, sys.maxsize, options.seed, told, attempt)
    print(dataclasses.replace(report, findings=[]), f"({len(report.findings)} above)")


if __name__ == "__main__":
    main(__doc__, attempted)
