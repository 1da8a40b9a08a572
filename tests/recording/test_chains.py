"""Chains of elementwise operations run piece by piece; a reduction may end one. The bits are those of eager."""

from __future__ import annotations

import pytest

import norch

SIZES = [(32768,), (65536,), (65537,), (200_001,), (3, 70_000), (1, 640, 512)]
REDUCTIONS = ["sum", "mean", "amax", "amin", "prod", "any", "all"]


def replayed(function, *inputs):
    """A compiled function's result when it replays, and eager's; and the bytes that the program works in."""
    compiled = norch.compile(function, fullgraph=True)
    for _ in range(3):
        compiled(*inputs)
    result = compiled(*inputs)
    (program,) = compiled.programs
    return result, function(*inputs), program.bytes


@pytest.fixture(params=[1, 2])
def threads(request):
    count = norch.get_num_threads()
    norch.set_num_threads(request.param)
    yield request.param
    norch.set_num_threads(count)


def bits(x):
    return bytes(x.reshape(-1).view(norch.uint8).tolist())


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_ends_a_chain(name, size, threads):
    norch.manual_seed(0)
    x, y = norch.randn(*size), norch.randn(*size)

    def function(x, y):
        z = (x - y) * 0.01 + (1 if name == "prod" else 0)
        return getattr(z * z if name != "any" else z > 5, name)()

    result, expected, work = replayed(function, x, y)
    assert work <= 64  # of all that lies between nothing is a whole tensor
    assert result.dtype == expected.dtype and result.shape == expected.shape
    assert bits(result) == bits(expected)


@pytest.mark.parametrize("dtype", [norch.float64, norch.int32, norch.int64, norch.float16])
@pytest.mark.parametrize("name", ["sum", "amax"])
def test_of_other_dtypes(name, dtype, threads):
    x = (norch.randn(150_000) * 100).to(dtype)
    result, expected, _ = replayed(lambda x: getattr(x * 3 - 1, name)(), x)
    assert result.dtype == expected.dtype and bits(result) == bits(expected)


def test_what_is_reduced_may_be_returned_too(threads):
    def function(x):
        z = (x * 2).exp()
        return z.sum(), z, z.sum(0, keepdim=True), (z + 1).mean()

    for result, expected in zip(*replayed(function, norch.randn(400, 300))[:2]):
        assert result.shape == expected.shape and bits(result) == bits(expected)


def test_a_nan_and_signed_zeros_stay():
    x = norch.zeros(100_000)
    assert replayed(lambda x: (-x * 2).sum(), x)[0].item() == 0
    x[70_000] = float("nan")
    result, expected, _ = replayed(lambda x: (x * 2 + 1).amax(), x)
    assert result.isnan() and expected.isnan()


def test_a_loss_and_its_gradient(threads):
    target = norch.randn(100_000)
    x = norch.randn(100_000, requires_grad=True)

    def function(target):
        loss = ((x - target) ** 2).mean()
        x.grad = None
        loss.backward()
        return loss

    result, expected, _ = replayed(function, target)
    assert bits(result) == bits(expected)


def test_a_number_that_overlaps_the_result_is_no_chain():
    x = norch.randn(50_000)
    total = norch.zeros(())

    def function(x):
        total.copy_(((x + total) * 2).sum())
        return total + 0

    compiled = norch.compile(function)
    plain = []
    for step in (compiled, function):
        total.fill_(0)
        plain.append([bits(step(x * 1e-3)) for _ in range(6)])
    assert plain[0] == plain[1]
