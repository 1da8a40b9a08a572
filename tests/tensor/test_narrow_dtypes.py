"""float16, bfloat16, int8 and int16 beyond the tables: limits, the default dtype, printing, training."""

from __future__ import annotations

import math
import operator
import pickle

import pytest
from arrays import DTYPES, promote, to_bfloat16, wrap
from tensors import dtype_named

import norch
from norch import nn, optim

HALVES = {norch.float16: "float16", norch.bfloat16: "bfloat16"}


@pytest.fixture
def default_dtype_restored():
    yield
    norch.set_default_dtype(norch.float32)


def test_names_and_attributes():
    assert norch.half is norch.float16 and norch.short is norch.int16
    assert [dtype_named(name).itemsize for name in DTYPES] == [1, 1, 1, 2, 4, 8, 2, 2, 4, 8]
    assert [dtype_named(name).is_signed for name in DTYPES] == [False, False] + [True] * 8
    assert [dtype_named(name).is_floating_point for name in DTYPES] == [False] * 6 + [True] * 4
    for name in DTYPES:
        assert pickle.loads(pickle.dumps(dtype_named(name))) is dtype_named(name)
    x = norch.tensor([1.7, -1.7])
    assert x.half().dtype is norch.float16 and x.bfloat16().dtype is norch.bfloat16
    assert x.char().tolist() == x.short().tolist() == [1, -1] and x.byte().tolist() == [1, 255]
    assert isinstance(x.half(), norch.HalfTensor) and x.short().type() == "torch.ShortTensor"


def test_every_half_is_the_float_that_its_bits_say(device):
    """All 65536 of each: as floats, and back; infinities and NaN too."""
    bits = norch.arange(-(2**15), 2**15, dtype=norch.int16, device=device)
    for kind, name in HALVES.items():
        mantissa, bias = (10, 15) if name == "float16" else (7, 127)
        largest = 2 * bias + 1
        expected = []
        for word in bits.tolist():
            sign = -1.0 if word < 0 else 1.0
            exponent, rest = (word & 0x7FFF) >> mantissa, word & (2**mantissa - 1)
            if exponent == largest:
                expected.append(math.nan if rest else sign * math.inf)
            else:
                lead = 2**mantissa if exponent else 0
                expected.append(sign * (lead + rest) * 2.0 ** (max(exponent, 1) - bias - mantissa))
        halves = bits.view(kind)
        floats = halves.float()
        assert repr(floats.tolist()) == repr(expected)
        back, numbers = floats.to(kind).view(norch.int16), floats == floats
        assert (back == bits)[numbers].all() and floats.to(kind).float()[~numbers].isnan().all()


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_floats_are_rounded_to_the_nearest_half_to_the_even_one(name, rng, device):
    kind = dtype_named(name)
    ends = [0.0, -0.0, 65504.0, 65519.0, 65520.0, 1e30, 3.4e38, 6e-8, 2.9e-8, 3e-8, 1e-40, math.inf, -math.inf]
    steps = [1 + k * 2.0**-12 for k in range(64)]  # each half, the middles between them, and quarters
    drawn = [wrap(rng.choice([-1, 1]) * rng.uniform(1, 2) * 2.0 ** rng.randint(-30, 20), "float32") for _ in range(500)]
    values = [wrap(x, "float32") for x in ends + steps] + drawn
    x = norch.tensor(values, device=device)
    assert repr(x.to(kind).tolist()) == repr([wrap(value, name) for value in values])
    assert norch.tensor(values, dtype=kind).tolist() == x.to(kind).tolist()


