"""Each optimizer's rule in tensor operations against its fused C call; an optimizer made of a rule alone."""

import math

import pytest

import norch
from norch import nn, optim

SHARED = [{}, {"lr": 0.3}, {"weight_decay": 0.2}, {"maximize": True}, {"weight_decay": 0.2, "maximize": True}]
OPTIONS = {
    optim.SGD: [
        *SHARED,
        {"momentum": 0.9},
        {"momentum": 0.9, "dampening": 0.3},
        {"momentum": 0.9, "nesterov": True},
        {"momentum": 0.8, "nesterov": True, "weight_decay": 0.1, "maximize": True},
    ],
    optim.Adam: [
        *SHARED,
        {"betas": (0.5, 0.8), "eps": 1e-3},
        {"betas": (0.0, 0.0)},
        {"amsgrad": True, "betas": (0.9, 0.6)},
        {"decoupled_weight_decay": True, "weight_decay": 0.1, "amsgrad": True, "maximize": True},
    ],
    optim.AdamW: [*SHARED, {"weight_decay": 0.0}, {"amsgrad": True, "betas": (0.8, 0.5), "eps": 1e-3}],
    optim.RMSprop: [
        *SHARED,
        {"alpha": 0.5, "eps": 0.1},
        {"momentum": 0.9},
        {"centered": True},
        {"centered": True, "momentum": 0.8, "alpha": 0.8, "weight_decay": 0.2, "maximize": True},
    ],
}
CASES = [pytest.param(kind, options, id=f"{kind.__name__} {options}") for kind in OPTIONS for options in OPTIONS[kind]]
GRADIENTS = [2.0, -0.5, 0.25, -3.0, 0.0, 1.0, 1.5, -0.125]


def by_rule(kind):
    """The optimizer with its own rule defined once more, which leaves the C call behind."""
    return type(f"Rule{kind.__name__}", (kind,), {"update": kind.update})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind, options", CASES)
def test_the_rule_and_the_fused_call_agree(kind, options, dtype, device):
    like = {"dtype": getattr(norch, dtype), "device": device}
    starts = [
        norch.arange(6, **like).reshape(2, 3) - 2.5,
        norch.arange(6, **like).reshape(3, 2).T,
        norch.ones(0, **like),
    ]
    ours, theirs = ([nn.Parameter(start.clone()) for start in starts] for _ in range(2))
    rule, fused = by_rule(kind)(ours, **options), kind(theirs, **options)
    assert rule.fused is None and fused.fused is not None
    tolerance = {"float32": 3e-5, "float64": 1e-12}[dtype]

    def close(mine, other):
        assert (mine.shape, mine.dtype, mine.device) == (other.shape, other.dtype, other.device)
        assert mine.flatten().tolist() == pytest.approx(other.flatten().tolist(), rel=tolerance, abs=tolerance)

    for number in GRADIENTS:
        for mine, other in zip(ours, theirs):
            mine.grad = other.grad = number * (other.detach() * other.detach() + 0.5)
        rule.step()
        fused.step()
        for mine, other in zip(ours, theirs):
            close(mine.detach(), other.detach())
            assert list(rule.state[mine]) == list(fused.state[other])
            for name, value in rule.state[mine].items():
                close(value, fused.state[other][name])


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_checkpoint_of_one_goes_on_in_the_other(kind):
    parameters = [nn.Parameter([1.0, -2.0]) for _ in range(2)]
    options = {"momentum": 0.9} if kind is optim.SGD else {}
    optimizers = [kind(parameters[:1], **options), by_rule(kind)(parameters[1:], **options)]
    for step in range(4):
        if step == 2:
            states = [optimizer.state_dict() for optimizer in optimizers]
            for optimizer, state in zip(optimizers, reversed(states)):
                optimizer.load_state_dict(state)
        for parameter, optimizer in zip(parameters, optimizers):
            parameter.grad = parameter.detach() * 2 + 0.1
            optimizer.step()
    assert parameters[0].tolist() == pytest.approx(parameters[1].tolist(), rel=1e-6)


# ---- A new optimizer: its rule, and what it remembers ------------------------------------------------------------


