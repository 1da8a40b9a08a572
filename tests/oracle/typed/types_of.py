"""The types of expressions, which an editor's completion needs."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_type

import norch
import norch.nn as nn

x = norch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())

assert_type(x, norch.Tensor)
assert_type(x + 1, norch.Tensor)
assert_type(1 + x, norch.Tensor)
assert_type(2**x, norch.Tensor)
assert_type(x @ x, norch.Tensor)
assert_type(-x, norch.Tensor)
assert_type(x == x, norch.Tensor)
assert_type(x[0], norch.Tensor)
assert_type(x[:, 0], norch.Tensor)
assert_type(x.reshape(4), norch.Tensor)
assert_type(x.sum(), norch.Tensor)
assert_type(x.exp().sum(0, keepdim=True).T, norch.Tensor)
assert_type((x + 1).add_(2), norch.Tensor)
assert_type(x.max(), norch.Tensor)
assert_type(x.max(axis=0), norch.Tensor)
assert_type(x.max(0).values, norch.Tensor)
assert_type(x.sort().indices, norch.Tensor)
assert_type(x.split(1), tuple[norch.Tensor, ...])
assert_type(x.nonzero(as_tuple=True), tuple[norch.Tensor, ...])
assert_type(norch.exp(x), norch.Tensor)
assert_type(norch.maximum(x, 0), norch.Tensor)
assert_type(norch.max(x, 1).indices, norch.Tensor)
assert_type(norch.zeros(2, 3), norch.Tensor)
assert_type(norch.cat([x, x]), norch.Tensor)
assert_type(x.shape, norch.Size)
assert_type(x.shape[0], int)
assert_type(x.shape[1:], norch.Size)
assert_type(x.size(), norch.Size)
assert_type(x.size(0), int)
assert_type(x.numel(), int)
assert_type(x.dtype, norch.dtype)
assert_type(x.device, norch.device)
assert_type(x.grad, "norch.Tensor | None")
assert_type(x.allclose(x), bool)
assert_type(float(x.sum()), float)
assert_type(model.parameters(), Iterator[nn.Parameter])
assert_type(nn.Linear(2, 3)(x), norch.Tensor)
assert_type(nn.Linear(2, 3).weight, nn.Parameter)
assert_type(nn.Linear(2, 3).weight.mul_(2), nn.Parameter)
assert_type(nn.functional.relu(x), norch.Tensor)
assert_type(model(x), norch.Tensor)
assert_type(model[:1], nn.Sequential)
assert_type(model.eval(), nn.Sequential)
assert_type(nn.LSTM(2, 3)(x), "tuple[norch.Tensor, tuple[norch.Tensor, norch.Tensor]]")
assert_type(nn.ParameterList([x])[0], nn.Parameter)