SHORT_FORMULAS = {
    "signs": lambda x, y: [-x, x.abs(), x.sign(), x.relu()],
    "whole": lambda x, y: [x.floor(), x.ceil(), x.round(), x.trunc(), x.frac()],
    "roots": lambda x, y: [x.sqrt(), x.rsqrt(), x.reciprocal()],
    "powers": lambda x, y: [x**2, x**3, x**-1, x**0.5, x**-0.5],
    "pairs": lambda x, y: [x + y, x - y, x * y, x / y, norch.maximum(x, y), norch.fmin(x, y)],
    "numbers": lambda x, y: [x + 0.1, 2 - x, x * 0.1, x / 3, x.clamp(-0.3, 0.7), x.clamp_min(0.1), x.add(y, alpha=0.3)],
    "three": lambda x, y: [norch.addcmul(x, y, x), norch.addcdiv(x, y, x), norch.lerp(x, y, 0.1), x.clamp(y, x)],
    "bounds": lambda x, y: [nn.functional.leaky_relu(x, 0.1), nn.functional.hardswish(x), x.nan_to_num(1.0, 2.0, 3.0)],
}


@pytest.mark.parametrize("formulas", SHORT_FORMULAS.values(), ids=SHORT_FORMULAS)
@pytest.mark.parametrize("kind", HALVES)
def test_short_formulas_round_what_they_give_for_floats(kind, formulas, device):
    """Of all 65536 numbers, of few, and of those that are no neighbours."""
    every = norch.arange(-(2**15), 2**15, dtype=norch.int16, device=device).view(kind)
    parts = [every, every[15000:15037], every[:5], every[7], every.view(64, 32, 32)[:, 3:, ::2].mT]
    pairs = [(part, part.flip(0) if part.ndim else part) for part in parts]
    for x, y in [*pairs, (parts[-1], parts[-1][:1, :, :1])]:
        for result, wide in zip(formulas(x, y), formulas(x.float(), y.float()), strict=True):
            expected = wide.to(kind)
            assert result.dtype is kind
            assert ((result == expected) | (result.isnan() & expected.isnan())).all()


@pytest.mark.parametrize("kind", HALVES)
def test_reductions_of_halves_are_those_of_floats(kind, device):
    """Along each dimension, of any layout; whole numbers leave no doubt about the last digit."""
    x = (norch.arange(8 * 19 * 70, device=device) * 37 % 11 - 5).float().view(8, 19, 70).to(kind)
    parts = [x[:, 1:, ::2], x[..., ::3].mT, x[:1].expand(3, 19, 70), x[0, 0, :1]]
    for layout in [x, x.permute(2, 0, 1), x.transpose(0, 1), *parts]:
        wide = layout.float()
        for axes in (None, *range(layout.ndim), (0, layout.ndim - 1)[: layout.ndim]):
            for name in ("sum", "amax", "amin", "any", "all", "nansum", "norm"):
                result = getattr(layout, name)(dim=axes)
                expected = getattr(wide, name)(dim=axes)
                assert result.dtype is (norch.bool if name in ("any", "all") else kind)
                assert result.float().equal(expected.to(result.dtype).float()), (name, axes)
        assert layout.max().item() == wide.max().item()
        assert layout.std(correction=0).tolist() == wide.std(correction=0).to(kind).tolist()


def test_the_reference_rounds_as_it_should():
    assert [to_bfloat16(x) for x in (1.0, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 3.4e38)] == [1.0, 1.0, 1 + 2.0**-6, math.inf]


def test_promotion_has_two_exceptions():
    for x in DTYPES:
        for y in DTYPES:
            assert norch.promote_types(dtype_named(x), dtype_named(y)) is dtype_named(promote(x, y))
    eight = norch.tensor([100], dtype=norch.int8)
    assert (eight + eight).tolist() == [-56] and (eight + 1).dtype is norch.int8
    assert (eight + norch.tensor([200], dtype=norch.uint8)).tolist() == [300]
    half = norch.tensor([1.0], dtype=norch.float16)
    assert (half + 1e-3).dtype is (half * norch.tensor(2.0)).dtype is (half + eight).dtype is norch.float16
    assert (half + half.bfloat16()).dtype is norch.float32
    with pytest.raises(RuntimeError, match="200 does not fit into int8"):
        eight + 200
    assert (norch.tensor([0.1]).bfloat16() == 0.1).item()  # as PyTorch: the number is rounded, too


