"""A process that attacks: python worker.py SEED FIRST END SECONDS CHANNEL

It makes one attempt after the other, each decided by the seed and its number, and tells the parent over the channel, a
line of JSON each, what it is about to run and what it found. If it dies or hangs, the parent knows in what.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import inspect
import json
import multiprocessing
import os
import random
import re
import resource
import sys
import time
import traceback
import warnings
from typing import Any

import judging
import known
import values
from judging import ATTACK, State
from seeds import HEADER, Program, programs
from spoiling import Spoiled, of_method

import norch

DEVICE = os.environ.get("NORCH_ATTACK_DEVICE", "cpu")
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
MEMORY = 2 * 2**30  # how much a process may take beyond what it has at first
GROWN = 2**30  # how much of it an attempt may touch
FORKS = 4


class Worker:
    def __init__(self, seed: int, channel: int):
        self.seed, self.channel = seed, channel
        self.programs = [x for x in programs() if re.search(os.environ.get("NORCH_ATTACK_ONLY", ""), x.name)]
        self.hostile = {name: value for name, value in vars(values).items() if callable(value)}
        self.torch = None if SANITIZED else imported_torch()
        self.comparable: dict[int, bool] = {}
        self.state = State()
        self.peak = peak_memory()
        self.forks = 0

    def tell(self, **message: Any) -> None:
        os.write(self.channel, json.dumps(message).encode() + b"\n")

    def attempt(self, number: int) -> None:
        rng = random.Random(f"{self.seed}:{number}")
        index = rng.randrange(len(self.programs))
        program = self.programs[index]
        names = self.fresh("norch")
        statements = list(program.statements)
        if program.method is not None:
            if self.run(statements, names) is not None or not (call := of_method(program, names)):
                return
            target, names = len(statements), self.fresh("norch")
            statements.append(call)
        else:
            last = program.name.rpartition(".")[2]
            fitting = [n for n, text in enumerate(statements) if re.search(rf"\b{last}\b", text)]
            if any(statements[n].startswith("@") for n in fitting):  # what is decorated is called behind it
                fitting = list(range(fitting[0], len(statements)))
            target = rng.choice(fitting or range(len(statements)))
        before, after = statements[:target], statements[target + 1 :]
        self.tell(at=number, text=HEADER + "".join(before), named=program.name, who="nobody")
        if self.run(before, names) is not None:
            return
        spoiled = Spoiled(statements[target], names, program, rng)
        if not spoiled.kinds:
            return
        text = self.text([*before, spoiled.line, *after])
        self.tell(at=number, text=text, named=spoiled.named, who="norch")
        kept, settings = judging.kept(names), self.state.settings()
        error = self.run([spoiled.line], names)
        hurt = None
        if error is not None:
            hurt = difference(settings, self.state.settings()) or judging.changed(kept)
        else:
            error = self.run(after, names)
        self.judge(spoiled, program, index, before, after, error, hurt, text)
        names.clear()
        del kept, error
        self.clean(settings, spoiled.named, text)
        self.tell(done=number)

    def judge(
        self, spoiled: Spoiled, program: Program, index: int, before: Any, after: Any, error: Any, hurt: Any, text: str
    ) -> None:
        if hurt is not None:
            self.find("state", spoiled.named, hurt, text)
        kind = None if error is None else judging.wrong_error(error)
        if error is not None and kind is None:
            return
        theirs: BaseException | None = None
        counterpart = self.torch is not None and self.has_counterpart(index, program, before, after)
        if counterpart:
            theirs = self.in_torch([*before, spoiled.line, *after], spoiled.named, text)
        if kind is not None:
            if theirs is None or not isinstance(error, type(theirs)):
                beside = f"; torch: {told(theirs)}" if counterpart else ""
                self.find(kind, spoiled.named, told(error) + beside, text)
        elif theirs is not None and not isinstance(theirs, (MemoryError, NotImplementedError)):
            self.find("accepted", spoiled.named, f"norch accepts it; torch: {told(theirs)}", text)

    def has_counterpart(self, index: int, program: Program, before: Any, after: Any) -> bool:
        """Whether torch runs the program as it was before it was spoiled."""
        if "@norch.compile\n" in program.statements[0]:  # torch would call a compiler of C++
            return False
        if index not in self.comparable:
            self.comparable[index] = self.in_torch(program.statements, program.name, str(program)) is None
        return self.comparable[index]

    def in_torch(self, statements: list[str], named: str, text: str) -> BaseException | None:
        self.tell(text=text, named=named, who="torch")
        try:
            return self.run([re.sub(r"\bnorch\b", "torch", s) for s in statements], self.fresh("torch"))
        finally:
            self.torch.set_grad_enabled(True)
            self.torch.set_default_dtype(self.torch.float32)
            self.torch.set_default_device("cpu")

    def find(self, kind: str, named: str, what: str, text: str) -> None:
        if known.reason(kind, named, what) is None:
            self.tell(kind=kind, named=named, found=what, text=text)

    def fresh(self, package: str) -> dict[str, Any]:
        names: dict[str, Any] = {"__name__": ATTACK, **self.hostile}
        exec(HEADER.replace("norch", package), names)
        random.seed(0)
        sys.modules[package].manual_seed(0)
        return names

    def run(self, statements: list[str], names: dict[str, Any]) -> BaseException | None:
        """The error that statements raise, None if they raise none."""
        try:
            for statement in statements:
                exec(compile(statement, ATTACK, "exec"), names)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error
        return None

    def text(self, statements: list[str]) -> str:
        """A file that does the same."""
        body = "".join(statements)
        used = {name for name in self.hostile if re.search(rf"\b{name}\b", body)}
        if used & {name for name, value in self.hostile.items() if isinstance(value, type)}:
            used |= {"Refusal", "Lying"}
        return HEADER + "".join(inspect.getsource(self.hostile[name]) for name in self.hostile if name in used) + body

    def clean(self, settings: dict[str, Any], named: str, text: str) -> None:
        """Undoes what the attempt may have set, and looks whether it broke anything else."""
        self.state.restore(settings)
        if DEVICE != "cpu":
            with contextlib.suppress(Exception):  # an index out of range is told late there, as norch.cuda says
                norch.cuda.synchronize()
        for child in multiprocessing.active_children():
            child.kill()
        self.forks = 0
        if damage := self.state.damage():
            self.find("damage", named, damage, text)
            self.stop()
        now = peak_memory()
        if now > self.peak + GROWN and not SANITIZED:
            self.find("memory", named, f"{(now - self.peak) / 2**30:.1f} GB", text)
            self.stop()

    def stop(self) -> None:
        """Ends this process; the parent starts another one behind this attempt."""
        os._exit(0)

    def fork(self, fork: Any = os.fork) -> int:
        self.forks += 1
        if self.forks > FORKS:
            raise BlockingIOError("an attempt may not start more processes")
        return fork()


def imported_torch() -> Any:
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    return torch


def difference(before: dict[str, Any], after: dict[str, Any]) -> str | None:
    found = [f"{name} was {before[name]}, is {after[name]}" for name in before if before[name] != after[name]]
    return "; ".join(found) or None


def told(error: BaseException | None) -> str:
    if error is None:
        return "accepts it"
    where = [frame for frame in judging.trace(error) if frame.filename.startswith(judging.HOME)][-1:]
    place = "".join(f" ({frame.filename[len(judging.HOME) :]}:{frame.lineno})" for frame in where)
    try:
        return f"{type(error).__name__}: {str(error)[:300]}{place}"
    except Exception as again:
        return f"{type(error).__name__}, whose text raises {type(again).__name__}"


def peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    seed, number, last, channel = (int(sys.argv[i]) for i in (1, 2, 3, 5))
    seconds = float(sys.argv[4])
    faulthandler.enable()
    warnings.simplefilter("ignore")
    norch.set_default_device(DEVICE)
    worker = Worker(seed, channel)
    os.fork = worker.fork
    if not SANITIZED:
        with open("/proc/self/statm") as pages:
            used = int(pages.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))
    gc.freeze()
    end = time.monotonic() + seconds
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        while time.monotonic() < end and number < last:
            try:
                worker.attempt(number)
            except Exception:
                worker.tell(kind="attacker", named="", found=traceback.format_exc(), text="")
            number += 1
    worker.tell(at=number - 1, ended=number)
    os._exit(0)


if __name__ == "__main__":
    main()
