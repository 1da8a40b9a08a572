"""The state of norch's random numbers, as a module, as in PyTorch."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator

from .functions.generator import default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .guards import Guard

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, device_type: str = "cuda", **_: object) -> Iterator[None]:
    """A `with` block, or calls of a decorated function, after which norch's generator is back where it was.

    >>> with norch.random.fork_rng():
    ...     first = norch.rand(2)
    >>> norch.rand(2).equal(first)
    True
    """
    with default_generator.fork() if enabled else Guard():
        yield
