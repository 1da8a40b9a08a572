"""Computed parameters, weight and spectral norms (both forms), orthogonal weights, parameters as a vector, fusion."""

import copy
import math

import pytest
from compare import close

import norch
from norch import nn
from norch.nn.utils import parametrizations, parametrize


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).T

    def right_inverse(self, x):
        return x.triu()


class Twice(nn.Module):
    def forward(self, x):
        return 2 * x


@pytest.fixture(autouse=True)
def seeded():
    norch.manual_seed(12)


# ---- Parametrizations in general -------------------------------------------------------------------------------------


def test_a_parametrized_weight_is_computed_and_trained():
    layer = nn.Linear(3, 3)
    assert parametrize.register_parametrization(layer, "weight", Symmetric()) is layer
    assert parametrize.is_parametrized(layer) and parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias") and isinstance(layer, nn.Linear)
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    assert layer.weight.tolist() == layer.weight.T.tolist()
    assert [name for name, _ in layer.named_parameters()] == ["bias", "parametrizations.weight.original"]
    layer(norch.ones(1, 3)).sum().backward()
    assert layer.parametrizations.weight.original.grad.tril(-1).abs().max().item() == 0.0
    optimizer = norch.optim.SGD(layer.parameters(), lr=0.1)
    before = layer.weight.tolist()
    optimizer.step()
    assert layer.weight.tolist() != before and layer.weight.tolist() == layer.weight.T.tolist()


def test_assigning_goes_through_the_inverse():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Symmetric())
    layer.weight = norch.tensor([[1.0, 2.0], [2.0, 3.0]])
    assert layer.weight.tolist() == [[1.0, 2.0], [2.0, 3.0]]
    assert layer.parametrizations.weight.original.tolist() == [[1.0, 2.0], [0.0, 3.0]]
    with pytest.raises(RuntimeError, match="right_inverse"):
        parametrize.register_parametrization(nn.Linear(2, 2), "weight", Twice()).weight = norch.ones(2, 2)


def test_parametrizations_are_applied_in_order_and_removed():
    layer = nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    parametrize.register_parametrization(layer, "weight", Twice())
    original = layer.parametrizations.weight.original
    expected = (2 * (original.triu() + original.triu(1).T)).tolist()
    assert layer.weight.tolist() == expected and layer.parametrizations.weight[0].get_name() == "Symmetric"
    assert parametrize.remove_parametrizations(layer, "weight") is layer
    assert type(layer) is nn.Linear and isinstance(layer.weight, nn.Parameter) and layer.weight.tolist() == expected
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight"]
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Twice())
    original = layer.parametrizations.weight.original
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert layer.weight is original


def test_states_and_copies():
    first = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Symmetric())
    second = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Symmetric())
    assert list(first.state_dict()) == ["bias", "parametrizations.weight.original"]
    second.load_state_dict(first.state_dict())
    assert second.weight.tolist() == first.weight.tolist()
    third = copy.deepcopy(nn.Sequential(first))[0]
    third.weight = norch.zeros(2, 2)
    assert first.weight.abs().max() > 0 and third.weight.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert parametrize.is_parametrized(third, "weight")
    target = parametrize.transfer_parametrizations_and_params(first, nn.Linear(2, 2))
    assert target.weight.tolist() == first.weight.tolist()


def test_in_a_block_a_weight_is_computed_once():
    calls = []

    class Counted(nn.Module):
        def forward(self, x):
            calls.append(1)
            return x * 1.0

    layer = parametrize.register_parametrization(nn.Linear(1, 1), "weight", Counted(), unsafe=True)
    calls.clear()
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert len(calls) == 1 and layer.weight is not layer.weight
    apart = parametrize.cached()(lambda: layer.weight)  # in each call
    assert apart() is not apart()


def test_buffers_can_be_computed():
    layer = nn.Module()
    layer.register_buffer("scale", norch.ones(2))
    parametrize.register_parametrization(layer, "scale", Twice())
    assert layer.scale.tolist() == [2.0, 2.0] and list(layer.parameters()) == []
    parametrize.remove_parametrizations(layer, "scale")
    assert layer.scale.tolist() == [2.0, 2.0] and [name for name, _ in layer.named_buffers()] == ["scale"]


class Wide(nn.Module):
    def forward(self, x):
        return norch.cat([x, x])


class Inverse(Twice):
    def __init__(self, values):
        super().__init__()
        self.values = values

    def right_inverse(self, x):
        return self.values


def assigned(layer, value):
    layer.weight = value


