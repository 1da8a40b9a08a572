"""Generators of random numbers, and the methods of Tensor that fill it with them.

A Generator is a seed and a count of draws. Each fill is one draw, and element i of it depends on the seed, on the
number of the draw and on i alone (csrc/ops/philox.h): the same numbers on every device. (Parameters and `nn.init` draw
from Python's `random`, as in the article; `manual_seed` seeds that too.)
"""

from __future__ import annotations

import operator
import os
import random as _python
import threading
from typing import Any

from .. import _C, operation
from .._C import lib
from ..autograd import functions as f
from ..operation import check_tensor, write
from ..types import float32, uint8

# ---- Generators -------------------------------------------------------------------------------------------------


class Generator:
    """A stream of random numbers: `norch.rand(3, generator=norch.Generator().manual_seed(1))`.

    `device` is accepted as in PyTorch; the numbers do not depend on it.

    >>> generator = norch.Generator().manual_seed(1)
    >>> norch.rand(2, generator=generator).equal(norch.rand(2, generator=norch.Generator().manual_seed(1)))
    True
    """

    def __init__(self, device: str = "cpu") -> None:
        _C.device_number(device)
        self.device = device
        self._lock = threading.Lock()
        self._seed, self._draws = 67280421310721, 0  # PyTorch's default for a Generator of one's own

    def manual_seed(self, seed: int) -> Generator:
        """Start again from a seed, an integer of up to 64 bits (negative ones count from 2**64 down)."""
        number = operator.index(seed)
        if not -(2**63) <= number < 2**64:
            raise RuntimeError(f"manual_seed: expected an integer of 64 bits, got {seed}")
        with self._lock:
            self._seed, self._draws = number % 2**64, 0
        return self

    def seed(self) -> int:
        """Start again from a seed that nobody knows; return it."""
        number = int.from_bytes(os.urandom(8), "little")
        self.manual_seed(number)
        return number

    def initial_seed(self) -> int:
        """The seed that the numbers come from."""
        return self._seed

    def get_state(self) -> Any:
        """What `set_state` needs to go on from here: 16 bytes, as a tensor of uint8."""
        with self._lock:
            state = self._seed.to_bytes(8, "little") + self._draws.to_bytes(8, "little")
        from .creation import tensor

        return tensor(list(state), dtype=uint8)

    def set_state(self, new_state: Any) -> Generator:
        """Go on from where `get_state` was called."""
        check_tensor(new_state, "set_state")
        if new_state.dtype is not uint8 or new_state.shape != [16]:
            found = f"{new_state.dtype} of shape {list(new_state.shape)}"
            raise TypeError(f"set_state: expected 16 bytes of uint8, got {found}")
        state = bytes(new_state.tolist())
        with self._lock:
            self._seed, self._draws = int.from_bytes(state[:8], "little"), int.from_bytes(state[8:], "little")
        return self

    def next_draw(self) -> tuple[int, int]:
        """The seed and the number of the next draw, which no other draw gets."""
        with self._lock:
            number = self._draws
            self._draws = (number + 1) % 2**64
            return self._seed, number


default_generator = Generator()
default_generator.seed()


def manual_seed(seed: int) -> Generator:
    """Seed norch's generator and Python's `random`, from which Parameters are drawn; return the generator.

    >>> generator = norch.manual_seed(1)
    >>> first = norch.rand(2)
    >>> generator = norch.manual_seed(1)
    >>> norch.rand(2).equal(first)
    True
    """
    default_generator.manual_seed(seed)
    _python.seed(operator.index(seed))
    return default_generator


def seed() -> int:
    """Seed norch's generator and Python's `random` from the operating system; return the seed.

    >>> seed = norch.seed()
    >>> norch.initial_seed() == seed
    True
    """
    number = default_generator.seed()
    _python.seed(number)
    return number


def initial_seed() -> int:
    """The seed of norch's generator.

    >>> generator = norch.manual_seed(3)
    >>> norch.initial_seed()
    3
    """
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """The state of norch's generator, for `set_rng_state`.

    >>> state = norch.get_rng_state()
    >>> first = norch.rand(2)
    >>> norch.set_rng_state(state)
    >>> norch.rand(2).equal(first)
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Put norch's generator back to where `get_rng_state` was called.

    >>> state = norch.get_rng_state()
    >>> first = norch.rand(2)
    >>> norch.set_rng_state(state)
    >>> norch.rand(2).equal(first)
    True
    """
    default_generator.set_state(new_state)


