"""Windows against their formulas in plain Python, frequencies and their order."""

from __future__ import annotations

import math

import pytest

import norch
from norch.signal import windows


def turn(k, steps):
    return 2 * math.pi * k / steps


def bessel(x):
    return math.fsum((x / 2) ** (2 * k) / math.factorial(k) ** 2 for k in range(60))


# A window as a function of the place k, and of how many steps there are from end to end.
FORMULAS = {
    "bartlett": lambda k, steps: 1 - abs(2 * k / steps - 1),
    "blackman": lambda k, steps: 0.42 - 0.5 * math.cos(turn(k, steps)) + 0.08 * math.cos(2 * turn(k, steps)),
    "cosine": lambda k, steps: math.sin(math.pi * (k + 0.5) / (steps + 1)),
    "exponential": lambda k, steps: math.exp(-abs(k - steps / 2)),
    "gaussian": lambda k, steps: math.exp(-((k - steps / 2) ** 2) / 2),
    "hamming": lambda k, steps: 0.54 - 0.46 * math.cos(turn(k, steps)),
    "general_hamming": lambda k, steps: 0.54 - 0.46 * math.cos(turn(k, steps)),
    "hann": lambda k, steps: 0.5 - 0.5 * math.cos(turn(k, steps)),
    "kaiser": lambda k, steps: bessel(12 * math.sqrt(max(0, 1 - (2 * k / steps - 1) ** 2))) / bessel(12),
    "nuttall": lambda k, steps: (
        0.3635819
        - 0.4891775 * math.cos(turn(k, steps))
        + 0.1365995 * math.cos(2 * turn(k, steps))
        - 0.0106411 * math.cos(3 * turn(k, steps))
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("size", [2, 3, 8, 51])
def test_window(name, size, device):
    formula = FORMULAS[name]
    for sym, steps in ((True, size - 1), (False, size)):
        found = getattr(windows, name)(size, sym=sym, dtype=norch.float64, device=device)
        assert found.tolist() == pytest.approx([formula(k, steps) for k in range(size)], abs=1e-14)
    if hasattr(norch, f"{name}_window"):
        older = getattr(norch, f"{name}_window")
        assert older(size, dtype=norch.float64).equal(getattr(windows, name)(size, sym=False, dtype=norch.float64))
        assert older(size, False).equal(getattr(windows, name)(size))


@pytest.mark.parametrize("name", FORMULAS)
def test_small_windows_and_errors(name):
    window = getattr(windows, name)
    assert window(0).shape == (0,)
    assert window(1).tolist() == [1.0] and window(1, requires_grad=True).requires_grad
    for call in (lambda: window(-1), lambda: window(3, dtype=norch.int64), lambda: window(3, layout="sparse")):
        with pytest.raises(ValueError):
            call()


def test_parameters_of_windows():
    assert windows.general_cosine(3, a=[0.25, 0.75]).tolist() == pytest.approx([-0.5, 1.0, -0.5])
    assert windows.exponential(3, center=0.0, tau=2.0, sym=False).tolist() == pytest.approx(
        [1, math.exp(-0.5), math.exp(-1)]
    )
    assert windows.kaiser(4, beta=0.0).tolist() == [1.0] * 4
    assert 0 < windows.kaiser(4, beta=500.0, dtype=norch.float64)[1].item() < 1  # I0(500) overflows no float64
    assert norch.hamming_window(2, alpha=0.6, beta=0.3).tolist() == pytest.approx([0.3, 0.9])
    for call in (
        lambda: windows.exponential(3, center=1.0),
        lambda: windows.exponential(3, tau=0.0),
        lambda: windows.gaussian(3, std=0.0),
        lambda: windows.kaiser(3, beta=-1.0),
        lambda: windows.general_cosine(3, a=[]),
    ):
        with pytest.raises(ValueError):
            call()


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies(n):
    expected = [(k if 2 * k < n else k - n) / (n * 0.25) for k in range(n)]
    assert norch.fft.fftfreq(n, 0.25).tolist() == pytest.approx(expected)
    assert norch.fft.rfftfreq(n, 0.25).tolist() == pytest.approx([k / (n * 0.25) for k in range(n // 2 + 1)])
    shifted = norch.fft.fftshift(norch.fft.fftfreq(n))
    assert shifted.equal(shifted.sort().values)
    assert norch.fft.ifftshift(shifted).equal(norch.fft.fftfreq(n))


def test_shifts_of_several_dimensions():
    x = norch.arange(6).reshape(2, 3)
    assert norch.fft.fftshift(x).tolist() == [[5, 3, 4], [2, 0, 1]]
    assert norch.fft.fftshift(x, 0).tolist() == [[3, 4, 5], [0, 1, 2]]
    assert norch.fft.ifftshift(norch.fft.fftshift(x), (0, 1)).equal(x)
    with pytest.raises(IndexError):
        norch.fft.fftshift(x, 2)
    with pytest.raises(RuntimeError):
        norch.fft.fftfreq(4, dtype=norch.int64)


def test_transforms_say_what_is_missing():
    with pytest.raises(NotImplementedError, match="complex"):
        norch.fft.rfft(norch.ones(4))
