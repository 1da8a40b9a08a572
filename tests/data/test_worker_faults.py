"""What goes wrong in a DataLoader's workers: exceptions, deaths, and batches that are late or cannot travel."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest
from workers import Calls, no_stray_process  # noqa: F401 (a fixture)

import norch
from norch.utils.data import DataLoader, IterableDataset

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")


class Awkward(Exception):
    """One that cannot be made of a text alone."""

    def __init__(self, first, second):
        super().__init__(first, second)


def raising(error):
    def fetch(index):
        if index == 2:
            this_line_of_the_dataset = error
            raise this_line_of_the_dataset
        return index

    return fetch


class LocalError:
    @staticmethod
    def make():
        class Hidden(ValueError):
            pass

        return Hidden("from inside")


@pytest.mark.parametrize(
    "error, kind",
    [
        (ValueError("odd value"), ValueError),
        (KeyError("no key"), KeyError),
        (FileNotFoundError(2, "no file"), FileNotFoundError),
        (Awkward(1, 2), RuntimeError),
        (LocalError.make(), RuntimeError),
        (StopIteration(), RuntimeError),
        (UnicodeDecodeError("ascii", b"", 0, 1, "bad"), RuntimeError),
    ],
    ids=repr,
)
def test_an_exception_is_raised_with_the_worker_s_traceback_and_iteration_goes_on(error, kind):
    batches = iter(DataLoader(Calls(6, raising(error)), num_workers=2))
    assert [next(batches).item() for _ in range(2)] == [0, 1]
    with pytest.raises(kind) as caught:
        next(batches)
    text = str(caught.value)
    assert f"{type(error).__name__} caught in DataLoader worker 0.\nOriginal Traceback" in text
    assert "raise this_line_of_the_dataset" in text and "test_worker_faults.py" in text
    assert [batch.item() for batch in batches] == [3, 4, 5]


def test_exceptions_of_streams_collation_samplers_and_preparation():
    class Broken(IterableDataset):
        def __iter__(self):
            yield 1
            raise OSError("the stream broke")

    batches = iter(DataLoader(Broken(), num_workers=1))
    assert next(batches).item() == 1
    with pytest.raises(OSError, match="the stream broke"):
        next(batches)

    def collate(samples):
        raise ArithmeticError("cannot collate")

    with pytest.raises(ArithmeticError, match="cannot collate"):
        next(iter(DataLoader(Calls(2, int), num_workers=1, collate_fn=collate)))

    def order():
        yield from range(3)
        raise LookupError("the sampler broke")

    batches = iter(DataLoader(Calls(9, int), num_workers=2, sampler=order()))
    assert [next(batches).item() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(LookupError, match="the sampler broke"):
        next(batches)

    def prepare(worker):
        raise PermissionError("not prepared")

    with pytest.raises(PermissionError, match="not prepared"):
        next(iter(DataLoader(Calls(2, int), num_workers=1, worker_init_fn=prepare)))


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda i: norch.ones(1, requires_grad=True) * 2, RuntimeError, "detach"),
        (lambda i: lambda: i, Exception, "pickle"),
    ],
)
def test_what_cannot_travel_is_an_exception(make, error, words):
    with pytest.raises(error, match=words):
        next(iter(DataLoader(Calls(1, make), batch_size=None, num_workers=1)))


@pytest.mark.parametrize(
    "end, words",
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "worker 1 .* was killed by SIGKILL"),
        (lambda: os._exit(3), "worker 1 .* ended with exit status 3"),
        (lambda: sys.exit(4), "worker 1 .* ended with exit status 4"),
    ],
)
def test_a_worker_that_dies_is_reported(end, words):
    batches = iter(DataLoader(Calls(6, lambda i: end() if i == 3 else i), num_workers=2))
    assert [next(batches).item() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(RuntimeError, match=words):
        next(batches)
    with pytest.raises(StopIteration):
        next(batches)


def test_a_slow_batch_times_out():
    loader = DataLoader(Calls(2, lambda i: time.sleep(30)), num_workers=1, timeout=0.2)
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="did not reply within 0.2 seconds"):
        next(iter(loader))
    assert time.monotonic() - start < 10
