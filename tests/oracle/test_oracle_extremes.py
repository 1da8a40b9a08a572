"""Against torch, where formulas break: NaN, infinities, 16 bits, numbers beyond a dtype; elements, or the error.

The random programs of tests/attack found them.
"""

from __future__ import annotations

import math
import warnings

import pytest
import torch

import norch

HALVES = ["float16", "bfloat16"]

VALUES = """
half([[301.0], [1.0], [1.0]]).renorm(2, 1, 1.0)
half([[301.0, 1.0], [1.0, 1.0]]).renorm_(2, 0, 1.0)
half([5.0, 300.0, 0.0]).sinc()
half([5.0, 300.0, 0.0]).sinc_()
half([-0.2, 3.0]).div(0.1, rounding_mode="trunc")
half([5.0, 0.3]) % 0.3
half([5.0, 0.3]).fmod(0.3)
0.3 % half([0.3, 0.7])
half([5.0, -3.0]).remainder_(0.1)
half([1.0, 0.0, -0.0, inf, -inf, nan, 2.0, 6e-8]).nextafter(half([2.0, 1.0, -1.0, 0.0, -inf, 0.0, 2.0, 0.0]))
half([1.0, 2.0]).nextafter_(lib.tensor(inf))
half([[1.0], [2.0]]).nextafter(lib.tensor([3, 0]))
lib.special.logit(lib.tensor([-0.8, 0.3, 1.5, -3.0]), -2)
lib.distributions.HalfCauchy(lib.tensor([1.0, inf])).mean
lib.distributions.Cauchy(lib.tensor([1.0, inf]), 1.0).variance
lib.distributions.StickBreakingTransform()(lib.tensor([-inf, inf, 1.0]))
lib.distributions.StickBreakingTransform()(half([1.0, inf]))
lib.distributions.StickBreakingTransform().inv(lib.tensor([1.0, 1.0, 1.0]))
lib.distributions.Geometric(lib.tensor([0.0]))
lib.distributions.Geometric(lib.tensor([0.0]), validate_args=False).probs
lib.distributions.Geometric(logits=lib.tensor([-inf])).logits
bytes_([3]).masked_fill(lib.tensor(True), lib.tensor(-1.9))
bytes_([3]).masked_fill(lib.tensor(True), lib.tensor(nan))
bytes_([3]).masked_fill_(lib.tensor(True), lib.tensor(300))
bytes_([3]).masked_fill(lib.tensor(True), lib.tensor(-1))
bytes_([3]).index_fill(0, lib.tensor([0]), lib.tensor(-1.9))
bytes_([3]).index_fill_(0, lib.tensor([0]), lib.tensor(300))
half([1.0]).masked_fill(lib.tensor(True), lib.tensor(1e6))
half([1.0]).masked_fill(lib.tensor(True), lib.tensor(inf))
lib.tensor([True]).masked_fill(lib.tensor(True), lib.tensor(nan))
lib.tensor([1]).masked_fill(lib.tensor(True), lib.tensor(2.7))
x = bytes_([3, 4]); x[lib.tensor([True, False])] = lib.tensor(300.0)
x = bytes_([3, 4]); x[lib.tensor([True, False])] = lib.tensor(2.7)
""".strip().splitlines()


def outcome(program: str, lib, dtype: str) -> object:
    """Its elements and dtype, or the built-in type of its error."""
    names = {"lib": lib, "inf": math.inf, "nan": math.nan}
    names |= {"half": lambda data: lib.tensor(data, dtype=getattr(lib, dtype))}
    names |= {"bytes_": lambda data: lib.tensor(data, dtype=lib.uint8)}
    try:
        exec(program if program.startswith("x = ") else f"x = {program}", names)
    except Exception as error:
        return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins").__name__
    x = names["x"]
    return x if not hasattr(x, "tolist") else (str(x.dtype).rpartition(".")[2], x.tolist())


def same(ours: object, theirs: object) -> bool:
    if not isinstance(theirs, tuple) or not isinstance(ours, tuple):
        return ours == theirs
    mine, wanted = (torch.tensor(x[1], dtype=torch.float64) for x in (ours, theirs))
    bound = 2e-2 if theirs[0] == "bfloat16" else 2e-3 if theirs[0] == "float16" else 1e-6
    return ours[0] == theirs[0] and torch.allclose(mine, wanted, rtol=bound, atol=1e-5, equal_nan=True)


CASES = [(program, dtype) for program in VALUES for dtype in HALVES[: 2 if "half(" in program else 1]]


@pytest.mark.parametrize("program, dtype", CASES)
def test_as_in_torch(program, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = outcome(program, torch, dtype), outcome(program, norch, dtype)
    assert same(ours, theirs), (ours, theirs)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("to", [0.0, 1.0, math.inf, -math.inf, math.nan])
def test_the_neighbours_of_all_numbers_of_16_bits(dtype, to):
    bits = []
    for lib in (torch, norch):
        x = lib.arange(-(2**15), 2**15).to(lib.int16).view(getattr(lib, dtype))
        found = lib.nextafter(x, lib.tensor(to, dtype=x.dtype))
        bits.append(found.masked_fill(found.isnan(), 0).view(lib.int16).tolist())
    assert bits[0] == bits[1]


@pytest.mark.parametrize("dtype", [*HALVES, "float32"])
@pytest.mark.parametrize("dim", [0, 1])
def test_a_cosine_of_zeros_is_0_along_every_dimension(dim, dtype):
    """PyTorch's is NaN in 16 bits, where its `eps` is 0."""
    x = norch.tensor([[0.0, 0.0], [0.0, 1.0]], dtype=getattr(norch, dtype))
    assert norch.nn.functional.cosine_similarity(x, x, dim=dim).tolist() == [0.0, 1.0]
