"""Variables, attributes and containers that a compiled function looks at: a change takes effect at the next call."""

from __future__ import annotations

import argparse
import collections
import importlib
import types

import pytest
from compiled import World, beside_eager

import norch
from norch import nn

scale = 2.0  # a global that a step reads
FACTORS = {"first": 1.0, "list": [1.0, 2.0]}
table = norch.ones(2)


def test_globals_closures_and_containers():
    factor, numbers, flags = 1.0, [1.0], {"on": True}

    def step(x):
        y = x * scale * factor + table
        for number in numbers:
            y = y + number
        return y * FACTORS["first"] + FACTORS["list"][1] if flags["on"] else y

    def change(i):
        nonlocal factor
        global scale, table
        if i == 5:
            scale = 3.0
        elif i == 9:
            factor = 0.5
        elif i == 13:
            numbers.append(2.0)
        elif i == 17:
            flags["on"] = False
        elif i == 21:
            FACTORS["first"] = 4.0
            flags["on"] = True
        elif i == 25:
            FACTORS["list"][1] = 7.0
        elif i == 29:
            table = norch.zeros(2)
        elif i == 33:
            table.fill_(9.0)

    def make():
        nonlocal factor
        global scale, table
        scale, factor, table = 2.0, 1.0, norch.ones(2)
        numbers[:], flags["on"], FACTORS["first"], FACTORS["list"][1] = [1.0], True, 1.0, 2.0
        return World(step, lambda i: (norch.ones(2) * i,), before=change)

    function, warned = beside_eager(make, steps=37)
    assert not warned and function.programs


def test_attributes_of_objects_and_of_their_classes():
    """Attributes of an object that is no module, and of objects in it."""

    class Settings:
        gain = 1.0  # of the class

    class Holder:
        def __init__(self):
            self.settings = Settings()
            self.parts = [Settings(), {"inner": Settings()}]

    holder = Holder()

    def step(x):
        return x * holder.settings.gain + holder.parts[0].gain * holder.parts[1]["inner"].gain

    def change(i):
        if i == 6:
            holder.settings.gain = 2.0
        elif i == 10:
            holder.parts[1]["inner"].gain = 3.0
        elif i == 14:
            Settings.gain = 5.0
        elif i == 18:
            holder.parts[0] = Settings()
            holder.parts[0].gain = 11.0

    def make():
        Settings.gain = 1.0
        holder.__init__()
        return World(step, lambda i: (norch.ones(2),), before=change)

    beside_eager(make, steps=24)


def test_what_methods_and_helpers_look_at():
    """Globals that a module's forward reads, and functions that it calls; new entries of containers."""

    class Net(nn.Module):
        gain = 2.0

        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 2)
            self.extra = []

        @property
        def shift(self):
            return FACTORS["first"]

        def forward(self, x):
            x = helped(self.inner(x)) * self.gain + self.shift
            for part in self.extra:
                x = part(x)
            return x + FACTORS.get("more", 0.0)

    def change(i):
        global scale, helped
        if i == 6:
            scale = 3.0
        elif i == 10:
            helped = doubled
        elif i == 14:
            Net.gain = 5.0
        elif i == 18:
            FACTORS["first"] = 0.5
        elif i == 22:
            nets[-1].extra.append(nn.Tanh())
        elif i == 26:
            FACTORS["more"] = 4.0

    def make():
        global scale, helped
        scale, helped, Net.gain, FACTORS["first"] = 2.0, scaled, 2.0, 1.0
        FACTORS.pop("more", None)
        nets.append(Net())
        return World(nets[-1], lambda i: (norch.randn(2, 2),), before=change)

    nets = []
    function, warned = beside_eager(make, steps=30)
    FACTORS.pop("more", None)
    assert not warned and function.programs


def scaled(x):
    return x * scale


def doubled(x):
    return x * 2


helped = scaled


class Lazy:
    def __getattr__(self, name):
        return factor


class Missing(dict):
    def __missing__(self, key):
        return factor


lazy, missing = Lazy(), Missing()


@pytest.mark.parametrize("value", [lambda: lazy.k, lambda: missing["k"]], ids=["getattr", "missing"])
def test_what_special_methods_look_at(monkeypatch, value):
    function, x = norch.compile(lambda x: x * value()), norch.ones(2)
    for _ in range(4):
        function(x)
    monkeypatch.setitem(globals(), "factor", 3.0)
    assert function.programs and function(x).tolist() == [3.0, 3.0]


factor = 2.0
tripled = norch.compile(lambda x: x * factor)


def test_a_variable_of_a_compiled_function_in_another(monkeypatch):
    function, x = norch.compile(lambda x: tripled(x) + 1), norch.ones(2)
    for _ in range(4):
        function(x)
    monkeypatch.setitem(globals(), "factor", 3.0)
    assert function.programs and function(x).tolist() == [4.0, 4.0]


@pytest.mark.parametrize("kind", [argparse.Namespace, types.SimpleNamespace, collections.UserDict])
def test_options_in_an_object_of_the_standard_library(kind):
    options, x = kind(k=2.0), norch.ones(2)
    values = options if kind is collections.UserDict else vars(options)
    function = norch.compile(lambda x: x * (options["k"] if kind is collections.UserDict else options.k))
    for _ in range(4):
        function(x)
    values["k"] = 3.0
    assert function.programs and function(x).tolist() == [3.0, 3.0]


def test_a_step_in_an_installed_package(tmp_path, monkeypatch):
    """Of installed packages only the user's own are looked into: those of the function, the modules and optimizers."""
    package = tmp_path / "site-packages" / "installed_steps"
    package.mkdir(parents=True)
    lines = "scale = 2.0", "def helper(x):", "    return x * scale", "def step(x):", "    return helper(x)"
    (package / "__init__.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(package.parent))
    steps, x = importlib.import_module("installed_steps"), norch.ones(2)
    function = norch.compile(steps.step)
    for _ in range(4):
        function(x)
    steps.scale = 3.0
    assert function.programs and function(x).tolist() == [3.0, 3.0]
