"""norch.optim: Optimizer's groups and state, and SGD against sequences worked out by hand."""

import math

import pytest

import norch
from norch import nn, optim
from norch.autograd.node import AccumulateGrad


def follow(steps, gradients=None, start=1.0, **options):
    """The values of one parameter over `steps` steps; its gradient is itself (loss p^2 / 2), or is given."""
    parameter = nn.Parameter([start])
    optimizer = optim.SGD([parameter], **options)
    values = []
    for i in range(steps):
        parameter.grad = norch.Tensor([parameter[0] if gradients is None else gradients[i]])
        optimizer.step()
        values.append(parameter.item())
    return values


def by_hand(steps, lr=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
    """PyTorch's documented rule in plain Python, for the loss p^2 / 2 from p = 1."""
    p, v, values = 1.0, None, []
    for _ in range(steps):
        g = (-p if maximize else p) + weight_decay * p
        if momentum:
            v = g if v is None else momentum * v + (1 - dampening) * g
            g = g + momentum * v if nesterov else v
        p -= lr * g
        values.append(p)
    return values


def test_sgd_written_out():
    assert follow(3, lr=0.5) == [0.5, 0.25, 0.125]
    assert follow(3, [1.0, 1.0, 1.0], lr=0.5, momentum=0.5) == [0.5, -0.25, -1.125]
    assert follow(3, [1.0, 1.0, 1.0], lr=0.5, momentum=0.5, dampening=0.5) == [0.5, 0.0, -0.5]
    assert follow(2, [1.0, 1.0], lr=0.5, momentum=0.5, nesterov=True) == [0.25, -0.625]
    assert follow(2, [1.0, 0.0], lr=0.5, weight_decay=0.5) == [0.25, 0.1875]
    assert follow(2, [1.0, 1.0], lr=0.5, maximize=True) == [1.5, 2.0]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lr": 0.3},
        {"momentum": 0.9},
        {"momentum": 0.9, "dampening": 0.2},
        {"momentum": 0.9, "nesterov": True},
        {"weight_decay": 0.1},
        {"momentum": 0.9, "weight_decay": 0.1, "nesterov": True},
        {"momentum": 0.9, "dampening": 0.2, "weight_decay": 0.1, "maximize": True},
    ],
)
def test_sgd_against_the_rule(options):
    assert follow(5, **options) == pytest.approx(by_hand(5, **options), rel=1e-5)


def test_the_default_rate_is_the_article_s():
    assert optim.SGD([nn.Parameter([1.0])]).param_groups[0]["lr"] == 0.1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_shape_dtype_and_layout_in_one_call(dtype, device):
    like = {"dtype": getattr(norch, dtype), "device": device}
    grid = norch.arange(6, **like).reshape(2, 3)
    parameters = [nn.Parameter(grid.clone()), nn.Parameter(grid.clone().T), nn.Parameter(norch.zeros(0, **like))]
    parameters[0].grad = grid.T.contiguous().T
    parameters[1].grad = norch.ones(1, 1, **like).expand(3, 2)
    parameters[2].grad = norch.zeros(0, **like)
    optimizer = optim.SGD(parameters, lr=0.5, momentum=0.5)
    optimizer.step()
    assert parameters[0].tolist() == [[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]]
    assert parameters[1].tolist() == [[-0.5, 2.5], [0.5, 3.5], [1.5, 4.5]]
    optimizer.step()  # velocity is now 1.5 gradients
    assert parameters[0].tolist() == [[0.0, -0.25, -0.5], [-0.75, -1.0, -1.25]]
    assert parameters[1].tolist() == [[-1.25, 1.75], [-0.25, 2.75], [0.75, 3.75]]


def test_steps_keep_parameters_and_their_storage():
    model = nn.Linear(2, 1)
    weight, view = model.weight, model.weight.detach()
    optimizer = optim.SGD(model.parameters(), lr=0.5)
    model(norch.Tensor([[1.0, 2.0]])).sum().backward()
    optimizer.step()
    assert model.weight is weight and type(weight) is nn.Parameter and weight.requires_grad and weight.is_leaf
    assert list(model.parameters())[0] is weight and view.tolist() == weight.tolist()
    optimizer.zero_grad()
    model(norch.Tensor([[1.0, 2.0]])).sum().backward()
    assert weight.grad.tolist() == [[1.0, 2.0]]