@pytest.mark.parametrize("value", [70000, 70000.0, -(2**53)])
def test_what_16_bits_cannot_hold_is_written_nowhere(value):
    """Also a whole number, as PyTorch; arithmetic takes it as infinite."""
    half = norch.ones(2, dtype=norch.float16)
    for call in (
        lambda: norch.full([2], value, dtype=norch.float16),
        lambda: norch.full_like(half, value),
        lambda: half.clamp(max=value),
        lambda: half.clone().fill_(value),
        lambda: norch.nn.functional.pad(half, (1, 1), value=value),
    ):
        with pytest.raises(RuntimeError, match="does not fit into float16"):
            call()
    assert (half + value).isinf().all() and norch.full([2], value).isfinite().all()


def test_limits():
    half, brain = norch.finfo(norch.float16), norch.finfo(norch.bfloat16)
    assert (half.bits, half.max, half.eps, half.tiny) == (16, 65504.0, 2.0**-10, 2.0**-14)
    assert (brain.bits, brain.max, brain.eps, brain.tiny) == (16, 255 * 2.0**120, 2.0**-7, 2.0**-126)
    assert (norch.iinfo(norch.int8).min, norch.iinfo(norch.int16).max) == (-128, 32767)
    assert norch.iinfo(norch.uint8).min == 0


def test_text():
    assert repr(norch.tensor([1.5, 2.0]).half()) == "tensor([1.5000, 2.0000], dtype=norch.float16)"
    assert repr(norch.tensor(0.1, dtype=norch.bfloat16)) == "tensor(0.1001, dtype=norch.bfloat16)"
    assert repr(norch.tensor([1, -2], dtype=norch.int8)) == "tensor([ 1, -2], dtype=norch.int8)"


@pytest.mark.parametrize("kind", [norch.float64, norch.float16, norch.bfloat16])
def test_default_dtype(kind, default_dtype_restored):
    norch.set_default_dtype(kind)
    assert norch.get_default_dtype() is kind and norch.finfo().bits == 8 * kind.itemsize
    made = [
        norch.tensor([1.5]),
        norch.zeros(2),
        norch.rand(2),
        norch.arange(0, 1, 0.5),
        norch.Tensor([1]),
        norch.eye(2),
    ]
    made += [norch.tensor([1]) / 2, norch.tensor([1]) + 0.5, norch.linspace(0, 1, 3), norch.tensor([1]).sqrt()]
    assert {x.dtype for x in made} == {kind} and norch.tensor([1, 2]).dtype is norch.int64
    assert repr(norch.tensor([1.5])) == "tensor([1.5000])" and norch.result_type(norch.tensor([1]), 1.0) is kind
    assert nn.Linear(2, 2).weight.dtype is kind
    norch.set_default_dtype(norch.float32)
    assert norch.tensor([1.5]).dtype is norch.float32
    with pytest.raises(TypeError, match="int64"):
        norch.set_default_dtype(norch.int64)


OPTIMIZERS = [
    lambda p: optim.SGD(p, lr=0.1),
    lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
    lambda p: optim.Adam(p, lr=0.01),
    lambda p: optim.AdamW(p, lr=0.01, amsgrad=True),
    lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True),
]


@pytest.mark.parametrize("kind", [norch.float16, norch.bfloat16])
@pytest.mark.parametrize("optimizer_of", OPTIMIZERS)
def test_a_model_of_halves_learns(optimizer_of, kind, device):
    norch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2)).to(device)
    assert (model.half() if kind is norch.float16 else model.bfloat16()) is model
    optimizer = optimizer_of(model.parameters())
    x = norch.rand(16, 4, device=device).to(kind)
    y = (x.float().sum(1) > 2).long()
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert {p.dtype for p in model.parameters()} == {p.grad.dtype for p in model.parameters()} == {kind}
    assert losses[-1] < losses[0] - 0.02


def test_sums_that_a_half_would_not_hold():
    """Composed functions compute in float32: no partial result is infinite or lost."""
    x = norch.full((1000,), 300.0, dtype=norch.float16)
    assert x.mean().item() == 300 and x[:4].norm().item() == 600 and x.var().item() == 0
    assert (norch.arange(1000) + 300).to(norch.bfloat16).std().item() == pytest.approx(289, rel=0.01)
    assert x.mean(dtype=norch.float64).dtype is norch.float64 and x.norm().dtype is norch.float16


