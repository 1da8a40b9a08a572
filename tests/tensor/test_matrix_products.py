"""Sums of products: einsum against its definition, and its special cases against einsum."""

from __future__ import annotations

import itertools
import math

import pytest
from compare import assert_close

import norch
from norch.autograd import gradcheck, gradgradcheck

SIZES = {"a": 2, "b": 3, "c": 1, "i": 2, "j": 3, "k": 4, "l": 2, "m": 3}

# Equations without `...`, which the definition below reads.
EQUATIONS = [
    "i->", "i->i", "ij->ji", "ii->", "ii->i", "ijj->i", "i,i->", "i,j->ij", "ij,j->i", "ij,jk->ik", "ij,jk->ki",
    "aij,ajk->aik", "ij,ij->ij", "ij,ij->", "ij,kl->", "ij,k->ijk", "ij,jk,kl->il", "ij,jk,kl,lm->im", "iaj,jbk->abik",
    "ai,bi,ci->abc", "i,i,i,i->i", "aij,bjk->k", ",i->i", "aai,ib->ba",
]  # fmt: skip


def shaped(letters, offset=0):
    shape = [SIZES[letter] for letter in letters]
    return (norch.arange(math.prod(shape)).reshape(shape) * 7 + offset).remainder(11).double() / 4


def defined(equation, operands):
    """The result by the definition: for each index of it, the products summed over all other indices."""
    terms, result = equation.split("->")
    terms = terms.split(",")
    others = sorted(set("".join(terms)) - set(result))

    def at(place, axes):
        if axes:
            return [at({**place, axes[0]: i}, axes[1:]) for i in range(SIZES[axes[0]])]
        products = []
        for inner in itertools.product(*(range(SIZES[letter]) for letter in others)):
            where = {**place, **dict(zip(others, inner))}
            factors = (x[tuple(where[c] for c in term)].item() for x, term in zip(operands, terms))
            products.append(math.prod(factors))
        return math.fsum(products)

    return at({}, result)


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum_is_what_it_is_defined_as(equation, device):
    operands = [shaped(term, n) for n, term in enumerate(equation.split("->")[0].split(","))]
    expected = defined(equation, operands)
    placed = [x.to(device) for x in operands]
    assert_close(norch.einsum(equation, *placed), expected, "float64")
    assert_close(norch.einsum(equation, placed), expected, "float64")
    strided = [x.flip(list(range(x.ndim))).clone().flip(list(range(x.ndim))) for x in placed]
    assert_close(norch.einsum(equation, *strided), expected, "float64")


@pytest.mark.parametrize("equation", ["bij,bkj->bki", "ij,kj->ki", "nd,mnd->nm"])
def test_what_einsum_sums_lies_in_row_order(equation):
    sizes = {letter: size for size, letter in enumerate("bijkdnm", 2)}
    terms = equation.partition("->")[0].split(",")
    assert norch.einsum(equation, *[norch.ones(*[sizes[c] for c in term]) for term in terms]).is_contiguous()


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum_has_derivatives(equation):
    operands = [shaped(term, n).requires_grad_() for n, term in enumerate(equation.split("->")[0].split(","))]
    assert gradcheck(lambda *x: norch.einsum(equation, *x), operands)
    assert gradgradcheck(lambda *x: norch.einsum(equation, *x), operands)


# The same in other words: with `...`, without `->`, with sizes of 1 that broadcast, as lists of numbers.
EQUAL = {
    "implicit output": ("ba", "ba->ab", [(2, 3)]),
    "implicit product": ("ij,jk", "ij,jk->ik", [(2, 3), (3, 4)]),
    "implicit output sums twice": ("ij,ij", "ij,ij->", [(2, 3), (2, 3)]),
    "capitals come first": ("bA", "bA->Ab", [(2, 3)]),
    "spaces": (" i j , j k -> i k ", "ij,jk->ik", [(2, 3), (3, 4)]),
    "dots": ("...ij,...jk->...ik", "abij,abjk->abik", [(2, 3, 2, 3), (2, 3, 3, 4)]),
    "dots behind": ("ij...->ji...", "ijab->jiab", [(2, 3, 2, 3)]),
    "dots broadcast": ("...ij,...jk->...ik", "bij,abjk->abik", [(3, 2, 3), (2, 3, 3, 4)]),
    "dots are summed": ("...i->i", "abi->i", [(2, 3, 4)]),
    "implicit dots": ("...ij,...jk", "aij,ajk->aik", [(2, 2, 3), (2, 3, 4)]),
    "no dots needed": ("i...->i...", "i->i", [(3,)]),
}


@pytest.mark.parametrize("case", EQUAL)
def test_other_ways_to_write_the_same(case, device):
    equation, plain, shapes = EQUAL[case]
    operands = [norch.arange(math.prod(shape), device=device).reshape(shape).double() for shape in shapes]
    assert norch.einsum(equation, *operands).tolist() == norch.einsum(plain, *operands).tolist()


