"""Small helpers of layers, under the path that PyTorch gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any


def _ntuple(count: int) -> Callable[[Any], tuple[Any, ...]]:
    """The function that makes of a value a tuple with it `count` times, and of a sequence a tuple."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, count))

    return parse


_single, _pair, _triple, _quadruple = (_ntuple(count) for count in (1, 2, 3, 4))


def _reverse_repeat_tuple(t: Iterable[Any], n: int) -> tuple[Any, ...]:
    """The values in reverse order, each `n` times."""
    return tuple(x for x in reversed(tuple(t)) for _ in range(n))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take a prefix such as "module." away from the names of a state_dict and of its `_metadata`, in place.

    >>> state = {"module.weight": 1, "bias": 2}
    >>> norch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    >>> state
    {'bias': 2, 'weight': 1}
    """
    for name in [name for name in state_dict if name.startswith(prefix)]:
        state_dict[name[len(prefix) :]] = state_dict.pop(name)
    metadata = getattr(state_dict, "_metadata", {})  # in which the module "module" has no dot
    for name in [name for name in metadata if name and f"{name}.".startswith(prefix)]:
        metadata[name[len(prefix) :]] = metadata.pop(name)
