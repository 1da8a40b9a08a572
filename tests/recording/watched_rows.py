"""Rows of test_what_is_watched.py: functions, and what changes what they look at."""

from __future__ import annotations

import array
import collections
import contextvars
import functools
import itertools
import random
import sys
import threading
import time
import types
import weakref

import pytest

import norch
from norch import nn, optim

scale = 2.0
CHANGES = {}
UNSEEN = {}


def changes(make):
    """`make` gives a function, and what changes what it looks at."""
    CHANGES[make.__name__] = make
    return make


def unseen(make):
    """`make` gives a function that looks at what cannot be compared, and a part of the warning."""
    UNSEEN[make.__name__] = make
    return make


class Holder:
    k = 2.0

    def __init__(self, **values):
        vars(self).update(values)


class Other(Holder):
    k = 5.0


class Slots:
    __slots__ = ("__private", "later")

    def value(self):
        return getattr(self, "later", 2.0)

    def put(self, value):
        self.__private = value

    def private(self):
        return self.__private


class Text(str):
    pass


class Kind(type):
    k = 2.0


# ---- Functions and their variables ---------------------------------------------------------------------------------


@changes
def code():
    def helper(x):
        return x * 2

    return lambda x: helper(x), lambda: setattr(helper, "__code__", (lambda x: x * 5).__code__)


@changes
def defaults():
    def step(x, k=2.0):
        return x * k

    return step, lambda: setattr(step, "__defaults__", (5.0,))


@changes
def named_defaults():
    def step(x, *, k=2.0):
        return x * k

    return step, lambda: step.__kwdefaults__.update(k=5.0)


@changes
def context_variable():
    variable = contextvars.ContextVar("variable", default=2.0)
    return lambda x: x * variable.get(), lambda: variable.set(5.0)


@changes
def import_in_function():
    module = sys.modules["recording_settings"] = types.ModuleType("recording_settings")
    module.gain = 2.0

    def step(x):
        import recording_settings

        return x * recording_settings.gain

    return step, lambda: setattr(module, "gain", 5.0)


@changes
def name_as_text():
    module = types.ModuleType("recording_settings")
    module.gain = 2.0
    return lambda x: x * getattr(module, "gain"), lambda: setattr(module, "gain", 5.0)  # noqa: B009


@changes
def in_globals():
    globals()["scale"] = 2.0
    return lambda x: x * globals()["scale"], lambda: globals().update(scale=5.0)


@changes
def variable_deleted():
    k = 2.0

    def step(x):
        try:
            return x * k
        except NameError:
            return x

    def change():
        nonlocal k
        del k

    return step, change


@changes
def variable_appears():
    globals().pop("later", None)
    return lambda x: x * (later if "later" in globals() else 2.0), lambda: globals().update(later=5.0)  # noqa: F821


@changes
def builtin_shadowed():
    globals().pop("abs", None)
    return lambda x: x * abs(-2.0), lambda: globals().update(abs=lambda x: 5.0)


@changes
def function_of_norch_replaced(patch):
    return lambda x: nn.functional.relu(x), lambda: patch.setattr(nn.functional, "relu", lambda x: x * 5)


@changes
def dispatch_by_type():
    helper = functools.singledispatch(lambda x: x * 2)
    return lambda x: helper(x), lambda: helper.register(norch.Tensor, lambda x: x * 5)


# ---- Numbers that are equal, and not the same ----------------------------------------------------------------------


@changes
def integer_for_float():
    values = [2.0]
    return lambda x: x.long() * values[0], lambda: values.__setitem__(0, 2)


@changes
def negative_zero():
    values = [0.0]
    return lambda x: x / values[0], lambda: values.__setitem__(0, -0.0)


@changes
def negative_zero_of_a_module():
    module = nn.Module()
    module.k = 0.0
    return lambda x: x / module.k, lambda: setattr(module, "k", -0.0)


# ---- Objects -------------------------------------------------------------------------------------------------------


