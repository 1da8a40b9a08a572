"""Fixtures for all tests."""

from __future__ import annotations

import gc
import random
from collections.abc import Iterator

import pytest

import norch
from norch import _C

# "cuda" wherever there is a device, or the library runs its kernels in the emulator (make CUDA=emu)
DEVICES = ["cpu", "cuda"] if _C.lib.device_count() > 0 else ["cpu"]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    """Each device that this machine and this build can compute on."""
    return request.param


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """A source of random numbers of the test's own: the same in every run, whichever tests run beside it."""
    return random.Random(request.node.name)


@pytest.fixture
def no_leak() -> Iterator[None]:
    """Fails the test if it leaves bytes or tensors alive."""

    def grown() -> list[int]:
        return [now - then for now, then in zip((norch.memory_allocated(), _C.live_tensors()), before) if now > then]

    before = (norch.memory_allocated(), _C.live_tensors())
    yield
    if grown():
        gc.collect()  # the traceback of an exception that the test expected may be a cycle
    assert not grown(), "the test left memory allocated"
