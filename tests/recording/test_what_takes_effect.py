"""What changes between two calls of a compiled function takes effect at the next one, as in eager."""

from __future__ import annotations

import pytest
from compiled import World, beside_eager, state_of

import norch
from norch import nn, optim


def network():
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.3), nn.ReLU(), nn.Linear(4, 2))


class Scene:
    """A model in training; tests change a part of it before a call."""

    def __init__(self, kind=optim.SGD, **options):
        self.model = network()
        self.optimizer = kind(self.model.parameters(), **{"lr": 0.1, **options})
        self.criterion = nn.MSELoss()
        self.weight = 1.0
        self.seen = []

    def step(self, x, y):
        loss = self.criterion(self.model(x), y.to(x.dtype)) * self.weight
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss

    def world(self, changes, step=None, at=6):
        """`changes` are made before call number `at` and the fourth after it, in turn."""
        calls = {at + 4 * k: change for k, change in enumerate(changes)}

        def arguments(i):
            dtype = next(self.model.parameters()).dtype
            return norch.randn(4, 3).to(dtype), norch.randn(4, 2).to(dtype)

        def before(i):
            if i in calls:
                calls[i](self)

        return World(step or self.step, arguments, lambda: (state_of(self.model, self.optimizer), self.seen[:]), before)


def set_lr(scene):
    scene.optimizer.param_groups[0]["lr"] *= 0.5


def set_momentum(scene):
    scene.optimizer.param_groups[0]["momentum"] = 0.5


def no_momentum(scene):
    scene.optimizer.param_groups[0]["momentum"] = 0


def freeze(scene):
    for p in scene.model[0].parameters():
        p.requires_grad_(False)


def thaw(scene):
    for p in scene.model[0].parameters():
        p.requires_grad_()


def reload_model(scene):
    state = scene.model.state_dict().items()
    scene.model.load_state_dict({key: x * 0.5 if x.is_floating_point() else x for key, x in state})


def assign_model(scene):
    state = {k: v.clone() for k, v in scene.model.state_dict().items()}
    scene.model.load_state_dict(state, assign=True)


def reload_optimizer(scene):
    state = scene.optimizer.state_dict()
    state["param_groups"][0]["lr"] = 0.03
    for values in state["state"].values():
        for key, value in values.items():
            if isinstance(value, norch.Tensor) and value.ndim:
                values[key] = value * 0.5
    scene.optimizer.load_state_dict(state)


def clear_optimizer_state(scene):
    scene.optimizer.state.clear()


def module_hook(scene):
    scene.model[0].register_forward_hook(lambda module, inputs, out: out * 2)


def seeing_hook(scene):
    scene.model[0].register_forward_hook(lambda module, inputs, out: scene.seen.append(out.sum().item()))


def parameter_hook(scene):
    scene.model[0].weight.register_hook(lambda gradient: gradient * 3)


def accumulate_hook(scene):
    scene.model[0].weight.register_post_accumulate_grad_hook(lambda p: scene.seen.append(p.grad.sum().item()))


def optimizer_hook(scene):
    scene.optimizer.register_step_post_hook(lambda *_: scene.seen.append("stepped"))


def new_group(scene):
    scene.optimizer.add_param_group({"params": [nn.Parameter(norch.ones(2))], "lr": 0.5})


def replaced_parameter(scene):
    scene.model[0].weight = nn.Parameter(norch.ones(4, 3))


def replaced_module(scene):
    scene.model[3] = nn.Tanh()


def appended_module(scene):
    scene.model.append(nn.Sigmoid())


def new_attribute(scene):
    scene.weight = 0.25


def dropout_share(scene):
    scene.model[2].p = 0.7


def data_set(scene):
    scene.model[0].weight.data = norch.ones(4, 3)


def data_written(scene):
    with norch.no_grad():
        scene.model[0].weight.mul_(0.5)


def data_filled(scene):
    scene.model[4].bias.data.zero_()


def buffer_replaced(scene):
    scene.model[1].running_mean = norch.ones(4)


def buffer_written(scene):
    scene.model[1].running_mean.fill_(3.0)


def forward_replaced(scene):
    scene.model[3].forward = lambda x: x * 0.5


def gradients_set(scene):
    for p in scene.model.parameters():
        p.grad = norch.ones(*p.shape)


def double(scene):
    scene.model.to(norch.float64)
    scene.optimizer.state.clear()


def other_optimizer(scene):
    scene.optimizer = optim.Adam(scene.model.parameters(), lr=0.01)


CHANGES = {
    "eval and train": [lambda s: s.model.eval(), lambda s: s.model.train()],
    "eval of a part": [lambda s: s.model[1].eval(), lambda s: s.model[1].train()],
    "frozen and thawed": [freeze, thaw],
    "manual_seed": [lambda s: norch.manual_seed(3), lambda s: norch.manual_seed(3)],
    "set_rng_state": [lambda s: norch.set_rng_state(norch.get_rng_state())],
}
for change in (set_lr, set_momentum, no_momentum, reload_model, assign_model, reload_optimizer, clear_optimizer_state):
    CHANGES[change.__name__] = [change]
