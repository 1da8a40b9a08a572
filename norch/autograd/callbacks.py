"""What runs when backward is over."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Callable, Iterator

from ..operation import mode


def queue_callback(callback: Callable[[], object]) -> None:
    """In a hook of `register_post_accumulate_grad_hook`: call this when the outermost backward that runs has ended.

    It is not called if that backward raises an exception. Raises RuntimeError outside of such a backward.
    """
    if mode.callbacks is None:
        raise RuntimeError("queue_callback: no backward runs in this thread that has hooks after accumulation")
    mode.callbacks.append(callback)


@contextmanager
def running_callbacks() -> Iterator[None]:
    """Run at the end of the block what was queued in it."""
    if mode.callbacks is not None:  # a backward within another, such as a checkpoint's
        yield
        return
    mode.callbacks = []
    try:
        yield
        for callback in mode.callbacks:
            callback()
    finally:
        mode.callbacks = None
