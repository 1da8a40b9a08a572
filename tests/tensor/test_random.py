"""Random numbers: the generator against its published vectors, the state, and the distributions with fixed seeds."""

from __future__ import annotations

import ctypes
import math
import random

import pytest
from arrays import DTYPES
from compare import assert_close
from tensors import dtype_named

import norch
from norch import _C


@pytest.fixture(autouse=True)
def _same_state_afterwards():
    state, python = norch.get_rng_state(), random.getstate()
    yield
    norch.set_rng_state(state)
    random.setstate(python)


# ---- the generator ---------------------------------------------------------------------------------------------------

# Counter, key and result of Philox4x32-10, from the known answers that its authors publish with Random123.
KNOWN_ANSWERS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words_of(seed, draw, index):
    words = (ctypes.c_uint32 * 4)()
    _C.lib.philox_block(seed, draw, index, words)
    return list(words)


@pytest.mark.parametrize("counter, key, answer", KNOWN_ANSWERS)
def test_philox_gives_the_known_answers(counter, key, answer):
    c, k = ([int(word, 16) for word in text.split()] for text in (counter, key))
    found = words_of(k[0] | k[1] << 32, c[2] | c[3] << 32, c[0] | c[1] << 32)
    assert found == [int(word, 16) for word in answer.split()]


