"""What the tests of norch.nn share."""

import pytest

import norch
from norch import nn


def close(tensor, expected, tolerance=1e-5):
    """Same shape as the nested list, and every element within a relative or absolute tolerance."""
    wanted = norch.tensor(expected, dtype=norch.float64)
    assert list(tensor.shape) == list(wanted.shape)
    for got, want in zip(tensor.reshape(-1).tolist(), wanted.reshape(-1).tolist()):
        assert got == pytest.approx(want, rel=tolerance, abs=tolerance), (tensor.tolist(), expected)


def layer(weight, bias=None):
    """A Linear with written-out values."""
    linear = nn.Linear(len(weight[0]), len(weight), bias=bias is not None)
    values = {"weight": norch.Tensor(weight)}
    if bias is not None:
        values["bias"] = norch.Tensor(bias)
    linear.load_state_dict(values)
    return linear
