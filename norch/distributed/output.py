"""The output of a rank with its number before each line, also what C code and child processes write."""

from __future__ import annotations

import os
import sys
import threading
from typing import Callable


def prefixed(prefix: str) -> Callable[[], None]:
    """Lead standard output and error through threads that write `prefix` before each line; the result flushes."""
    pumps = [_pump(number, prefix.encode()) for number in (1, 2)]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)

    def flush() -> None:
        for stream, (original, thread) in zip((sys.stdout, sys.stderr), pumps):
            stream.flush()
            os.dup2(original, stream.fileno())  # the pipe's last writer is gone, so its reader ends
            thread.join(1)

    return flush


def _pump(number: int, prefix: bytes) -> tuple[int, threading.Thread]:
    original = os.dup(number)
    source, sink = os.pipe()
    os.dup2(sink, number)
    os.close(sink)

    def copy() -> None:
        rest = b""
        while content := os.read(source, 65536):
            *lines, rest = (rest + content).split(b"\n")
            if lines:  # whole lines at once: those of other ranks do not come between
                _write(original, b"".join(prefix + line + b"\n" for line in lines))
        if rest:
            _write(original, prefix + rest + b"\n")

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    return original, thread


def _write(target: int, content: bytes) -> None:
    while content:
        try:
            content = content[os.write(target, content) :]
        except OSError:
            return