def test_sizes_of_one_broadcast():
    x, y = norch.ones(1, 3, dtype=norch.int64), norch.arange(8).reshape(2, 4)
    assert norch.einsum("ij,ik->ijk", x, y).shape == (2, 3, 4)
    assert norch.einsum("ij,ik->jk", x, y).tolist() == [[4, 6, 8, 10]] * 3
    assert norch.einsum("ij,jk->ik", norch.ones(2, 1), norch.ones(3, 2)).tolist() == [[3, 3]] * 2


def test_dtypes_are_promoted_where_nothing_is_summed():
    positions, frequencies = norch.arange(3), norch.tensor([0.5, 0.25])
    for equation, x, y in [("i,j->ij", positions, frequencies), ("i,j->ji", frequencies, positions)]:
        angles = norch.einsum(equation, x, y)
        assert angles.dtype is norch.float32 and angles.tolist() == [[0.0, 0.0], [0.5, 0.25], [1.0, 0.5]]
    assert norch.einsum("i,j->ij", positions.int(), positions).dtype is norch.int64
    with pytest.raises(RuntimeError, match="one numeric dtype"):
        norch.einsum("i,ij->j", positions, norch.ones(3, 2))


def test_lists_of_numbers_for_letters():
    x, y = shaped("ij"), shaped("jk")
    assert norch.einsum(x, [0, 1], y, [1, 2], [2, 0]).tolist() == norch.einsum("ij,jk->ki", x, y).tolist()
    assert norch.einsum(x, [0, 1], y, [1, 2]).tolist() == (x @ y).tolist()
    assert norch.einsum(x, [..., 51]).tolist() == x.tolist()


@pytest.mark.parametrize(
    "equation, message",
    [
        ("ij,jk->iz", "'z'"),
        ("ij,jk->ii", "twice"),
        ("ij", "1 tensors, got 2"),
        ("i,jk", "'i'.*2 dimensions"),
        ("ij,kj", "'j'.*sizes 3 and 4"),
        ("iij,jk", "'iij'"),
        ("i.j,jk", "at most one"),
        ("...i...,jk", "at most one"),
        ("i1,jk", "letters"),
    ],
)
def test_einsum_refuses_what_does_not_fit(equation, message):
    with pytest.raises(RuntimeError, match=message):
        norch.einsum(equation, shaped("ij"), shaped("jk"))
    with pytest.raises(RuntimeError, match="sizes 2 and 3"):
        norch.einsum("ii", shaped("ij"))


def test_products_of_many_are_made_in_a_good_order():
    """From left to right this would take 10^10 multiplications."""
    n = 1000
    column, row = norch.ones(n, 1, dtype=norch.float64), norch.ones(1, n, dtype=norch.float64)
    result = norch.einsum("ij,jk,kl,lm,m->i", column, row, column, row, norch.ones(n, dtype=norch.float64))
    assert result.tolist() == [1e6] * n
    chain = norch.chain_matmul(column, row, column, row)
    assert chain.shape == (n, n) and (chain == n).all()


# ---- Special cases ---------------------------------------------------------------------------------------------------

X, Y, V, W, Z = shaped("ij"), shaped("jk"), shaped("j"), shaped("j", 3), shaped("ij", 5)

CASES = {
    "tensordot": (lambda a, b: norch.tensordot(a, b, 1), "ij,jk->ik", [X, Y]),
    "tensordot of lists": (lambda a, b: norch.tensordot(a, b, ([1, 0], [1, 0])), "ij,ij->", [X, Z]),
    "tensordot of none": (lambda a, b: norch.tensordot(a, b, 0), "i,k->ik", [V, W]),
    "tensordot from the end": (lambda a, b: norch.tensordot(a, b, dims=([-2], [0])), "ij,ik->jk", [X, X]),
    "inner": (norch.inner, "ij,kj->ik", [X, Z]),
    "inner of vectors": (norch.inner, "i,i->", [V, W]),
    "outer": (norch.outer, "i,j->ij", [V, W]),
    "vdot": (norch.vdot, "i,i->", [V, W]),
    "kron": (lambda a, b: a.kron(b).reshape(2, 3, 3, 4).transpose(1, 2), "ij,kl->ijkl", [X, Y]),
    "trace": (lambda a: norch.trace(a[:, :2]), "ii->", [X[:, :2]]),
    "addmm": (lambda a, b: norch.addmm(norch.ones(4), a, b, beta=0.0, alpha=1), "ij,jk->ik", [X, Y]),
    "addmv": (lambda a, b: norch.zeros(2).double().addmv(a, b), "ij,j->i", [X, V]),
    "addr": (lambda a, b: norch.zeros(3, 3).double().addr(a, b), "i,j->ij", [V, W]),
    "baddbmm": (lambda a, b: norch.zeros(1).double().baddbmm(a, b), "aij,ajk->aik", [shaped("aij"), shaped("ajk")]),
    "addbmm": (lambda a, b: norch.zeros(1).double().addbmm(a, b), "aij,ajk->ik", [shaped("aij"), shaped("ajk")]),
}


@pytest.mark.parametrize("case", CASES)
def test_special_cases_of_einsum(case):
    call, equation, operands = CASES[case]
    assert_close(call(*operands), norch.einsum(equation, *operands).tolist(), "float64")
    leaves = [x.detach().clone().requires_grad_() for x in operands]
    assert gradcheck(call, leaves) and gradgradcheck(call, leaves)


