"""Convolutions of drawn sizes and options: the kernels of floats beside products of columns, which integers go through.

Small integers are exact in every dtype, so that results and gradients are equal to the last bit, whatever path a kernel
takes for few or many channels, long or short rows, strides, and padding that whole rows of taps see.
"""

from __future__ import annotations

import random

import pytest

import norch
from norch.nn import functional as F


def numbers(shape: list[int], rng: random.Random) -> norch.Tensor:
    count = norch.Size(shape).numel()
    return norch.tensor([rng.randrange(-3, 4) for _ in range(count)], dtype=norch.int64).reshape(shape)


def drawn(axes: int, transposed: bool, rng: random.Random) -> tuple[norch.Tensor, norch.Tensor, norch.Tensor, dict]:
    groups = rng.choice([1, 1, 1, 2])
    inputs, outputs = (groups * rng.choice([1, 3, 16, 21]) for _ in range(2))
    kernel = [rng.choice([1, 2, 3, 5 if axes < 3 else 2]) for _ in range(axes)]
    sizes = [rng.choice([1, 3, 5, 9, (300, 20, 9)[axes - 1]]) for _ in range(axes)]
    options = {
        "stride": [rng.choice([1, 1, 2, 3]) for _ in range(axes)],
        "padding": [rng.choice([0, 1, 2]) for _ in range(axes)],
        "dilation": [rng.choice([1, 1, 1, 2]) for _ in range(axes)],
        "groups": groups,
    }
    if rng.random() < 0.15:  # a window that sees the whole image
        kernel, options = sizes, {"groups": groups}
    samples = rng.choice([1, 2, 9])
    weight = [inputs, outputs // groups] if transposed else [outputs, inputs // groups]
    x = numbers([samples, inputs, *sizes], rng)
    return x, numbers([*weight, *kernel], rng), numbers([outputs], rng), options


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [f"conv{kind}{axes}d" for kind in ("", "_transpose") for axes in (1, 2, 3)])
def test_convolution_of_drawn_sizes(name, dtype):
    rng, convolve, tested = random.Random(f"{name} {dtype}"), getattr(F, name), 0
    while tested < 25:
        integers = drawn(int(name[-2]), "transpose" in name, rng)
        *operands, options = integers
        try:
            expected = convolve(*operands, **options)
        except RuntimeError:  # the window is larger than the image
            continue
        if expected.numel() > 30000:
            continue
        tested += 1
        leaves = [x.to(getattr(norch, dtype)).requires_grad_() for x in operands]
        result = convolve(*leaves, **options)
        assert result.tolist() == expected.double().tolist(), (name, [list(x.shape) for x in operands], options)
        gradient = numbers(list(result.shape), rng).to(result.dtype)
        fused = norch.autograd.grad(result, leaves, gradient, retain_graph=True)
        formula = norch.autograd.grad(result, leaves, gradient, create_graph=True)
        for leaf, one, other in zip(leaves, fused, formula):
            assert one.tolist() == other.tolist(), (name, [list(x.shape) for x in operands], options, list(leaf.shape))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 14, 15, 16, 17, 24, 28, 31, 33, 63])
def test_every_rest_of_a_transposed_block(size):
    for other in (1, 3, 4, 6, 8, 9, 16, 20, 35):
        for dtype in (norch.float32, norch.float64, norch.float16, norch.uint8):
            x = norch.arange(size * other).to(dtype).reshape(size, other)
            wide = norch.zeros(size, other + 3, dtype=dtype)
            wide[:, 1 : other + 1] = x
            for source in (x, wide[:, 1 : other + 1]):
                turned = source.T.contiguous().tolist()
                assert turned == [[row[j] for row in x.tolist()] for j in range(other)]
