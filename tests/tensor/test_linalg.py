"""norch.linalg: every function gives what defines its result, without a look at NumPy's; gradients of both orders."""

from __future__ import annotations

import math

import pytest
from compare import assert_close

import norch
from norch import linalg
from norch.autograd import gradcheck, gradgradcheck
from norch.linalg import spectra


def drawn(*shape, seed=0):
    generator = norch.Generator()
    generator.manual_seed(seed)
    return norch.randn(*shape, dtype=norch.float64, generator=generator)


def symmetric(*shape):
    x = drawn(*shape)
    return x + x.mT


def positive(*shape):
    x = drawn(*shape)
    return x @ x.mT + norch.eye(shape[-1], dtype=norch.float64)


def close(x, y):
    assert x.shape == y.shape, (x.shape, y.shape)
    assert x.allclose(y, rtol=1e-9, atol=1e-9)


# ---- Without NumPy ---------------------------------------------------------------------------------------------------


def test_vector_norms():
    x = norch.tensor([[3.0, -4.0], [0.0, 0.0]])
    for order, expected in [
        (2, [5.0, 0.0]),
        (1, [7.0, 0.0]),
        (0, [2.0, 0.0]),
        (math.inf, [4.0, 0.0]),
        (3, [91 ** (1 / 3), 0]),
    ]:
        assert_close(linalg.vector_norm(x, order, dim=1), expected, rtol=1e-6)
    assert linalg.vector_norm(x).item() == 5.0
    assert linalg.vector_norm(x, dim=1, keepdim=True).shape == (2, 1)
    assert linalg.vector_norm(x, dtype=norch.float64).dtype is norch.float64
    with pytest.raises(RuntimeError, match="no elements"):
        linalg.vector_norm(norch.ones(0), math.inf)
    with pytest.raises(RuntimeError, match="int64"):
        linalg.vector_norm(norch.tensor([1]))


def test_matrix_norms():
    x = norch.tensor([[1.0, -2.0], [3.0, 4.0]])
    for order, expected in [("fro", math.sqrt(30)), (1, 6.0), (-1, 4.0), (math.inf, 7.0), (-math.inf, 3.0)]:
        assert_close(linalg.matrix_norm(x, order), expected, rtol=1e-6)
        assert_close(linalg.norm(x, order), expected, rtol=1e-6)
    batch = norch.ones(2, 3, 4)
    assert linalg.matrix_norm(batch, 1, dim=(0, 2)).tolist() == [2.0] * 3
    assert linalg.matrix_norm(batch, 1, dim=(0, 2), keepdim=True).shape == (1, 3, 1)
    assert linalg.norm(batch).item() == pytest.approx(math.sqrt(24))
    for bad in (3, "x"):
        with pytest.raises(RuntimeError, match="expected 'fro'"):
            linalg.matrix_norm(x, bad)
    with pytest.raises(RuntimeError, match="needs dim"):
        linalg.norm(batch, 2)


def test_powers():
    x = norch.tensor([[1, 1], [0, 1]])
    assert linalg.matrix_power(x, 13).tolist() == [[1, 13], [0, 1]]
    assert x.matrix_power(0).tolist() == [[1, 0], [0, 1]]
    y = linalg.matrix_power(x, 1)
    assert y.equal(x) and y.data_ptr() != x.data_ptr()
    with pytest.raises(ValueError, match="square"):
        linalg.matrix_power(norch.ones(2, 3), 2)


def test_exponential():
    angle = norch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=norch.float64) * norch.tensor([0.5, 30.0]).double().reshape(
        2, 1, 1
    )
    expected = [[[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]] for t in (0.5, 30.0)]
    assert_close(linalg.matrix_exp(angle), expected, "float64", rtol=1e-12, atol=1e-13)
    x = drawn(3, 3).requires_grad_()
    assert gradcheck(linalg.matrix_exp, (x,)) and gradgradcheck(linalg.matrix_exp, (x,))