def test_cross_is_orthogonal_to_both(device):
    x, y = (norch.tensor(rows, device=device) for rows in ([[1.0, 2, 3], [0, 1, 0]], [[4.0, 5, 6], [0, 0, 1]]))
    assert x.cross(y, 1).tolist() == [[-3, 6, -3], [1, 0, 0]]
    assert x.t().cross(y.t()).t().tolist() == [[-3, 6, -3], [1, 0, 0]]
    with pytest.raises(RuntimeError, match="size 3"):
        x.cross(y, 0)
    leaves = [t.double().requires_grad_() for t in (x, y)]
    assert gradcheck(lambda a, b: a.cross(b, 1), leaves) and gradgradcheck(lambda a, b: a.cross(b, 1), leaves)


@pytest.mark.parametrize("name, shape", [("addmm", (2, 4)), ("addmv", (2,)), ("addr", (3, 3)), ("baddbmm", (2, 2, 4)),
                                         ("addbmm", (2, 4))])  # fmt: skip
def test_what_adds_a_product(name, shape):
    """beta * x + alpha * product, also in place; x does not count if beta is 0."""
    factors = {"addmm": [X, Y], "addmv": [X, V], "addr": [V, W]}.get(name, [shaped("aij"), shaped("ajk")])
    x = norch.ones(shape, dtype=norch.float64)
    product = getattr(norch.zeros(shape, dtype=norch.float64), name)(*factors)
    expected = (x * 3 + product * 2).tolist()
    assert_close(getattr(x, name)(*factors, beta=3, alpha=2), expected, "float64")
    assert_close(getattr(x.clone(), name + "_")(*factors, beta=3, alpha=2), expected, "float64")
    nothing = norch.full(shape, math.nan, dtype=norch.float64)
    assert_close(getattr(nothing, name)(*factors, beta=0), product.tolist(), "float64")
    leaves = [t.detach().clone().requires_grad_() for t in (x, *factors)]
    assert gradcheck(lambda x, *f: getattr(x, name)(*f, beta=3, alpha=2), leaves)
    with pytest.raises(ValueError, match="broadcast|shape"):
        getattr(norch.ones(7, 7, 7, 7).double(), name)(*factors)


@pytest.mark.parametrize("dtype", [norch.uint8, norch.int16, norch.int32, norch.int64])
@pytest.mark.parametrize("m, k, n", [(1, 1, 1), (3, 5, 7), (33, 70, 65), (40, 900, 130)])
def test_products_of_integers(dtype, m, k, n):
    x, y = norch.randint(0, 10, (m, k)), norch.randint(0, 10, (k, n))
    exact = (x.double() @ y.double()).long().to(dtype)
    x, y = x.to(dtype), y.to(dtype)
    assert (x @ y).equal(exact)
    assert (x.T.contiguous().T @ y.T.contiguous().T).equal(exact)
    assert (x @ y[:, 0]).equal(exact[:, 0])


def test_sums_with_products_in_place_follow_the_graph_and_overlaps():
    x = norch.arange(9.0, dtype=norch.float64).reshape(3, 3)
    rows = {"addmm": (x, x), "addmv": (x, x[0]), "addr": (x[0], x[1]), "addbmm": (x[None], x[None])}
    for name, factors in rows.items():
        start = x[0] if name == "addmv" else x
        options = {"beta": 0.5, "alpha": 2.0}
        expected = getattr(start, name)(*factors, **options)
        assert getattr(start.clone(), f"{name}_")(*factors, **options).allclose(expected)
        leaf = start.clone().requires_grad_()
        getattr(leaf * 1, f"{name}_")(*factors, **options).sum().backward()
        assert leaf.grad.equal(norch.full(leaf.shape, 0.5, dtype=norch.float64))
    y = x.clone()
    assert y.addr_(y[0], y[1], beta=0.5, alpha=2.0).allclose(x.addr(x[0], x[1], beta=0.5, alpha=2.0))  # it reads itself
    y = x.clone()
    assert y.addmm_(y, y).equal(x.addmm(x, x))
    with pytest.raises(norch.ShapeError, match="addmm_"):
        norch.ones(3).addmm_(x.float(), x.float())


def test_products_of_bytes_wrap_around():
    x = (norch.arange(60) * 37 % 256).reshape(2, 5, 6)
    y = (norch.arange(36) * 53 % 256).reshape(6, 6)
    found = x.to(norch.uint8) @ y.to(norch.uint8)
    assert found.dtype is norch.uint8 and found.tolist() == ((x @ y) % 256).tolist()


@pytest.mark.parametrize("dtype", [norch.float32, norch.float64, norch.int32, norch.float16])
def test_dot_products_of_scattered_vectors(dtype):
    x = (norch.arange(70 * 9) % 5).reshape(70, 9).T.to(dtype)
    y = (norch.arange(9 * 140) % 7).reshape(9, 140)[:, ::2].to(dtype)
    assert norch.einsum("ij,ij->i", x, y).tolist() == (x.contiguous() * y.contiguous()).sum(1).tolist()
