"""norch.nn's layers and containers."""

import math
import random
from collections import OrderedDict

import pytest
from compare import close
from linear import layer

import norch
from norch import nn
from norch.nn import functional as F

# ---- Layers ---------------------------------------------------------------------------------------------------------


def test_linear_draws_weight_then_bias():
    random.seed(5)
    numbers = norch.Tensor([random.uniform(-1, 1) for _ in range(9)]).tolist()
    random.seed(5)
    linear = nn.Linear(2, 3)
    assert linear.weight.shape == [3, 2] and linear.bias.shape == [3]
    assert linear.weight.reshape(-1).tolist() + linear.bias.tolist() == numbers
    linear.reset_parameters()
    assert linear.bias.tolist() != numbers[6:]


@pytest.mark.parametrize("inputs, bound", [(1, 1.0), (10, 1.0), (11, 11**-0.5), (400, 0.05)])
def test_the_bound_of_linear_and_the_seed(inputs, bound):
    def values():
        norch.manual_seed(7)
        linear = nn.Linear(inputs, 50)
        return linear.weight.flatten().tolist() + linear.bias.tolist()

    state, drawn = random.getstate(), values()
    assert all(-bound <= value <= bound for value in drawn) and 0.85 * bound < max(drawn) and min(drawn) < -0.85 * bound
    assert values() == drawn and random.getstate() == state


def test_deep_wide_models_keep_their_signal():
    norch.manual_seed(0)
    model = nn.Sequential(*[layer for _ in range(10) for layer in (nn.Linear(100, 100), nn.Tanh())])
    spread = model(norch.randn(200, 100)).std().item()
    assert 0.005 < spread < 0.5  # from [-1, 1] every tanh would be saturated: 0.99


@pytest.mark.parametrize(
    "x, expected",
    [
        ([1.0, 2.0], [5.5, 10.0, 17.5]),
        ([[1.0, 2.0]], [[5.5, 10.0, 17.5]]),
        ([[1.0, 2.0], [0.0, 1.0]], [[5.5, 10.0, 17.5], [2.5, 2.0, 5.5]]),
        ([[[1.0, 2.0]], [[0.0, 1.0]]], [[[5.5, 10.0, 17.5]], [[2.5, 2.0, 5.5]]]),
        ([[1.0], [2.0]], [[5.5], [10.0], [17.5]]),
        ([[[1.0], [2.0]], [[0.0], [1.0]]], [[[5.5], [10.0], [17.5]], [[2.5], [2.0], [5.5]]]),
    ],
)
def test_linear_takes_rows_and_columns(x, expected):
    linear = layer([[1.0, 2.0], [4.0, 4.0], [5.0, 7.0]], [0.5, -2.0, -1.5])
    close(linear(norch.Tensor(x)), expected)
    linear = layer([[1.0, 2.0], [4.0, 4.0], [5.0, 7.0]])
    assert linear.bias is None
    flat = linear(norch.Tensor(x)).reshape(-1).tolist()
    assert flat[0] == 5.0 and len(flat) == norch.Tensor(expected).numel


def test_linear_of_one_input_takes_its_column_for_a_row():
    linear = layer([[2.0], [3.0]], [1.0, 1.0])
    close(linear(norch.Tensor([[5.0]])), [[11.0, 16.0]])
    close(linear(norch.Tensor([[5.0], [6.0]])), [[11.0, 16.0], [13.0, 19.0]])


@pytest.mark.parametrize("column", [False, True])
def test_linear_s_gradients(column):
    linear = layer([[1.0, 2.0], [3.0, 4.0]], [0.0, 0.0])
    x = norch.Tensor([[5.0], [6.0]] if column else [[5.0, 6.0]], requires_grad=True)
    scale = norch.Tensor([[1.0], [10.0]] if column else [[1.0, 10.0]])
    (linear(x) * scale).sum().backward()
    close(linear.weight.grad, [[5.0, 6.0], [50.0, 60.0]])
    close(linear.bias.grad, [1.0, 10.0])
    close(x.grad, [[31.0], [42.0]] if column else [[31.0, 42.0]])