def transferred(layer, name):
    target = nn.Module()
    try:
        parametrize.transfer_parametrizations_and_params(layer, target, name)
    finally:
        assert not list(target.parameters())


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda layer: parametrize.register_parametrization(layer, "kernel", Twice()), ValueError),
        (lambda layer: parametrize.register_parametrization(layer, "weight", Wide()), ValueError),
        (lambda layer: parametrize.remove_parametrizations(layer, "weight"), ValueError),
        (lambda layer: nn.utils.spectral_norm(nn.utils.spectral_norm(layer)), RuntimeError),
        (lambda layer: nn.utils.spectral_norm(layer, "kernel"), KeyError),
        (lambda layer: parametrizations.orthogonal(layer, "bias"), ValueError),
        (lambda layer: parametrizations.orthogonal(layer, orthogonal_map="qr"), ValueError),
        (lambda layer: parametrizations.spectral_norm(layer, "kernel"), ValueError),
        (lambda layer: parametrizations.spectral_norm(layer, n_power_iterations=0), ValueError),
        (lambda layer: nn.utils.spectral_norm(layer, n_power_iterations=0), ValueError),
        (lambda layer: nn.utils.remove_weight_norm(layer), ValueError),
        (lambda layer: nn.utils.remove_spectral_norm(layer), ValueError),
        (lambda layer: assigned(parametrizations.weight_norm(layer), nn.Parameter(norch.ones(3, 2))), KeyError),
        (lambda layer: assigned(parametrizations.weight_norm(layer), nn.Buffer(norch.ones(3, 2))), KeyError),
        (lambda layer: transferred(parametrizations.weight_norm(layer), "kernel"), AttributeError),
        (lambda layer: transferred(parametrizations.weight_norm(layer), "bias"), KeyError),
        (lambda layer: parametrize.register_parametrization(layer, "weight", Inverse(None)), ValueError),
        (lambda layer: parametrize.register_parametrization(layer, "weight", Inverse([1.0])), ValueError),
        (lambda layer: nn.utils.vector_to_parameters([1.0], [layer.weight]), TypeError),
        (lambda layer: nn.utils.vector_to_parameters(norch.ones(1), [layer.weight]), RuntimeError),
    ],
)
def test_refusals(call, error):
    with pytest.raises(error):
        call(nn.Linear(2, 3))


# ---- Norms ----------------------------------------------------------------------------------------------------------


def both(name, layer, **options):
    """The layer with a norm, by a parametrization and by hooks."""
    yield getattr(parametrizations, name)(copy.deepcopy(layer), **options)
    if name == "weight_norm":
        with pytest.warns(FutureWarning, match="deprecated"):
            yield nn.utils.weight_norm(copy.deepcopy(layer), **options)
    else:
        yield nn.utils.spectral_norm(copy.deepcopy(layer), **options)


@pytest.mark.parametrize("dim, shape", [(0, [4, 1, 1]), (1, [1, 3, 1]), (None, [])])
def test_weight_norm(dim, shape):
    layer, x = nn.Conv1d(3, 4, 2), norch.ones(1, 3, 5)
    expected = layer(x).tolist()
    for normed, g in zip(both("weight_norm", layer, dim=dim), ("parametrizations.weight.original0", "weight_g")):
        close(normed(x), expected, 1e-5)
        length = dict(normed.named_parameters())[g]
        assert length.shape == shape
        with norch.no_grad():
            length.mul_(2.0)
        close(
            normed(x) - normed.bias.reshape(1, 4, 1),
            (2 * (norch.tensor(expected) - layer.bias.reshape(1, 4, 1))).tolist(),
            1e-5,
        )
        normed(x).sum().backward()
        assert all(p.grad is not None for p in normed.parameters())
    nn.utils.remove_weight_norm(normed)
    close(normed.weight, (2 * layer.weight).tolist(), 1e-5)
    assert normed._hooks is None or not normed._hooks.before