def draw_of(generator: Any) -> tuple[int, int]:
    """The seed and number of the next draw, of norch's generator where none is given."""
    if generator is not None and not isinstance(generator, Generator):
        raise TypeError(f"expected a norch.Generator, got {type(generator).__name__}")
    return (generator or default_generator).next_draw()


# ---- Filling in place -------------------------------------------------------------------------------------------


class RandomFills:
    """The methods of Tensor that overwrite it with random numbers."""

    def uniform_(self: Any, from_: float = 0.0, to: float = 1.0, *, generator: Any = None, **bounds: float) -> Any:
        """Fill with numbers uniform in [from, to), of 24 random bits (float32) or 53 (float64).

        Shape and dtype stay. Raises RuntimeError for a dtype that is not floating or from > to, TypeError for an
        unknown argument.

        >>> x = norch.zeros(100).uniform_(-1, 1)
        >>> x.min() >= -1, x.max() < 1
        (tensor([True]), tensor([True]))
        """
        low = bounds.pop("from", from_)  # a keyword of Python, and PyTorch's name
        if bounds:
            raise TypeError(f"uniform_: unknown arguments {', '.join(bounds)}")
        seed, number = draw_of(generator)
        return _overwrite(self, lambda: lib.uniform_into(self._ptr, seed, number, low, to))

    def normal_(self: Any, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
        """Fill with numbers of the normal distribution, by the method of Box and Muller; shape and dtype stay.

        Raises RuntimeError for a dtype that is not floating or a negative std.

        >>> norch.zeros(2).normal_(mean=5.0, std=0.0)
        tensor([5., 5.])
        """
        seed, number = draw_of(generator)
        return _overwrite(self, lambda: lib.normal_into(self._ptr, seed, number, mean, std))

    def random_(self: Any, from_: Any = None, to: Any = None, *, generator: Any = None) -> Any:
        """Fill with integers: `random_()` over all that the dtype holds exactly, `random_(to)`, `random_(from, to)`.

        Shape and dtype stay. Raises RuntimeError for an empty range, or numbers that the dtype does not hold.

        >>> x = norch.zeros(100).random_(1, 7)
        >>> x.min() >= 1, x.max() <= 6
        (tensor([True]), tensor([True]))
        """
        if from_ is not None and to is None:
            from_, to = 0, from_
        largest = LARGEST[self.dtype.name]
        low, high = (0, largest + 1) if to is None else (operator.index(from_ or 0), operator.index(to))
        if low >= high:
            raise RuntimeError(f"random_: expected from < to, got from {low}, to {high}")
        if low < (0 if largest < 256 else -largest - 1) or high > largest + 1:
            raise RuntimeError(f"random_: {low} to {high - 1} does not fit into {self.dtype}")
        seed, number = draw_of(generator)
        return _overwrite(self, lambda: lib.integers_into(self._ptr, seed, number, low, (high - low) % 2**64))

    def bernoulli_(self: Any, p: Any = 0.5, *, generator: Any = None) -> Any:
        """Fill with 1 with probability `p`, a number or a tensor that broadcasts, and with 0 otherwise.

        Shape and dtype stay. Raises RuntimeError for a probability outside [0, 1].

        >>> norch.zeros(3).bernoulli_(1.0)
        tensor([1., 1., 1.])
        """
        _check_probabilities("bernoulli_", p)
        kind = p.dtype if isinstance(p, operation.Tensor) else float32
        return self.copy_(self.new_empty(self.shape, dtype=kind).uniform_(generator=generator) < p)


# The largest integer up to which a dtype holds every one.
LARGEST = {"bool": 1, "uint8": 2**8 - 1, "int32": 2**31 - 1, "int64": 2**63 - 1, "float32": 2**24, "float64": 2**53}


def _overwrite(x: Any, kernel: Any) -> Any:
    """Nothing of x remains, so the gradient of its old values is 0, as where a number is copied into it."""
    return write(x, f.CopyBackward, (0.0,), kernel)


def _check_probabilities(name: str, p: Any) -> None:
    if isinstance(p, operation.Tensor):
        if not p.is_floating_point():
            raise RuntimeError(f"{name}: expected probabilities of a floating dtype, got {p.dtype}")
        outside = bool(((p >= 0).logical_and(p <= 1)).logical_not().any())
    else:
        outside = not 0 <= p <= 1
    if outside:
        found = "others" if isinstance(p, operation.Tensor) else p
        raise RuntimeError(f"{name}: expected probabilities from 0 to 1, got {found}")