def test_products():
    a, b, c = drawn(2, 5), drawn(5, 3), drawn(3)
    close(linalg.multi_dot([a, b, c]), a @ b @ c)
    close(linalg.multi_dot([c, b.T, a.T]), c @ b.T @ a.T)
    assert linalg.vecdot(norch.tensor([[1, 2], [3, 4]]), norch.tensor([1, 10])).tolist() == [21, 43]
    assert linalg.cross(norch.tensor([1, 0, 0]), norch.tensor([0, 1, 0])).tolist() == [0, 0, 1]
    assert linalg.vander(norch.tensor([2, 3]), N=3).tolist() == [[1, 2, 4], [1, 3, 9]]
    assert linalg.diagonal(norch.ones(2, 3, 3)).shape == (2, 3)
    with pytest.raises(RuntimeError, match="at least 2"):
        linalg.multi_dot([a])


def test_without_numpy_the_error_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ImportError, match="pip install numpy"):
        linalg.eig(norch.eye(2))
    a = norch.eye(40) * 2 + norch.ones(40, 40)  # above lapack.SMALL
    assert linalg.eigvalsh(a)[-1].item() == pytest.approx(42) == linalg.svdvals(a)[0].item()
    assert (linalg.inv(a) @ a).allclose(norch.eye(40), atol=1e-5)
    assert linalg.slogdet(a).logabsdet.item() == pytest.approx(39 * math.log(2) + math.log(42), rel=1e-6)
    assert linalg.matrix_norm(norch.eye(2)).item() == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize("n", [1, 5, 8, 9, 40, 130])  # in one step, in two, and by halves several times
def test_solutions_and_determinants_of_every_size(n):
    a = drawn(3, n, n) + 3 * norch.eye(n, dtype=norch.float64)
    one, b = norch.eye(n, dtype=norch.float64).expand(3, n, n), drawn(3, n, 2, seed=1)
    close(a @ linalg.inv(a), one)
    close(a @ linalg.solve(a, b), b)
    p, lower, upper = linalg.lu(a)
    product = upper.diagonal(dim1=-2, dim2=-1).prod(-1)
    sign, logarithm = linalg.slogdet(a)
    close(linalg.det(a).abs() / product.abs(), norch.ones(3, dtype=norch.float64))
    close(sign * logarithm.exp() / linalg.det(a), norch.ones(3, dtype=norch.float64))
    a[1, :, 0] = 0
    with pytest.raises(linalg.LinAlgError, match="linalg.solve: Singular matrix"):
        linalg.solve(a, b)
    assert linalg.slogdet(a).sign.tolist()[1] == linalg.det(a)[1].item() == 0


