"""What tests of a DataLoader's workers share: a dataset, and the rule that nothing stays behind."""

from __future__ import annotations

import gc
import multiprocessing
import os

import pytest

from norch.utils.data import Dataset


@pytest.fixture(autouse=True)
def no_stray_process():
    """Every test leaves the processes and open files that it found."""
    files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    yield
    gc.collect()
    assert multiprocessing.active_children() == []
    assert not files or len(os.listdir("/proc/self/fd")) == files


class Calls(Dataset):
    """Sample i is what a function makes of i."""

    def __init__(self, count, function):
        self.count, self.function = count, function

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.function(index)