@pytest.mark.parametrize("dtype", [norch.float16, norch.bfloat16])
def test_gradients_of_logarithms_that_a_half_rounds(dtype):
    gradients = []
    for kind in (dtype, norch.float64):
        x = norch.tensor([301.0, 2.0, 301.0], dtype=dtype).to(kind).requires_grad_()
        x.logcumsumexp(0).sum().backward()
        gradients.append(x.grad.tolist())
    assert gradients[0] == pytest.approx(gradients[1], rel=0.01)


def test_gradients_of_halves_are_too_coarse_to_check():
    x = norch.ones(2, dtype=norch.float16, requires_grad=True)
    with pytest.warns(UserWarning, match="float16"), pytest.raises(RuntimeError, match="finite differences"):
        norch.autograd.gradcheck(lambda x: x * x, x)


def test_embeddings_move_rows_of_halves(device):
    table = norch.arange(12, device=device).reshape(4, 3).bfloat16().requires_grad_()
    rows = table[norch.tensor([3, 0, 3], device=device)]
    assert rows.tolist() == [[9.0, 10.0, 11.0], [0.0, 1.0, 2.0], [9.0, 10.0, 11.0]]
    rows.sum().backward()
    assert table.grad.dtype is norch.bfloat16 and table.grad.tolist() == [[1.0] * 3, [0.0] * 3, [0.0] * 3, [2.0] * 3]
    with norch.no_grad():
        table[1] = -1.0
        table[:, 2] += 0.5
    assert table.tolist()[:2] == [[0.0, 1.0, 2.5], [-1.0, -1.0, -0.5]]


def test_the_bounds_of_logit_have_all_digits(device):
    x = norch.tensor([0.0, 0.95], dtype=norch.float16, device=device)
    for y in (x.logit(0.1), x.clone().logit_(0.1)):
        assert y.tolist() == norch.tensor([-2.19722, 2.19722], dtype=norch.float16).tolist()


@pytest.mark.parametrize("dtype", [norch.float16, norch.bfloat16])
@pytest.mark.parametrize("scalar", [norch.tensor(1.1237), norch.tensor(1.1237).double(), norch.tensor(4099)])
def test_a_factor_without_dimensions_keeps_its_digits(dtype, scalar, device):
    x = norch.linspace(0.5, 3, 500, device=device).to(dtype)
    number, scalar = scalar.float().item(), scalar.to(device)
    assert (x * scalar).dtype is dtype and (x * scalar).tolist() == (x * number).tolist()
    assert (x / scalar).tolist() == (x / number).tolist() == x.clone().div_(scalar).tolist()
    assert (x * 9 // scalar).tolist() == (x * 9 // number).tolist()
    assert (x + scalar).tolist() == (x + scalar.to(dtype)).tolist()


ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor]
ARITHMETIC += [operator.floordiv, operator.mod]
TESTS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("kind", [norch.uint8, norch.int8, norch.int16], ids=str)
def test_narrow_integers_wrap_as_wide_ones_do(kind, device):
    limits = norch.iinfo(kind)
    x = norch.randint(limits.min, limits.max + 1, (7, 301), dtype=kind, device=device)
    y = norch.randint(limits.min, limits.max + 1, (7, 301), dtype=kind, device=device)
    y[y == 0] = 3
    wide, other, number = x.int(), y.int(), limits.max - 1
    for operation in [*ARITHMETIC, *TESTS, norch.minimum, norch.maximum, norch.fmod]:
        out = norch.bool if operation in TESTS else kind
        assert operation(x, y).equal(operation(wide, other).to(out)), operation
        assert operation(x.t(), y.t()).equal(operation(wide, other).t().to(out)), operation
        assert operation(x, y[0]).equal(operation(wide, other[0]).to(out)), operation
        if operation in [*ARITHMETIC, *TESTS]:
            assert operation(x, number).equal(operation(wide, number).to(out)), operation
            assert operation(number, y[:, ::3]).equal(operation(number, other[:, ::3]).to(out)), operation
    for operation in (operator.neg, operator.invert, norch.abs, norch.sign, norch.relu):
        assert operation(x).equal(operation(wide).to(kind)), operation
    assert x.clamp(3, 90).equal(wide.clamp(3, 90).to(kind))
    assert norch.where(x > y, x, 5).equal(norch.where(x > y, wide, 5).to(kind))
    assert norch.addcmul(x, y, y).equal(norch.addcmul(wide, other, other).to(kind))
    assert x.logical_not().equal(x == 0) and x.clone().gt_(y).equal((x > y).to(kind))
    assert norch.div(x, y, rounding_mode="trunc").equal(norch.div(wide, other, rounding_mode="trunc").to(kind))


