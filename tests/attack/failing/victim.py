"""A program for processes.py to kill, interrupt or refuse threads: python victim.py save PATH | steps | threads N"""

from __future__ import annotations

import ctypes
import errno
import gc
import os
import signal
import sys
import tempfile

import norch
from norch import _C, nn, optim


def save(path: str) -> None:
    """Save over and over; all elements are the number of the save."""
    x = norch.zeros(100_000)
    print("ready", flush=True)
    number = 0
    while True:
        norch.save({"number": number, "x": x.fill_(number)}, path)
        number += 1


def steps() -> None:
    """Train, load batches and save, until an interrupt; then say whether all is as it should be, and go on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    norch.manual_seed(0)
    folder = tempfile.mkdtemp()
    model = nn.Sequential(nn.Linear(20, 30), nn.BatchNorm1d(30), nn.ReLU(), nn.LSTM(30, 8))
    optimizer = optim.Adam(model.parameters())
    x = norch.randn(12, 20)
    data = norch.utils.data.TensorDataset(x)

    def work() -> None:
        with norch.no_grad():
            model(x)
        for (batch,) in norch.utils.data.DataLoader(data, batch_size=5, shuffle=True):
            optimizer.zero_grad()
            with norch.autocast("cpu"):
                output = model(batch)[0]
            output.float().square().sum().backward()
            optimizer.step()
        norch.save(model.state_dict(), os.path.join(folder, "m"))

    work()
    optimizer.zero_grad()
    expected = live()
    swallowed: list[object] = []
    sys.unraisablehook = swallowed.append
    told = "ready"
    while True:
        try:
            print(told, flush=True)
            sys.stdin.readline()
            while True:  # here a signal comes
                work()
        except KeyboardInterrupt:
            pass
        optimizer.zero_grad()
        gc.collect()
        wrong = []
        if not norch.is_grad_enabled() or norch.is_autocast_enabled("cpu"):
            wrong.append("grad mode or autocast stayed switched")
        if live() != expected:
            wrong.append(f"leaked: (tensors, bytes) were {expected} and are {live()}")
        if swallowed:
            wrong.append(f"an exception was ignored: {swallowed[0]}")
        told = "; ".join(wrong) or "caught"


def live() -> tuple[int, int]:
    return _C.live_tensors(), _C.lib.memory_allocated(0)


def threads(n: int) -> None:
    """A sum by 5 threads, of which the n-th cannot be started."""
    norch.set_num_threads(1)
    x = norch.arange(3_000_000, dtype=norch.float64)
    expected = (x * 2 + x.sqrt()).sum().item()
    norch.set_num_threads(5)
    preloaded = ctypes.CDLL(None)
    preloaded.fault_arm(ctypes.c_long(n), errno.EAGAIN, 2)
    found = [(x * 2 + x.sqrt()).sum().item() for _ in range(3)]
    came = ctypes.c_int(0)
    preloaded.fault_disarm(ctypes.byref(came))
    print("right" if found == [expected] * 3 else f"{found}, not {expected}", "" if came else "no thread was refused")


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    {"save": save, "steps": steps, "threads": lambda n: threads(int(n))}[what](*arguments)
