"""A small layer for the tests of norch.nn."""

import norch
from norch import nn


def layer(weight, bias=None):
    """A Linear with the given weight and bias."""
    linear = nn.Linear(len(weight[0]), len(weight), bias=bias is not None)
    values = {"weight": norch.Tensor(weight)}
    if bias is not None:
        values["bias"] = norch.Tensor(bias)
    linear.load_state_dict(values)
    return linear
