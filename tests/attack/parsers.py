"""Changed files for everything in norch that reads files: they may be refused, and nothing else may happen.

Findings are crashes, hangs, memory beyond a small multiple of the file, exceptions that the docs do not name, values
that differ from what the bytes say, and anything done that reading does not need (a pickle that calls something).
mutations.py changes valid files with their structure in mind. A file that ends in a place where none did before is kept
for further changes. With atheris, which steers by the branches that a file takes, half of a longer time is its.

Each reader is attacked in processes of its own. They note each file before they read it, so that a crash has its file.
"""

from __future__ import annotations

import base64
import gc
import importlib.util
import itertools
import json
import math
import mmap
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import tracemalloc
import zlib
from pathlib import Path
from random import Random
from typing import Any

from report import Report

READERS = ["safetensors", "torch", "pickle", "idx", "csv", "checkpoint"]
HAS_ATHERIS = importlib.util.find_spec("atheris") is not None
NOTE = 1 << 20  # bytes: the length of the file that is read, its bytes
CASES = 1000  # files of each reader, of a short attack
SLOW = 10  # seconds of CPU time for a file
PATIENCE = 10_000  # seconds for a reader
ROOM = 1 << 30  # bytes that the process may grow by
MOST, LEAST = 200, 4 << 20  # a file may take this many times its size, and at least so many bytes


def attack(seconds: float, cases: int, seed: int) -> Report:
    """Attack each reader for its share of the time, or with so many files."""
    report = Report()
    share = seconds / len(READERS)
    engines = ["_run", "_run_atheris"] if HAS_ATHERIS and 10 <= share < math.inf else ["_run"]
    for name, engine in itertools.product(READERS, engines):
        if report.is_enough:
            break
        with tempfile.TemporaryDirectory() as folder:
            _attack_reader(name, engine, share / len(engines), cases, seed, Path(folder), report)
    return report


def _attack_reader(name: str, engine: str, seconds: float, cases: int, seed: int, folder: Path, report: Report) -> None:
    (folder / "note").write_bytes(bytes(NOTE))
    (folder / "findings").touch()
    command = [sys.executable, __file__, engine, name, str(seconds), str(cases), str(seed)]
    given = {key: os.environ[key] for key in ("PYTHONPATH", "NORCH_LIBRARY") if key in os.environ}
    paths = {key: os.pathsep.join(map(os.path.abspath, value.split(os.pathsep))) for key, value in given.items()}
    if engine == "_run_atheris":  # which ends the process before Python lets go of the reader's own tensors
        paths["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    with open(folder / "output", "wb") as output:
        streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        process = subprocess.Popen(command, cwd=folder, env={**os.environ, **paths}, **streams)
        try:
            status = process.wait(timeout=min(3 * seconds, PATIENCE) + 120)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
    for line in (folder / "findings").read_text(encoding="utf-8").splitlines():
        report.findings.append(json.loads(line))
    tried, length = (int.from_bytes((folder / "note").read_bytes()[at : at + 8], "little") for at in (0, 8))
    report.count(f"{name} files", tried)
    if status != 0 or tried == 0:
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        last = (folder / "output").read_bytes()[-1500:].decode(errors="replace")
        data = (folder / "note").read_bytes()[16 : 16 + length]
        report.findings.append(_finding(name, f"the process ended with {how}: {last}", data, ""))


def _finding(name: str, what: str, data: bytes, code: str) -> str:
    text = base64.b85encode(zlib.compress(data)).decode()
    write = f'import base64, zlib\nopen("fuzzed", "wb").write(zlib.decompress(base64.b85decode({text!r})))'
    return f"{name}: {what}\n{write}\n{code}"


# ---- In the process of one reader ------------------------------------------------------------------------------------


class _Slow(BaseException):
    """Raised where reading takes too long."""


# Of Python's audit events, those that no file needs.
_NEEDLESS = re.compile(
    r"os\.(system|exec|fork|posix_spawn|remove|rename|mkdir|chmod|kill|putenv)|subprocess\.|exec$|compile$|import$|"
    r"ctypes\.dlopen|socket\.|shutil\.|pickle\.find_class|builtins\.input"
)


class _Attempts:
    """Reads files with one reader, and writes down what it finds."""

    def __init__(self, name: str, watches_leaks: bool = True) -> None:
        import readers  # with norch, after atheris has had a chance to instrument it

        self.watches_leaks = watches_leaks
        self.name, self.reader = name, readers.READERS[name]
        self.norch = readers.norch
        self.note = mmap.mmap(os.open("note", os.O_RDWR), NOTE)
        self.tried, self.kinds, self.events = 0, set(), []
        self.reading = False
        for encoding in ("utf-16-le", "utf-32-le", "cp437"):  # so that everything is imported
            "".encode(encoding)
        for data in self.reader.files():
            try:
                self.reader.check(data, self._read(data))
            except Exception as error:
                if name != "pickle":  # which are valid, but refused
                    self.found(f"a valid file gives {type(error).__name__}: {error}", data, "valid")
        sys.addaudithook(self._audit)
        signal.signal(signal.SIGPROF, self._too_slow)
        if "address" not in os.environ.get("NORCH_LIBRARY", ""):  # AddressSanitizer reserves addresses by the terabyte
            used = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
            resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))

    def _read(self, data: bytes) -> Any:
        return self.reader.read(data)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.reading and _NEEDLESS.match(event):
            self.events.append(f"{event} {arguments[:1]}")

    def _too_slow(self, *_: object) -> None:
        raise _Slow

    def attempt(self, data: bytes) -> str:
        """Read a file: a text that tells where that ended."""
        self.tried += 1
        self.note[:8] = self.tried.to_bytes(8, "little")
        self.note[8:16] = len(data).to_bytes(8, "little")
        self.note[16 : 16 + len(data)] = data[: NOTE - 16]
        before = self.norch.memory_allocated()
        watched = zlib.crc32(data) % 16 == 0
        if watched:
            tracemalloc.start()
        outcome = self._outcome(data)
        if watched:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            if peak > max(MOST * len(data), LEAST):
                self.found(f"{len(data):,} bytes took {peak:,} of memory", data, "memory")
        if self.watches_leaks and self.norch.memory_allocated() > before:
            gc.collect()
            if self.norch.memory_allocated() > before:
                self.found(f"{self.norch.memory_allocated() - before} bytes of tensors stay alive", data, "leak")
        return outcome

    def _outcome(self, data: bytes) -> str:
        signal.setitimer(signal.ITIMER_PROF, SLOW)
        self.reading, self.events = True, []
        try:
            value = self._read(data)
        except _Slow:
            return self.found(f"more than {SLOW} seconds", data, "slow")
        except Exception as error:
            self.reading = False
            place = _place(error)
            if not self.reader.errors(error):
                self.found(f"{type(error).__name__}: {str(error)[:300]}", data, f"{type(error).__name__} {place}")
            return place
        finally:
            self.reading = False
            signal.setitimer(signal.ITIMER_PROF, 0)
            if self.events:
                self.found(f"it did {self.events[:3]}", data, self.events[0])
        try:
            self.reader.check(data, value)
        except Exception as error:
            self.found(f"the value is not what the bytes say: {error}", data, f"value {_place(error)}")
        return f"accepted {type(value).__name__} {str(value)[:60]}"

    def found(self, what: str, data: bytes, kind: str) -> str:
        """Write a finding down, the first of each kind."""
        if kind not in self.kinds:
            self.kinds.add(kind)
            with open("findings", "a", encoding="utf-8") as file:
                file.write(json.dumps(_finding(self.name, what, data, self.reader.code)) + "\n")
        return kind


