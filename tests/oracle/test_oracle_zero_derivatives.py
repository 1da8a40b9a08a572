"""Where a derivative is 0, a gradient that is NaN or infinite becomes 0 wherever it does in torch.

All elementwise operations of the tables, and the functions and writes that let only some elements through.
"""

from __future__ import annotations

import math
import warnings

import pytest
import torch
from operations import BINARY, UNARY

import norch

VALUES = [-4.0, -3.0, -1.0, -0.6, -0.0, 0.0, 0.4, 0.5, 1.0, 2.5, 6.0, 7.0]
OTHERS = [1.0, -3.0, 2.0, 0.0, -0.0, 0.0, 0.4, -2.0, 3.0, 2.5, 7.0, -1.0]
GRADIENTS = [math.nan, math.inf, -math.inf]

CALLS = """
x.round(decimals=1)
x.div(2.0, rounding_mode="floor")
x.div(y, rounding_mode="trunc")
x.fmod(2.0)
x.clamp(-1.0, 1.0)
x.clamp(min=0.5)
x.clamp(max=0.5)
x.clamp(y, y + 1)
x.clamp_min(0.5)
x.clamp_max(0.5)
x.pow(0)
x ** 0.0
x.pow(y * 0)
x.float_power(0)
x.xlogy(0.0)
(x * 0).xlogy(y)
lib.special.xlog1py(x * 0, y - 2)
lib.special.entr(x)
x.nan_to_num()
x.masked_fill(x.detach() > 0, 1.0)
x.where(x.detach() > 0, y)
lib.where(x.detach() > 0, y, x)
x.reshape(3, 4).tril().reshape(-1)
x.reshape(3, 4).triu(1).reshape(-1)
x.max().expand(12)
x.min().expand(12)
x.median().expand(12)
x.max(0)[0].expand(12)
x.sort()[0]
x.topk(3)[0].repeat(4)
x.cummax(0)[0]
x.index_fill(0, lib.tensor([1, 2, 1]), 0.0)
x.index_copy(0, lib.tensor([1, 2]), y[:2])
x.index_select(0, lib.tensor([1] * 12))
x.gather(0, lib.tensor([1] * 12))
x.scatter(0, lib.tensor([1, 2]), 1.0)
x.masked_scatter(x.detach() > 0, y)
x.slice_scatter(y[:2], 0, 0, 2)
x.select_scatter(y[0], 0, 0)
x.reshape(3, 4).diagonal_scatter(y[:3]).reshape(-1)
x.as_strided((12,), (1,))[2:].repeat(2)[:12]
F.relu6(x)
F.hardtanh(x)
F.hardsigmoid(x)
F.hardswish(x)
F.hardshrink(x)
F.softshrink(x)
F.threshold(x, 0.5, 1.0)
F.leaky_relu(x, 0.0)
F.prelu(x, lib.tensor([0.0], dtype=lib.float64))
F.elu(x)
F.selu(x)
F.celu(x)
F.dropout(x, 1.0)
F.max_pool1d(x.reshape(1, 1, -1), 3, 1, 1).reshape(-1)
F.pad(x, (-1, 1))
F.smooth_l1_loss(x, y, reduction="none")
F.huber_loss(x, y, reduction="none")
F.hinge_embedding_loss(x, -y.abs().clamp(1, 1), reduction="none")
F.margin_ranking_loss(x, y, y.abs().clamp(1, 1), reduction="none")
F.relu_(x * 1)
F.hardtanh_(x * 1)
(x * 1).clamp_(-1.0, 1.0)
(x * 1).floor_()
(x * 1).masked_fill_(x.detach() > 0, 1.0)
(x * 1).fill_(2.0) + x * 0
(x * 1).zero_() + x.detach()
(x * 1).copy_(y)
""".strip().splitlines()

WRITES = """
z = x * 1; z[0] = 5.0
z = x * 1; z[2:4] = y[2:4]
z = x * 1; z[::2].mul_(0.0); z = z.clone()
z = x * 1; z[lib.tensor([1, 1, 2])] = 0.0
z = x * 1; z[x.detach() > 0] = 0.0
z = (x * 1).reshape(3, 4); z[:, 1].fill_(2.0); z = z.reshape(-1)
z = (x * 1).reshape(3, 4).t(); z[1] = 2.0; z = z.t().reshape(-1)
z = (x * 1).reshape(3, 4); z.diagonal().zero_(); z = z.reshape(-1)
""".strip().splitlines()

ROWS = [f"x.{row.name}()" for row in UNARY] + [f"x.{row.name}(y)" for row in BINARY]


def gradients(program: str, lib, upstream: float) -> list[float] | None:
    """The gradient of x = VALUES; None if there is none."""
    x = lib.tensor(VALUES, dtype=lib.float64, requires_grad=True)
    scope = {"lib": lib, "F": lib.nn.functional, "x": x, "y": lib.tensor(OTHERS, dtype=lib.float64)}
    try:
        exec(program if program.startswith("z = ") else f"z = {program}", scope)
        if not scope["z"].requires_grad:
            return None
        scope["z"].backward(lib.full((12,), upstream, dtype=lib.float64))
    except RuntimeError:  # torch has no derivative of `heaviside`, or a dtype is refused
        return None
    return None if x.grad is None else (x.grad + 0).tolist()


@pytest.mark.parametrize("program", ROWS + CALLS + WRITES)
def test_gradients_vanish_as_in_torch(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for upstream in GRADIENTS:
            theirs, ours = gradients(program, torch, upstream), gradients(program, norch, upstream)
            if theirs is None or ours is None:
                continue
            wrong = [(x, our) for x, our, their in zip(VALUES, ours, theirs) if their == 0 and our != 0]
            assert not wrong, f"at x, of the gradient {upstream}, norch makes {wrong}"


def test_the_table_is_of_zeros():
    """Most of what was chosen has such places, and each row with a derivative was called."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [gradients(program, torch, math.nan) for program in CALLS + WRITES]
    assert sum(grad is not None and 0.0 in grad for grad in found) >= 60