def test_quotients_of_integers_are_exact(device):
    numbers = [0, 1, 2, 3, 7, 46340, 46341, 65535, 2**24 - 1, 2**24 + 1, 2**30 - 1, 2**31 - 2, 2**31 - 1, 2**31]
    x = norch.tensor([sign * n for n in numbers for sign in (1, -1) if -(2**31) <= sign * n < 2**31], device=device)
    y = x[x != 0]
    for form in (x.int(), x):
        quotients, rests = form[:, None] // y.to(form.dtype), form[:, None] % y.to(form.dtype)
        for i, a in enumerate(x.tolist()):
            for j, b in enumerate(y.tolist()):
                if (a, b) != (-(2**31), -1):
                    assert (quotients[i, j].item(), rests[i, j].item()) == (a // b, a % b), (a, b, form.dtype)


@pytest.mark.parametrize("kind", [norch.uint8, norch.int8, norch.int16], ids=str)
def test_shifts_of_narrow_integers(kind, device):
    x = norch.arange(256, device=device).to(kind) * norch.tensor(97, dtype=kind, device=device)
    for count in range(-2 if kind.is_signed else 0, 20):
        counts = norch.full_like(x, count)
        left = [number << count if count >= 0 else 0 for number in x.tolist()]
        right = [number >> (count if count >= 0 else 63) for number in x.tolist()]
        for given in (count, counts) if count >= 0 else (counts,):
            assert (x << given).equal(norch.tensor(left, device=device).to(kind)), count
            assert (x >> given).equal(norch.tensor(right, device=device).to(kind)), count


@pytest.mark.parametrize("kind", [norch.uint8, norch.int8, norch.int16], ids=str)
@pytest.mark.parametrize("shape", [(3, 5), (40, 70), (3, 90_000)])
def test_narrow_integers_are_reduced_without_overflow(kind, shape, device):
    x = norch.randint(norch.iinfo(kind).max - 9, norch.iinfo(kind).max + 1, shape, dtype=kind, device=device)
    x[1, 1] = norch.iinfo(kind).min
    for form, wide in ((x, x.long()), (x.t(), x.long().t())):
        for axes in ((), (0,), (1,)):
            assert form.sum(*axes).equal(wide.sum(*axes)) and form.prod(*axes).equal(wide.prod(*axes))
            assert form.amax(*axes).equal(wide.amax(*axes).to(kind))
            assert form.amin(*axes).equal(wide.amin(*axes).to(kind))
            assert form.any(*axes).equal(wide.any(*axes)) and form.all(*axes).equal(wide.all(*axes))


def test_conversions_between_all_integers(device):
    numbers = [*range(-140, 300), 32767, 32768, -32769, 2**31 - 1, -(2**31)]
    wraps = {"bool": bool, "uint8": lambda n: n & 255, "int8": lambda n: (n + 128) % 256 - 128}
    wraps["int16"], wraps["int32"] = lambda n: (n + 2**15) % 2**16 - 2**15, int
    for first, wrap_first in wraps.items():
        x, stored = norch.tensor(numbers, device=device).to(dtype_named(first)), [wrap_first(n) for n in numbers]
        assert x.tolist() == stored
        for second, wrap_second in wraps.items():
            assert x.to(dtype_named(second)).tolist() == [wrap_second(int(n)) for n in stored], (first, second)
        for real in (norch.float32, norch.float64):
            assert x.to(real).to(dtype_named(first)).tolist() == stored or first == "int32"