@changes
def class_of_an_object():
    holder = Holder()
    return lambda x: x * holder.k, lambda: setattr(holder, "__class__", Other)


@changes
def attributes_of_an_object_replaced():
    holder = Holder(k=2.0)
    return lambda x: x * holder.k, lambda: setattr(holder, "__dict__", {"k": 5.0})


@changes
def class_gets_an_attribute(patch):
    kind = type("Child", (Holder,), {})
    holder = kind()
    return lambda x: x * holder.k, lambda: setattr(kind, "k", 5.0)


@changes
def metaclass(patch):
    kind = Kind("Made", (), {})
    return lambda x: x * kind.k, lambda: patch.setattr(Kind, "k", 5.0)


@changes
def slot_appears():
    slots = Slots()
    return lambda x: x * slots.value(), lambda: setattr(slots, "later", 5.0)


@changes
def private_slot():
    slots = Slots()
    slots.put(2.0)
    return lambda x: x * slots.private(), lambda: slots.put(5.0)


@changes
def text_with_attributes():
    text = Text("a")
    text.k = 2.0
    return lambda x: x * text.k, lambda: setattr(text, "k", 5.0)


@changes
def weak_reference():
    holder = Holder(k=2.0)
    return functools.partial(lambda x, k: x * k().k, k=weakref.ref(holder)), lambda: setattr(holder, "k", 5.0)


@changes
def weak_values():
    holder = Holder(k=2.0)
    values = weakref.WeakValueDictionary(holder=holder)
    return lambda x: x * values["holder"].k, lambda: setattr(holder, "k", 5.0)


@changes
def event():
    event = threading.Event()
    return lambda x: x * 5 if event.is_set() else x * 2, event.set


@changes
def proxy_of_a_dict():
    values = {"k": 2.0}
    proxy = types.MappingProxyType(values)
    return lambda x: x * proxy["k"], lambda: values.update(k=5.0)


@changes
def order_of_a_dict():
    calls = {"a": lambda x: x * 2, "b": lambda x: x + 1}
    return lambda x: functools.reduce(lambda x, f: f(x), calls.values(), x), lambda: calls.update(a=calls.pop("a"))


@changes
def order_of_an_ordered_dict():
    values = collections.OrderedDict(a=2.0, b=3.0)
    return lambda x: x * list(values.values())[0], lambda: values.move_to_end("a")


@changes
def dict_with_its_own_get():
    values = type("Dict", (dict,), {"get": lambda self, key, default=None: 1})(k=2.0)
    return lambda x: x * values["k"], lambda: values.update(k=5.0)


# ---- norch's own ---------------------------------------------------------------------------------------------------


@changes
def attribute_of_a_tensor():
    w = norch.ones(2)
    w.gain = 2.0
    return lambda x: x * w.gain, lambda: setattr(w, "gain", 5.0)


@changes
def distribution():
    normal = norch.distributions.Normal(norch.tensor(0.0), norch.tensor(1.0))
    return lambda x: normal.log_prob(x), lambda: setattr(normal, "loc", norch.tensor(5.0))


@changes
def rate_of_a_scheduler():
    optimizer = optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
    scheduler = optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step()
    return lambda x: x * scheduler.get_last_lr()[0], scheduler.step


@changes
def rate_in_a_state():
    optimizer = optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
    function = lambda x: x * optimizer.state_dict()["param_groups"][0]["lr"]  # noqa: E731
    return function, lambda: optimizer.param_groups[0].update(lr=0.5)


@changes
def rate_by_another_name():
    optimizer = optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)

    def rate():
        return optimizer.param_groups[0]["lr"]

    other = rate
    return lambda x: x * other(), lambda: optimizer.param_groups[0].update(lr=0.5)


@changes
def defaults_of_an_optimizer():
    optimizer = optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
    return lambda x: x * optimizer.defaults["lr"], lambda: optimizer.defaults.update(lr=0.5)