class Adagrad(optim.Optimizer):
    """torch.optim.Adagrad's rule (Duchi, Hazan and Singer 2011)."""

    def __init__(self, parameters, lr=1e-2, lr_decay=0.0, weight_decay=0.0, eps=1e-10, maximize=False):
        super().__init__(
            parameters, {"lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay, "eps": eps, "maximize": maximize}
        )

    def remembered(self, group):
        return "step", "sum"

    def update(self, parameter, gradient, state, group):
        rate = group["lr"] / (1 + (state["step"].item() - 1) * group["lr_decay"])
        state["sum"] = state["sum"] + gradient * gradient
        parameter -= rate * gradient / (state["sum"].sqrt() + group["eps"])


def adagrad(p, gradients, lr=1e-2, lr_decay=0.0, weight_decay=0.0, eps=1e-10, maximize=False):
    """The values that one number takes, by the formula that torch documents."""
    total = 0.0
    for step, g in enumerate(gradients):
        g = (-g if maximize else g) + weight_decay * p
        total += g * g
        p -= lr / (1 + step * lr_decay) * g / (math.sqrt(total) + eps)
        yield p


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "options", [{}, {"lr": 0.5}, {"lr_decay": 0.1, "weight_decay": 0.3, "eps": 1e-3}, {"lr": 0.1, "maximize": True}]
)
def test_an_optimizer_of_a_rule_alone(options, dtype, device):
    parameter = nn.Parameter(norch.tensor([1.0, -2.0], dtype=getattr(norch, dtype), device=device))
    view, optimizer = parameter.detach(), Adagrad([parameter], **options)
    expected = zip(adagrad(1.0, GRADIENTS, **options), adagrad(-2.0, [-g for g in GRADIENTS], **options))
    tolerance = {"float32": 1e-5, "float64": 1e-12}[dtype]
    for gradient, values in zip(GRADIENTS, expected):
        parameter.grad = norch.tensor([gradient, -gradient], dtype=parameter.dtype, device=device)
        optimizer.step()
        assert view.tolist() == pytest.approx(values, rel=tolerance, abs=tolerance)
    assert type(parameter) is nn.Parameter and parameter.is_leaf and parameter.requires_grad
    state = optimizer.state_dict()["state"][0]
    assert list(state) == ["step", "sum"] and state["step"].item() == len(GRADIENTS)
    assert not state["sum"].requires_grad


def test_a_rule_leaves_no_graph_and_skips_what_has_no_gradient():
    used, unused = nn.Parameter([2.0]), nn.Parameter([2.0])
    optimizer = Adagrad([used, unused])
    (used * used * used).sum().backward(create_graph=True)
    optimizer.step()
    assert used.is_leaf and not optimizer.state[used]["sum"].requires_grad
    assert unused[0] == 2.0 and unused not in optimizer.state


def test_a_changed_rule_is_what_runs():
    class Halving(optim.Adam):
        def update(self, parameter, gradient, state, group):
            parameter *= 0.5

    parameter = nn.Parameter([4.0])
    parameter.grad = norch.Tensor([1.0])
    Halving([parameter]).step()
    assert parameter[0] == 2.0


@pytest.fixture
def doubles():
    norch.set_default_dtype(norch.float64)
    yield
    norch.set_default_dtype(norch.float32)


@pytest.mark.parametrize("name", "Adadelta Adam AdamW Adamax ASGD NAdam RAdam RMSprop Rprop SGD".split())
def test_the_default_dtype_may_be_float64(name, doubles):
    make = getattr(optim, name)
    plain, ruled = (nn.Parameter(GRADIENTS) for _ in range(2))
    optimizers = make([plain], lr=0.1), by_rule(make)([ruled], lr=0.1)
    for _ in range(3):
        for w, optimizer in zip((plain, ruled), optimizers):
            optimizer.zero_grad()
            (w**2).sum().backward()
            optimizer.step()
    assert plain.dtype is norch.float64
    assert (plain - ruled).abs().max() < 1e-8
    state = optimizers[0].state_dict()
    again = make([plain], lr=0.1)
    again.load_state_dict(state)
    again.step()


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("dtype", [norch.float32, norch.bfloat16])
def test_a_parameter_that_is_larger_than_the_cache(kind, dtype):
    """Its results go past the cache where nothing reads them, which a step does."""
    large, small = (nn.Parameter(norch.full((count,), 2.0, dtype=dtype)) for count in (9_000_000, 10))
    for parameter in (large, small):
        parameter.grad = norch.full(parameter.shape, 0.5, dtype=dtype)
        kind([parameter], lr=0.25).step()
    assert (large == small[0]).all() and small[0] != 2.0
