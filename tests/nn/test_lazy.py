"""Lazy layers: what they are before, at and after their first input."""

import copy
import pickle

import pytest

import norch
from norch import nn

CASES = [
    (lambda: nn.LazyLinear(4), nn.Linear(3, 4), (5, 3)),
    (lambda: nn.LazyLinear(4, bias=False), nn.Linear(3, 4, bias=False), (2, 5, 3)),
    (lambda: nn.LazyConv1d(4, 2), nn.Conv1d(3, 4, 2), (3, 6)),
    (lambda: nn.LazyConv2d(3, 2, groups=3, bias=False), nn.Conv2d(6, 3, 2, groups=3, bias=False), (2, 6, 4, 5)),
    (lambda: nn.LazyConv3d(4, 2, padding_mode="circular"), nn.Conv3d(3, 4, 2), (2, 3, 3, 4, 3)),
    (lambda: nn.LazyConvTranspose1d(4, 2, stride=2), nn.ConvTranspose1d(3, 4, 2), (2, 3, 5)),
    (lambda: nn.LazyConvTranspose2d(4, 2), nn.ConvTranspose2d(3, 4, 2), (3, 4, 5)),
    (lambda: nn.LazyConvTranspose3d(4, 2), nn.ConvTranspose3d(3, 4, 2), (2, 3, 2, 2, 2)),
    (lambda: nn.LazyBatchNorm1d(), nn.BatchNorm1d(3), (4, 3)),
    (lambda: nn.LazyBatchNorm2d(bias=False), nn.BatchNorm2d(3, bias=False), (4, 3, 2, 2)),
    (lambda: nn.LazyBatchNorm3d(affine=False), nn.BatchNorm3d(3, affine=False), (4, 3, 2, 2, 2)),
    (lambda: nn.LazyInstanceNorm1d(track_running_stats=False), nn.InstanceNorm1d(3, affine=True), (3, 5)),
    (lambda: nn.LazyInstanceNorm2d(affine=False, track_running_stats=False), nn.InstanceNorm2d(3), (4, 3, 2, 2)),
    (
        lambda: nn.LazyInstanceNorm3d(),
        nn.InstanceNorm3d(3, affine=True, track_running_stats=True),
        (4, 3, 2, 2, 2),
    ),
]


@pytest.mark.parametrize("make, like, shape", CASES)
def test_the_first_input_tells_the_sizes(make, like, shape, device):
    lazy, x = make().to(device), norch.rand(*shape, device=device)
    held = list(lazy.parameters())
    assert lazy.has_uninitialized_params() == bool(list(like.state_dict()))
    assert list(lazy.state_dict()) == list(like.state_dict())
    y = lazy(x)
    assert type(lazy) is type(like) and [p.shape for p in lazy.parameters()] == [p.shape for p in like.parameters()]
    assert [id(p) for p in lazy.parameters()] == [id(p) for p in held]  # an optimizer made before still holds them
    assert all(type(p) is nn.Parameter for p in held)
    assert [b.shape for b in lazy.buffers()] == [b.shape for b in like.buffers()]
    assert lazy(x).shape == y.shape
    if held:
        y.sum().backward()
        assert all(p.grad is not None for p in held)


@pytest.mark.parametrize("make, like, shape", CASES[:3] + CASES[5:6] + CASES[8:10] + CASES[13:])
def test_a_loaded_state_stays(make, like, shape):
    lazy = make()
    lazy.load_state_dict(like.state_dict())
    assert not lazy.has_uninitialized_params()
    lazy(norch.rand(*shape))
    assert all(norch.equal(a, b) for a, b in zip(lazy.parameters(), like.parameters()))


def test_nothing_is_known_before():
    layer = nn.LazyLinear(2)
    assert repr(layer.weight) == "<UninitializedParameter>" and "0, output_dim=2" in repr(layer)
    with pytest.raises(RuntimeError, match="no shape"):
        layer.weight.shape  # noqa: B018
    assert repr(nn.LazyBatchNorm1d().running_mean) == "<UninitializedBuffer>"
    with pytest.raises(RuntimeError, match="dimensions"):
        nn.LazyConv2d(3, 2)(norch.ones(3))
    with pytest.raises(ValueError, match="divisible"):
        nn.LazyConv2d(4, 2, groups=2)(norch.ones(3, 4, 4))


