"""Lines as documents of PyTorch show them, run by both libraries: they print the same."""

from __future__ import annotations

import contextlib
import io
import warnings

import pytest

pytest.importorskip("torch")

from test_oracle_programs import translated  # noqa: E402

PRINTED = {
    "pairs": """
x = torch.tensor([[1.0, 5.0, 2.0], [4.0, 3.0, 4.0]])
for name in ["max", "min", "median", "nanmedian", "sort", "topk", "kthvalue", "cummax", "cummin"]:
    arguments = [2] if name in ("topk", "kthvalue") else [1]
    print(getattr(torch, name)(x, *arguments))
print(x.mode(), x.sort(0, descending=True), x.max(1, keepdim=True), sep="\\n")
""",
    "named tuples": """
x = torch.tensor([[2.0, 1.0], [0.0, 4.0]])
print(torch.aminmax(x), torch.frexp(x), torch.histogram(x, 2), torch.histogramdd(x, [2, 2]), sep="\\n")
print(torch.linalg.slogdet(x), torch.linalg.lu(x), torch.linalg.lu_factor(x), torch.linalg.inv_ex(x), sep="\\n")
print(torch.linalg.solve_ex(x, x), torch.linalg.eigh(torch.eye(2)), torch.triangular_solve(x, x), sep="\\n")
""",
    "pickled pairs": """
import copy, pickle
pair = torch.tensor([3, 1, 2]).sort()
print(pickle.loads(pickle.dumps(pair)), copy.deepcopy(pair), type(pair).__name__, len(pair))
""",
    "no tensors": "print(torch.atleast_1d(), torch.atleast_2d(), torch.atleast_3d())",
    "composed transforms": """
from torch.distributions import AffineTransform, ComposeTransform, ExpTransform, SigmoidTransform
print(ComposeTransform([AffineTransform(0.0, 2.0), SigmoidTransform(), ComposeTransform([ExpTransform()])]))
""",
    "dlpack": """
from torch.utils.dlpack import from_dlpack, to_dlpack
x = torch.arange(6).reshape(2, 3)
y = from_dlpack(to_dlpack(x))
y[0, 0] = 9
print(x, y, from_dlpack(x.numpy()))
""",
    "handles of hooks": """
from torch.utils.hooks import RemovableHandle
x = torch.ones(2, requires_grad=True)
handles = [x.register_hook(lambda g: 3 * g), torch.nn.ReLU().register_forward_hook(print)]
print([isinstance(handle, RemovableHandle) for handle in handles])
""",
    "gradients are a tuple": "print(torch.gradient(torch.tensor([1.0, 4.0, 9.0, 16.0]), spacing=2.0))",
    "asarray in a graph": """
b = torch.ones(2, requires_grad=True)
for y in b, b + 1, b.detach():
    for options in {"requires_grad": True}, {"requires_grad": False}:
        made = torch.asarray(y, **options)
        print(made.requires_grad, made.is_leaf, made.data_ptr() == y.data_ptr())
""",
    "quantizers": """
from torch.autograd.function import InplaceFunction
from torch.autograd.gradcheck import GradcheckError, gradcheck
class Quantize(InplaceFunction):
    @staticmethod
    def forward(ctx, x, inplace=False):
        if inplace:
            ctx.mark_dirty(x)
        return x.round_() if inplace else x.clone().round_()
    @staticmethod
    def backward(ctx, gradient):
        return gradient, None
x = torch.tensor([0.4, 1.7], dtype=torch.float64, requires_grad=True)
for inplace in False, True:
    Quantize.apply(x * 2, inplace).sum().backward()
    print(x.grad)
try:
    gradcheck(Quantize.apply, [x])
except GradcheckError:
    print("the gradient is not that of round")
""",
    "hooks pickled": """
import copy, operator, pickle
net = torch.nn.Sequential(torch.nn.Identity())
net.handles = [net.register_forward_pre_hook(operator.ne), net[0].register_forward_hook(slice)]
for made in copy.deepcopy(net), pickle.loads(pickle.dumps(net)):
    shown = made(torch.ones(2))
    print(type(shown).__name__, shown.stop, shown.step, [isinstance(handle.id, int) for handle in made.handles])
net.handles[0].remove()
print(net(torch.ones(2)).step, pickle.loads(pickle.dumps(net))(torch.zeros(1)).stop)
""",
    "gradients of convolutions": """
import torch.nn as nn
for n in 1, 2, 3:
    x = torch.arange(8.0).reshape(1, 2, 4).expand(2, 2, 4).reshape([2, 2, 4] + [1] * (n - 1))
    weight = torch.arange(12.0).reshape([4, 1, 3] + [1] * (n - 1)) - 5
    options = dict(stride=1, padding=[1] + [0] * (n - 1), dilation=1, groups=2)
    gradient = torch.arange(float(2 * 4 * 4)).reshape([2, 4, 4] + [1] * (n - 1))
    print(getattr(nn.grad, f"conv{n}d_input")(x.shape, weight, gradient, **options))
    print(getattr(nn.grad, f"conv{n}d_weight")(x, weight.shape, gradient, **options))
""",
    "dtypes of Python": """
import torch.nn as nn
print(torch.zeros(2, dtype=float), torch.ones(1).to(float).dtype, torch.arange(3, dtype=int), torch.ones(1, dtype=bool))
print(nn.Linear(1, 1, dtype=float).weight.dtype, torch.ones(2).sum(dtype=float).dtype, torch.tensor([1], dtype=float))
""",
    "paths of distributions": """
import torch.distributions
from torch.distributions.beta import Beta
from torch.distributions.one_hot_categorical import OneHotCategorical
print(Beta is torch.distributions.Beta, torch.distributions.uniform.Uniform is torch.distributions.Uniform)
print(torch.distributions.categorical.Categorical is torch.distributions.Categorical, OneHotCategorical.__name__)
""",
    "paths of layers": """
from torch.cuda.amp.grad_scaler import GradScaler
from torch.nn.modules.adaptive import AdaptiveLogSoftmaxWithLoss
from torch.nn.modules.channelshuffle import ChannelShuffle
from torch.nn.modules.distance import CosineSimilarity, PairwiseDistance
from torch.nn.modules.flatten import Flatten, Unflatten
from torch.nn.modules.pixelshuffle import PixelShuffle, PixelUnshuffle
print([name for name in sorted(dir()) if not name.startswith("_")])
""",
    "power iterations of the older spectral_norm": """
layer = torch.nn.utils.spectral_norm(torch.nn.Linear(3, 2, bias=False), n_power_iterations=2)
with torch.no_grad():
    layer.weight_orig.copy_(torch.tensor([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]]))
    layer.weight_u.copy_(torch.tensor([0.6, 0.8]))
for _ in range(2):
    print(layer(torch.ones(1, 3)).detach(), layer.weight_u, layer.weight_v)
""",
    "sparse": "print(torch.eye(2).to_sparse_coo().indices())",
}


def shown(source: str) -> str:
    text = io.StringIO()
    with contextlib.redirect_stdout(text), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(source, {"__name__": "example"})
    return text.getvalue()


@pytest.mark.parametrize("name", PRINTED)
def test_both_print_the_same(name):
    source = "import torch\n" + PRINTED[name].lstrip("\n")
    expected = shown(source)
    assert expected
    assert shown(translated(source)).replace("norch.", "torch.") == expected
