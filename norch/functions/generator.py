"""Generators of random numbers: seeds and states.

A Generator is a seed and a count of draws. Each fill is one draw, and its element i depends only on the seed, the
number of the draw and i (csrc/ops/philox.h): the same numbers on every device.
"""

from __future__ import annotations

import operator
import os
from ctypes import c_uint64
from typing import TYPE_CHECKING, Any

from .._C import device_number, lib
from ..devices import device as _device
from ..guards import Guard
from ..operation import check_tensor, mode, refuse_recording
from ..packing import tensor_of
from ..types import shown, uint8

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = [
    "Generator",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

# ---- Generators -------------------------------------------------------------------------------------------------


class Generator:
    """A stream of random numbers: `norch.rand(3, generator=norch.Generator().manual_seed(1))`.

    `device` is accepted as in PyTorch; the numbers do not depend on it.

    >>> generator = norch.Generator().manual_seed(1)
    >>> norch.rand(2, generator=generator).equal(norch.rand(2, generator=norch.Generator().manual_seed(1)))
    True
    """

    def __init__(self, device: str = "cpu") -> None:
        device_number(device)
        self.device = _device(device)
        self._state = _state(67280421310721)  # the default seed of PyTorch's generators

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_state": tuple(self._state)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _state=_state(*state["_state"]))

    def __repr__(self) -> str:
        return f"Generator(device={str(self.device)!r}, seed={self.initial_seed()})"

    def manual_seed(self, seed: int) -> Generator:
        """Start again from a seed, an integer of up to 64 bits (negative ones count from 2**64 down)."""
        refuse_recording("the state of a random generator is set")
        if not hasattr(seed, "__index__"):
            raise TypeError(f"manual_seed: expected an integer, got {shown(seed)}")
        number = operator.index(seed)
        if not -(2**63) <= number < 2**64:
            raise RuntimeError(f"manual_seed: expected an integer of 64 bits, got {seed}")
        self._state = _state(number)
        return self

    def seed(self) -> int:
        """Start again from a seed of the operating system; return it."""
        number = int.from_bytes(os.urandom(8), "little")
        self.manual_seed(number)
        return number

    def initial_seed(self) -> int:
        """The seed that the numbers come from."""
        refuse_recording("the state of a random generator is read")
        return self._state[0]

    def get_state(self) -> Tensor:
        """What `set_state` needs to continue from here: 16 bytes, as a tensor of uint8."""
        refuse_recording("the state of a random generator is read")
        return tensor_of([byte for part in self._state for byte in part.to_bytes(8, "little")], uint8)

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from where `get_state` was called."""
        refuse_recording("the state of a random generator is set")
        check_tensor(new_state, "set_state")
        if new_state.dtype is not uint8 or new_state.shape != [16]:
            found = f"{new_state.dtype} of shape {list(new_state.shape)}"
            raise TypeError(f"set_state: expected 16 bytes of uint8, got {found}")
        state = bytes(new_state.tolist())
        self._state = _state(int.from_bytes(state[:8], "little"), int.from_bytes(state[8:], "little"))
        return self

    def clone_state(self) -> Generator:
        """Another generator, which continues from where this one is."""
        return Generator(self.device).set_state(self.get_state())

    def fork(self) -> Guard:
        """A `with` block after which the generator is where it is now."""
        refuse_recording("the state of a random generator is set")
        return Guard((self, {"_state": _state(*self._state)}))

    def drawing(self) -> Any:
        """The state, from which the next draw will take its number; no other draw gets that number."""
        state = self._state
        if mode.recorder is not None:
            mode.recorder.note_draw(self, state)
        return state


def _state(seed: int, draws: int = 0) -> Any:
    """A seed and a count of draws, where C finds them: it counts, so that threads and interrupts repeat no number."""
    return (c_uint64 * 2)(seed % 2**64, draws)


default_generator = Generator()
default_generator.seed()
_seeded = False  # by `manual_seed`


def was_seeded() -> bool:
    """Whether `manual_seed` was called: until then small layers are drawn from Python's `random`, as in the article."""
    return _seeded


def manual_seed(seed: float) -> Generator:
    """Seed norch's generator and return it. From then on the initial values of all layers are drawn from it.

    Of a float, such as `time.time()`, the integer part is the seed.

    >>> generator = norch.manual_seed(1)
    >>> first = norch.rand(2)
    >>> generator = norch.manual_seed(1)
    >>> norch.rand(2).equal(first)
    True
    """
    global _seeded
    default_generator.manual_seed(int(seed) if isinstance(seed, float) else seed)
    _seeded = True
    return default_generator


def seed() -> int:
    """Seed norch's generator from the operating system; return the seed.

    >>> seed = norch.seed()
    >>> norch.initial_seed() == seed
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of norch's generator.

    >>> generator = norch.manual_seed(3)
    >>> norch.initial_seed()
    3
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of norch's generator, for `set_rng_state`.

    >>> state = norch.get_rng_state()
    >>> first = norch.rand(2)
    >>> norch.set_rng_state(state)
    >>> norch.rand(2).equal(first)
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Put norch's generator back to where `get_rng_state` was called.

    >>> state = norch.get_rng_state()
    >>> first = norch.rand(2)
    >>> norch.set_rng_state(state)
    >>> norch.rand(2).equal(first)
    True
    """
    default_generator.set_state(new_state)


def state_of(generator: Generator | None) -> Any:
    """The state of a generator, of norch's own if none is given, for a C function that draws from it."""
    if generator is None:
        generator = default_generator
    elif not isinstance(generator, Generator):
        raise TypeError(f"expected a norch.Generator, got {type(generator).__name__}")
    return generator._state if mode.recorder is None else generator.drawing()


def draw_of(generator: Generator | None) -> tuple[int, int]:
    """The seed and number of the next draw, of norch's generator if none is given."""
    state = state_of(generator)
    return state[0], lib.next_draw(state)