def test_a_lazy_network_learns():
    model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
    optimizer = norch.optim.SGD(model.parameters(), lr=0.1)
    norch.manual_seed(0)
    x, y = norch.rand(8, 1, 6, 6), norch.arange(8) % 2
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


class Scale(nn.Module):
    """A layer of a user, which has a lazy one."""

    def __init__(self, size):
        super().__init__()
        self.factor = nn.Parameter(norch.ones(size))

    def forward(self, x, *, shift=0.0):
        return self.factor * x + shift


class LazyScale(nn.modules.lazy.LazyModuleMixin, Scale):
    cls_to_become = Scale

    def __init__(self):
        super().__init__(0)
        self.factor = nn.UninitializedParameter(dtype=norch.float64)

    def initialize_parameters(self, x, shift):
        if self.has_uninitialized_params():
            self.factor.materialize(x.shape[-1:])
            nn.init.constant_(self.factor, 2.0)


def test_a_lazy_module_of_ones_own():
    lazy, x = LazyScale(), norch.ones(2, 3, dtype=norch.float64)
    seen = []
    lazy.register_forward_hook(lambda module, args, y: seen.append(type(module)))
    assert lazy(x, shift=1.0).tolist() == [[3.0] * 3] * 2 and type(lazy) is Scale and seen == [Scale]
    wide = nn.LazyConvTranspose1d(2, 2, stride=2)
    assert wide(norch.ones(1, 3, 4), output_size=[9]).shape == [1, 2, 9]
    loaded = LazyScale()
    loaded.load_state_dict(Scale(3).state_dict())
    assert loaded(x, shift=0.0).tolist() == [[1.0] * 3] * 2

    class Counted(nn.modules.lazy.LazyModuleMixin, nn.Module):
        calls = 0

        def __init__(self):
            super().__init__()
            self.mean, self.kept = nn.UninitializedBuffer(), nn.UninitializedBuffer(persistent=False)

        def initialize_parameters(self, x):
            self.calls += 1
            for buffer in (self.mean, self.kept) if self.calls == 2 else ():
                buffer.materialize(x.shape)

        def forward(self, x):
            return x - self.mean.zero_()

    counted = Counted()
    with pytest.raises(RuntimeError, match="Counted: .* left \\['mean', 'kept'\\] without a shape"):
        counted(x)
    assert counted(x).shape == counted(x).shape == [2, 3] and counted.calls == 2
    assert list(counted._buffers) == ["mean", "kept"] and list(counted.state_dict()) == ["mean"]


def test_a_state_without_shapes():
    for make in (LazyScale, nn.LazyBatchNorm1d):
        lazy = make()
        state = lazy.state_dict()
        kinds = [type(value) for value in state.values()]
        assert nn.UninitializedParameter in kinds and lazy.load_state_dict(state).missing_keys == []
        assert lazy.has_uninitialized_params()
        for copied in (copy.deepcopy(lazy), pickle.loads(pickle.dumps(lazy))):
            assert copied.has_uninitialized_params() and type(copied) is make
            assert [type(value) for value in copied.state_dict().values()] == kinds
            assert [p.dtype for p in copied.parameters()] == [p.dtype for p in lazy.parameters()]
        with pytest.raises(RuntimeError, match="no memory to share"):
            lazy.share_memory()
    with pytest.raises(RuntimeError, match="factor: given an UninitializedParameter"):
        Scale(3).load_state_dict(LazyScale().state_dict())


@pytest.mark.filterwarnings("ignore:.*deprecated")
@pytest.mark.parametrize("split", [nn.utils.weight_norm, nn.utils.spectral_norm, nn.utils.parametrizations.weight_norm])
def test_a_weight_without_a_shape_is_not_split(split):
    with pytest.raises(ValueError, match="no shape before the first call"):
        split(nn.LazyLinear(3))