def training(module, kind=optim.SGD):
    optimizer = kind(module.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        module(x).square().sum().backward()
        optimizer.step()
        return [p.detach().clone() for p in module.parameters()]

    return step, optimizer


@changes
def step_replaced():
    step, optimizer = training(nn.Linear(2, 2))
    once = optimizer.step
    return step, lambda: setattr(optimizer, "step", lambda: (once(), once()))


@changes
def zero_grad_replaced():
    step, optimizer = training(nn.Linear(2, 2))
    return step, lambda: setattr(optimizer, "zero_grad", lambda: None)


@changes
def parameter_taken_from_a_group():
    step, optimizer = training(nn.Linear(2, 2))
    return step, lambda: optimizer.param_groups[0]["params"].pop()


@changes
def parameters_of_groups_swapped():
    module = nn.Linear(2, 2)
    step, optimizer = training(module)
    optimizer.param_groups[0]["params"].pop()
    optimizer.add_param_group({"params": [module.bias], "lr": 0.5})

    def change():
        one, other = optimizer.param_groups
        one["params"], other["params"] = other["params"], one["params"]

    return step, change


@changes
def attribute_of_an_optimizer():
    class Scaled(optim.SGD):
        def step(self):
            for p in self.parameters:
                p.grad.mul_(getattr(self, "k", 1.0))
            super().step()

    step, optimizer = training(nn.Linear(2, 2), Scaled)
    return step, lambda: setattr(optimizer, "k", 5.0)


@changes
def class_of_a_module():
    class One(nn.Module):
        def forward(self, x):
            return x * 2

    class Two(One):
        def forward(self, x):
            return x * 5

    module = One()
    return module, lambda: setattr(module, "__class__", Two)


@changes
def attribute_in_the_dict_of_a_module():
    class One(nn.Module):
        def forward(self, x):
            return x * self.k

    module = One()
    module.k = 2.0
    return module, lambda: vars(module).update(k=5.0)


@changes
def registry_of_buffers():
    module = nn.BatchNorm1d(2).eval()
    function = lambda x: module(x.reshape(1, 2))  # noqa: E731
    return function, lambda: module._buffers.__setitem__("running_mean", norch.ones(2) * 3)


@changes
def modules_swapped():
    layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])

    def change():
        layers[0], layers[1] = layers[1], layers[0]

    return lambda x: functools.reduce(lambda x, layer: layer(x), layers, x), change


@changes
def order_of_a_module_dict():
    layers = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Tanh()})
    function = lambda x: functools.reduce(lambda x, layer: layer(x), layers.values(), x)  # noqa: E731
    return function, lambda: layers.update({"a": layers.pop("a")})


# ---- What cannot be compared ---------------------------------------------------------------------------------------


@unseen
def iterator():
    values = itertools.chain([1.0] * 5, [2.0] * 5)
    return lambda x: x * next(values), "an iterator (chain)"


@unseen
def generator():
    def values():
        yield from [1.0] * 5 + [2.0] * 5

    holder = Holder(values=values())
    return lambda x: x * next(holder.values), "an iterator (generator)"


@unseen
def random_numbers():
    random.seed(3)
    return lambda x: x * 2 if random.random() < 0.2 else x, "random numbers that are not norch's"


@unseen
def generator_of_random_numbers():
    generator = random.Random(3)
    return lambda x: x * 2 if generator.random() < 0.2 else x, "random numbers that are not norch's"


@unseen
def random_numbers_by_a_special_method():
    class Noise:
        def __getitem__(self, i):
            return random.random()

    noise = Noise()
    return lambda x: x * 2 if noise[0] < 0.2 else x, "random numbers that are not norch's"


@unseen
def clock():
    return lambda x: x * (1 if time.time() > 0 else 2), "the clock"


@unseen
def array_of_numbers():
    values, calls = array.array("d", [2.0]), []

    def step(x):
        if not norch.compiler.is_compiling():
            values[0] += bool(calls)
        return x * values[0]

    return step, "an array (array)"


@unseen
def numpy_array():
    values = pytest.importorskip("numpy").array([2.0])
    return lambda x: x * float(values[0]), "an array (ndarray)"
