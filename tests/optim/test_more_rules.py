"""The optimizers beside SGD, Adam and RMSprop: their rules in plain Python, or what they reach; what all share."""

import copy
import math

import pytest

import norch
from norch import nn, optim


def rule(step):
    """A rule for one number: step(p, g, state, count, **settings) returns the next p."""

    def run(p, gradients, weight_decay=0.0, maximize=False, **settings):
        state = {}
        for count, g in enumerate(gradients, 1):
            g = (-g if maximize else g) + weight_decay * p
            p = step(p, g, state, count, **settings)
            yield p

    run.__name__ = step.__name__
    return run


@rule
def adadelta(p, g, state, count, lr=1.0, rho=0.9, eps=1e-6):
    s = state["s"] = rho * state.get("s", 0.0) + (1 - rho) * g * g
    d = math.sqrt(state.get("a", 0.0) + eps) / math.sqrt(s + eps) * g
    state["a"] = rho * state.get("a", 0.0) + (1 - rho) * d * d
    return p - lr * d


@rule
def adagrad(p, g, state, count, lr=1e-2, lr_decay=0.0, initial_accumulator_value=0.0, eps=1e-10):
    s = state["s"] = state.get("s", initial_accumulator_value) + g * g
    return p - lr / (1 + (count - 1) * lr_decay) * g / (math.sqrt(s) + eps)


@rule
def adamax(p, g, state, count, lr=2e-3, betas=(0.9, 0.999), eps=1e-8):
    m = state["m"] = betas[0] * state.get("m", 0.0) + (1 - betas[0]) * g
    u = state["u"] = max(betas[1] * state.get("u", 0.0), abs(g) + eps)
    return p - lr / (1 - betas[0] ** count) * m / u


@rule
def asgd(p, g, state, count, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6):
    eta = lr if count == 1 else lr / (1 + lambd * lr * (count - 1)) ** alpha
    return p * (1 - lambd * eta) - eta * g


@rule
def nadam(p, g, state, count, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, momentum_decay=4e-3):
    mu, ahead = (betas[0] * (1 - 0.5 * 0.96 ** (k * momentum_decay)) for k in (count, count + 1))
    product = state["product"] = state.get("product", 1.0) * mu
    m = state["m"] = betas[0] * state.get("m", 0.0) + (1 - betas[0]) * g
    v = state["v"] = betas[1] * state.get("v", 0.0) + (1 - betas[1]) * g * g
    root = math.sqrt(v / (1 - betas[1] ** count)) + eps
    return p - lr * (1 - mu) / (1 - product) * g / root - lr * ahead / (1 - product * ahead) * m / root


@rule
def radam(p, g, state, count, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
    m = state["m"] = betas[0] * state.get("m", 0.0) + (1 - betas[0]) * g
    v = state["v"] = betas[1] * state.get("v", 0.0) + (1 - betas[1]) * g * g
    corrected, known = m / (1 - betas[0] ** count), 1 - betas[1] ** count
    limit = 2 / (1 - betas[1]) - 1
    rho = limit - 2 * count * betas[1] ** count / known
    if rho <= 5:
        return p - lr * corrected
    r = math.sqrt((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho))
    return p - lr * corrected * r * math.sqrt(known) / (math.sqrt(v) + eps)


@rule
def rprop(p, g, state, count, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50)):
    agreement = g * state.get("g", 0.0)
    factor = etas[1] if agreement > 0 else etas[0] if agreement < 0 else 1.0
    size = state["size"] = min(max(state.get("size", lr) * factor, step_sizes[0]), step_sizes[1])
    g = state["g"] = 0.0 if agreement < 0 else g
    return p - size * math.copysign(1.0, g) * (g != 0)


@rule
def adafactor(p, g, state, count, lr=1e-2, beta2_decay=-0.8, eps=(1e-30, 1e-3), d=1.0):
    share = count**beta2_decay
    rate = max(eps[1], abs(p)) * min(lr, 1 / math.sqrt(count))
    v = state["v"] = (1 - share) * state.get("v", 0.0) + share * g * g
    change = g / math.sqrt(max(v, eps[0] ** 2))
    return p - rate * change / max(1.0, abs(change) / d)


