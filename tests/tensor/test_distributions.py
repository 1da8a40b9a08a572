"""Random fills and counts against exact probabilities, with fixed seeds; dtypes, options, errors."""

from __future__ import annotations

import math

import pytest

import norch

COUNT = 40_000


def seeded():
    return norch.Generator().manual_seed(5)


def poisson(k, mean):
    return math.exp(k * math.log(mean) - mean - math.lgamma(k + 1))


def binomial(k, n, p):
    return math.exp(
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) + (n - k) * math.log1p(-p)
    )


def check_counts(found, probability):
    """Chi squared: the counts that are expected at least ten times, and the rest together."""
    frequency: dict = {}
    for k in found.long().tolist():
        frequency[k] = frequency.get(k, 0) + 1
    lowest, highest = min(frequency), max(frequency)
    expected = {k: probability(k) * COUNT for k in range(max(0, lowest - 50), highest + 51)}
    often = [k for k, value in expected.items() if value >= 10]
    terms = [(frequency.get(k, 0) - expected[k]) ** 2 / expected[k] for k in often]
    freedom = len(often)
    assert sum(terms) < freedom + 4 * math.sqrt(2 * freedom)  # four standard deviations
    assert sum(frequency[k] for k in frequency if k not in often) < COUNT / 20 + 50


@pytest.mark.parametrize("mean", [0.3, 4.0, 9.9, 10.0, 20.5, 55.0, 700.0, 2000.0])
def test_poisson(mean, device):
    x = norch.full((COUNT,), mean, device=device)
    found = norch.poisson(x, seeded())
    assert found.dtype is x.dtype and found.shape == x.shape
    check_counts(found, lambda k: poisson(k, mean))


@pytest.mark.parametrize("n, p", [(5, 0.2), (30, 0.5), (40, 0.9), (200, 0.02), (400, 0.3), (1000, 0.97)])
def test_binomial(n, p, device):
    trials = norch.full((COUNT,), float(n), device=device)
    found = norch.binomial(trials, norch.full((1,), p, device=device), seeded())
    assert found.min() >= 0 and found.max() <= n
    check_counts(found, lambda k: binomial(k, n, p) if k <= n else 0.0)


def test_counts_without_an_end():
    assert norch.poisson(norch.tensor([1e300], dtype=norch.float64)).isfinite().all()
    huge = norch.binomial(norch.tensor([1e300], dtype=norch.float64), norch.tensor([0.3], dtype=norch.float64))
    assert 0 <= huge.item() <= 1e300


@pytest.mark.parametrize(
    "fill, below",
    [  # the share of numbers below 1.5
        (lambda x: x.exponential_(2.0, generator=seeded()), 1 - math.exp(-3)),
        (lambda x: x.cauchy_(1.0, 2.0, generator=seeded()), 0.5 + math.atan(0.25) / math.pi),
        (
            lambda x: x.log_normal_(0.5, 0.25, generator=seeded()),
            0.5 * math.erfc(-(math.log(1.5) - 0.5) * math.sqrt(8)),
        ),
        (lambda x: x.geometric_(0.3, generator=seeded()), 0.3),
    ],
)
@pytest.mark.parametrize("dtype", [norch.float32, norch.float64])
def test_fill(fill, below, dtype, device):
    x = norch.empty(COUNT, dtype=dtype, device=device)
    assert fill(x) is x
    assert (x < 1.5).float().mean().item() == pytest.approx(below, abs=4 * math.sqrt(0.25 / COUNT))


def test_multinomial_draws_many_without_comparing_all(device):
    weights = norch.arange(20_000, device=device).float()
    drawn = weights.multinomial(20_000, replacement=True, generator=seeded())
    assert drawn.min() > 0 and drawn.float().mean().item() == pytest.approx(20_000 * 2 / 3, rel=0.02)
    order = weights.multinomial(19_999, generator=seeded())
    assert order.sort().values.equal(norch.arange(1, 20_000, device=device))
    rows = norch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], device=device).multinomial(5, replacement=True)
    assert rows.tolist() == [[1] * 5, [0] * 5]


def test_options():
    assert norch.rand(size=(2, 3)).shape == (2, 3)
    assert norch.randn(2, layout=norch.strided, pin_memory=False).shape == (2,)
    out = norch.empty(3, dtype=norch.float64)
    assert norch.rand(3, out=out) is out and out.dtype is norch.float64
    places = norch.empty(4, dtype=norch.int32)
    assert norch.randperm(4, out=places) is places and places.sort().values.tolist() == [0, 1, 2, 3]
    assert norch.randint(5, (2,), out=norch.empty(2)).dtype is norch.float32
    assert norch.randint(high=1, size=(2,)).tolist() == norch.randint(1, size=[2]).tolist() == [0, 0]
    assert norch.normal(1.0, 0.0, size=(2,), dtype=norch.float64).tolist() == [1.0, 1.0]
    assert norch.normal(norch.tensor(1.0), norch.tensor(0.0), (2,)).tolist() == [1.0, 1.0]
    assert norch.rand_like(out, generator=seeded()).equal(norch.rand_like(out, generator=seeded()))
    assert norch.zeros(3, dtype=norch.int64).random_(**{"from": 4, "to": 5}).tolist() == [4, 4, 4]
    assert norch.bernoulli(norch.zeros(2), 1.0).tolist() == [1.0, 1.0]
    assert norch.bernoulli(norch.ones(2), out=norch.empty(2)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: norch.zeros(2).exponential_(0.0),
        lambda: norch.zeros(2, dtype=norch.int64).exponential_(),
        lambda: norch.zeros(2).cauchy_(0.0, -1.0),
        lambda: norch.zeros(2).log_normal_(0.0, 0.0),
        lambda: norch.zeros(2).geometric_(0.0),
        lambda: norch.zeros(2).geometric_(1.0),
        lambda: norch.poisson(norch.tensor([-1.0])),
        lambda: norch.poisson(norch.tensor([1])),
        lambda: norch.binomial(norch.tensor([-1.0]), norch.tensor([0.5])),
        lambda: norch.binomial(norch.tensor([1.0]), norch.tensor([1.5])),
        lambda: norch.binomial(norch.tensor([1.0]), norch.tensor([0.5]).double()),
    ],
)
def test_refused(call):
    with pytest.raises(RuntimeError):
        call()
