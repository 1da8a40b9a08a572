"""Adam, AdamW and RMSprop against their rules in plain Python, for every option, dtype and layout; their state.

What holds for every optimizer is tested with SGD, too.
"""

import gc
import math

import pytest

import norch
from norch import nn, optim


def adam(
    p, gradients, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, maximize=False, decoupled=0
):
    """The values that one number p takes, by the rule of Adam's docstring."""
    m = v = largest = 0.0
    for step, g in enumerate(gradients, 1):
        g = -g if maximize else g
        if decoupled:
            p -= lr * weight_decay * p
        else:
            g += weight_decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        largest = max(largest, v) if amsgrad else v
        p -= lr * (m / (1 - betas[0] ** step)) / (math.sqrt(largest / (1 - betas[1] ** step)) + eps)
        yield p


def adamw(p, gradients, weight_decay=1e-2, **options):
    return adam(p, gradients, weight_decay=weight_decay, decoupled=1, **options)


def rmsprop(
    p, gradients, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False, maximize=False
):
    """The values that one number p takes, by the rule of RMSprop's docstring."""
    square = mean = velocity = 0.0
    for g in gradients:
        g = (-g if maximize else g) + weight_decay * p
        square = alpha * square + (1 - alpha) * g * g
        mean = alpha * mean + (1 - alpha) * g if centered else 0.0
        velocity = momentum * velocity + g / (math.sqrt(square - mean * mean) + eps)
        p -= lr * velocity
        yield p


ADAM = [
    {},
    {"lr": 0.1},
    {"lr": 0.1, "betas": (0.5, 0.8)},
    {"betas": (0.0, 0.0), "eps": 0.1},
    {"lr": 0.1, "weight_decay": 0.3},
    {"lr": 0.1, "betas": (0.9, 0.6), "amsgrad": True},
    {"lr": 0.1, "maximize": True},
    {"lr": 0.1, "betas": (0.8, 0.5), "eps": 1e-3, "weight_decay": 0.2, "amsgrad": True, "maximize": True},
]
RMSPROP = [
    {},
    {"lr": 0.1, "alpha": 0.5},
    {"eps": 0.1},
    {"weight_decay": 0.3},
    {"momentum": 0.9},
    {"centered": True},
    {"momentum": 0.8, "centered": True},
    {"maximize": True},
    {"alpha": 0.8, "eps": 1e-3, "weight_decay": 0.2, "momentum": 0.5, "centered": True, "maximize": True},
]
RULES = [
    *((optim.Adam, adam, options) for options in ADAM),
    *((optim.AdamW, adamw, options) for options in [*ADAM, {"weight_decay": 0.0}]),
    *((optim.RMSprop, rmsprop, options) for options in RMSPROP),
]
GRADIENTS = [2.0, -0.5, 0.25, -3.0, 0.0, 1.0, 1.5, -0.125]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "kind, rule, options", RULES, ids=lambda value: getattr(value, "__name__", None) or repr(value)
)
def test_every_option_against_the_rule(kind, rule, options, dtype, device):
    def tensor(values):
        return norch.tensor(values, dtype=getattr(norch, dtype), device=device)

    start, scales = [1.0, -2.0, 0.5], [1.0, -0.5, 10.0]
    parameter = nn.Parameter(tensor(start))
    optimizer = kind([parameter], **options)
    expected = [list(rule(p, [g * scale for g in GRADIENTS], **options)) for p, scale in zip(start, scales)]
    tolerance = {"float32": 1e-5, "float64": 1e-12}[dtype]
    for step, gradient in enumerate(GRADIENTS):
        parameter.grad = tensor([gradient * scale for scale in scales])
        optimizer.step()
        wanted = [values[step] for values in expected]
        assert parameter.tolist() == pytest.approx(wanted, rel=tolerance, abs=tolerance)


KINDS = [
    (optim.Adam, {"amsgrad": True}),
    (optim.AdamW, {}),
    (optim.RMSprop, {}),
    (optim.RMSprop, {"centered": True, "momentum": 0.5}),
]
kinds = pytest.mark.parametrize("kind, options", KINDS, ids=["Adam", "AdamW", "RMSprop", "RMSprop centered"])
kinds_and_sgd = pytest.mark.parametrize("kind, options", [*KINDS, (optim.SGD, {"momentum": 0.9})])


