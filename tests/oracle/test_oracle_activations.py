"""Activations against torch's: values and both derivatives, at the kinks, the far ends, infinities and NaN too."""

from __future__ import annotations

import math

import pytest
import torch
from test_oracle_torch import assert_same

import norch

SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 3.0, 1000.0, -1000.0, 1e30, -1e30, 1e-30]
ORDINARY = [0.037 * i + 0.011 for i in range(-200, 200)]

CALLS = {
    "leaky_relu": [(), (0.3,), (-0.5,)],
    "elu": [(), (0.5,)],
    "gelu": [(), {"approximate": "tanh"}],
    "silu": [()],
    "softplus": [(), (2.0, 5.0), (0.5,)],
    "hardtanh": [(), (0.0, 3.0)],
    "relu": [()],
    "relu6": [()],
    "hardswish": [()],
    "selu": [()],
    "celu": [(), (0.5,)],
    "rrelu": [()],
    "threshold": [(0.5, 2.0)],
    "hardshrink": [(), (1.0,), (3.0,)],
    "softshrink": [(), (1.0,)],
    "tanhshrink": [()],
    "softsign": [()],
    "logsigmoid": [()],
    "mish": [()],
    "softmin": [{"dim": 0}],
    "softmax": [{"dim": 0}],
    "log_softmax": [{"dim": 0}],
}


def derivatives(lib, name, arguments, values, dtype):
    """The activation, its derivative and its second derivative (None where the first is constant)."""
    function = getattr(lib.nn.functional, name)
    x = lib.tensor(values, dtype=getattr(lib, dtype), requires_grad=True)
    y = function(x, **arguments) if isinstance(arguments, dict) else function(x, *arguments)
    weights = lib.tensor([1.0 + i % 7 for i in range(len(values))], dtype=getattr(lib, dtype))
    (first,) = lib.autograd.grad((y * weights).sum(), x, create_graph=True)
    second = lib.autograd.grad((first * weights).sum(), x)[0] if first.requires_grad else None
    return y, first, second


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name, arguments", [(name, given) for name, calls in CALLS.items() for given in calls])
def test_activation(name, arguments, dtype):
    mine, theirs = (derivatives(lib, name, arguments, ORDINARY, dtype) for lib in (norch, torch))
    for order in range(2):
        assert_same(mine[order], theirs[order], scale=10)
    if mine[2] is not None:
        assert_same(mine[2], theirs[2], scale=100)
    else:
        assert theirs[2] is None or not theirs[2].any()


@pytest.mark.parametrize("name", [name for name in CALLS if "softm" not in name])
def test_special_values(name):
    """Where torch has numbers norch has the same; where both forms of gelu multiply 0 by infinity either may be NaN."""
    for value in SPECIAL:
        mine, theirs = (derivatives(lib, name, CALLS[name][0], [value], "float32") for lib in (norch, torch))
        for order in range(2):
            if name in ("elu", "selu", "celu", "hardswish") and math.isnan(value):
                assert math.isnan(mine[order].item())  # torch: 1, the slope of the other branch
            elif not (math.isinf(value) and name in ("gelu", "silu")):
                assert_same(mine[order].reshape(1), theirs[order].reshape(1))


MODULES = [
    ("LeakyReLU", (0.2,)),
    ("ELU", (2.0,)),
    ("GELU", ("tanh",)),
    ("SiLU", ()),
    ("Softplus", (2.0, 3.0)),
    ("Hardtanh", (-2.0, 0.5)),
    ("Softmax", (0,)),
    ("LogSoftmax", (0,)),
    ("Softmin", (0,)),
    ("GLU", ()),
    ("CELU", (2.0,)),
    ("Threshold", (0.1, 20.0)),
    ("Hardshrink", (0.3,)),
    ("Softshrink", (0.3,)),
    ("RReLU", (0.2, 0.2)),
    ("PReLU", (1, 0.3)),
    *((name, ()) for name in "LogSigmoid Hardswish ReLU6 Mish SELU Hardsigmoid Softsign Tanhshrink".split()),
]


@pytest.mark.parametrize("name, arguments", MODULES)
def test_module(name, arguments):
    mine, theirs = (getattr(lib.nn, name)(*arguments)(lib.tensor(ORDINARY)) for lib in (norch, torch))
    assert_same(mine, theirs, scale=2)