def test_equations_need_no_numpy(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.setattr("norch.linalg.lapack.numpy_for", lambda name: pytest.fail(f"{name} asks NumPy"))
    a = norch.eye(40) * 2 + norch.ones(40, 40)
    for x in (linalg.inv(a), linalg.solve(a, norch.eye(40))):
        assert (x @ a).allclose(norch.eye(40), atol=1e-5)
    assert linalg.det(a).item() == pytest.approx(2.0**39 * 42)
    assert linalg.slogdet(a).sign.item() == 1


@pytest.mark.parametrize("n", [3, 40])
def test_the_determinant_of_a_matrix_with_nan(n):
    a = norch.eye(n)
    a[0, 1], a[2, 2] = math.nan, 0.0
    assert math.isnan(linalg.det(a).item()) and math.isnan(linalg.slogdet(a).logabsdet.item())


@pytest.mark.parametrize("n", [20, 100, 200])
def test_factors_in_single_precision_are_as_exact_as_their_columns_allow(n):
    a = drawn(n, n) + n**0.5 * norch.eye(n, dtype=norch.float64)
    assert (linalg.inv(a.float()) @ a.float() - norch.eye(n)).abs().max().item() < 2e-5
    positive = a @ a.mT / n
    lower = linalg.cholesky(positive.float()).double()
    assert (lower @ lower.mT - positive).abs().max().item() < 1e-6 * positive.abs().max().item()


def test_the_determinant_of_a_small_matrix_keeps_what_fits():
    """Where only a part of the product overflows, and where a NaN stands beside a pivot of 0."""
    diagonal = norch.diag(norch.tensor([1e200, 1e200, 1e-200, -1e-200], dtype=norch.float64))
    assert linalg.det(diagonal).item() == pytest.approx(-1.0)
    assert math.isnan(linalg.det(norch.tensor([[0.0, math.nan], [0.0, 1.0]])).item())
    assert linalg.det(norch.ones(2, 0, 0)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("scale", [1e300, 1e200, 1e-200, 1e-300])
def test_qr_of_numbers_whose_squares_do_not_fit(scale):
    x = drawn(7, 4) * scale
    q, r = linalg.qr(x)
    close(q.mT @ q, norch.eye(4, dtype=norch.float64))
    close(q @ (r / scale), x / scale)


def test_least_squares_of_full_rank_and_almost_without_it():
    a, b = drawn(2, 9, 4), drawn(2, 9, 3, seed=1)
    close(linalg.lstsq(a, b).solution, linalg.pinv(a) @ b)
    assert linalg.lstsq(a, b).rank.tolist() == [4, 4]
    a[0, :, 3] = a[0, :, 2] * (1 + 1e-15)
    assert linalg.lstsq(a, b).rank.tolist() == [3, 4]
    close(linalg.lstsq(a, b).solution, linalg.pinv(a) @ b)
    assert linalg.lstsq(a[1], b[1], rcond=0.9).rank.item() < 4
    assert linalg.lstsq(drawn(300, 200), drawn(300, 1)).rank.item() == 200  # whose norm is far below Frobenius'


SHAPES = [(3, 3), (2, 4, 4), (0, 0), (2, 0, 0), (0, 3, 3)]
TALL_AND_WIDE = [*SHAPES, (5, 3), (2, 3, 5), (0, 3), (3, 0)]


@pytest.mark.parametrize("dtype", [norch.float32, norch.float64])
@pytest.mark.parametrize("shape", [*TALL_AND_WIDE, (70, 70), (2, 40, 100), (100, 40)])
def test_lu(shape, dtype):
    a = drawn(*shape).to(dtype)
    size, tolerance = min(shape[-2:]), {"atol": 1e-4 if dtype is norch.float32 else 1e-11, "rtol": 0}
    p, lower, upper = linalg.lu(a)
    assert (p @ lower @ upper).allclose(a, **tolerance)
    assert lower.shape == (*shape[:-1], size) and upper.shape == (*shape[:-2], size, shape[-1])
    assert lower.tril().equal(lower) and upper.triu().equal(upper) and bool((lower.abs() <= 1).all())
    whole, pivots, info = linalg.lu_factor_ex(a)
    assert pivots.dtype is info.dtype is norch.int32 and info.tolist() == norch.zeros(shape[:-2]).tolist()
    unpacked = norch.lu_unpack(whole, pivots)
    assert all(part.equal(same) for part, same in zip(unpacked, (p, lower, upper)))
    graph = linalg.lu_factor_ex(a.clone().requires_grad_())
    assert graph.LU.detach().allclose(whole, **tolerance) and graph.pivots.equal(pivots)


def test_lu_of_singular_matrices_and_without_pivots():
    a = norch.tensor([[[0.0, 2.0], [0.0, 3.0]], [[1.0, 2.0], [3.0, 7.0]]])
    assert linalg.lu_factor_ex(a).info.tolist() == [1, 0]
    with pytest.raises(linalg.LinAlgError, match="pivot 1 is 0"):
        linalg.lu_factor(a)
    p, lower, upper = linalg.lu(a[1], pivot=False)
    assert p.numel == 0 and lower.tolist() == [[1.0, 0.0], [3.0, 1.0]] and upper.tolist() == [[1.0, 2.0], [0.0, 1.0]]
    kept = a.mT.clone()
    assert linalg.lu(kept.mT).U.shape == a.shape and kept.mT.equal(a)
    for wrong in (0, 3):
        with pytest.raises(RuntimeError, match=f"pivots from 1 to 2, got {wrong}"):
            norch.lu_unpack(a[1], norch.tensor([1, wrong], dtype=norch.int32))
    with pytest.raises(RuntimeError, match="at most 2 pivots, got 3"):
        norch.lu_unpack(a[1], norch.tensor([1, 2, 2], dtype=norch.int32))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unitriangular", [False, True])
@pytest.mark.parametrize("size", [4, 32, 75])
def test_triangular_solution(upper, unitriangular, size):
    a, b = drawn(2, size, size) / size + 3 * norch.eye(size), drawn(size, 2)
    triangle = a.triu() if upper else a.tril()
    if unitriangular:
        triangle = triangle - triangle.diagonal(0, -2, -1).diag_embed() + norch.eye(size)
    x = linalg.solve_triangular(a, b, upper=upper, unitriangular=unitriangular)
    close(triangle @ x, b.expand(2, size, 2))
    close(b.triangular_solve(a, upper, unitriangular=unitriangular).solution, x)
    y = linalg.solve_triangular(a, b.T, upper=upper, unitriangular=unitriangular, left=False)
    close(y @ triangle, b.T.expand(2, 2, size))


# ---- Factors, eigenvalues, singular values ---------------------------------------------------------------------------


def unit(x):
    return norch.eye(x.shape[-1], dtype=x.dtype).expand(*x.shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_inverse_and_solution(shape):
    a = positive(*shape)
    close(linalg.inv(a) @ a, unit(a))
    close(linalg.inv_ex(a).inverse, a.inverse())
    b = drawn(*shape[:-1], 2)
    close(a @ linalg.solve(a, b), b)
    close(linalg.solve(a, b.mT, left=False) @ a, b.mT)
    close(linalg.lu_solve(*linalg.lu_factor(a), b), linalg.solve_ex(a, b).result)
    close(b.cholesky_solve(a.cholesky()), linalg.solve(a, b))
    close(a.cholesky(upper=True).cholesky_inverse(upper=True), linalg.inv(a))


@pytest.mark.parametrize("shape", TALL_AND_WIDE)
def test_products_of_the_factors(shape):
    a = drawn(*shape)
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(a, mode)
        close(q @ r, a)
        close(q.mT @ q, unit(q.mT @ q))
        close(r.triu(), r)
    for full in (False, True):
        u, s, vh = linalg.svd(a, full_matrices=full)
        size = min(shape[-2:])
        close((u[..., :size] * s.unsqueeze(-2)) @ vh[..., :size, :], a)
        close(vh @ vh.mT, unit(vh @ vh.mT))
    close(linalg.svdvals(a), s)
    if shape[-2] >= shape[-1]:
        close(linalg.householder_product(*a.geqrf()), linalg.qr(a).Q)
    close(a.geqrf().a.ormqr(a.geqrf().tau, drawn(*shape[:-1], 2)), linalg.qr(a, "complete").Q @ drawn(*shape[:-1], 2))
    close(a @ linalg.pinv(a) @ a, a)


@pytest.mark.parametrize("shape", SHAPES)
def test_eigenvalues(shape):
    a = symmetric(*shape)
    for read in ("L", "U"):
        values, vectors = linalg.eigh(a.tril() if read == "L" else a.triu(), read)
        close(a @ vectors, vectors * values.unsqueeze(-2))
    close(linalg.eigvalsh(a), values)
    pytest.importorskip("numpy")  # whose LAPACK knows matrices that are not symmetric
    close(linalg.eigvals(a).sort().values, values)
    values, vectors = linalg.eig(a)
    close(a @ vectors, vectors * values.unsqueeze(-2))


@pytest.fixture(params=[False, True], ids=["own", "LAPACK"])
def large_by_lapack(request, monkeypatch):
    """Factors of large matrices by norch's own methods, and by those of NumPy's LAPACK."""
    if request.param:
        pytest.importorskip("numpy")
    else:
        monkeypatch.setattr(spectra, "prefers_lapack", lambda x: False)


HARD = {
    "ones": lambda m, n: norch.ones(m, n, dtype=norch.float64),
    "zeros": lambda m, n: norch.zeros(m, n, dtype=norch.float64),
    "of rank one": lambda m, n: drawn(m, 1) @ drawn(1, n),
    "large": lambda m, n: drawn(m, n) * 1e300,
    "small": lambda m, n: drawn(m, n) * 1e-300,
    "of columns that vanish": lambda m, n: drawn(m, n) * norch.logspace(0, -200, n, dtype=norch.float64),
    "of equal columns": lambda m, n: drawn(m, n).index_select(1, norch.zeros(n, dtype=norch.int64)),
    "of a diagonal": lambda m, n: norch.eye(m, n, dtype=norch.float64) * norch.arange(n).remainder(3).sub(1),
}


@pytest.mark.parametrize("size", [(1, 1), (6, 6), (9, 4), (3, 7), (40, 20), (20, 40)], ids=str)
@pytest.mark.parametrize("kind", HARD)
def test_values_and_vectors_of_hard_matrices(kind, size, large_by_lapack):
    a = HARD[kind](*size)
    scale = a.abs().max().item() or 1.0
    u, s, vh = linalg.svd(a)
    k = min(size)
    close(u.mT @ u, unit(u))
    close(vh @ vh.mT, unit(vh))
    close((u[:, :k] * (s / scale)) @ vh[:k], a / scale)
    assert s.tolist() == sorted(s.tolist(), reverse=True) and k == len(s)
    close(linalg.svdvals(a) / scale, s / scale)
    square = a[:k, :k] / 2 + a[:k, :k].mT / 2
    values, vectors = linalg.eigh(square)
    close(vectors.mT @ vectors, unit(vectors))
    close((square / scale) @ vectors, vectors * (values / scale))
    close(linalg.eigvalsh(square) / scale, values / scale)


@pytest.mark.parametrize("n", [3, 20])
def test_values_of_what_is_not_finite(n, large_by_lapack):
    a = norch.ones(2, n, n)
    a[1, 0, 0] = math.inf
    for values in (linalg.svdvals(a), linalg.svd(a).S, linalg.svd(a).U):
        assert values[1].isnan().all() and values[0].isfinite().all()
    a[1, 0, 0] = math.nan
    for call in (linalg.svd, linalg.svdvals, linalg.eigh):
        with pytest.raises(linalg.LinAlgError, match="converge"):
            call(a)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 0, 3), (0, 3, 3), (0, 2, 0)], ids=str)
