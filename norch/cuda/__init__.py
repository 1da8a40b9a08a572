"""CUDA devices, under PyTorch's names: `norch.cuda.is_available()`, `device_count()`, `synchronize()`, ...

Tensors go to a device by name (`x.to("cuda")`, `x.cuda()`, `norch.zeros(3, device="cuda:1")`). Operations are queued
there and return at once; the host waits when a value is read. So an index out of range, an invalid class and an integer
division by zero raise their IndexError or RuntimeError when a value of that device is next read, or in
`synchronize()`. Nothing is written out of range.

Unproven without a GPU: the kernels, and the graphs that `norch.compile` makes of them, have run on an emulator only,
which runs the threads of a block in several orders, checks each access to memory and forbids what a capture forbids. It
runs work at once, in one order: it shows neither speed, nor what a real queue or driver does otherwise.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from ctypes import c_int64
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

from .. import _C
from .._C import lib, raise_error
from ..arguments import flags as _flags
from ..devices import device as _device
from ..functions.generator import get_rng_state as _get_rng_state
from ..functions.generator import initial_seed as _initial_seed
from ..functions.generator import manual_seed as _manual_seed
from ..functions.generator import seed as _seed
from ..functions.generator import set_rng_state as _set_rng_state
from ..operation import check_kind as _check_kind
from ..tensor import Tensor
from ..tensor_types import CUDA_TYPES
from . import amp

OutOfMemoryError = MemoryError  # what an allocation that fails raises
_initialized = False  # whether a device has random numbers of its own to keep, which programs ask: it has not


def is_built() -> bool:
    """Whether this norch was built with CUDA kernels (`make CUDA=1`); says nothing about the machine.

    >>> isinstance(norch.cuda.is_built(), bool)
    True
    """
    return bool(lib.has_cuda())


def is_available() -> bool:
    """Whether tensors can live on "cuda": the kernels are built, and a driver and a device are there.

    >>> device = "cuda" if norch.cuda.is_available() else "cpu"
    >>> norch.ones(2, device=device).sum().item()
    2.0
    """
    return lib.device_count() > 0


def device_count() -> int:
    """The number of CUDA devices; 0 without a driver.

    >>> norch.cuda.device_count() >= 0
    True
    """
    return lib.device_count()


def current_device() -> int:
    """The index of the device that "cuda" means: always 0. Raises RuntimeError if there is none.

    >>> norch.cuda.current_device() if norch.cuda.is_available() else 0
    0
    """
    _number(None)
    return 0


def get_device_name(device: str | int | None = None) -> str:
    """The driver's name of a device, given as an index or as "cuda:1". Raises RuntimeError if there is no such device.

    >>> isinstance(norch.cuda.get_device_name() if norch.cuda.is_available() else "none", str)
    True
    """
    return (lib.cuda_name(_number(device)) or raise_error()).decode(errors="replace")


class _Properties(NamedTuple):
    """What the driver says of a device."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int


def get_device_properties(device: str | int | None = None) -> _Properties:
    """Its name, compute capability, memory in bytes and multiprocessors. Raises RuntimeError if there is no device.

    >>> norch.cuda.get_device_properties().warp_size if norch.cuda.is_available() else 32
    32
    """
    major, minor, processors, warp, total, _ = _numbers(device)
    return _Properties(get_device_name(device), major, minor, total, processors, warp)


def get_device_capability(device: str | int | None = None) -> tuple[int, int]:
    """The compute capability of a device, major and minor. Raises RuntimeError if there is no device.

    >>> (norch.cuda.get_device_capability() if norch.cuda.is_available() else (8, 0)) >= (3, 0)
    True
    """
    major, minor, *_ = _numbers(device)
    return major, minor


def mem_get_info(device: str | int | None = None) -> tuple[int, int]:
    """The bytes of memory on a device that nobody uses, and all. Raises RuntimeError if there is no device.

    >>> idle, total = norch.cuda.mem_get_info() if norch.cuda.is_available() else (0, 0)
    >>> idle <= total
    True
    """
    *_, total, idle = _numbers(device)
    return idle, total


def _numbers(device: str | int | None) -> list[int]:
    found = (c_int64 * 6)()
    if lib.cuda_numbers(_number(device), found) != 0:
        raise_error()
    return list(found)