def test_linear_by_keyword_and_with_dtype():
    linear = nn.Linear(in_features=2, out_features=3, dtype=norch.float64)
    assert (linear.in_features, linear.out_features, linear.input_dim, linear.output_dim) == (2, 3, 2, 3)
    assert linear.weight.dtype is norch.float64 and linear.bias.dtype is norch.float64
    assert nn.Linear(input_dim=2, output_dim=3).weight.shape == [3, 2]
    assert nn.Linear(0, 3)(norch.zeros(2, 0)).shape == [2, 3]


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: nn.Linear(), TypeError, "input_dim"),
        (lambda: nn.Linear(1), TypeError, "output_dim"),
        (lambda: nn.Linear(1, 2, in_features=1), TypeError, "in_features"),
        (lambda: nn.Linear(-1, 2), ValueError, "-1"),
        (lambda: nn.Linear(1.5, 2), TypeError, "1.5"),
        (lambda: nn.Linear(2, 3)([1.0, 2.0]), TypeError, "list"),
        (lambda: nn.Linear(2, 3)(norch.zeros(4, 3)), ValueError, r"\[4, 3\].*\[\.\.\., 2\]"),
        (lambda: nn.Linear(2, 3)(norch.zeros(3, 1)), ValueError, r"\[3, 1\]"),
        (lambda: F.linear(norch.zeros(2), norch.zeros(1, 3, 2)), ValueError, r"\[1, 3, 2\].*\[out, in\] or \[in\]"),
        (lambda: F.linear(norch.zeros(2, 1), norch.zeros(2)), ValueError, r"expected \[\.\.\., 2\]$"),
        (lambda: F.linear_cross_entropy(norch.zeros(1, 2), norch.zeros(2), norch.tensor([0])), ValueError, "size"),
        (lambda: F.linear_cross_entropy(norch.zeros(2), norch.zeros(3, 4, 2), norch.zeros(3, 4)), ValueError, "d1"),
    ],
)
def test_linear_refuses(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_linear_takes_a_weight_of_one_output():
    x, w = norch.arange(6.0).reshape(2, 3).requires_grad_(), norch.tensor([1.0, 2, 3], requires_grad=True)
    result = F.linear(x, w, norch.tensor(0.5))
    assert result.tolist() == [8.5, 26.5]
    result.sum().backward()
    assert x.grad.tolist() == [[1, 2, 3]] * 2 and w.grad.tolist() == [3, 5, 7]


@pytest.mark.parametrize(
    "module, function, expected",
    [
        (nn.Sigmoid(), F.sigmoid, [0.1192029, 0.5, 0.9525741, 1.0]),
        (nn.Tanh(), F.tanh, [-0.9640276, 0.0, 0.9950548, 1.0]),
        (nn.ReLU(), F.relu, [0.0, 0.0, 3.0, 1000.0]),
        (nn.Identity("ignored", key=1), lambda x: x, [-2.0, 0.0, 3.0, 1000.0]),
    ],
)
def test_activations(module, function, expected):
    x = norch.Tensor([-2.0, 0.0, 3.0, 1000.0])
    close(module(x), expected)
    close(function(x), expected)
    close(module(-x)[3:], {nn.Tanh: [-1.0], nn.Identity: [-1000.0]}.get(type(module), [0.0]))


def test_relu_in_place():
    x = norch.Tensor([-1.0, 2.0])
    assert nn.ReLU(inplace=True)(x) is x and x.tolist() == [0.0, 2.0]


def test_softmax_and_its_log():
    x = norch.Tensor([[0.0, math.log(3.0)], [1000.0, 0.0]])
    close(nn.Softmax(dim=1)(x), [[0.25, 0.75], [1.0, 0.0]])
    close(nn.LogSoftmax(dim=-1)(x), [[math.log(0.25), math.log(0.75)], [0.0, -1000.0]])
    close(F.softmax(x[:1], dim=0), [[1.0, 1.0]])
    with pytest.warns(UserWarning, match="dim"):
        close(nn.Softmax()(x), [[0.25, 0.75], [1.0, 0.0]])


def test_flatten():
    assert nn.Flatten()(norch.zeros(2, 3, 4)).shape == [2, 12]
    assert nn.Flatten(0, 1)(norch.zeros(2, 3, 4)).shape == [6, 4]
    assert "start_dim=1, end_dim=-1" in repr(nn.Flatten())


# ---- Containers -----------------------------------------------------------------------------------------------------


def test_sequential_calls_in_order_and_indexes_like_a_list():
    first, second, third = layer([[2.0]], [1.0]), nn.ReLU(), layer([[3.0]], [0.0])
    model = nn.Sequential(first, second, third)
    close(model(norch.Tensor([[4.0]])), [[27.0]])
    assert len(model) == 3 and list(model) == [first, second, third]
    assert model[0] is first and model[-1] is third
    assert (
        isinstance(model[:2], nn.Sequential)
        and list(model[:2]) == [first, second]
        and list(model[::2]) == [first, third]
    )
    assert model.append(nn.Tanh()) is model and len(model) == 4
    model[1] = replaced = nn.Identity()
    assert model[1] is replaced and [name for name, _ in model.named_children()] == ["0", "1", "2", "3"]
    del model[1]
    assert list(model)[:2] == [first, third] and [name for name, _ in model.named_children()] == ["0", "1", "2"]
    model.insert(0, second)
    assert list(model)[:2] == [second, first] and model.pop(0) is second and len(model) == 3
    del model[1:]
    assert list(model) == [first] and [name for name, _ in model.named_parameters()] == ["0.weight", "0.bias"]


def test_sequential_keeps_names():
    model = nn.Sequential(OrderedDict([("up", layer([[2.0]])), ("act", nn.ReLU())]))
    assert [name for name, _ in model.named_children()] == ["up", "act"] and model.up is model[0]
    assert list(model[:1].state_dict()) == ["up.weight"]
    close(model(norch.Tensor([[4.0]])), [[8.0]])


def test_module_list_is_found_and_grows():
    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(1, 1) for _ in range(2)])

        def forward(self, x):
            for module in self.layers:
                x = module(x)
            return x

    model = Stack()
    assert [name for name, _ in model.named_parameters()][::2] == ["layers.0.weight", "layers.1.weight"]
    model.layers.append(nn.Linear(1, 1))
    model.layers.extend([nn.ReLU()])
    model.layers += [nn.Tanh()]
    assert len(model.layers) == 5 and len(list(model.parameters())) == 6
    assert isinstance(model.layers[1:], nn.ModuleList) and len(model.layers[1:]) == 4
    assert model.layers[2] in model.layers and model(norch.zeros(1, 1)).shape == [1, 1]
    assert len(nn.ModuleList()) == 0


