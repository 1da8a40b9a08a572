"""Hostile arguments for every public callable: death, hangs, memory, nonsense accepted, wrong errors.

The calls are the examples of the docstrings, of which one or two arguments were made hostile (hostility/spoiling.py).
They run in a process of their own, with limits; torch, where it runs the same example, says what is nonsense.
NORCH_ATTACK_DEVICE=cuda makes all tensors there, on a GPU or on the emulator; NORCH_ATTACK_ONLY, a regular expression,
names the callables of which examples are taken; with NORCH_LIBRARY and the runtime of
AddressSanitizer preloaded (tools/sanitized.py --attack) the same attempts run under it, without torch and the limits.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hostility import known
from report import Report

WORKER = Path(__file__).resolve().parent / "hostility" / "worker.py"
HANG = 30.0  # seconds that one attempt may take
START = 300.0  # and the process until its first, as it reads all docstrings: long, if a sanitizer watches
CASES = 1000  # attempts of a short attack


def attack(seconds: float, cases: int, seed: int) -> Report:
    report = Report()
    seen: set[tuple[str, str]] = set()
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end and number < cases and not report.is_enough:
        number = run_worker(seed, range(number, cases), end - time.monotonic(), report, seen)
    return report


def run_worker(seed: int, numbers: range, seconds: float, report: Report, seen: set[tuple[str, str]]) -> int:
    """Attempts of these numbers, in one process, until it ends; the number of the first attempt of the next one."""
    first = numbers.start
    with tempfile.TemporaryDirectory() as folder, open(f"{folder}.stderr", "w+") as errors:
        os.unlink(errors.name)
        reading, writing = os.pipe()
        command = [sys.executable, WORKER, *map(str, (seed, first, numbers.stop, seconds, writing))]
        paths = [os.path.abspath(path) for path in sys.path if path]  # the process has another folder
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            pass_fds=[writing],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        os.close(writing)
        last: dict[str, Any] = {"at": first - 1, "who": "nobody", "text": "", "named": "the start"}
        ended, hung = False, False
        for message in messages(reading):
            if message is None:
                hung = True
                process.send_signal(signal.SIGABRT)
            elif "found" in message:
                note(report, seen, message)
                last["who"] = "nobody"
                if report.is_enough:
                    process.kill()
            elif "ended" in message:
                ended = True
            elif "done" in message:
                report.count("calls")
                last["who"] = "nobody"
            else:
                last.update(message)
        status = process.wait()
        if report.is_enough:
            return first
        errors.seek(0)
        said = errors.read()[-3000:]
    # A loop of the program itself, such as 2 ** 10**9, is no fault of norch's.
    own = hung and re.search(r'most recent call first\):\n  File "<attack>"', said)
    if not ended and last["who"] == "norch" and not own:
        kind = "hang" if hung else f"death by {signal.Signals(-status).name}" if status < 0 else f"exit {status}"
        note(report, seen, {**last, "kind": kind, "found": said})
    elif not ended and last["at"] < first:
        raise RuntimeError(f"the attacker's process does not start: {said}")
    return int(last["at"]) + 1


def messages(reading: int) -> Any:
    """What the worker tells, None each time that it tells nothing for long."""
    rest, patience = b"", START
    with os.fdopen(reading, "rb", buffering=0) as channel:
        while True:
            if not select.select([channel], [], [], patience)[0]:
                yield None
                continue
            read = channel.read(1 << 16)
            if not read:
                return
            patience = HANG
            *lines, rest = (rest + read).split(b"\n")
            for line in lines:
                yield json.loads(line)


def note(report: Report, seen: set[tuple[str, str]], message: dict[str, Any]) -> None:
    """A finding, once for each callable and kind."""
    if known.reason(message["kind"], message["named"], message["found"]) is not None:
        return
    key = (message["named"], message["kind"])
    if key not in seen:
        seen.add(key)
        report.findings.append(f"[{message['kind']}] {message['named']}: {message['found']}\n{message['text']}")