def test_values_and_vectors_of_nothing(shape):
    a = norch.zeros(*shape)
    u, s, vh = linalg.svd(a)
    assert s.shape == (*shape[:-2], min(shape[-2:])) == linalg.svdvals(a).shape
    assert u.equal(unit(a.new_zeros(*shape[:-1], shape[-2])))
    assert vh.equal(unit(a.new_zeros(*shape[:-2], shape[-1], shape[-1])))
    if shape[-1] == shape[-2]:
        assert linalg.eigh(a).eigenvalues.shape == shape[:-1] and linalg.eigh(a).eigenvectors.shape == shape


def test_complex_eigenvalues_are_refused():
    pytest.importorskip("numpy")
    with pytest.raises(RuntimeError, match="complex"):
        linalg.eigvals(norch.tensor([[0.0, -1.0], [1.0, 0.0]]))


def test_determinants():
    x = norch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [2.0, 4.0]]], dtype=norch.float64)
    assert_close(linalg.det(x), [-2.0, 0.0], "float64", atol=1e-15)
    sign, logarithm = x.slogdet()
    assert sign.tolist() == [-1.0, 0.0]
    assert_close(logarithm, [math.log(2), -math.inf], "float64")
    assert math.isnan(x[0].logdet().item())


def test_least_squares():
    a, b = drawn(5, 3), drawn(5, 2)
    found = linalg.lstsq(a, b, driver="gelsd")
    close(a.mT @ (a @ found.solution), a.mT @ b)
    close(found.residuals, (a @ found.solution - b).square().sum(0))
    assert found.rank.item() == 3 and found.singular_values.shape == (3,)
    assert linalg.lstsq(a, b).residuals.numel() == 0
    rank_one = drawn(4, 1) @ drawn(1, 3)
    assert linalg.matrix_rank(rank_one).item() == 1
    close(linalg.lstsq(rank_one, b[:4]).solution, linalg.pinv(rank_one) @ b[:4])


