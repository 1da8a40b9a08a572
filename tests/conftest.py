"""Fixtures for all tests."""

from __future__ import annotations

import gc
import random

import pytest

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
def no_leak() -> object:
    """Fails the test if it leaves bytes or tensors alive."""
    import norch
    from norch import _C

    gc.collect()
    before = norch.memory_allocated(), _C.live_tensors()
    yield
    gc.collect()
    assert (norch.memory_allocated(), _C.live_tensors()) == before, "the test left memory allocated"
