"""What tests of a DataLoader's workers share: a dataset, and the rule that nothing stays behind."""

from __future__ import annotations

import gc
import multiprocessing
import os
from pathlib import Path

import pytest

from norch.utils.data import Dataset


def open_files() -> dict[str, str]:
    """This process's open files: what each descriptor is, where the system tells."""
    gc.collect()
    folder = Path("/proc/self/fd")
    return {path.name: os.readlink(path) for path in folder.iterdir() if path.is_symlink()} if folder.is_dir() else {}


@pytest.fixture(autouse=True)
def no_stray_process():
    """Every test leaves no process and no open file that it did not find."""
    before = open_files()
    yield
    after = open_files()
    assert multiprocessing.active_children() == []
    assert {name: what for name, what in after.items() if what != before.get(name)} == {}


class Calls(Dataset):
    """Sample i is what a function makes of i."""

    def __init__(self, count, function):
        self.count, self.function = count, function

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.function(index)
