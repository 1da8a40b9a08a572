"""Ctrl-C while a call is recorded or replayed arrives, and leaves no recording behind."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest

import norch
from norch import nn, optim
from norch.operation import mode

PACKAGE = os.path.dirname(norch.__file__) + os.sep


def interrupted(function, x, n):
    """Call function(x) with a KeyboardInterrupt before the n-th bytecode of norch's; whether it came that far."""
    seen = 0

    def enter(frame, event, argument):
        if not frame.f_code.co_filename.startswith(PACKAGE) or frame.f_code.co_name == "__del__":
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return step

    def step(frame, event, argument):
        nonlocal seen
        seen += event == "opcode"
        if seen == n:
            sys.settrace(None)
            raise KeyboardInterrupt
        return step

    sys.settrace(enter)
    try:
        function(x)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    assert seen < n, "the interrupt was swallowed"
    return False


@pytest.mark.parametrize("calls", [1, 2, 3])  # before the one that is recorded, recorded again, replayed
def test_an_interrupt_at_bytecodes_of_a_call(calls):
    def step(x):
        return (x * 2).exp().sum()

    n = 1
    while True:
        function = norch.compile(step)
        x = norch.ones(3, requires_grad=True)
        for _ in range(calls):
            function(x)
        came = interrupted(function, x, n)
        assert mode.recorder is None and norch.is_grad_enabled()
        results = [function(x) for _ in range(4)]
        assert len({y.item() for y in results}) == 1 and len(function.programs) == 1
        if not came:
            break
        n += 1 + n // 8


@pytest.fixture
def raising():
    """SIGINT is KeyboardInterrupt, also in a shell's background job, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="no signals")
def test_a_signal_in_the_function_ends_the_recording(raising):
    model = nn.Linear(2, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    strike = threading.Event()  # whose state no program looks at

    @norch.compile
    def step(x):
        optimizer.zero_grad()
        loss = model(x).sum()
        if strike.is_set():
            signal.raise_signal(signal.SIGINT)
        loss.backward()
        optimizer.step()
        return loss

    for strikes in (False, True, False, True, False, False):
        if strikes:
            strike.set()
            with pytest.raises(KeyboardInterrupt):
                step(norch.ones(3, 2))
            strike.clear()
        else:
            step(norch.ones(3, 2))
        assert mode.recorder is None
    assert len(step.programs) == 1


def test_the_line_of_the_user_is_named(tmp_path):
    path = tmp_path / "ä user's.py"
    path.write_text("def step(x):\n    y = x * 2\n    return y.sum().item()\n", encoding="utf-8")
    names: dict[str, object] = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    function = norch.compile(names["step"])
    with pytest.warns(UserWarning, match=r"ä user's.py, line 3"):
        for _ in range(3):
            function(norch.ones(2))