def test_spectral_norm():
    layer = nn.Linear(5, 4, dtype=norch.float64)
    for normed in both("spectral_norm", layer, n_power_iterations=60):
        normed(norch.ones(1, 5, dtype=norch.float64)).sum().backward()
        w = normed.weight.detach()
        largest = max(math.sqrt(abs(x)) for x in eigenvalues(w @ w.T))
        assert largest == pytest.approx(1.0, rel=1e-6)
        close(w / w[0, 0], (layer.weight / layer.weight[0, 0]).tolist(), 1e-9)
        value = normed.eval().weight.tolist()
        normed(norch.ones(1, 5, dtype=norch.float64))
        assert normed.weight.tolist() == value  # eval does not move the singular vectors
    assert sorted(normed.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    nn.utils.remove_spectral_norm(normed)
    assert sorted(normed.state_dict()) == ["bias", "weight"] and normed.weight.tolist() == value
    assert isinstance(parametrizations.spectral_norm(nn.Conv2d(2, 3, 2)).weight, norch.Tensor)


def eigenvalues(matrix):
    """The largest eigenvalue of a symmetric matrix, by many steps of the power method."""
    x = norch.ones(matrix.shape[0], dtype=matrix.dtype)
    for _ in range(2000):
        y = matrix @ x
        x = y / y.norm()
    return [float(x @ (matrix @ x))]


@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder", None])
@pytest.mark.parametrize("sizes", [(4, 4), (6, 3), (3, 6)])
@pytest.mark.parametrize("trivial", [True, False])
def test_orthogonal_weights_stay_orthogonal(kind, sizes, trivial):
    layer = nn.Linear(*sizes, dtype=norch.float64)
    parametrizations.orthogonal(layer, orthogonal_map=kind, use_trivialization=trivial)
    optimizer = norch.optim.SGD(layer.parameters(), lr=0.3)
    seen = []
    for _ in range(4):
        w = layer.weight
        product = w @ w.T if sizes[0] >= sizes[1] else w.T @ w
        close(product, norch.eye(min(sizes), dtype=norch.float64).tolist(), 1e-12)
        seen.append(w.tolist())
        optimizer.zero_grad()
        (layer(norch.ones(2, sizes[0], dtype=norch.float64)) ** 2).sum().backward()
        optimizer.step()
    assert seen[0] != seen[1] != seen[2]


def test_an_orthogonal_weight_is_kept_as_the_first_value():
    for kind in ("matrix_exp", "cayley", "householder"):
        layer = nn.Linear(4, 4, dtype=norch.float64)
        nn.init.orthogonal_(layer.weight)
        value = layer.weight.tolist()
        close(parametrizations.orthogonal(layer, orthogonal_map=kind).weight, value, 1e-12)
        other = nn.init.orthogonal_(norch.empty(4, 4, dtype=norch.float64))
        with norch.no_grad():
            layer.weight = other
        close(layer.weight, other.tolist(), 1e-12)


# ---- Vectors, fused layers, norms of gradients -----------------------------------------------------------------------


def test_parameters_as_a_vector_and_back():
    layer = nn.Linear(2, 3)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    assert vector.shape == [9] and vector.requires_grad
    new = norch.arange(9).float()
    nn.utils.vector_to_parameters(new, layer.parameters())
    assert layer.weight.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]] and layer.bias.tolist() == [6.0, 7.0, 8.0]
    assert layer.weight.data_ptr() == new.data_ptr()


def test_fused_layers():
    bn, x = nn.BatchNorm2d(3), norch.randn(2, 2, 4, 4)
    nn.init.uniform_(bn.weight, 0.5, 2.0)
    conv = nn.Conv2d(2, 3, 2, bias=False)
    bn(conv(x))
    conv, bn = conv.eval(), bn.eval()
    close(nn.utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)).tolist(), 1e-5)
    with pytest.raises(RuntimeError, match="eval"):
        nn.utils.fuse_conv_bn_eval(conv.train(), bn)
    linear, norm, x = nn.Linear(4, 3), nn.BatchNorm1d(3), norch.randn(5, 4)
    norm(linear(x))
    linear, norm = linear.eval(), norm.eval()
    close(nn.utils.fuse_linear_bn_eval(linear, norm)(x), norm(linear(x)).tolist(), 1e-5)


def test_total_norms_and_scaling_by_them():
    w = nn.Parameter([3.0, 4.0])
    w.grad = norch.tensor([3.0, 4.0])
    total = nn.utils.get_total_norm([w.grad])
    assert total.item() == 5.0 and nn.utils.get_total_norm([]).item() == 0.0
    nn.utils.clip_grads_with_norm_([w], 1.0, total, foreach=True)
    close(w.grad, [0.6, 0.8])
    nn.utils.clip_grad_norm_(iter([w]), 0.5, foreach=False)
    close(w.grad, [0.3, 0.4])
    with pytest.raises(RuntimeError, match="inf"):
        nn.utils.get_total_norm([norch.tensor([math.inf])], error_if_nonfinite=True)
    with pytest.warns(FutureWarning, match="clip_grad_norm_"):
        nn.utils.clip_grad_norm([w], 1.0)
    assert nn.utils.skip_init(nn.Linear, 2, 3).weight.shape == [3, 2]


def test_a_second_parametrization_leaves_the_values_behind_the_first():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Twice())
    original = layer.parametrizations.weight.original.tolist()
    parametrizations.spectral_norm(parametrize.register_parametrization(layer, "weight", Twice()))
    assert layer.parametrizations.weight.original.tolist() == original
    assert abs(norch.linalg.matrix_norm(layer.weight.detach(), 2).item() - 1) < 0.5


