"""Ctrl-C while a loader is being dropped."""

import signal
import time

import pytest

from norch.utils.data import DataLoader


def test_an_interrupt_in_the_finalizer_of_a_loader_comes_again(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which what runs in the background ignores
    iterator = iter(DataLoader(list(range(4)), num_workers=1))
    next(iterator)
    close = type(iterator).close

    def interrupted(self):
        close(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(iterator), "close", interrupted)
    with pytest.raises(KeyboardInterrupt):
        del iterator
        time.sleep(5)
    signal.signal(signal.SIGINT, before)