SHARED = [{}, {"lr": 0.1}, {"lr": 0.1, "weight_decay": 0.3}, {"lr": 0.1, "maximize": True}]
RULES = {
    (optim.Adadelta, adadelta): [*SHARED, {"rho": 0.5, "eps": 0.1}],
    (optim.Adagrad, adagrad): [*SHARED, {"lr_decay": 0.3}, {"initial_accumulator_value": 2.0, "eps": 0.1}],
    (optim.Adamax, adamax): [*SHARED, {"lr": 0.1, "betas": (0.5, 0.6), "eps": 0.1}],
    (optim.ASGD, asgd): [*SHARED, {"lr": 0.1, "lambd": 0.5, "alpha": 0.9, "t0": 2}],
    (optim.NAdam, nadam): [*SHARED, {"lr": 0.1, "betas": (0.5, 0.8), "eps": 0.1, "momentum_decay": 0.5}],
    (optim.RAdam, radam): [*SHARED, {"lr": 0.1, "betas": (0.5, 0.9), "eps": 0.1}],
    (optim.Rprop, rprop): [{}, {"lr": 0.3, "maximize": True}, {"etas": (0.1, 3.0), "step_sizes": (1e-3, 0.02)}],
    (optim.Adafactor, adafactor): [
        {"eps": (1e-30, 1e-3)},
        {"lr": 0.5, "beta2_decay": -0.5, "eps": (1e-9, 0.1), "d": 2.0},
    ],
}  # fmt: skip
CASES = [
    pytest.param(kind, by_hand, options, id=f"{kind.__name__} {options}")
    for (kind, by_hand), rows in RULES.items()
    for options in rows
]
GRADIENTS = [2.0, -0.5, -0.25, -3.0, 0.0, 1.0, 1.5, -0.125]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind, by_hand, options", CASES)
def test_every_option_against_the_rule(kind, by_hand, options, dtype, device):
    """A number by number; the whole tensor at once where elements do not depend on each other."""
    alone = kind is optim.Adafactor
    starts = [1.0] if alone else [1.0, -2.0, 0.5]
    parameter = nn.Parameter(norch.tensor(starts, dtype=getattr(norch, dtype), device=device))
    optimizer = kind([parameter], **options)
    expected = zip(*(by_hand(p, GRADIENTS, **options) for p in starts))
    tolerance = {"float32": 2e-5, "float64": 1e-7 if kind in (optim.ASGD, optim.NAdam) else 1e-12}[dtype]
    for gradient, values in zip(GRADIENTS, expected):
        parameter.grad = norch.ones(len(starts), dtype=parameter.dtype, device=device) * gradient
        optimizer.step()
        assert parameter.tolist() == pytest.approx(values, rel=tolerance, abs=tolerance)


def test_decay_apart_from_the_gradient():
    for kind in (optim.NAdam, optim.RAdam):
        ours, plain = nn.Parameter([2.0]), nn.Parameter([2.0])
        decayed = kind([ours], lr=0.1, weight_decay=0.5, decoupled_weight_decay=True)
        without = kind([plain], lr=0.1)
        ours.grad = plain.grad = norch.Tensor([1.0])
        decayed.step()
        without.step()
        assert (plain - ours).item() == pytest.approx(0.1 * 0.5 * 2.0, rel=1e-5)


def test_the_mean_of_asgd():
    parameter = nn.Parameter([1.0])
    optimizer = optim.ASGD([parameter], lr=0.5, lambd=0.0, t0=1)
    seen = []
    for _ in range(5):
        parameter.grad = norch.Tensor([1.0])
        optimizer.step()
        seen.append(parameter.item())
    # mu is 1 in the steps 1 to 3, then 1 / 2 and 1 / 3 ...
    mean = seen[2] + (seen[3] - seen[2]) / 2
    assert optimizer.state[parameter]["ax"].item() == pytest.approx(mean + (seen[4] - mean) / 3)


def test_adafactor_keeps_rows_and_columns():
    matrix = nn.Parameter(norch.ones(3, 4))
    optimizer = optim.Adafactor([matrix], lr=0.1)
    gradient = norch.arange(1.0, 13.0).reshape(3, 4)
    matrix.grad = gradient
    optimizer.step()
    state = optimizer.state[matrix]
    assert state["row_var"].shape == (3, 1) and state["col_var"].shape == (1, 4)
    g = gradient.tolist()
    rows = [sum(x * x for x in row) / 4 for row in g]
    columns = [sum(row[j] ** 2 for row in g) / 3 for j in range(4)]
    mean = sum(rows) / 3
    change = [[g[i][j] / math.sqrt(rows[i] * columns[j] / mean) for j in range(4)] for i in range(3)]
    norm = math.sqrt(sum(x * x for row in change for x in row) / 12)
    expected = [[1.0 - 0.1 / max(1.0, norm) * x for x in row] for row in change]
    assert matrix.flatten().tolist() == pytest.approx(sum(expected, []), rel=1e-6)