def test_transferred_parameters_are_shared():
    source, target = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)), nn.Linear(2, 2)
    assert parametrize.transfer_parametrizations_and_params(nn.Linear(2, 2), target) is target
    assert not parametrize.is_parametrized(target)
    parametrize.transfer_parametrizations_and_params(source, target)
    for name in ("original0", "original1"):
        assert getattr(target.parametrizations.weight, name) is getattr(source.parametrizations.weight, name)


def test_spectral_norm_iterates_at_each_forward_and_not_before():
    layer = nn.utils.spectral_norm(nn.Linear(3, 2))
    assert layer.weight.tolist() == layer.weight_orig.tolist()
    u = layer.weight_u.tolist()
    layer(norch.ones(3))
    assert layer.weight_u.tolist() != u


def test_a_copied_model_has_no_gradients():
    layer = nn.Linear(2, 1)
    layer(norch.ones(2)).backward()
    assert layer.weight.grad is not None and copy.deepcopy(layer).weight.grad is None


def test_a_weight_is_split_once():
    with pytest.warns(FutureWarning):
        layer = nn.utils.weight_norm(nn.Linear(2, 1))
        with pytest.raises(RuntimeError, match="already"):
            nn.utils.weight_norm(layer)


def test_orthogonal_weights_may_come_in_batches_and_on_top():
    layer = nn.ConvTranspose1d(3, 2, 4)
    parametrizations.orthogonal(layer)
    close(layer.weight @ layer.weight.mT, norch.eye(2).expand(3, 2, 2), 1e-5)
    square = parametrizations.orthogonal(parametrize.register_parametrization(nn.Linear(3, 3), "weight", Twice()))
    close(square.weight @ square.weight.T, norch.eye(3), 1e-5)


def test_an_inverse_writes_into_the_parameter_that_an_optimizer_holds():
    layer = nn.Linear(2, 2)
    weight = layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert layer.parametrizations.weight.original is weight and weight[1, 0].item() == 0


@pytest.mark.parametrize("dim", [2, -3])
def test_a_weight_has_no_lengths_along_a_dim_that_it_has_not(dim):
    with pytest.raises(IndexError, match="weight_norm"):
        parametrizations.weight_norm(nn.Linear(2, 2), dim=dim)
    with pytest.raises(TypeError, match="no Parameter"):
        nn.utils.prune.identity(parametrizations.weight_norm(nn.Linear(2, 2)), "weight")


def test_weight_norm_loads_the_names_that_it_had():
    new, old = both("weight_norm", nn.Linear(3, 2))
    new.weight = norch.ones(2, 3)
    nn.Sequential(new).load_state_dict(nn.Sequential(old).state_dict())
    x = norch.rand(4, 3)
    close(new(x), old(x))
    copy.deepcopy(new).load_state_dict(new.state_dict())


def test_removing_a_spectral_norm_takes_no_further_step():
    layer, x = nn.utils.spectral_norm(nn.Linear(3, 4)), norch.rand(2, 3)
    before = layer(x)
    nn.utils.remove_spectral_norm(layer)
    assert layer(x).tolist() == before.tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda: nn.utils.parametrizations.weight_norm(3),
        lambda: nn.utils.parametrize.register_parametrization(nn.Linear(1, 1), "weight", 2.0),
    ],
)
def test_what_is_no_module_is_named(call):
    with pytest.raises(TypeError, match="expected a Module, got (int|float)"):
        call()


@pytest.mark.parametrize("dims", [2, 3])
def test_weights_in_another_order_of_memory(dims):
    convert = getattr(nn.utils, f"convert_conv{dims}d_weight_memory_format")
    kinds = [getattr(nn, f"{name}{dims}d") for name in ("Conv", "ConvTranspose")]
    layers = [kind(2, 3, 3) for kind in kinds]
    other = getattr(nn, f"Conv{5 - dims}d")(2, 3, 3)
    model = nn.Sequential(layers[0], nn.Sequential(layers[1], nn.Linear(2, 2)), other)
    before = [layer.weight.tolist() for layer in layers]
    order = norch.channels_last if dims == 2 else norch.channels_last_3d
    assert convert(model, order) is model
    for layer, values in zip(layers, before):
        assert layer.weight.is_contiguous(memory_format=order) and not layer.weight.is_contiguous()
        assert layer.weight.tolist() == values and layer.weight.is_leaf and layer.weight.requires_grad
    assert other.weight.is_contiguous()
    with pytest.raises(TypeError):
        convert(3, order)