for change in (module_hook, seeing_hook, parameter_hook, accumulate_hook, optimizer_hook, new_group, gradients_set):
    CHANGES[change.__name__] = [change]
for change in (replaced_parameter, replaced_module, appended_module, new_attribute, dropout_share, data_set):
    CHANGES[change.__name__] = [change]
for change in (data_written, data_filled, buffer_replaced, buffer_written, forward_replaced, double, other_optimizer):
    CHANGES[change.__name__] = [change]


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam], ids=["SGD", "Adam"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_takes_effect(name, kind):
    options = {"momentum": 0.9} if kind is optim.SGD else {}
    beside_eager(lambda: Scene(kind, **options).world(CHANGES[name]), steps=16)


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop], ids=lambda kind: kind.__name__)
def test_a_tensor_as_rate(kind):
    def make():
        model, lr = nn.Linear(3, 2), norch.tensor(0.1)
        optimizer = kind(model.parameters(), lr=lr)

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            lr.mul_(0.75)  # of the next step
            return loss

        def before(i):
            if i == 8:
                lr.fill_(0.5)
            elif i == 10:
                optimizer.param_groups[0]["lr"] = 0.25

        return World(step, lambda i: (norch.randn(4, 3),), lambda: state_of(model, optimizer), before)

    for steps in (8, 10, 16):
        function, warned = beside_eager(make, steps)
        assert not warned and len(function.programs) == 1


def test_a_tensor_as_rate_that_changes_before_the_step():
    def make():
        model, lr = nn.Linear(3, 2), norch.tensor(0.1)
        optimizer = optim.SGD(model.parameters(), lr=lr)

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            lr.mul_(0.75)
            optimizer.step()
            return loss

        return World(step, lambda i: (norch.randn(4, 3),), lambda: state_of(model, optimizer))

    function, warned = beside_eager(make)
    assert len(warned) == 1 and "a value is read" in warned[0] and not function.programs


NUMBERS = ["set_lr", "set_momentum", "manual_seed", "set_rng_state", "data_written", "buffer_written"]


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_change_without_a_new_program(name):
    function, warned = beside_eager(lambda: Scene(momentum=0.9).world(CHANGES[name]), steps=12)
    assert not warned and len(function.programs) == 1
    assert next(iter(function._signatures.values())).recordings == 2


def test_a_hook_that_comes_and_goes():
    handles = []

    def add(scene):
        handles.append(scene.model[0].register_forward_hook(lambda module, inputs, out: out * 2))

    beside_eager(lambda: Scene().world([add, lambda s: handles.pop().remove()]), steps=16)


def test_modes_of_the_thread():
    """Grad mode, autocast and the default dtype belong to the form of a call."""

    def make():
        scene = Scene()

        def step(x):
            made = norch.ones(3)
            return scene.model[0](x) + made.sum(), made

        def call(x, i):
            kind = i // 6 % 4
            if kind == 1:
                with norch.no_grad():
                    return compiled(x)
            if kind == 2:
                with norch.autocast("cpu", dtype=norch.bfloat16):
                    return compiled(x)
            if kind == 3:
                norch.set_default_dtype(norch.float64)
                try:
                    return compiled(x)
                finally:
                    norch.set_default_dtype(norch.float32)
            return compiled(x)

        compiled = norch.compile(step) if in_compiled.pop() else step
        return World(call, lambda i: (norch.ones(2, 3), i), lambda: state_of(scene.model))

    in_compiled = [True, False]
    runs = []
    for _ in range(2):
        norch.manual_seed(1)
        runs.append(make().run(30, compiled=False)[0])
    assert runs[0] == runs[1]


def test_gradients_that_grow_in_the_memory_they_were_given():
    found = []
    for prepared in (lambda f: f, norch.compile):
        w, flat, held = norch.ones(3, requires_grad=True), norch.zeros(4), []

        @prepared
        def add_gradient(x, w=w):
            ((x * w) ** 2).sum().backward()

        for call in range(6):
            add_gradient(norch.full((3,), call + 1.0))
            held.append(w.grad)
            if call == 3:
                w.grad = flat[1:]
        found.append([gradient.tolist() for gradient in [flat, *held]])
    assert found[0] == found[1] and found[0][:2] == [[0, 122, 122, 122], [60, 60, 60]]


def test_gradients_of_no_elements_that_are_written_to():
    w = norch.ones(0, requires_grad=True)

    @norch.compile
    def double(x):
        w.grad.mul_(2)
        return x * 2

    (w * w).sum().backward()
    for _ in range(4):  # no step writes them, but writes are counted
        assert double(norch.ones(2)).tolist() == [2, 2] and w.grad.tolist() == []
    assert len(double.programs) == 1