def rosenbrock(w):
    return (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2


@pytest.mark.parametrize("options, steps", [({"line_search_fn": "strong_wolfe"}, 3), ({"lr": 0.05}, 40)])
def test_lbfgs_finds_the_bottom_of_a_valley(options, steps):
    w = nn.Parameter(norch.tensor([-1.2, 1.0], dtype=norch.float64))
    optimizer, calls = optim.LBFGS([w], **options), []

    def closure():
        optimizer.zero_grad()
        loss = rosenbrock(w)
        loss.backward()
        calls.append(loss.item())
        return loss

    losses = [optimizer.step(closure).item() for _ in range(steps)]
    assert losses[0] == pytest.approx(24.2) and rosenbrock(w).item() < 1e-3 * losses[0]
    assert optimizer.state[w]["func_evals"] == len(calls)
    if "line_search_fn" in options:
        assert w.tolist() == pytest.approx([1.0, 1.0], abs=1e-4)


def test_lbfgs_goes_on_from_a_checkpoint():
    start = norch.tensor([-1.2, 1.0], dtype=norch.float64)

    def run(w, optimizer, steps):
        def closure():
            optimizer.zero_grad()
            loss = rosenbrock(w)
            loss.backward()
            return loss

        for _ in range(steps):
            optimizer.step(closure)

    one, two = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    whole, begun = (optim.LBFGS([w], max_iter=3, line_search_fn="strong_wolfe") for w in (one, two))
    run(one, whole, 4)
    run(two, begun, 2)
    other = optim.LBFGS([two], max_iter=3, line_search_fn="strong_wolfe")
    other.load_state_dict(copy.deepcopy(begun.state_dict()))
    run(two, other, 2)
    assert two.tolist() == one.tolist()


def test_lbfgs_refuses():
    w = nn.Parameter([1.0])
    with pytest.raises(ValueError, match="second group"):
        optim.LBFGS([{"params": [w]}, {"params": [nn.Parameter([1.0])]}])
    with pytest.raises(RuntimeError, match="strong_wolfe"):
        optim.LBFGS([w], line_search_fn="armijo")
    with pytest.raises(TypeError):
        optim.LBFGS([w]).step()


def test_options_of_one_implementation_are_accepted():
    w = nn.Parameter([1.0])
    for kind in (optim.SGD, optim.Adam, optim.AdamW, optim.Adagrad):
        for name in ("foreach", "fused"):
            for value in (True, False, None):
                assert kind([w], **{name: value}).param_groups[0][name] is value
        with pytest.raises(RuntimeError, match="fused"):
            kind([w], fused=True, foreach=True)


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam, optim.RMSprop, optim.Adadelta, optim.NAdam, optim.Rprop])
def test_differentiable_steps(kind):
    """The loss after a step, differentiated by the parameter before it, against differences."""

    def after(value, differentiable):
        leaf = norch.tensor([value], dtype=norch.float64, requires_grad=True)
        parameter = leaf * 1.0
        parameter.grad = (3 * leaf * leaf) if differentiable else (3 * leaf * leaf).detach()
        kind([parameter], lr=0.1, differentiable=True).step()
        return leaf, (parameter * parameter).sum()

    leaf, loss = after(0.7, True)
    gradient = norch.autograd.grad(loss, leaf)[0].item()
    up, down = (after(0.7 + h, False)[1].item() for h in (1e-6, -1e-6))
    assert gradient == pytest.approx((up - down) / 2e-6, rel=1e-4)


def test_a_rate_in_a_tensor():
    for kind in (optim.SGD, optim.Adam, optim.Adamax, optim.RAdam, optim.Adafactor):
        ours, plain = nn.Parameter([1.0, 2.0]), nn.Parameter([1.0, 2.0])
        rate = norch.tensor(0.25)
        optimizers = kind([ours], lr=rate), kind([plain], lr=0.25)
        for _ in range(3):
            ours.grad = plain.grad = norch.Tensor([1.0, -2.0])
            for optimizer in optimizers:
                optimizer.step()
        assert ours.tolist() == pytest.approx(plain.tolist(), rel=1e-6)
        assert optimizers[0].param_groups[0]["lr"] is rate
    with pytest.raises(ValueError, match="one"):
        optim.SGD([nn.Parameter([1.0])], lr=norch.tensor([0.1, 0.2]))


def test_names_of_parameters():
    model = nn.Linear(2, 1)
    optimizer = optim.Adam(model.named_parameters())
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
    with pytest.raises(ValueError, match="names"):
        optim.Adam([("weight", model.weight), model.bias])
    with pytest.raises(ValueError, match="names"):
        optimizer.add_param_group({"params": [nn.Parameter([1.0])]})


