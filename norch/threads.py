"""How many threads an operation may use."""

from __future__ import annotations

from ._C import lib


def set_num_threads(count: int) -> None:
    """Use up to `count` threads for large operations, as NORCH_NUM_THREADS does. Raises ValueError below 1."""
    if count < 1:
        raise ValueError(f"set_num_threads: expected a positive number, got {count}")
    lib.set_num_threads(count)


def get_num_threads() -> int:
    """How many threads a large operation may use: at first, as many as this process has processors."""
    return lib.get_num_threads()
