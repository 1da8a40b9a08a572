"""Views whose base changes under them, against torch: results, gradients, or a refusal in both.

Each program is text that runs with either library, and makes a result `r`, whose sum is differentiated unless the
program does so. The result is compared, and the gradients of the leaves `w`, `x` and `m`.
"""

from __future__ import annotations

import warnings

import pytest
import torch

import norch

PROGRAMS = """
# a leaf that stops requiring gradients
v = x[0:2]
x.requires_grad_(False)
r = v[0:1] * 2

# and again requires them
v = x[0:2]
x.requires_grad_(False).requires_grad_()
r = v[0:1] * x

# a leaf that requires none, whose view is written
x.requires_grad_(False)
v = x[0:2]
v.mul_(2)
r = x * w

# a view taken before its base requires gradients
a = x.detach().clone()
v = a[0:2]
a.requires_grad_()
r = v[0:1] * 2

# and written to
a = x.detach().clone()
v = a[0:2]
a.requires_grad_()
v.mul_(2)
r = v

# a leaf written under no_grad
v = x[0:2]
with lib.no_grad(): x.mul_(2)
r = v * 3

# a view of a detached result
y = x * 2
v = y[0:2]
y.detach_()
r = v[0:1] * w[0]

# a result that is detached, then written
y = x * 2
v = y[0:2]
y.detach_()
y.mul_(3)
r = y * w

# a base that enters a graph by add_
a = lib.zeros(3).double()
v = a[0:2]
a.add_(w)
r = v * v

# by mul_
a = lib.ones(3).double()
v = a[0:2]
a.mul_(w)
r = (v * v).sum() + a.sum()

# by copy_
a = lib.ones(3).double()
v = a[0:2]
a.copy_(w)
r = (v * v).sum() + a.sum()

# by an index
a = lib.ones(2, 3).double()
v = a.view(-1)
a[0] = w
r = v * v

# by another view
a = lib.ones(2, 3).double()
v = a.view(-1)
u = a[0]
u.copy_(w)
r = v * v + a.view(-1)

# a view of a view
a = lib.ones(2, 3).double()
v = a.view(-1)
u = v[0:2]
a.add_(w)
r = u * u

# a strided base
a = lib.ones(3, 2).double().t()
v = a[0]
a.add_(w)
r = v * v

# a gradient written into a strided base
a = (m * 1).t()
a[0] = w[0:2] * 2
r = a * a

# into a row of a strided base
a = lib.ones(3, 2).double().t()
a[0] = w
r = (a * a).t()

# into every second
a = lib.ones(6).double()[::2]
a[1:] = w[1:]
r = a * a

# into a strided view of a strided base
a = lib.ones(6).double()[::2]
v = a[::2]
v.copy_(w[:2])
r = a * a

# into a permuted base
a = lib.ones(2, 3, 2).double().permute(2, 0, 1)
a[0, 1] = w
r = a * a

# into a diagonal
a = lib.ones(3, 3).double().t()
a.diagonal().copy_(w)
r = a * a

# into an expanded base
a = lib.ones(1, 3).double().expand(2, 3)
a[0] = w
r = a

# a gradient whose memory is strided
r = x * 2
r.backward(lib.ones(3, 2).double()[:, 0])

# a gradient that is expanded
r = x * 2
r.backward(lib.ones(1).double().expand(3))

# a strided grad
x.grad = lib.ones(3, 2).double()[:, 0]
r = x * 2

# a grad added to in place
x.grad = lib.ones(3, 2).double()[:, 0]
x.grad.add_(1)
r = x * 2

# new data
v = x[0:2]
x.data = lib.zeros(3).double()
r = v * 2 + x[0:2]

# a leaf view
v = x.detach()[0:2].requires_grad_()
u = v[0:1]
r = u * 2

# a leaf view that stops
v = x.detach()[0:2].requires_grad_()
u = v[0:1]
v.requires_grad_(False)
r = u[0:1] * 2

# a view detached in place
y = x * 2
v = y[0:2]
v.detach_()
r = v

# a detached view written to
y = x * 2
v = y.detach()[0:2]
v.mul_(2)
r = y * 1

# a base that is reshaped in place
y = m * 1
v = y[0]
y.t_()
r = v * 2

# a base that is unsqueezed in place
y = x * 1
v = y[0:2]
y.unsqueeze_(0)
v.mul_(2)
r = y * 1

# a view after a refused write
v = x[0:2]
try: x.mul_(2)
except RuntimeError: pass
r = v[0:1] * 2
"""

BY_NAME = dict(part.split("\n", 1) for part in PROGRAMS.strip()[2:].split("\n\n# "))


def outcome(program: str, lib) -> list | None:
    """The values that a program leaves, as lists; None if it raises."""
    scope = {
        "lib": lib,
        "w": lib.tensor([3.0, 4.0, 5.0], dtype=lib.float64, requires_grad=True),
        "x": lib.tensor([1.0, 2.0, 3.0], dtype=lib.float64, requires_grad=True),
        "m": lib.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=lib.float64, requires_grad=True),
    }
    leaves = [scope[name] for name in "wxm"]
    try:
        exec(program, scope)
        if scope["r"].requires_grad and ".backward(" not in program:
            scope["r"].sum().backward()
    except RuntimeError:
        return None
    return [scope["r"].detach().tolist(), *(None if leaf.grad is None else leaf.grad.tolist() for leaf in leaves)]


@pytest.mark.parametrize("name", BY_NAME)
def test_views_follow_their_base(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert outcome(BY_NAME[name], norch) == outcome(BY_NAME[name], torch)
