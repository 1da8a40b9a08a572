"""Work in several threads at once."""

from __future__ import annotations

import threading
from typing import Any, Callable


def in_threads(count: int, work: Callable[[int], Any]) -> None:
    """Call work(0), work(1) and so on, each in a thread, and wait for all; none may hang."""
    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads)