def is_current_stream_capturing() -> bool:
    """Whether what is launched now goes into a CUDA graph: no, a program of norch.compile makes its graph in C.

    >>> norch.cuda.is_current_stream_capturing()
    False
    """
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether there is a device: norch's kernels convert bfloat16 on each.

    >>> norch.cuda.is_bf16_supported() == norch.cuda.is_available()
    True
    """
    return is_available()


def synchronize(device: str | int | None = None) -> None:
    """Wait until everything queued on a device is done, and raise the errors found there.

    For timing and for finding an error: reading a value waits by itself.

    >>> if norch.cuda.is_available():
    ...     norch.cuda.synchronize()
    """
    if lib.synchronize(_number(device)) != 0:
        raise_error()


def memory_allocated(device: str | int | None = None) -> int:
    """The bytes of tensors on a device, blocks kept for reuse not counted; 0 if there is no device.

    >>> norch.cuda.memory_allocated() >= 0
    True
    """
    return lib.memory_allocated(_number(device)) if is_available() else 0


def empty_cache() -> None:
    """Give the blocks of memory that norch keeps for reuse back to the driver, on all devices.

    >>> norch.cuda.empty_cache()
    """
    lib.empty_device_cache()


# ---- Devices ------------------------------------------------------------------------------------------------------


def set_device(device: str | int) -> None:
    """Choose the device that "cuda" means: in norch only the first can be. Raises RuntimeError for others.

    >>> if norch.cuda.is_available():
    ...     norch.cuda.set_device(0)
    """
    if _number(device) != 1:
        raise RuntimeError(f'set_device: "cuda" is the first device in norch; name another as "cuda:1", got {device}')


@contextmanager
def device(device: str | int | None) -> Iterator[None]:
    """In a `with` block, let new tensors live on a CUDA device; None or an index below 0 changes nothing.

    >>> with norch.cuda.device(None):
    ...     print(norch.ones(1).device)
    cpu
    """
    if device is None or (isinstance(device, int) and device < 0):
        yield
        return
    with _device(_C.device_name(_number(device))):
        yield


def init() -> None:
    """Do nothing: the driver is found when norch is imported.

    >>> norch.cuda.init()
    """


def is_initialized() -> bool:
    """Whether there is a device to use.

    >>> norch.cuda.is_initialized() == norch.cuda.is_available()
    True
    """
    return is_available()


# ---- Random numbers: one generator serves all devices --------------------------------------------------------------


def manual_seed(seed: int) -> None:
    """Seed the numbers of devices: norch's one generator. Without a device, nothing is seeded.

    >>> norch.cuda.manual_seed(1)
    """
    if is_available():
        _manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the numbers of all devices, as `manual_seed`.

    >>> norch.cuda.manual_seed_all(1)
    """
    manual_seed(seed)


def seed() -> None:
    """Seed the numbers of devices at random. Without a device, nothing is seeded.

    >>> norch.cuda.seed()
    """
    if is_available():
        _seed()


seed_all = seed  # norch has one generator for all devices


def initial_seed() -> int:
    """The seed of norch's generator.

    >>> isinstance(norch.cuda.initial_seed(), int)
    True
    """
    return _initial_seed()


def get_rng_state(device: str | int = "cuda") -> Tensor:
    """The state of norch's generator, which serves all devices.

    >>> norch.cuda.get_rng_state().shape
    norch.Size([16])
    """
    return _get_rng_state()


def set_rng_state(new_state: Tensor, device: str | int = "cuda") -> None:
    """Put norch's generator back to a state of `get_rng_state`.

    >>> norch.cuda.set_rng_state(norch.cuda.get_rng_state())
    """
    _set_rng_state(new_state)


def get_rng_state_all() -> list[Tensor]:
    """The state of norch's generator for each device.

    >>> len(norch.cuda.get_rng_state_all()) == norch.cuda.device_count()
    True
    """
    return [_get_rng_state() for _ in range(device_count())]


def set_rng_state_all(new_states: list[Tensor]) -> None:
    """Put norch's generator back to the states of `get_rng_state_all`.

    >>> norch.cuda.set_rng_state_all(norch.cuda.get_rng_state_all())
    """
    for state in new_states:
        _set_rng_state(state)


# ---- Memory ---------------------------------------------------------------------------------------------------------


def memory_reserved(device: str | int | None = None) -> int:
    """The bytes that norch took from the driver on a device, with blocks kept for reuse; 0 if there is no device.

    >>> norch.cuda.memory_reserved() >= norch.cuda.memory_allocated()
    True
    """
    return lib.memory_reserved(_number(device)) if is_available() else 0


def max_memory_allocated(device: str | int | None = None) -> int:
    """An upper bound of the bytes that tensors took so far: those reserved. (norch records no peak.)

    >>> norch.cuda.max_memory_allocated() >= 0
    True
    """
    return memory_reserved(device)


max_memory_reserved = memory_cached = max_memory_cached = max_memory_allocated


