"""Which classes are kinds of which, as programs ask with isinstance, and the inner names that layers of others use."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402
from norch import nn  # noqa: E402

# What is otherwise: (path, class, its base in one of the libraries alone).
KNOWN = {
    *(("nn", f"Lazy{kind}Norm{n}d", f"{kind}Norm{n}d") for kind in ("Batch", "Instance") for n in (1, 2, 3)),
    *(("distributions", name, "TransformedDistribution") for name in ("Gumbel", "HalfCauchy", "HalfNormal")),
    ("distributions", "LowRankMultivariateNormal", "MultivariateNormal"),
}
PATHS = (
    "nn nn.modules.batchnorm nn.modules.conv nn.modules.dropout nn.modules.instancenorm nn.modules.loss "
    "nn.modules.padding nn.modules.pooling nn.modules.rnn optim optim.lr_scheduler distributions "
    "distributions.transforms utils.data"
).split()


@pytest.mark.parametrize("path", PATHS)
def test_classes_are_kinds_of_the_same_classes(path):
    ours, theirs = (importlib.import_module(f"{library}.{path}") for library in ("norch", "torch"))
    kinds = [
        name
        for name in dir(theirs)
        if isinstance(getattr(theirs, name), type) and isinstance(getattr(ours, name, None), type)
    ]
    kinds = [name for name in kinds if name != "_LRScheduler"]  # torch's is a class of its own that no schedule has
    different = {
        (path, name, base)
        for name in kinds
        for base in kinds
        if issubclass(getattr(ours, name), getattr(ours, base))
        != issubclass(getattr(theirs, name), getattr(theirs, base))
    }
    assert different == {row for row in KNOWN if row[0] == path}


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
def test_a_convolution_with_a_weight_of_the_callers(axes, mode):
    settings = {"padding": 1, "padding_mode": mode, "groups": 2}
    theirs = getattr(torch.nn, f"Conv{axes}d")(4, 6, 3, **settings)
    ours = getattr(nn, f"Conv{axes}d")(4, 6, 3, **settings)
    x, weight = torch.randn(2, 4, *[5] * axes), torch.randn(theirs.weight.shape)
    found = ours._conv_forward(norch.from_numpy(x.numpy()), norch.from_numpy(weight.numpy()), None)
    np.testing.assert_allclose(found.detach().numpy(), theirs._conv_forward(x, weight, None).numpy(), atol=1e-5)
    assert ours._reversed_padding_repeated_twice == list(theirs._reversed_padding_repeated_twice)


def test_a_subclass_may_define_the_convolution():
    class Standardized(nn.Conv2d):
        def _conv_forward(self, input, weight, bias):
            return super()._conv_forward(input, weight - weight.mean(), bias)

    layer = Standardized(1, 1, 3, bias=False)
    assert layer(norch.ones(1, 1, 3, 3)).abs().item() < 1e-6


def test_inner_names_of_torch():
    assert norch.utils.data.DataLoader[int] is norch.utils.data.DataLoader
    inner = nn.modules.transformer
    assert inner._get_activation_fn("gelu") is nn.functional.gelu
    assert [type(layer) for layer in inner._get_clones(nn.Linear(1, 1), 2)] == [nn.Linear] * 2
    assert nn.modules.module._addindent("a\nb", 2) == torch.nn.modules.module._addindent("a\nb", 2)
    assert issubclass(nn.modules.linear.NonDynamicallyQuantizableLinear, nn.Linear)