@kinds
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_shape_and_layout_in_one_call(kind, options, dtype, device):
    """Elements do not know of each other: each follows a parameter of its own."""
    dtype = getattr(norch, dtype)

    def ramp(*shape):
        return norch.arange(math.prod(shape), dtype=dtype, device=device).reshape(shape) / 7 - 1

    laid_out = [
        (ramp(2, 3), ramp(2, 3)),
        (ramp(40, 33).T, ramp(33, 40)),
        (ramp(33, 40), ramp(40, 33).T),
        (ramp(8, 6)[:, ::2], ramp(8, 1).expand(8, 3)),
        (ramp(0, 2), ramp(0, 2)),
        (ramp(1), ramp(1)),
    ]
    parameters = [nn.Parameter(values) for values, _ in laid_out]
    alone = [nn.Parameter(values.flatten().clone()) for values, _ in laid_out]
    whole, each = kind(parameters, lr=0.1, **options), kind(alone, lr=0.1, **options)
    for _ in range(3):
        for parameter, flat, (_, gradient) in zip(parameters, alone, laid_out):
            parameter.grad, flat.grad = gradient, gradient.flatten().clone()
        whole.step()
        each.step()
        for parameter, flat in zip(parameters, alone):
            assert parameter.flatten().tolist() == pytest.approx(
                flat.tolist(), rel=1e-6 if dtype is norch.float32 else 1e-14
            )
    assert parameters[1].stride() == (1, 33)


@kinds
def test_parameters_without_a_gradient_are_skipped_and_counted_apart(kind, options):
    used, late = nn.Parameter([1.0]), nn.Parameter([1.0])
    optimizer = kind([used, late], lr=0.1, **options)
    used.grad = norch.Tensor([1.0])
    optimizer.step()
    assert late[0] == 1.0 and late not in optimizer.state
    first = used.item()
    late.grad = norch.Tensor([1.0])
    optimizer.step()
    assert late.item() == first  # its first step
    assert [state["step"].item() for state in optimizer.state_dict()["state"].values()] == [2.0, 1.0]


@kinds
def test_a_group_s_settings_are_its_own(kind, options):
    first, second = nn.Parameter([1.0]), nn.Parameter([1.0])
    optimizer = kind([{"params": [first]}, {"params": [second], "lr": 0.0}], lr=0.1, **options)
    for parameter in (first, second):
        parameter.grad = norch.Tensor([1.0])
    optimizer.step()
    assert first[0] < 1.0 == second[0]
    optimizer.param_groups[1]["lr"] = 0.1
    optimizer.step()
    assert second[0] < 1.0


@kinds
def test_a_state_dict_goes_on_bit_for_bit(kind, options):
    def train(parameter, optimizer, steps):
        for _ in range(steps):
            parameter.grad = parameter.detach() * 2 + 0.1
            optimizer.step()

    whole = nn.Parameter([1.0, -2.0])
    optimizer = kind([whole], lr=0.05, **options)
    train(whole, optimizer, 3)
    state = optimizer.state_dict()
    again = nn.Parameter(whole.detach().clone())
    resumed = kind([again], lr=9.0)
    resumed.load_state_dict(state)
    kept = {key: value.tolist() for key, value in state["state"][0].items()}
    train(again, resumed, 4)
    assert {key: value.tolist() for key, value in state["state"][0].items()} == kept  # a copy was taken
    train(whole, optimizer, 4)
    assert again.tolist() == whole.tolist()
    assert resumed.param_groups[0]["lr"] == 0.05


def test_a_state_survives_a_file(tmp_path):
    parameter = nn.Parameter([1.0, -2.0])
    optimizer = optim.Adam([parameter], amsgrad=True)
    parameter.grad = norch.Tensor([1.0, 2.0])
    optimizer.step()
    norch.save(optimizer.state_dict(), tmp_path / "optimizer.safetensors")
    loaded = norch.load(tmp_path / "optimizer.safetensors")
    other = optim.Adam([nn.Parameter(parameter.detach().clone())])
    other.load_state_dict(loaded)
    other.parameters[0].grad = parameter.grad
    optimizer.step()
    other.step()
    assert other.parameters[0].tolist() == parameter.tolist()


def test_the_state_in_pytorch_s_form():
    parameter = nn.Parameter([1.0])
    optimizer = optim.Adam([parameter], amsgrad=True)
    parameter.grad = norch.Tensor([2.0])
    optimizer.step()
    state = optimizer.state_dict()
    assert list(state["state"][0]) == ["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"]
    assert state["state"][0]["step"].shape == ()
    assert state["state"][0]["exp_avg"].item() == pytest.approx(0.2)
    assert state["state"][0]["exp_avg_sq"].item() == pytest.approx(0.004)
    assert state["param_groups"] == [
        {
            "lr": 1e-3,
            "betas": (0.9, 0.999),
            "eps": 1e-8,
            "weight_decay": 0,
            "amsgrad": True,
            "maximize": False,
            "foreach": None,
            "capturable": False,
            "differentiable": False,
            "fused": None,
            "decoupled_weight_decay": False,
            "params": [0],
        }
    ]


