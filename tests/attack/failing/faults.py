"""Faults that come at the n-th opportunity: an allocation, a call of the system, or a bytecode of norch.

    fault.arm(n); ...; came = fault.disarm()

`seen` is how many opportunities there were since `arm`, None if nobody counts them.
"""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import norch
from norch import _C

NEVER = 1 << 60
PACKAGE = str(Path(norch.__file__).parent) + os.sep


class Allocation:
    """An allocation of the C library finds no memory, be it on the CPU or on a CUDA device."""

    errors: tuple[type[BaseException], ...] = (MemoryError,)
    tolerated = False  # whether the program may run to its end all the same
    seen: int | None = None
    may_tear = False  # whether a state in between is no fault

    def arm(self, n: int) -> None:
        _C.fail_allocation(n)

    def disarm(self) -> bool:
        """Whether it came, as far as that is known: an allocation that fails has to be an error."""
        _C.fail_allocation(0)
        return False


class Launch(Allocation):
    """A kernel does not start on the emulated CUDA device. What it had to write is not written; all else holds."""

    errors = (RuntimeError,)
    may_tear = True

    def arm(self, n: int) -> None:
        _C._library.emulator_fail_launch(ctypes.c_int64(n))

    def disarm(self) -> bool:
        _C._library.emulator_fail_launch(ctypes.c_int64(0))
        return False


class Interrupt:
    """KeyboardInterrupt before a bytecode of norch's Python code, as a signal may raise it.

    Not in a finalizer, whose exceptions Python itself does not pass on.
    """

    errors = (KeyboardInterrupt,)
    tolerated = False
    may_tear = False

    def __init__(self) -> None:
        self.n = self.seen = 0
        self.place = ""

    def arm(self, n: int) -> None:
        self.n, self.seen, self.place = n, 0, ""
        sys.settrace(self._enter)

    def disarm(self) -> bool:
        sys.settrace(None)
        return bool(self.place)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not _is_norchs(frame.f_code):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._instruction

    def _instruction(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode":
            self.seen += 1
            if self.seen == self.n:
                code = frame.f_code
                name = getattr(code, "co_qualname", code.co_name)
                self.place = f"{Path(code.co_filename).name}:{frame.f_lineno} in {name}, bytecode {frame.f_lasti}"
                sys.settrace(None)
                raise KeyboardInterrupt
        return self._instruction


os.register_at_fork(after_in_child=lambda: sys.settrace(None))  # signals of the terminal are the parent's
_known: dict[CodeType, bool] = {}


def _is_norchs(code: CodeType) -> bool:
    if code not in _known:
        _known[code] = code.co_filename.startswith(PACKAGE) and code.co_name != "__del__"
    return _known[code]


class Call:
    """A call of the system fails with an error number, or writes less than it was given (preload.c counts them)."""

    errors: tuple[type[BaseException], ...] = (OSError, MemoryError)
    may_tear = False

    def __init__(self, kind: str) -> None:
        self.library = ctypes.CDLL(None)
        self.seen = 0
        self.number = SHORT if kind == "short" else getattr(errno, kind)
        self.tolerated = kind in ("short", "EINTR") or kind == "EAGAIN"
        self.calls = THREADS if kind == "EAGAIN" else FILES

    def arm(self, n: int) -> None:
        self.library.fault_arm(ctypes.c_long(n), self.number, self.calls)

    def disarm(self) -> bool:
        came = ctypes.c_int(0)
        self.seen = self.library.fault_disarm(ctypes.byref(came))
        return bool(came.value)


SHORT, FILES, THREADS = -1, 1, 2  # as in preload.c


def preloaded() -> dict[str, str]:
    """The environment of a process whose system calls can fail; empty where no C compiler is."""
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    source = Path(__file__).with_name("preload.c")
    folder = Path(tempfile.gettempdir()) / f"norch-attack-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    library = folder / f"preload-{source.stat().st_mtime_ns}.so"
    if not library.exists():
        made = f"{library}.{os.getpid()}"
        command = [compiler, "-shared", "-fPIC", "-O1", "-pthread", "-o", made, source, "-ldl"]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return {}
        os.replace(made, library)
    return {"LD_PRELOAD": str(library)}
