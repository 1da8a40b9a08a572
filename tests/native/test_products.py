"""The tiles of the matrix product (csrc/cpu/matmul.cpp) against its definition, which integers take: bit for bit."""

import pytest

import norch

# Of a tile's size or beside it, for each instruction set; deep ones; then such as are packed.
SMALL = [(2, 2, 1), (12, 32, 5), (13, 33, 17), (11, 31, 64), (64, 48, 64), (25, 10, 130), (5, 100, 1030), (100, 7, 3)]
DOTS = [(4, 1, 5000), (1, 3, 100), (2, 2, 9000), (7, 7, 2100), (3, 10, 784), (1, 5, 2050), (64, 4, 1000), (5, 1, 40)]
DOTS += [(9, 3, 17), (2, 50, 33)]
LARGE = [(401, 403, 405), (130, 1100, 800)]

LAYOUTS = {
    "rows": lambda x: x.contiguous(),
    "columns": lambda x: x.T.contiguous().T,
    "part": lambda x: norch.cat([x, x, x], 1)[:, x.shape[1] : 2 * x.shape[1]],
    "every other": lambda x: norch.stack([x, -x], 2)[:, :, 0],
}


def whole_numbers(*shape):
    """Integers from -4 to 4: float32 holds their products and the sums of a few thousand of those exactly."""
    return norch.randint(-4, 5, shape)


def check(m, n, k, left, right, dtype):
    norch.manual_seed(m + n + k)
    x, y = whole_numbers(m, k), whole_numbers(k, n)
    a, b = LAYOUTS[left](x.to(dtype)), LAYOUTS[right](y.to(dtype))
    assert (a @ b).equal((x @ y).to(dtype)), (m, n, k)


@pytest.mark.parametrize("dtype", [norch.float32, norch.float64])
@pytest.mark.parametrize("right", LAYOUTS)
@pytest.mark.parametrize("left", LAYOUTS)
def test_small_products(left, right, dtype):
    for shape in SMALL + DOTS:
        check(*shape, left, right, dtype)


@pytest.mark.parametrize(
    "left, right", [("rows", "columns"), ("columns", "rows"), ("part", "part"), ("every other", "rows")]
)
@pytest.mark.parametrize("shape", LARGE)
def test_large_products(shape, left, right):
    check(*shape, left, right, norch.float32)


def test_large_products_of_float64():
    check(*LARGE[0], "rows", "every other", norch.float64)


@pytest.mark.parametrize("shape", [(64, 64, 300), (30, 900, 200), (401, 403, 405), (300, 7, 3000), (3, 300, 2000)])
def test_the_number_of_threads_does_not_matter(shape):
    m, n, k = shape
    a, columns = norch.randn(m, k), norch.randn(n, k).T
    rows = columns.contiguous()
    threads = norch.get_num_threads()
    try:
        results = []
        for count in (1, 2, 3):
            norch.set_num_threads(count)
            results.append(norch.cat([a @ rows, a @ columns]))
    finally:
        norch.set_num_threads(threads)
    assert all(result.equal(results[0]) for result in results)


def test_what_is_not_finite_stays_in_its_row_and_column():
    a, b = norch.ones(401, 405), norch.ones(405, 403)
    a[3, 5] = float("nan")
    b[9, 402] = float("inf")
    out = a @ b
    assert out[3].isnan().all()
    assert out.isnan().sum().item() == 403 and out.isinf().sum().item() == 400
    assert out[:3, :402].equal(norch.full((3, 402), 405.0))