def test_elements_are_the_words_of_their_block(device):
    """Each element by itself, from the formulas: float32 takes a word, float64 two, an integer the whole block."""
    norch.manual_seed(77)
    singles, doubles = norch.rand(9, device=device), norch.rand(5, dtype=norch.float64, device=device)
    integers = norch.randint(-5, 1000, (3,), device=device)
    words = [word for block in range(3) for word in words_of(77, 0, block)]
    assert singles.tolist() == [(word >> 8) / 2**24 for word in words[:9]]
    words = [word for block in range(3) for word in words_of(77, 1, block)]
    pairs = list(zip(words[::2], words[1::2]))
    assert doubles.tolist() == [(low + (high << 32) >> 11) / 2**53 for low, high in pairs[:5]]
    blocks = [sum(word << 32 * k for k, word in enumerate(words_of(77, 2, block))) for block in range(3)]
    assert integers.tolist() == [(block * 1005 >> 128) - 5 for block in blocks]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_are_those_of_box_and_muller(dtype, device):
    norch.manual_seed(3)
    found = norch.randn(50_000, dtype=dtype_named(dtype), device=device).tolist()
    expected = []
    for block in range(len(found) // (4 if dtype == "float32" else 2)):
        w = words_of(3, 0, block)
        if dtype == "float32":
            uniforms = [((w[k] + 0.5) / 2**32, w[k + 1] / 2**32) for k in (0, 2)]
        else:
            uniforms = [(((w[0] | w[1] << 32) >> 11) / 2**53 + 2**-54, ((w[2] | w[3] << 32) >> 11) / 2**53)]
        for u, turn in uniforms:
            radius = math.sqrt(-2 * math.log(u))
            expected += [radius * math.cos(2 * math.pi * turn), radius * math.sin(2 * math.pi * turn)]
    tolerance = 2e-7 if dtype == "float32" else 1e-14  # mostly that of 2 pi times a turn, here
    assert all(abs(x - y) <= tolerance * max(1.0, abs(y)) for x, y in zip(found, expected))


def test_a_seed_may_be_a_time():
    """As in PyTorch, whose programs seed by `time.time()`."""
    assert norch.manual_seed(1.7e9 + 0.5).initial_seed() == 1_700_000_000
    for wrong in (math.nan, math.inf, 2.0**65):
        with pytest.raises((ValueError, OverflowError, RuntimeError)):
            norch.manual_seed(wrong)


def test_seeds_and_states():
    first = norch.manual_seed(5)
    assert isinstance(first, norch.Generator) and first is norch.default_generator and norch.initial_seed() == 5
    a, b = norch.rand(4).tolist(), norch.randn(4).tolist()
    state = norch.get_rng_state()
    c = norch.rand(4).tolist()
    norch.manual_seed(5)
    assert (norch.rand(4).tolist(), norch.randn(4).tolist(), norch.rand(4).tolist()) == (a, b, c)
    norch.set_rng_state(state)
    assert norch.rand(4).tolist() == c
    assert norch.manual_seed(6).initial_seed() == 6 and norch.rand(4).tolist() != a
    assert norch.manual_seed(-1).initial_seed() == 2**64 - 1
    seeds = {norch.seed(), norch.seed(), norch.initial_seed()}
    assert len(seeds) == 2
    for bad, error in ((2**64, RuntimeError), ("1", TypeError), (None, TypeError)):
        with pytest.raises(error):
            norch.manual_seed(bad)
    with pytest.raises(TypeError):
        norch.Generator().manual_seed(1.5)
    for bad in (norch.zeros(16), norch.zeros(3, dtype=norch.uint8)):
        with pytest.raises(TypeError, match="16 bytes"):
            norch.set_rng_state(bad)


@pytest.mark.parametrize("wrong", ["a", None, [0.0]])
def test_parameters_that_are_no_numbers(wrong):
    for fill in (lambda x: x.uniform_(wrong), lambda x: x.normal_(wrong), lambda x: x.normal_(0, wrong)):
        with pytest.raises(TypeError, match="_: expected a number"):
            fill(norch.zeros(2))
    assert norch.zeros(2).normal_(norch.tensor(5.0), 0).tolist() == [5.0, 5.0]


def test_manual_seed_repeats_a_model_and_leaves_python_s_random_alone():
    state = random.getstate()
    norch.manual_seed(1)
    first = norch.nn.Linear(3, 2).weight.tolist()
    norch.manual_seed(1)
    assert norch.nn.Linear(3, 2).weight.tolist() == first
    assert random.getstate() == state


def test_generators_are_independent():
    mine, other = norch.Generator().manual_seed(9), norch.Generator().manual_seed(9)
    norch.manual_seed(0)
    before = norch.get_rng_state().tolist()
    assert norch.rand(3, generator=mine).tolist() == norch.rand(3, generator=other).tolist()
    assert norch.randperm(9, generator=mine).tolist() == norch.randperm(9, generator=other).tolist()
    assert norch.get_rng_state().tolist() == before
    with pytest.raises(TypeError, match="Generator"):
        norch.rand(3, generator=5)


def test_numbers_do_not_depend_on_size_or_layout(device):
    norch.manual_seed(2)
    long = norch.randn(1000, device=device).tolist()
    for size in (1, 3, 255, 256, 257):
        norch.manual_seed(2)
        assert norch.randn(size, device=device).tolist() == long[:size]
    norch.manual_seed(2)
    whole = norch.zeros(20, 100, device=device)
    whole.T[::2, ::2].normal_()
    assert [x for line in whole.T[::2, ::2].tolist() for x in line] == long[:500]
    assert not whole[1].any()


# ---- distributions ---------------------------------------------------------------------------------------------------

COUNT = 200_000


def largest_distance(numbers, distribution):
    """Kolmogorov and Smirnov's statistic, times sqrt(n): above 1.95 in one sample of a thousand."""
    ordered, n = sorted(numbers), len(numbers)
    gaps = (max((i + 1) / n - distribution(x), distribution(x) - i / n) for i, x in enumerate(ordered))
    return max(gaps) * math.sqrt(n)


def correlation(xs, ys):
    """The correlation of numbers with mean 0 and variance 1, in standard deviations of independent ones."""
    return sum(x * y for x, y in zip(xs, ys)) / math.sqrt(len(xs))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform_distribution(dtype, device):
    norch.manual_seed(11)
    numbers = norch.rand(COUNT, dtype=dtype_named(dtype), device=device).tolist()
    assert 0 <= min(numbers) < 1e-4 and 1 - 1e-4 < max(numbers) < 1
    assert largest_distance(numbers, lambda x: x) < 1.95
    assert abs(correlation([math.sqrt(12) * (x - 0.5) for x in numbers], [1.0] * COUNT)) < 4
    centred = [math.sqrt(12) * (x - 0.5) for x in numbers]
    for lag in (1, 2, 3, 4, 64):
        assert abs(correlation(centred, centred[lag:])) < 4
    bits = 24 if dtype == "float32" else 53
    scaled = [int(x * 2**bits) for x in numbers]
    assert [x / 2**bits for x in scaled] == numbers  # multiples of the last bit...
    for bit in range(bits):  # ... of which each is set in half of them
        assert abs(sum(x >> bit & 1 for x in scaled) - COUNT / 2) < 4 * math.sqrt(COUNT) / 2


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_rounded_floats_within_the_bounds(dtype, device):
    kind = dtype_named(dtype)
    for low, high in [(0, 1), (-2, -1), (-1, 0), (0.1, 0.3), (-0.001, 1e-3), (5, 5)]:
        norch.manual_seed(11)
        numbers = norch.empty(20_000, dtype=kind, device=device).uniform_(low, high)
        norch.manual_seed(11)
        floats = norch.empty(20_000, device=device).uniform_(low, high)
        assert (numbers.double() < high).all() or low == high
        near = (numbers - floats).abs() <= floats.abs() * norch.finfo(kind).eps * 1.01 + norch.finfo(kind).tiny
        assert near.all()
    norch.manual_seed(12)
    numbers = norch.randn(1000, dtype=kind, device=device)
    norch.manual_seed(12)
    assert numbers.tolist() == norch.randn(1000, device=device).to(kind).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_distribution(dtype, device):
    norch.manual_seed(12)
    numbers = norch.randn(COUNT, dtype=dtype_named(dtype), device=device).tolist()

    def distribution(x):
        return 0.5 * math.erfc(-x / math.sqrt(2))

    assert largest_distance(numbers, distribution) < 1.95
    moments = [math.fsum(x**k for x in numbers) / COUNT for k in range(1, 7)]
    deviations = [1, 2, 15, 96, 945, 10170]  # variances of x^k
    for moment, exact, variance in zip(moments, [0, 1, 0, 3, 0, 15], deviations):
        assert abs(moment - exact) < 4 * math.sqrt(variance / COUNT)
    for lag in (1, 2, 3, 4):
        assert abs(correlation(numbers, numbers[lag:])) < 4
        squares = [(x * x - 1) / math.sqrt(2) for x in numbers]
        assert abs(correlation(squares, squares[lag:])) < 4


def test_normal_tails(device):
    """As many numbers as expected lie beyond 4, 4.5 and 5 standard deviations, on both sides."""
    norch.manual_seed(13)
    for dtype in (norch.float32, norch.float64):
        numbers = norch.randn(4_000_000, dtype=dtype, device=device)
        for bound in (3.0, 4.0, 4.5, 5.0):
            expected = 4_000_000 * 0.5 * math.erfc(bound / math.sqrt(2))
            for side in (numbers > bound, numbers < -bound):
                assert abs(side.sum().item() - expected) < 4 * math.sqrt(expected) + 1
        assert numbers.isfinite().all()
    # the largest number there can be: where the word of the radius is 0
    assert math.sqrt(-2 * math.log(0.5 / 2**32)) > 6.7


def test_bounds_and_parameters(device):
    norch.manual_seed(14)
    x = norch.empty(COUNT, device=device)
    assert x.uniform_(-2, 3) is x
    assert -2 <= x.min().item() < -1.99 and 2.99 < x.max().item() < 3
    narrow = norch.empty(1000, device=device).uniform_(1, 1 + 2**-23)  # which rounding would fill with the upper bound
    assert set(narrow.tolist()) == {1.0}
    assert x.uniform_(to=0.5).max().item() < 0.5 and x.uniform_(**{"from": 0.25}).min().item() >= 0.25
    x.normal_(10, 3)
    assert abs(x.mean().item() - 10) < 0.03 and abs(x.std().item() - 3) < 0.02
    assert norch.empty(5, device=device).normal_(2, 0).tolist() == [2.0] * 5
    means = norch.tensor([0.0, 100.0], device=device)
    pair = norch.normal(means, norch.tensor([1.0, 0.0], device=device))
    assert pair.shape == [2] and pair[1] == 100.0 and abs(pair[0]) < 6
    assert norch.normal(0.0, 1.0, (2, 3)).shape == [2, 3]
    assert norch.normal(means, 2.0).shape == [2]


@pytest.mark.parametrize("dtype", DTYPES)
def test_integers(dtype, device):
    norch.manual_seed(15)
    low, high = (0, 2) if dtype == "bool" else (3, 10) if dtype == "uint8" else (-3, 4)
    numbers = norch.randint(low, high, (70_000,), dtype=dtype_named(dtype), device=device)
    assert numbers.dtype is dtype_named(dtype)
    values = numbers.tolist()
    counts = [values.count(value) for value in range(low, high)]
    expected = len(values) / (high - low)
    assert sum(counts) == len(values)
    # chi squared: above 22.5 in one sample of a thousand, with 6 degrees of freedom
    assert sum((count - expected) ** 2 / expected for count in counts) < 22.5


def test_wide_integers(device):
    norch.manual_seed(16)
    wide = norch.empty(10_000, dtype=norch.int64, device=device).random_(-(2**63), 2**63).tolist()
    assert min(wide) < -(2**62) and max(wide) > 2**62 and len(set(wide)) == 10_000
    assert min(norch.empty(1000, dtype=norch.int64, device=device).random_().tolist()) >= 0
    assert max(norch.empty(10_000, dtype=norch.uint8, device=device).random_().tolist()) == 255
    assert set(norch.empty(100, device=device).random_(5).tolist()) == {0.0, 1.0, 2.0, 3.0, 4.0}
    assert set(norch.randint_like(norch.zeros(200, device=device), 2, 4).tolist()) == {2.0, 3.0}


def test_permutations(device):
    norch.manual_seed(17)
    for n in (0, 1, 2, 1000):
        permutation = norch.randperm(n, device=device)
        assert sorted(permutation.tolist()) == list(range(n)) and permutation.dtype is norch.int64
    assert norch.randperm(5, dtype=norch.float32).dtype is norch.float32
    counts = {}
    for _ in range(12_000):
        key = tuple(norch.randperm(4).tolist())
        counts[key] = counts.get(key, 0) + 1
    assert len(counts) == 24
    assert sum((count - 500) ** 2 / 500 for count in counts.values()) < 49.8  # 23 degrees of freedom, one in a thousand
    with pytest.raises(RuntimeError, match="uint8"):
        norch.randperm(300, dtype=norch.uint8)


def test_bernoulli(device):
    norch.manual_seed(18)
    p = norch.tensor([0.0, 0.25, 1.0], device=device).reshape(3, 1).expand(3, 40_000)
    draws = norch.bernoulli(p)
    rates = draws.mean(1).tolist()
    assert draws.dtype is norch.float32 and rates[0] == 0.0 and rates[2] == 1.0 and abs(rates[1] - 0.25) < 0.01
    flags = norch.zeros(40_000, dtype=norch.bool, device=device).bernoulli_(0.9)
    assert abs(flags.sum().item() / 40_000 - 0.9) < 0.01
    for bad in (1.5, -0.1, norch.tensor([0.5, float("nan")])):
        with pytest.raises(RuntimeError, match="0 to 1"):
            norch.zeros(2).bernoulli_(bad)


def test_multinomial(device):
    norch.manual_seed(19)
    weights = norch.tensor([1.0, 0.0, 3.0, 6.0], device=device)
    values = norch.multinomial(weights, 50_000, replacement=True).tolist()
    for index, share in enumerate((0.1, 0.0, 0.3, 0.6)):
        assert abs(values.count(index) / 50_000 - share) < (0.01 if share else 1e-9)
    firsts = [norch.multinomial(weights, 3).tolist() for _ in range(2000)]
    assert all(sorted(draw) == [0, 2, 3] for draw in firsts)
    assert abs(sum(draw[0] == 3 for draw in firsts) / 2000 - 0.6) < 0.05
    rows = norch.multinomial(norch.tensor([[0.0, 1.0], [2.0, 0.0]], device=device), 1)
    assert_close(rows, [[1], [0]], "int64")
    for bad, count in (([0.0, 0.0], 1), ([1.0, 0.0], 2), ([-1.0, 2.0], 1), ([float("inf"), 1.0], 1), ([1.0], 0)):
        with pytest.raises(RuntimeError, match="multinomial"):
            norch.multinomial(norch.tensor(bad, device=device), count)


# ---- the rules of other tensors --------------------------------------------------------------------------------------


def test_shapes_dtypes_and_flags(device, no_leak):
    assert norch.rand(2, 3, device=device).shape == norch.randn((2, 3)).shape == [2, 3]
    assert norch.randint(5, (2, 0)).shape == [2, 0] and norch.rand(0).shape == [0]
    like = norch.zeros(2, 3, dtype=norch.float64, device=device)
    for draw in (norch.rand_like, norch.randn_like):
        assert (draw(like).dtype, draw(like).shape) == (norch.float64, [2, 3])
        assert draw(like, dtype=norch.float32).dtype is norch.float32
    assert norch.rand(2, requires_grad=True).requires_grad


def test_errors():
    for call, error, text in [
        (lambda: norch.rand(2, dtype=norch.int64), RuntimeError, "int64"),
        (lambda: norch.zeros(2, dtype=norch.int32).normal_(), RuntimeError, "int32"),
        (lambda: norch.zeros(2).uniform_(1, 0), RuntimeError, "from 1, to 0"),
        (lambda: norch.zeros(2).uniform_(0, float("inf")), RuntimeError, "inf"),
        (lambda: norch.zeros(2).uniform_(low=1), TypeError, "low"),
        (lambda: norch.zeros(2).normal_(0, -1), RuntimeError, "-1"),
        (lambda: norch.randint(5, 5, (2,)), RuntimeError, "from 5, to 5"),
        (lambda: norch.randint(0, 300, (2,), dtype=norch.uint8), RuntimeError, "uint8"),
        (lambda: norch.randint(5), TypeError, "size"),
        (lambda: norch.randperm(-1), RuntimeError, "-1"),
        (lambda: norch.normal(0.0, 1.0), TypeError, "size"),
        (lambda: norch.normal(norch.zeros(2), 1.0, (2,)), TypeError, "size"),
        (lambda: norch.zeros(1).expand(3).normal_(), RuntimeError, "expanded"),
    ]:
        with pytest.raises(error, match=text):
            call()


def test_random_fills_and_the_graph(device):
    """A fill forgets the old values: their gradient is 0. A leaf that requires gradients refuses."""
    x = norch.tensor([1.0, 2.0], device=device).requires_grad_()
    y = x * 2
    y.normal_()
    (y * 3).sum().backward()
    assert_close(x.grad, [0.0, 0.0])
    with pytest.raises(RuntimeError, match="leaf"):
        x.uniform_()
    product = x * x
    with norch.no_grad():
        x.uniform_()
    with pytest.raises(RuntimeError, match="modified"):
        product.sum().backward()


@pytest.mark.parametrize("name", ["bernoulli", "cauchy", "exponential", "geometric", "log_normal", "normal", "uniform"])
def test_an_expanded_tensor_is_refused(name):
    """By an error that C hands on: nothing else may leave a function of the library."""
    arguments = (0.5,) if name in ("bernoulli", "geometric") else ()
    with pytest.raises(RuntimeError, match="share one place in memory"):
        getattr(norch.ones(2).expand(2, 2), f"{name}_")(*arguments)
