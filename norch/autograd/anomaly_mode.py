"""Anomaly detection: backward stops at the first gradient that is NaN and names the operation."""

from __future__ import annotations

from ..arguments import flag, flags
from ..guards import Guard
from ..operation import mode as state


class set_detect_anomaly(Guard):
    """Turn the search for NaN in gradients on or off: as a call, or a context (`with set_detect_anomaly(True):`).

    With it, backward raises RuntimeError at the first derivative that is NaN. `check_nan=False` looks for nothing.

    >>> with norch.autograd.set_detect_anomaly(True):
    ...     print(norch.is_anomaly_enabled())
    True
    """

    @flags
    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        wanted = bool(check_nan) if flag(mode, "set_detect_anomaly: mode") else None
        super().__init__((state, {"anomaly": wanted}))
        self._outer, state.anomaly = state.anomaly, wanted  # at once: it may be used as a plain call

    def __enter__(self) -> set_detect_anomaly:
        state.anomaly = self._outer
        return super().__enter__()


class detect_anomaly(Guard):
    """In this `with` block, backward raises RuntimeError at the first derivative that is NaN.

    >>> x = norch.zeros(1, requires_grad=True)
    >>> with norch.autograd.detect_anomaly():
    ...     try:
    ...         (x * 0 / x).sum().backward()
    ...     except RuntimeError as error:
    ...         print(error)
    DivBackward returned NaN as the gradient of operand 1
    """

    @flags
    def __init__(self, check_nan: bool = True) -> None:
        super().__init__((state, {"anomaly": bool(check_nan)}))


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on in this thread.

    >>> norch.is_anomaly_enabled()
    False
    """
    return state.anomaly is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Whether backward looks for NaN in this thread.

    >>> norch.is_anomaly_check_nan_enabled()
    False
    """
    return bool(state.anomaly)