def test_norms_of_singular_values():
    x = norch.tensor([[3.0, 0.0], [0.0, -4.0]])
    for order, expected in (("nuc", 7.0), (2, 4.0), (-2, 3.0)):
        assert_close(linalg.matrix_norm(x, order), expected, rtol=1e-6)
    assert_close(x.norm("nuc"), 7.0, rtol=1e-6)
    assert_close(linalg.cond(x), 4 / 3, rtol=1e-6)
    assert_close(linalg.cond(x, 1), 4 / 3, rtol=1e-6)
    assert linalg.cond(norch.zeros(2, 2), "fro").item() == math.inf


def test_of_more_dimensions():
    a, b = drawn(2, 3, 6), drawn(2, 3)
    close(norch.tensordot(a, linalg.tensorsolve(a, b), 1), b)
    close(norch.tensordot(linalg.tensorinv(a), b, 2), linalg.tensorsolve(a, b))


def test_what_is_refused():
    singular = norch.tensor([[1.0, 2.0], [2.0, 4.0]])
    for call in (lambda: linalg.inv(norch.zeros(2, 2)), lambda: linalg.solve(norch.zeros(2, 2), norch.ones(2))):
        with pytest.raises(linalg.LinAlgError, match="[Ss]ingular"):
            call()
    with pytest.raises(linalg.LinAlgError, match="positive"):
        linalg.cholesky(-norch.eye(2))
    assert linalg.inv_ex(singular).info.item() == 2
    assert linalg.cholesky_ex(norch.tensor([[1.0, 0.0], [0.0, -1.0]])).info.item() == 2
    with pytest.raises(linalg.LinAlgError):
        linalg.cholesky_ex(-norch.eye(2), check_errors=True)
    with pytest.raises(ValueError, match="square"):
        linalg.det(norch.ones(2, 3))
    with pytest.raises(RuntimeError, match="int64"):
        linalg.inv(norch.tensor([[1]]))
    with pytest.raises(RuntimeError, match="mode"):
        linalg.qr(singular, "full")
    with pytest.raises(RuntimeError, match="not unique"):
        linalg.qr(norch.ones(3, 2).requires_grad_(), "complete").R.sum().backward()
    with pytest.raises(ValueError, match="do not fit"):
        linalg.solve(singular, norch.ones(3, 1))
    with pytest.raises(ValueError, match="UPLO"):
        linalg.eigh(singular, "X")


