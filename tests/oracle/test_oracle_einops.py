"""einops takes norch's tensors, whichever of the two is imported first; results and gradients are those of torch."""

from __future__ import annotations

import copy
import subprocess
import sys

import einops
import pytest
import torch

import norch

CALLS = {
    "transposed": lambda e, x: e.rearrange(x, "a b c -> c a b"),
    "flattened": lambda e, x: e.rearrange(x, "a b c -> a (b c)"),
    "split": lambda e, x: e.rearrange(x, "a (b d) c -> d a b c", d=2),
    "patches": lambda e, x: e.rearrange(x, "(a p) (b q) c -> (a b) (p q c)", p=1, q=2),
    "mean": lambda e, x: e.reduce(x, "a b c -> b", "mean"),
    "max": lambda e, x: e.reduce(x, "a (b 2) c -> a b c", "max"),
    "sum to a scalar": lambda e, x: e.reduce(x, "a b c ->", "sum"),
    "repeated": lambda e, x: e.repeat(x, "a b c -> a (b r) c", r=3),
    "einsum": lambda e, x: e.einsum(x, x, "a b c, a d c -> a b d"),
    "packed": lambda e, x: e.pack([x, x], "a * c")[0],
    "stacked": lambda e, x: e.rearrange([x, x], "n a b c -> a n b c"),
    "newaxis": lambda e, x: e.rearrange(x, "a b c -> a 1 b c 1"),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    values = torch.arange(24, dtype=torch.float64).reshape(2, 4, 3).sin()
    x, y = values.clone().requires_grad_(), norch.tensor(values.tolist(), dtype=norch.float64, requires_grad=True)
    wanted, found = CALLS[name](einops, x), CALLS[name](einops, y)
    assert isinstance(found, norch.Tensor) and tuple(found.shape) == tuple(wanted.shape)
    assert found.tolist() == pytest.approx(wanted.tolist()) if not wanted.ndim else True
    assert found.flatten().tolist() == pytest.approx(wanted.flatten().tolist())
    (wanted**2).sum().backward()
    (found**2).sum().backward()
    assert y.grad.flatten().tolist() == pytest.approx(x.grad.flatten().tolist())


@pytest.mark.parametrize("imports", ["import norch, einops", "import einops, norch"])
def test_either_may_be_imported_first(imports):
    code = f"{imports}; print(einops.rearrange(norch.ones(2, 3), 'a b -> (b a)').shape)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "norch.Size([6])\n"
    done = subprocess.run(
        [sys.executable, "-c", "import norch, sys; print('einops' in sys.modules)"], capture_output=True, text=True
    )
    assert done.stdout == "False\n"


def test_layers():
    from einops.layers import norch as ours
    from einops.layers import torch as theirs

    def model(e, nn):
        patches = e.Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=2, q=2)
        mixed = e.EinMix("b t c -> b k t", weight_shape="c k", bias_shape="k", c=12, k=5)
        grouped = e.EinMix("b (g k) t -> (b g) t", weight_shape="k", g=1, k=5)
        return nn.Sequential(patches, mixed, grouped, e.Reduce("b t -> b", "max"))

    wanted, found = model(theirs, torch.nn), model(ours, norch.nn)
    assert [str(layer) for layer in found] == [str(layer) for layer in wanted]
    found.load_state_dict({name: norch.from_numpy(value.numpy()) for name, value in wanted.state_dict().items()})
    x = torch.arange(96.0).reshape(2, 3, 4, 4).sin()
    assert found(norch.from_numpy(x.numpy())).tolist() == pytest.approx(wanted(x).tolist(), abs=1e-5)
    assert all(isinstance(layer, norch.nn.Module) for layer in found)
    copied = copy.deepcopy(found)
    assert copied(norch.ones(1, 3, 4, 4)).tolist() == found(norch.ones(1, 3, 4, 4)).tolist()