def test_none_gradients_are_skipped():
    used, unused = nn.Parameter([1.0]), nn.Parameter([1.0])
    optimizer = optim.SGD([unused, used], lr=0.5, momentum=0.5)
    optimizer.step()
    assert used[0] == 1.0 and len(optimizer.state_dict()["state"]) == 0
    used.grad = norch.Tensor([1.0])
    optimizer.step()
    assert (used[0], unused[0]) == (0.5, 1.0)
    unused.grad = norch.Tensor([1.0])  # its first step: the velocity is the gradient
    optimizer.step()
    assert (used[0], unused[0]) == (-0.25, 0.5)


def test_tied_weights_are_stepped_once():
    model = nn.Module()
    model.a, model.b = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    model.b.weight = model.a.weight
    with norch.no_grad():
        model.a.weight.fill_(1.0)
    with pytest.warns(UserWarning, match="duplicate"):
        optimizer = optim.SGD([model.a.weight, model.b.weight], lr=0.5)
    assert len(optimizer.parameters) == 1
    model.b(model.a(norch.Tensor([[1.0]]))).sum().backward()
    optimizer.step()
    assert model.a.weight.tolist() == [[0.0]]  # 1 - 0.5 * 2 * w


def test_the_article_s_triples_and_pairs_and_names():
    model = nn.Linear(1, 2)
    weight, bias = model.weight, model.bias
    for parameters in (
        [(model, "weight", weight), (model, "bias", bias)],
        [("weight", weight), ("bias", bias)],
        model.named_parameters(),
        {"weight": weight, "bias": bias},
        {"params": [weight, bias]},
        iter([weight, bias]),
        (weight, bias),
    ):
        listed = optim.SGD(parameters).parameters
        assert len(listed) == 2 and listed[0] is weight and listed[1] is bias


def test_groups_have_settings_of_their_own():
    first, second, third = nn.Parameter([1.0]), nn.Parameter([1.0]), nn.Parameter([1.0])
    optimizer = optim.SGD([{"params": [first]}, {"params": second, "lr": 0.25}], lr=0.5)
    optimizer.add_param_group({"params": [third], "lr": 0.0})
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.25, 0.0]
    for parameter in optimizer.parameters:
        parameter.grad = norch.Tensor([1.0])
    optimizer.step()
    assert (first[0], second[0], third[0]) == (0.5, 0.75, 1.0)
    optimizer.param_groups[2]["lr"] = 1.0
    optimizer.step()
    assert third[0] == 0.0


def test_zero_grad():
    parameter = nn.Parameter([1.0])
    optimizer = optim.SGD([parameter])
    parameter.grad = norch.Tensor([3.0])
    optimizer.zero_grad(set_to_none=False)
    assert parameter.grad.tolist() == [0.0]
    optimizer.zero_grad()
    assert parameter.grad is None


def test_state_dict_carries_momentum_over():
    ours, theirs = nn.Parameter([1.0]), nn.Parameter([1.0])
    first, second = optim.SGD([ours], lr=0.5, momentum=0.5), optim.SGD([theirs], lr=9.0)
    ours.grad, theirs.grad = norch.Tensor([1.0]), norch.Tensor([1.0])
    first.step()
    state = first.state_dict()
    assert state["param_groups"][0]["params"] == [0] and state["state"][0]["momentum_buffer"].tolist() == [1.0]
    second.load_state_dict(state)
    assert second.param_groups[0]["lr"] == 0.5 and second.param_groups[0]["params"][0] is theirs
    second.step()
    assert theirs[0] == 1.0 - 0.5 * 1.5
    assert state["state"][0]["momentum_buffer"].tolist() == [1.0]  # the saved one is a copy's source, untouched


def test_steps_follow_parameters_that_moved():
    model = nn.Linear(1, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.5)
    model.double()
    before = model.weight.item()
    model(norch.ones(1, 1, dtype=norch.float64)).sum().backward()
    optimizer.step()
    assert model.weight.item() == before - 0.5 and model.weight.dtype is norch.float64


