"""Ctrl-C while a loader is being dropped."""

import time

import pytest

from norch.utils.data import DataLoader


def test_an_interrupt_in_the_finalizer_of_a_loader_comes_again(monkeypatch):
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
