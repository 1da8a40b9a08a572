"""One attempt: a fault in a phase of a workload, and what has to hold afterwards.

The error is of an expected kind, nothing leaked, settings are as before, the state is as before the phase or as after
it, and repeating the phase and the rest gives exactly what a run without faults gives.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
from typing import Any, Iterator

import norch
from norch import _C
from norch.functions.generator import default_generator
from norch.operation import mode

from .faults import NEVER

Values = dict[str, Any]


def live() -> tuple[int, ...]:
    """What may not leak: tensors, bytes of each device, open files."""
    devices = range(_C.lib.device_count() + 1)
    files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    return (_C.live_tensors(), *(_C.lib.memory_allocated(number) for number in devices), files)


def settings() -> Values:
    """What of a program's settings a call may change while it runs, and has to put back."""
    return {
        "grad mode": norch.is_grad_enabled(),
        "inference mode": mode.inference,
        "autocast": (mode.autocast, mode.autocast_dtypes, mode.autocast_depth, mode.autocast_cache is None),
        "anomaly mode": mode.anomaly,
        "recording": mode.recorder is not None,
        "default dtype": norch.get_default_dtype(),
        "default device": _C.default.device,
        "threads": norch.get_num_threads(),
    }


def values(x: Any) -> Any:
    """The elements of all tensors of a value, to be compared."""
    if norch.nn.parameter.is_lazy(x):
        return type(x).__name__, str(x.dtype)
    if isinstance(x, norch.Tensor):
        flat = x.detach().cpu().contiguous()
        return str(x.dtype), tuple(x.shape), x.requires_grad, ctypes.string_at(flat.data_ptr(), flat.nbytes)
    if isinstance(x, norch.nn.Module):
        return {name: values(value) for name, value in x.state_dict(keep_vars=True).items()}, x.training
    if isinstance(x, norch.optim.Optimizer):
        return values([x.parameters, [(values(p), s) for p, s in x.state.items() if s], x.param_groups])
    if isinstance(x, dict):
        return {key if isinstance(key, (str, int)) else values(key): values(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [values(item) for item in x]
    return x if isinstance(x, (int, float, str, bytes, type(None))) else type(x).__name__


class Subject:
    """A workload with what a run without faults gives: the state at each phase's beginning, and the results."""

    def __init__(self, workload: Any) -> None:
        self.workload = workload
        self.run()  # the first one fills what is kept: constants, shapes, imports
        gc.collect()
        before = live()
        self.states, self.results = self.run()
        assert self.run() == (self.states, self.results), f"{workload.name} differs from run to run"
        gc.collect()
        assert live() == before, f"{workload.name} leaks without a fault: {before} became {live()}"

    def run(self) -> tuple[list[Any], Any]:
        with self.begun() as state:
            states = [self.workload.state(state)]
            for phase in self.workload.phases:
                begin_phase()
                phase(state)
                states.append(self.workload.state(state))
            return states, self.workload.results(state)

    @contextlib.contextmanager
    def begun(self) -> Iterator[Any]:
        norch.manual_seed(1)
        state = self.workload.build()
        yield state
        self.workload.end(state)

    def count(self, fault: Any, phase: int) -> int:
        """How many opportunities the fault has in a phase, for a fault that counts them."""
        with self.begun() as state:
            self.until(state, phase)
            begin_phase()
            fault.arm(NEVER)
            try:
                self.workload.phases[phase](state)
            finally:
                fault.disarm()
            return fault.seen

    def until(self, state: Any, last: int, first: int = 0) -> None:
        for phase in self.workload.phases[first:last]:
            begin_phase()
            phase(state)

    def attempt(self, fault: Any, phase: int, n: int) -> tuple[bool, list[str]]:
        """Let the n-th opportunity fail: whether it came, and what was wrong then."""
        gc.collect()
        before, set_before = live(), settings()
        wrong: list[str] = []
        came = self._attempted(fault, phase, n, wrong)
        if settings() != set_before:
            wrong.append(f"settings were {set_before} and are {settings()}")
            restore(set_before)
        gc.collect()
        if live() != before:
            wrong.append(f"leaked: (tensors, bytes, files) were {before} and are {live()}")
        return came, wrong

    def _attempted(self, fault: Any, phase: int, n: int, wrong: list[str]) -> bool:
        with self.begun() as state:
            self.until(state, phase)
            begin_phase()
            error, came = None, False
            fault.arm(n)
            try:
                self.workload.phases[phase](state)
            except BaseException as caught:
                came = fault.disarm()
                error = caught.with_traceback(None)
                error.__context__ = error.__cause__ = None
            else:
                came = fault.disarm()
            if error is not None and not isinstance(error, fault.errors):
                wrong.append(f"raised {type(error).__name__}: {str(error)[:300]}")
            if error is None and came and not fault.tolerated:
                wrong.append("the error was swallowed")
            came = came or error is not None
            if came and not fault.may_tear:
                set_now = settings()
                self._check_state(state, phase, wrong)
                restore(set_now)
            elif not came and self.workload.state(state) != self.states[phase + 1]:
                wrong.append("no fault came, yet the state differs")
            return came

    def _check_state(self, state: Any, phase: int, wrong: list[str]) -> None:
        norch.set_grad_enabled(True)
        mode.autocast = {}
        found = self.workload.state(state)
        if found not in (self.states[phase], self.states[phase + 1]):
            wrong.append(f"the state is neither as before nor as after: {difference(found, self.states[phase])}")
            return
        again = phase if found == self.states[phase] else phase + 1
        try:
            if again < len(self.workload.phases):
                again = self.workload.restart(state, again)
            self.until(state, len(self.workload.phases), again)
            results = self.workload.results(state)
        except BaseException as error:
            wrong.append(f"the repeated step raised {type(error).__name__}: {str(error)[:300]}")
            return
        if results != self.results:
            wrong.append(f"the repeated step gave another result: {difference(results, self.results)}")


def begin_phase() -> None:
    default_generator.manual_seed(7)


def restore(kept: Values) -> None:
    """Put the settings back, so that a finding stays one."""
    mode.enabled, mode.inference, mode.anomaly = kept["grad mode"], kept["inference mode"], kept["anomaly mode"]
    mode.autocast, mode.autocast_dtypes, mode.autocast_depth = kept["autocast"][:3]
    norch.set_default_dtype(kept["default dtype"])
    _C.default.device = kept["default device"]
    norch.set_num_threads(kept["threads"])


def difference(found: Any, expected: Any, path: str = "") -> str:
    """Where two states first differ."""
    if isinstance(found, dict) and isinstance(expected, dict):
        pairs = [(key, found.get(key), expected.get(key)) for key in {**expected, **found}]
    elif isinstance(found, (list, tuple)) and isinstance(expected, (list, tuple)) and len(found) == len(expected):
        pairs = [(number, *pair) for number, pair in enumerate(zip(found, expected))]
    else:
        return f"at {path or 'the top'} {str(found)[:150]}, not {str(expected)[:150]}"
    for key, one, other in pairs:
        if one != other:
            return difference(one, other, f"{path}.{str(key)[:40]}")
    return "nowhere"