def reset_peak_memory_stats(device: str | int | None = None) -> None:
    """Do nothing: norch records no peak.

    >>> norch.cuda.reset_peak_memory_stats()
    """


reset_max_memory_allocated = reset_max_memory_cached = reset_accumulated_memory_stats = reset_peak_memory_stats


@_flags
def memory_summary(device: str | int | None = None, abbreviated: bool = False) -> str:
    """The bytes of tensors and those reserved, as a line of text.

    >>> print(norch.cuda.memory_summary())  # doctest: +ELLIPSIS
    allocated: ... bytes, reserved: ... bytes
    """
    return f"allocated: {memory_allocated(device)} bytes, reserved: {memory_reserved(device)} bytes"


def ipc_collect() -> None:
    """Do nothing: norch shares no device memory between processes.

    >>> norch.cuda.ipc_collect()
    """


# ---- Streams and events: each device has one queue -------------------------------------------------------------------


class Stream:
    """A queue of a device: norch has one for each, so all streams are the same, in order.

    >>> norch.cuda.Stream().query()
    True
    """

    def __init__(self, device: str | int | None = None, priority: int = 0, **_: Any) -> None:
        self.device = device

    def synchronize(self) -> None:
        """Wait until everything queued is done."""
        if is_available():
            synchronize(self.device)

    def query(self) -> bool:
        """Whether everything queued is done: waits for it."""
        self.synchronize()
        return True

    def wait_stream(self, stream: Stream) -> None:
        """Do nothing: there is one queue, in order."""

    def wait_event(self, event: Event) -> None:
        """Do nothing: there is one queue, in order."""

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event (a new one) here."""
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: object) -> None:
        pass


class Event:
    """A moment, for timing: `start.record()` ... `end.record()`, then `start.elapsed_time(end)` in milliseconds.

    `record` waits for the device, so that the time between two events is that of the operations between.

    >>> start, end = norch.cuda.Event(enable_timing=True), norch.cuda.Event(enable_timing=True)
    >>> start.record()
    >>> end.record()
    >>> start.elapsed_time(end) >= 0
    True
    """

    @_flags
    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self._time: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Note the time, after everything queued is done."""
        (Stream() if stream is None else _check_kind(stream, Stream, "record")).synchronize()
        self._time = time.perf_counter()

    def elapsed_time(self, end_event: Event) -> float:
        """The milliseconds from this event to another. Raises ValueError if one was not recorded."""
        _check_kind(end_event, Event, "elapsed_time")
        if self._time is None or end_event._time is None:
            raise ValueError("elapsed_time: both events must be recorded first")
        return (end_event._time - self._time) * 1000

    def synchronize(self) -> None:
        """Do nothing: `record` has waited."""

    wait = synchronize

    def query(self) -> bool:
        """Whether everything before the event is done: `record` has waited."""
        return True


def current_stream(device: str | int | None = None) -> Stream:
    """The queue of a device.

    >>> isinstance(norch.cuda.current_stream(), norch.cuda.Stream)
    True
    """
    return Stream(device)


default_stream = current_stream


def stream(stream: Stream | None) -> Stream:
    """A `with` block in which operations go to a stream: there is one.

    >>> with norch.cuda.stream(norch.cuda.Stream()):
    ...     x = norch.ones(2)
    """
    return stream or Stream()


StreamContext = stream


def _number(device: str | int | None) -> int:
    """The C library's number of a device given as None, an index or a name."""
    if isinstance(device, int) and not isinstance(device, bool):
        device = f"cuda:{device}"
    number = _C.device_number("cuda" if device is None else device)
    if number == 0:
        raise ValueError(f'expected a CUDA device, got "{device}"')
    if number > lib.device_count():
        reason = f"there are {lib.device_count()} CUDA devices" if is_available() else lib.why_no_cuda().decode()
        raise RuntimeError(f"no device {_C.device_name(number)}: {reason}")
    return number


BoolTensor, ByteTensor = CUDA_TYPES["BoolTensor"], CUDA_TYPES["ByteTensor"]
HalfTensor, BFloat16Tensor = CUDA_TYPES["HalfTensor"], CUDA_TYPES["BFloat16Tensor"]
CharTensor, ShortTensor = CUDA_TYPES["CharTensor"], CUDA_TYPES["ShortTensor"]
IntTensor, LongTensor = CUDA_TYPES["IntTensor"], CUDA_TYPES["LongTensor"]
FloatTensor, DoubleTensor = CUDA_TYPES["FloatTensor"], CUDA_TYPES["DoubleTensor"]

if not TYPE_CHECKING:  # (a checker knows what is missing)
    from ..missing import missing as _missing

    __getattr__ = _missing("cuda")