def test_a_gradient_with_a_graph_leaves_no_graph_behind():
    weight = nn.Parameter([2.0])
    (weight * weight * weight).sum().backward(create_graph=True)
    optim.SGD([weight], lr=0.5, momentum=0.5).step()
    assert weight[0] == -4.0 and weight.is_leaf and weight.grad_fn is None


def test_an_optimizer_of_one_s_own():
    class SignDescent(optim.Optimizer):
        def __init__(self, parameters, lr=0.1):
            super().__init__(parameters)
            self.lr = lr

        def step(self):
            with norch.no_grad():
                for parameter in self.parameters:
                    parameter -= self.lr * parameter.grad.sign()

    parameter = nn.Parameter([1.0, -1.0])
    parameter.grad = norch.Tensor([5.0, -5.0])
    SignDescent([parameter], lr=0.5).step()
    assert parameter.tolist() == [0.5, -0.5]
    with pytest.raises(NotImplementedError, match="Optimizer"):
        optim.Optimizer([parameter]).step()


def step_of(parameter, gradient):
    """A step with a gradient as it comes, past the checks of `.grad`."""
    optimizer = optim.SGD([nn.Parameter([1.0])])
    optimizer.param_groups[0]["params"] = [parameter]
    parameter._leaf = AccumulateGrad(parameter)
    parameter._leaf.grad = gradient
    optimizer.step()


PARAMETER = nn.Parameter([1.0])


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: optim.SGD(PARAMETER), TypeError, "params should be an iterable .*Parameter"),
        (lambda: optim.SGD([]), ValueError, "empty"),
        (lambda: optim.SGD(iter([])), ValueError, "empty"),
        (lambda: optim.SGD([1.0]), TypeError, "float"),
        (lambda: optim.SGD([PARAMETER * 2]), ValueError, "leaf"),
        (lambda: optim.SGD([{"lr": 0.1}]), KeyError, "params"),
        (lambda: optim.SGD([{"params": {PARAMETER}}]), TypeError, "set"),
        (lambda: optim.SGD([{"params": [PARAMETER]}, {"params": [PARAMETER]}]), ValueError, "more than one"),
        (lambda: optim.SGD([{"params": [PARAMETER], "lr": -3}]), ValueError, "-3"),
        (lambda: optim.SGD([PARAMETER], lr=-0.1), ValueError, "learning rate: -0.1"),
        (lambda: optim.SGD([PARAMETER], lr=math.nan), ValueError, "nan"),
        (lambda: step_of(norch.Tensor([1.0]), norch.ones(2)), RuntimeError, r"\[1\], .* has a gradient of shape \[2\]"),
        (lambda: step_of(norch.tensor([1]), norch.tensor([1])), RuntimeError, "sgd: a parameter has dtype int64"),
        (lambda: optim.SGD([PARAMETER], lr="fast"), TypeError, "str"),
        (lambda: optim.SGD([PARAMETER], momentum=-1), ValueError, "momentum value: -1"),
        (lambda: optim.SGD([PARAMETER], weight_decay=-1), ValueError, "weight_decay value: -1"),
        (lambda: optim.SGD([PARAMETER], nesterov=True), ValueError, "Nesterov"),
        (lambda: optim.SGD([PARAMETER], momentum=0.9, dampening=0.1, nesterov=True), ValueError, "Nesterov"),
    ],
)
def test_optimizers_refuse(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_load_state_dict_refuses_another_shape_of_groups():
    one = optim.SGD([nn.Parameter([1.0])])
    two = optim.SGD([nn.Parameter([1.0]), nn.Parameter([1.0])])
    with pytest.raises(ValueError, match=r"\[2\].*\[1\]"):
        one.load_state_dict(two.state_dict())


def test_a_parameter_that_is_given_twice_is_stepped_once():
    parameter = nn.Parameter(norch.ones(2))
    with pytest.warns(UserWarning, match="duplicate"):
        optimizer = optim.SGD([parameter, parameter], lr=0.5)
    parameter.sum().backward()
    optimizer.step()
    assert parameter.tolist() == [0.5, 0.5] and len(optimizer.parameters) == 1
    with pytest.raises(ValueError, match="names"):
        optim.SGD([("w", parameter), parameter], lr=0.5)
