"""`autocast`, and the questions about it. What it does to operations is in autocasting.py."""

from __future__ import annotations

from .. import _C
from ..arguments import flag, flags
from ..autocasting import DEFAULTS, begin
from ..given import warn
from ..guards import Guard
from ..operation import mode
from ..types import HALVES, DType, check_dtype, dtype, shown


class autocast(Guard):
    """A context or decorator in which operations choose their dtypes: products take 16 bits, losses float32.

    `device_type` is "cpu" or "cuda", for operations on such tensors; `dtype` is bfloat16 on a CPU and float16 on CUDA
    unless given. Conversions are recorded, so gradients have the dtypes of their leaves; float64 stays as it is.
    `cache_enabled=False` converts a parameter anew at each use. Raises RuntimeError for another device; warns, and does
    nothing, for a dtype of more than 16 bits, or CUDA where there is none.

    >>> x = norch.ones(2, 2)
    >>> with norch.autocast("cpu"):
    ...     (x @ x).dtype, (x + x).dtype
    (norch.bfloat16, norch.float32)
    """

    @flags
    def __init__(
        self, device_type: str, dtype: DType | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type not in DEFAULTS:
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else check_dtype(dtype)
        self._cache_enabled = cache_enabled
        if enabled and device_type == "cuda" and not is_autocast_available("cuda"):
            warn("User provided device_type of 'cuda', but CUDA is not available. Disabling")
            enabled = False
        if enabled and self.fast_dtype not in HALVES:
            warn(
                f"In {device_type.upper()} autocast, but the target dtype {self.fast_dtype} is not supported: expected "
                "norch.bfloat16 or norch.float16. Disabling autocast.",
            )
            enabled = False
        self._enabled = flag(enabled, "autocast: enabled")
        super().__init__()

    def __enter__(self) -> autocast:
        begin()
        others = {device: kind for device, kind in mode.autocast.items() if device != self.device}
        cached = is_autocast_cache_enabled() if self._cache_enabled is None else self._cache_enabled
        fresh = mode.autocast_depth == 0 or cached != is_autocast_cache_enabled()
        values = {
            "autocast": {**others, self.device: self.fast_dtype} if self._enabled else others,
            "autocast_dtypes": {**mode.autocast_dtypes, self.device: self.fast_dtype},
            "autocast_depth": mode.autocast_depth + 1,
            "autocast_cache": mode.autocast_cache if not fresh else {} if cached else None,
        }
        self._changes = ((mode, values),)
        return super().__enter__()


ELSEWHERE = {"hpu", "mps", "mtia", "xla", "xpu"}  # devices that PyTorch has besides


def _device_of(name: str, device_type: object) -> str:
    if device_type not in DEFAULTS:
        raise RuntimeError(f"{name}: expected device_type cpu or cuda, got {shown(device_type)}")
    return str(device_type)


def is_autocast_available(device_type: str) -> bool:
    """Whether `autocast(device_type)` does something here. Raises TypeError for what is no name.

    >>> norch.amp.is_autocast_available("cpu")
    True
    """
    if not isinstance(device_type, str):
        raise TypeError(f"is_autocast_available: expected the name of a kind of device, got {shown(device_type)}")
    return device_type == "cpu" or (device_type == "cuda" and _C.lib.device_count() > 0)


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether this thread is inside an autocast for a kind of device; not for one that PyTorch alone has.

    >>> with norch.autocast("cpu"):
    ...     norch.is_autocast_enabled("cpu"), norch.is_autocast_enabled()
    (True, False)
    """
    return device_type not in ELSEWHERE and _device_of("is_autocast_enabled", device_type) in mode.autocast


@flags
def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Switch autocast on or off for a kind of device, in this thread; `set_autocast_enabled(True)` means "cuda".

    >>> norch.set_autocast_enabled("cpu", False)
    """
    device, on = ("cuda", bool(device_type)) if enabled is None else (str(device_type), enabled)
    device = _device_of("set_autocast_enabled", device)
    begin()
    others = {other: kind for other, kind in mode.autocast.items() if other != device}
    mode.autocast = {**others, device: get_autocast_dtype(device)} if on else others


def get_autocast_dtype(device_type: str) -> dtype:
    """The dtype of 16 bits that autocast uses on a kind of device.

    >>> norch.get_autocast_dtype("cpu")
    norch.bfloat16
    """
    return mode.autocast_dtypes.get(device_type) or DEFAULTS[_device_of("get_autocast_dtype", device_type)]


def set_autocast_dtype(device_type: str, dtype: DType) -> None:
    """Set what `get_autocast_dtype` returns in this thread.

    >>> norch.set_autocast_dtype("cpu", norch.bfloat16)
    """
    device = _device_of("set_autocast_dtype", device_type)
    mode.autocast_dtypes = {**mode.autocast_dtypes, device: check_dtype(dtype)}
    if device in mode.autocast:
        set_autocast_enabled(device, True)


def is_autocast_cpu_enabled() -> bool:
    """Whether autocast is on for the CPU: `is_autocast_enabled("cpu")`.

    >>> norch.is_autocast_cpu_enabled()
    False
    """
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype() -> dtype:
    """The dtype that autocast uses on the CPU: `get_autocast_dtype("cpu")`.

    >>> norch.get_autocast_cpu_dtype()
    norch.bfloat16
    """
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> dtype:
    """The dtype that autocast uses on CUDA devices: `get_autocast_dtype("cuda")`.

    >>> norch.get_autocast_gpu_dtype()
    norch.float16
    """
    return get_autocast_dtype("cuda")


def is_autocast_cache_enabled() -> bool:
    """Whether autocast keeps the converted parameters until it ends.

    >>> norch.is_autocast_cache_enabled()
    True
    """
    return mode.autocast_cache is not None


@flags
def set_autocast_cache_enabled(enabled: bool) -> None:
    """Let autocast keep converted parameters, or not.

    >>> norch.set_autocast_cache_enabled(True)
    """
    if enabled != is_autocast_cache_enabled():
        mode.autocast_cache = {} if enabled else None


def clear_autocast_cache() -> None:
    """Forget the converted parameters.

    >>> norch.clear_autocast_cache()
    """
    if mode.autocast_cache:
        mode.autocast_cache.clear()
