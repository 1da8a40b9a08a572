"""PyTorch's second kernel of attention, which norch does not have: its switch changes nothing."""

from __future__ import annotations

_is_fastpath_enabled = True


def get_fastpath_enabled() -> bool:
    """What `set_fastpath_enabled` was given last, True at first.

    >>> norch.backends.mha.get_fastpath_enabled()
    True
    """
    return _is_fastpath_enabled


def set_fastpath_enabled(value: bool) -> None:
    """Keep the setting, which changes nothing.

    >>> norch.backends.mha.set_fastpath_enabled(True)
    """
    global _is_fastpath_enabled
    _is_fastpath_enabled = value
