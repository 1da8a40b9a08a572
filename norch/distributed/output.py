"""The output of a rank with its number before each line, also what C code and child processes write."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import Callable

END = b"\0the end of this rank's output\0"


def prefixed(prefix: str) -> Callable[[], None]:
    """Lead standard output and error through threads that write `prefix` before each line; the result flushes."""
    pumps = [_pump(number, prefix.encode()) for number in (1, 2)]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)

    def flush() -> None:
        for number, stream, (original, thread) in zip((1, 2), (sys.stdout, sys.stderr), pumps):
            stream.flush()
            with suppress(OSError):  # the script has closed it
                os.write(number, END)  # its reader waits for this: a child process may keep the pipe open
            os.dup2(original, number)
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
            content, ended, _ = (rest + content).partition(END)
            *lines, rest = content.split(b"\n")
            if lines:  # whole lines at once: those of other ranks do not come between
                _write(original, b"".join(prefix + line + b"\n" for line in lines))
            if ended:
                break
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