def of_positive(function):
    return lambda x: function(x @ x.mT + norch.eye(x.shape[-1], dtype=norch.float64))


DIFFERENTIABLE = {
    "inv": (linalg.inv, [(2, 3, 3)]),
    "solve": (linalg.solve, [(3, 3), (2, 3, 2)]),
    "solve_vector": (linalg.solve, [(3, 3), (3,)]),
    "solve_triangular": (lambda a, b: linalg.solve_triangular(a, b, upper=True), [(3, 3), (3, 2)]),
    "lu_solve": (lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b, adjoint=True), [(3, 3), (3, 2)]),
    "det": (linalg.det, [(2, 3, 3)]),
    "slogdet": (lambda a: linalg.slogdet(a).logabsdet, [(3, 3)]),
    "cholesky": (of_positive(linalg.cholesky), [(2, 3, 3)]),
    "cholesky_solve": (lambda b, a: b.cholesky_solve(a.tril()), [(3, 2), (3, 3)]),
    "qr": (lambda a: linalg.qr(a).Q.sin() @ linalg.qr(a).R, [(4, 3)]),
    "qr_wide": (lambda a: linalg.qr(a).Q @ linalg.qr(a).R.sin(), [(2, 3, 4)]),
    "lu": (lambda a: linalg.lu(a).L.sin() @ linalg.lu(a).U.cos(), [(3, 3)]),
    "lu_tall": (lambda a: linalg.lu(a).L.sin() @ linalg.lu(a).U.cos(), [(5, 3)]),
    "lu_wide": (lambda a: linalg.lu(a).L.sin() @ linalg.lu(a).U.cos(), [(2, 3, 5)]),
    "eigvalsh": (of_positive(linalg.eigvalsh), [(2, 3, 3)]),
    "eigh": (of_positive(lambda a: linalg.eigh(a).eigenvectors.square()), [(3, 3)]),
    "eig": (of_positive(lambda a: linalg.eig(a).eigenvectors.square()), [(3, 3)]),
    "svdvals": (linalg.svdvals, [(2, 3, 4)]),
    "svd_tall": (lambda a: linalg.svd(a, False).U.square() @ linalg.svd(a, False).Vh.square(), [(4, 3)]),
    "svd_wide": (lambda a: linalg.svd(a, False).U @ linalg.svd(a, False).Vh, [(3, 5)]),
    "pinv": (linalg.pinv, [(2, 4, 3)]),
    "pinv_wide": (linalg.pinv, [(3, 4)]),
    "lstsq": (lambda a, b: linalg.lstsq(a, b).solution, [(4, 3), (4, 2)]),
    "cond": (linalg.cond, [(3, 3)]),
    "nuclear_norm": (lambda a: a.norm("nuc"), [(3, 4)]),
    "householder_product": (linalg.householder_product, [(4, 3), (3,)]),
    "ormqr": (lambda a, tau, b: a.ormqr(tau, b, transpose=True), [(4, 3), (3,), (4, 2)]),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients(name):
    if name == "eig":
        pytest.importorskip("numpy")
    function, shapes = DIFFERENTIABLE[name]
    inputs = tuple(drawn(*shape, seed=seed).requires_grad_() for seed, shape in enumerate(shapes, 1))
    assert gradcheck(function, inputs) and gradgradcheck(function, inputs)


def test_gradient_of_a_singular_determinant():
    """It is the matrix of cofactors."""
    x = norch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=norch.float64, requires_grad=True)
    linalg.det(x).backward()
    assert_close(x.grad, [[4.0, -2.0], [-2.0, 1.0]], "float64", rtol=1e-12)
    zero = norch.zeros(3, 3, requires_grad=True)
    zero.det().backward()
    assert_close(zero.grad, [[0.0] * 3] * 3)


def test_ormqr_by_the_whole_product_is_that_by_reflections():
    x, other = norch.randn(2, 5, 3, dtype=norch.float64), norch.randn(2, 5, 4, dtype=norch.float64)
    a, tau = x.geqrf()
    for left in (True, False):
        y = other if left else other.mT
        for transpose in (True, False):
            by_reflections = a.ormqr(tau, y.clone().requires_grad_(), left, transpose)
            assert a.ormqr(tau, y, left, transpose).allclose(by_reflections)
    assert a.ormqr(tau.float(), other).allclose(a.ormqr(tau, other), rtol=1e-5, atol=1e-5)