def test_a_state_of_whole_numbers_and_of_fewer_settings_loads():
    parameter = nn.Parameter(norch.zeros(1, dtype=norch.float64))
    optimizer = optim.Adam([parameter])
    saved = {"step": 3, "exp_avg": norch.Tensor([0.0]), "exp_avg_sq": norch.Tensor([0.0])}
    optimizer.load_state_dict({"state": {0: saved}, "param_groups": [{"lr": 0.5, "params": [0]}]})
    parameter.grad = norch.tensor([1.0], dtype=norch.float64)
    optimizer.step()
    state = optimizer.state[parameter]
    assert state["step"].item() == 4.0 and state["step"].dtype is norch.float32
    assert state["exp_avg"].dtype is norch.float64
    m, v = 0.1 / (1 - 0.9**4), 0.001 / (1 - 0.999**4)
    assert parameter.item() == pytest.approx(-0.5 * m / (math.sqrt(v) + 1e-8), rel=1e-12)


def test_settings_that_ask_for_more_memory_later_get_it():
    parameter = nn.Parameter([1.0])
    optimizer = optim.RMSprop([parameter])
    parameter.grad = norch.Tensor([1.0])
    optimizer.step()
    optimizer.param_groups[0].update(momentum=0.5, centered=True)
    optimizer.step()
    assert set(optimizer.state[parameter]) == {"step", "square_avg", "grad_avg", "momentum_buffer"}
    assert optimizer.state[parameter]["step"].item() == 2.0


@kinds_and_sgd
def test_the_closure_runs_with_gradients_on(kind, options):
    parameter = nn.Parameter([3.0])
    optimizer = kind([parameter], **options)

    def closure():
        optimizer.zero_grad()
        loss = (parameter * parameter).sum()
        loss.backward()
        return loss

    with norch.no_grad():
        assert optimizer.step(closure)[0] == 9.0
    assert parameter[0] < 3.0 and optimizer.step() is None


@kinds_and_sgd
def test_a_step_between_forward_and_backward_is_noticed(kind, options):
    weight = nn.Parameter([2.0])
    loss = weight * weight
    weight.grad = norch.Tensor([1.0])
    kind([weight], **options).step()
    with pytest.raises(RuntimeError, match="in-place"):
        loss.backward()


@kinds_and_sgd
def test_training_keeps_live_bytes_flat(kind, options):
    model = nn.Linear(3, 2)
    optimizer = kind(model.parameters(), **options)

    def train(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            nn.MSELoss()(model(norch.ones(4, 3)), norch.zeros(4, 2)).backward()
            optimizer.step()
        return norch.memory_allocated()

    gc.collect()  # what tests before have left in cycles
    assert train(5) == train(50)


def step_with(change, kind=optim.Adam):
    """A step of a fresh parameter [1.0], after `change` did something to it or to the optimizer's state."""
    parameter = nn.Parameter([1.0])
    optimizer = kind([parameter])
    parameter.grad = norch.Tensor([1.0])
    optimizer.step()
    change(parameter, optimizer.state[parameter])
    optimizer.step()


PARAMETER = nn.Parameter([1.0])


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: optim.Adam([PARAMETER], lr=-1), ValueError, "learning rate: -1"),
        (lambda: optim.Adam([PARAMETER], eps=-1), ValueError, "epsilon value: -1"),
        (lambda: optim.Adam([PARAMETER], betas=(1.0, 0.5)), ValueError, "index 0: 1.0"),
        (lambda: optim.Adam([PARAMETER], betas=(0.5, -0.1)), ValueError, "index 1: -0.1"),
        (lambda: optim.Adam([PARAMETER], betas=(0.5,)), ValueError, "expected two"),
        (lambda: optim.AdamW([PARAMETER], weight_decay=math.nan), ValueError, "weight_decay value: nan"),
        (lambda: optim.RMSprop([PARAMETER], alpha=-1), ValueError, "alpha value: -1"),
        (lambda: optim.RMSprop([PARAMETER], momentum=-1), ValueError, "momentum value: -1"),
        (lambda: optim.RMSprop([PARAMETER], lr="fast"), TypeError, "str"),
        (lambda: optim.Adam([]), ValueError, "empty"),
        (
            lambda: step_with(lambda p, state: state.update(step=norch.zeros(2))),
            RuntimeError,
            r"adam: step has shape \[2\], float32 on cpu, expected one float32",
        ),
        (
            lambda: step_with(lambda p, state: state.update(exp_avg=norch.zeros(2))),
            RuntimeError,
            r"adam: a parameter of shape \[1\], float32 on cpu has a exp_avg of shape \[2\]",
        ),
        (
            lambda: step_with(
                lambda p, state: state.update(square_avg=norch.zeros(1, dtype=norch.float64)), optim.RMSprop
            ),
            RuntimeError,
            "rmsprop: .* has a square_avg of shape .*, float64",
        ),
    ],
)
def test_they_refuse(make, error, words):
    with pytest.raises(error, match=words):
        make()