def _place(error: Exception) -> str:
    """The lines that an exception passed."""
    frames = traceback.extract_tb(error.__traceback__)[2:]
    return " ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)


def _run(name: str, seconds: float, cases: int, seed: int) -> None:
    """Change valid files, and those that ended where none did before."""
    attempts, rng, end = _Attempts(name), Random(f"{name} {seed}"), time.monotonic() + seconds
    files, ends = attempts.reader.files(), set()
    while time.monotonic() < end and attempts.tried < cases:
        data = rng.choice(files)
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            data = attempts.reader.change(rng, data)
        outcome = attempts.attempt(data)
        if outcome not in ends and len(files) < 2000:
            ends.add(outcome)
            files.append(data)


def _run_atheris(name: str, seconds: float, cases: int, seed: int) -> None:
    """The same changes, and libFuzzer's, steered by the branches that a file takes in norch's readers."""
    import atheris

    parts = ["norch.functions.serialization", "norch.functions.torch_files", "norch.utils.data.readers", "json.decoder"]
    with atheris.instrument_imports(include=parts):
        attempts = _Attempts(name, watches_leaks=False)  # atheris keeps the results of comparisons alive
    os.mkdir("corpus")
    for number, data in enumerate(attempts.reader.files()):
        Path("corpus", f"{number}").write_bytes(data)

    def change(data: bytes, most: int, number: int) -> bytes:
        rng = Random(number)
        return (attempts.reader.change(rng, data) if rng.random() < 0.7 else atheris.Mutate(data, most))[:most]

    options = [f"-max_total_time={max(1, int(seconds))}", f"-seed={seed % 2**32 or 1}", "-max_len=65536", "-timeout=60"]
    limits = ["-rss_limit_mb=4096", "-detect_leaks=0", "-print_final_stats=0", "-verbosity=0"]
    arguments = [__file__, *options, *limits, "corpus"]
    atheris.Setup(arguments, lambda data: attempts.attempt(data) and None, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    vars()[sys.argv[1]](sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
