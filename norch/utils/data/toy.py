"""Small artificial datasets to try a model on. Their random numbers come from `generator`, or from norch's."""

from __future__ import annotations

import math

from ...functions.creation import tensor, where
from ...functions.generator import Generator
from ...functions.joining import stack
from ...functions.random import randn
from ...functions.ranges import arange, linspace
from ...tensor import Tensor
from .dataset import TensorDataset


def sin_squared(
    samples: int = 51, low: float = 0.0, high: float = 20.0, noise: float = 0.0, generator: Generator | None = None
) -> TensorDataset:
    """sin(x)^2 at evenly spaced x from low to high, as columns x and y [samples, 1]; by default the article's points.

    `noise` is the standard deviation of the normal noise added to y.

    >>> x, y = norch.utils.data.sin_squared()[:]
    >>> x.shape, y.shape
    (norch.Size([51, 1]), norch.Size([51, 1]))
    """
    x = linspace(low, high, _checked(samples)).reshape(-1, 1)
    return TensorDataset(x, _noisy(x.sin() ** 2, noise, generator))


def moons(samples: int = 200, noise: float = 0.1, generator: Generator | None = None) -> TensorDataset:
    """Two interleaved half circles: points [samples, 2], and classes 0 and 1 in turn (int64).

    The upper one is (cos t, sin t), the lower (1 - cos t, 1/2 - sin t) for t from 0 to pi; `noise` is the standard
    deviation of the normal noise added to both coordinates.

    >>> points, classes = norch.utils.data.moons(100)[:]
    >>> points.shape, classes.shape
    (norch.Size([100, 2]), norch.Size([100]))
    """
    label, along = _classes(samples, 2)
    angle = along * math.pi
    upper = stack([angle.cos(), angle.sin()], 1)
    points = where((label == 0).unsqueeze(1), upper, tensor([1.0, 0.5]) - upper)
    return TensorDataset(_noisy(points, noise, generator), label)


def spirals(
    samples: int = 300, classes: int = 3, turns: float = 0.7, noise: float = 0.03, generator: Generator | None = None
) -> TensorDataset:
    """Arms of a spiral around the origin, one for each class: points [samples, 2] and classes in turn (int64).

    An arm's angle grows with its radius, from 0 to 1, by `turns` full circles; `noise` is as in `moons`.

    >>> points, classes = norch.utils.data.spirals(99, classes=3)[:]
    >>> points.shape, classes.max()
    (norch.Size([99, 2]), tensor(2))
    """
    label, radius = _classes(samples, classes)
    angle = (radius * turns + label.float() / classes) * (2 * math.pi)
    points = stack([angle.cos(), angle.sin()], 1) * radius.unsqueeze(1)
    return TensorDataset(_noisy(points, noise, generator), label)


def _classes(samples: int, classes: int) -> tuple[Tensor, Tensor]:
    """The class of each sample, in turn, and its place along the curve of its class, from 0 to 1."""
    if classes < 1:
        raise ValueError(f"classes is {classes}, expected at least 1")
    number = arange(_checked(samples))
    each = max(-(-samples // classes) - 1, 1)
    return number % classes, (number // classes).float() / each


def _noisy(x: Tensor, noise: float, generator: Generator | None) -> Tensor:
    if noise < 0:
        raise ValueError(f"noise is {noise}, expected a standard deviation of at least 0")
    return x + noise * randn(x.shape, generator=generator) if noise else x


def _checked(samples: int) -> int:
    if samples < 1:
        raise ValueError(f"samples is {samples}, expected at least 1")
    return samples