def test_containers_refuse():
    model = nn.Sequential(nn.ReLU())
    with pytest.raises(IndexError, match="1 .*1 modules"):
        model[1]
    with pytest.raises(IndexError):
        model[-2] = nn.ReLU()
    for use in (lambda: nn.Sequential(F.relu), lambda: model.append(1), lambda: nn.ModuleList([1]), lambda: model["a"]):
        with pytest.raises(TypeError):
            use()
    with pytest.raises(TypeError, match="ReLU"):
        nn.ModuleList(nn.ReLU())
    with pytest.raises(NotImplementedError):
        nn.ModuleList()(1)


def test_layers_are_made_on_the_device_of_the_context(device):
    with norch.device(device):
        layers = [nn.PReLU(), nn.Embedding(3, 2), nn.Bilinear(2, 2, 1), nn.LazyBatchNorm1d(), nn.LazyLinear(2)]
        layers[3](norch.ones(4, 3)), layers[4](norch.ones(4, 3))
    assert {tensor.is_cuda for layer in layers for tensor in layer.state_dict().values()} == {device == "cuda"}


def test_the_sizes_of_a_linear_layer_may_be_set_by_their_other_names():
    layer = nn.Linear(2, 3)
    layer.in_features, layer.out_features = 4, 5
    assert (layer.input_dim, layer.output_dim) == (layer.in_features, layer.out_features) == (4, 5)


def test_a_parameter_of_nothing_is_empty():
    assert nn.Parameter().shape == [0] and nn.Parameter(requires_grad=False).requires_grad is False
