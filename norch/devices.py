"""Devices: a name such as "cuda:0" that also knows its `type` and `index`, and the device of new tensors."""

from __future__ import annotations

from typing import Any

from . import _C
from ._C import default
from .guards import GuardMethods
from .types import shown


class device(str, GuardMethods):
    """The name of a device, with its parts: `type` ("cpu" or "cuda") and `index` (None if the name has none).

    `device("cuda", 1)`, `device("cuda:1")`, and `device(1)` are the same. A device is a string, so it equals its name,
    and wherever a device is expected a plain name does too, and an index. In a `with` block, new tensors live on it.
    Raises RuntimeError for an unknown name, and for an index alone if there is no CUDA device; TypeError for anything
    else. A device that is named may be missing.

    >>> norch.device("cuda", 1)
    device(type='cuda', index=1)
    >>> norch.device("cuda:1").type, norch.ones(2).device == "cpu"
    ('cuda', True)
    """

    __module__ = "norch"  # its public place, which `print(type(x))` shows

    __slots__ = ("_changes", "_entered")

    _entered: list[Any]

    def __new__(cls, type: str | int, index: int | None = None) -> device:
        if isinstance(type, int) and not isinstance(type, bool):
            type = _C.accelerator(type)
        if index is not None and not isinstance(type, str):
            raise TypeError(f"device: expected the name of a kind of device with the index {index}, got {shown(type)}")
        if index is not None and (isinstance(index, bool) or not isinstance(index, int)):
            raise TypeError(f"device: expected an integer as the index, got {shown(index)}")
        if index is not None and ":" in str(type):
            raise RuntimeError(f'device: "{type}" has an index, and {index} was given too')
        name = type if index is None else f"{type}:{index}"
        self = super().__new__(cls, name)
        self._changes, self._entered = ((default, {"device": _C.device_number(name)}),), []
        return self

    @property
    def type(self) -> str:
        """The kind of device: "cpu" or "cuda" ("meta" of a name that stands for the CPU)."""
        return next(kind for kind in ("cpu", "cuda", "meta") if self.startswith(kind))

    @property
    def index(self) -> int | None:  # type: ignore[override]  # of a string it is a method
        """The number of the device, None if the name has none."""
        number = self.partition(":")[2]
        return int(number) if number else None

    def __repr__(self) -> str:
        return f"device(type={self.type!r}" + (")" if self.index is None else f", index={self.index})")

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (str(self),)


_devices: dict[int, device] = {}


def of_number(number: int) -> device:
    """The device that has this number in C."""
    if number not in _devices:
        _devices[number] = device(_C.device_name(number))
    return _devices[number]


def set_default_device(device: str | int | None) -> None:
    """Let functions that make tensors, if they are given no device, put them there; None: on the CPU.

    >>> norch.set_default_device("cpu")
    >>> norch.get_default_device()
    device(type='cpu')
    """
    default.device = 0 if device is None else _C.device_number(device)


def get_default_device() -> device:
    """Where new tensors live if no device is given.

    >>> norch.get_default_device()
    device(type='cpu')
    """
    return of_number(default.device)