def test_an_optimizer_written_as_for_pytorch():
    """A subclass with a `step` of its own, required settings, state by parameter."""

    class Lookback(optim.Optimizer):
        def __init__(self, params, lr=optim.optimizer.required, share=0.5):
            super().__init__(params, {"lr": lr, "share": share})

        @norch.no_grad()
        def step(self, closure=None):
            loss = None
            if closure is not None:
                with norch.enable_grad():
                    loss = closure()
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if len(state) == 0:
                        state["step"] = 0
                        state["slow"] = norch.zeros_like(p)
                    state["step"] += 1
                    state["slow"].mul_(group["share"]).add_(p.grad)
                    p.data.add_(state["slow"] * -group["lr"])
            return loss

    w, v = nn.Parameter([1.0]), nn.Parameter([1.0])
    with pytest.raises(ValueError, match="lr"):
        Lookback([w])
    optimizer = Lookback([{"params": [w]}, {"params": [v], "lr": 1.0}], lr=0.5)
    w.grad = v.grad = norch.Tensor([1.0])
    assert optimizer.step() is None
    assert (w.item(), v.item()) == (0.5, 0.0)
    assert optimizer.step(lambda: 7.0) == 7.0
    assert (w.item(), v.item()) == (-0.25, -1.5)
    other = Lookback([{"params": [w]}, {"params": [v]}], lr=0.1)
    other.load_state_dict(optimizer.state_dict())
    assert other.state[w]["step"] == 2 and other.state[w]["slow"].item() == 1.5
    assert [group["lr"] for group in other.param_groups] == [0.5, 1.0]


def test_hooks_of_steps():
    calls = []
    w = nn.Parameter([1.0])
    for optimizer in (optim.SGD([w], lr=0.5), optim.LBFGS([w])):
        before = optimizer.register_step_pre_hook(lambda o, args, kwargs: calls.append(("before", o)))
        optimizer.register_step_post_hook(lambda o, args, kwargs: calls.append(("after", o)))
        w.grad = norch.Tensor([0.0])
        optimizer.step(lambda: norch.tensor(1.0))
        before.remove()
        optimizer.step(lambda: norch.tensor(1.0))
        assert [word for word, o in calls if o is optimizer] == ["before", "after", "after"]


def test_hooks_of_the_state():
    optimizer = optim.Adam([nn.Parameter([1.0])], lr=0.5)
    seen = []
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("saving"))
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("first"), prepend=True)
    handle = optimizer.register_state_dict_post_hook(lambda o, state: {**state, "extra": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: state["inner"])
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append(o.param_groups[0]["lr"]))
    state = optimizer.state_dict()
    assert state["extra"] == 1 and seen == ["first", "saving"]
    optimizer.param_groups[0]["lr"] = 0.1
    outer = {"inner": state}
    optimizer.load_state_dict(outer)
    assert seen[2:] == [0.5] and list(outer) == ["inner"]
    handle.remove()
    assert sorted(optimizer.state_dict()) == ["param_groups", "state"]
    with pytest.raises(TypeError, match="callable"):
        optimizer.register_state_dict_post_hook(3)


def test_a_state_of_no_parameter_is_saved_and_loaded():
    w = nn.Parameter([1.0])
    first, second = optim.SGD([w], momentum=0.9), optim.SGD([nn.Parameter([1.0])], momentum=0.9)
    first.state["clock"] = {"steps": [3]}
    (w * w).sum().backward()
    first.step()
    second.load_state_dict(first.state_dict())
    assert second.state["clock"] == {"steps": [3]}
    assert second.state["clock"]["steps"] is not first.state["clock"]["steps"]
    second.param_groups.append(second.param_groups[0])
    assert [group["params"] for group in second.state_dict()["param_groups"]] == [[0], [0]]
    assert list(second.state_dict()["state"]) == [0, "clock"]


def test_a_differentiable_step_of_nadam_passes_gradients_to_the_product_of_momentums():
    p, m, v = (norch.tensor([x], dtype=norch.float64) for x in (1.0, 0.5, 0.25))

    def after(product):
        parameter = p.clone()
        parameter.grad = norch.tensor([0.5], dtype=norch.float64)
        optimizer = optim.NAdam([parameter], differentiable=True)
        optimizer.state[parameter] = {"step": norch.tensor(2.0), "mu_product": product, "exp_avg": m, "exp_avg_sq": v}
        optimizer.step()
        return parameter

    assert norch.autograd.gradcheck(after, norch.tensor(0.75, dtype=norch.float64, requires_grad=True))
