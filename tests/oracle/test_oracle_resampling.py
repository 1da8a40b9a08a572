"""interpolate against torch's: modes, sizes and factors, memory layouts, floats of 16 bits, NaN and infinities."""

from __future__ import annotations

import math

import pytest
import torch

import norch

MODES = {
    1: ["nearest", "nearest-exact", "linear"],
    2: ["nearest", "nearest-exact", "bilinear", "bicubic"],
    3: ["nearest", "nearest-exact", "trilinear"],
}
SMOOTH = [{}, {"align_corners": True}]
TOLERANCE = {"float32": 1e-5, "float64": 1e-12, "float16": 2e-3, "bfloat16": 1.6e-2}
SHAPE = (2, 3, 5, 6, 4)

SIZES = [  # for axes of 5, 6 and 4
    {"size": (9, 13, 7)},  # up
    {"size": (3, 4, 2)},  # down
    {"size": (11, 2, 8)},  # first what shrinks
    {"size": (1, 6, 9)},  # one element, and an axis that stays
    {"scale_factor": 2},
    {"scale_factor": (1.7, 0.6, 1.3)},
    {"scale_factor": 1.7, "recompute_scale_factor": True},
    {"scale_factor": (1.1, 2, 2.6)},  # the first axis keeps its size
]

CASES = [
    pytest.param(axes, {"mode": mode, **options}, id=" ".join([mode, *options]))
    for axes, modes in MODES.items()
    for mode in modes
    for options in ([{}] if mode.startswith("nearest") else SMOOTH)
]
CASES += [
    pytest.param(2, {"mode": mode, "antialias": True}, id=f"{mode} antialias") for mode in ("bilinear", "bicubic")
]


def cut(options, axes):
    """Options for the first axes alone."""
    return {key: value[:axes] if isinstance(value, tuple) else value for key, value in options.items()}


def as_norch(x):
    values = norch.tensor(x.detach().double().tolist(), dtype=getattr(norch, str(x.dtype).split(".")[1]))
    return values.reshape(*x.shape)


def same(mine, theirs, tolerance):
    assert (tuple(mine.shape), str(mine.dtype).split(".")[1]) == (tuple(theirs.shape), str(theirs.dtype).split(".")[1])
    values = torch.tensor(mine.detach().double().tolist(), dtype=torch.float64).reshape(theirs.shape)
    largest = max(1.0, float(theirs.detach().abs().nan_to_num(0, 0, 0).max())) if theirs.numel() else 1.0
    torch.testing.assert_close(
        values, theirs.detach().double(), rtol=tolerance, atol=tolerance * largest, equal_nan=True
    )


def compare(theirs, mine, options, tolerance):
    """Values, gradients, and the gradients of a function of these."""
    theirs, mine = theirs.detach().requires_grad_(), mine.detach().requires_grad_()
    expected = torch.nn.functional.interpolate(theirs, **options)
    result = norch.nn.functional.interpolate(mine, **options)
    same(result, expected, tolerance)
    weights = torch.randn(expected.shape, dtype=torch.float64).to(expected.dtype)
    outer, my_outer = weights.clone().requires_grad_(), as_norch(weights).requires_grad_()
    (gradient,) = torch.autograd.grad(expected, theirs, outer, create_graph=theirs.dtype.itemsize > 2)
    (my_gradient,) = norch.autograd.grad(result, mine, my_outer, create_graph=True)
    same(my_gradient, gradient, tolerance)
    if gradient.requires_grad:
        gradient.square().sum().backward()
        my_gradient.square().sum().backward()
        same(my_outer.grad, outer.grad, 4 * tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axes, options", CASES)
def test_values_and_derivatives(axes, options, dtype):
    torch.manual_seed(1)
    for sizes in SIZES:
        if options.get("antialias") and sizes.get("size", (2,))[0] == 1:
            continue  # torch mixes up the elements of an image whose axis has one
        if (options["mode"] == "nearest" or options.get("antialias")) and sizes is SIZES[-1]:
            continue  # torch's gradient is not that of its values
        x = torch.randn(SHAPE[: 2 + axes], dtype=getattr(torch, dtype))
        compare(x, as_norch(x), {**options, **cut(sizes, axes)}, TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("axes, options", CASES[:-2])  # torch has no antialias for them
def test_floats_of_16_bits(axes, options, dtype):
    torch.manual_seed(1)
    for sizes in SIZES[:5]:
        x = torch.randn(SHAPE[: 2 + axes]).to(getattr(torch, dtype))
        compare(x, as_norch(x), {**options, **cut(sizes, axes)}, TOLERANCE[dtype])


@pytest.mark.parametrize("axes, options", [case for case in CASES if case.values[0] == 2])
def test_layouts_and_lines_of_any_length(axes, options):
    torch.manual_seed(1)
    x = torch.randn(3, 4, 6, 70, dtype=torch.float64)
    layouts = (
        lambda x: x.transpose(2, 3),
        lambda x: x.permute(0, 3, 1, 2),
        lambda x: x[:, :, ::2, 1:],
        lambda x: x[:1].expand(2, 4, 6, 70),
        lambda x: x[:, :, :1, :],
    )
    for layout in layouts:
        compare(layout(x), layout(as_norch(x)), {"size": (5, 150), **options}, 1e-12)
    wide = torch.randn(1, 2, 3, 700, dtype=torch.float64)  # several parts of a line
    compare(wide, as_norch(wide), {"size": (2, 2500), **options}, 1e-11)
    none = torch.randn(0, 2, 3, 4, dtype=torch.float64)
    compare(none, as_norch(none), {"size": (2, 5), **options}, 0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("axes, options", [case for case in CASES if case.values[0] == 2])
def test_what_is_not_finite_reaches_as_far(axes, options, value):
    torch.manual_seed(1)
    x = torch.randn(1, 2, 6, 7, dtype=torch.float64)
    x[0, 0, 2, 3] = x[0, 1, 0, 6] = value
    for size in ((9, 11), (12, 14), (4, 9)) if options.get("antialias") else ((3, 5), (9, 11), (12, 14)):
        options = {"size": size, **options}
        expected = torch.nn.functional.interpolate(x, **options)
        same(norch.nn.functional.interpolate(as_norch(x), **options), expected, 1e-12)


@pytest.mark.parametrize("shape, size", [((1, 2, 150, 200), (300, 410)), ((1, 1, 2, 90000), (1, 100000))])
def test_images_that_threads_share(shape, size):
    torch.manual_seed(1)
    x = torch.randn(shape, dtype=torch.float64)
    compare(x, as_norch(x), {"size": size, "mode": "bilinear"}, 1e-10)


def test_elements_without_sums_are_taken_as_they_are():
    for dtype in ("uint8", "int64", "bool", "float32"):
        x = torch.tensor([[[[-0.0, 1, 0], [2, 3, 5]]]]).to(getattr(torch, dtype))
        mine = norch.tensor(x.tolist(), dtype=getattr(norch, dtype))
        for size in ((4, 2), (2, 3), (1, 7)):
            if dtype in ("uint8", "float32"):  # torch has no others
                expected = torch.nn.functional.interpolate(x, size)
            else:
                expected = torch.nn.functional.interpolate(x.double(), size).to(x.dtype)
            result = norch.nn.functional.interpolate(mine, size)
            assert (result.dtype, str(result.tolist())) == (mine.dtype, str(expected.tolist()))
