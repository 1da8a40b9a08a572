"""Rows of test_what_is_watched.py from everyday training code: what is changed by hand between two epochs."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import multiprocessing
import operator
import os
import types

from watched_rows import changes, unseen

epoch = 0
LOSSES = {"square": lambda x: x.square(), "double": lambda x: x * 2}
OPTIONS = {"loss": {"weights": [2.0, 1.0]}}


@dataclasses.dataclass
class Config:
    scale: float = 2.0
    inner: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Frozen:
    scale: float = 2.0


class Phase(enum.Enum):
    WARM = 2.0
    FULL = 5.0


class Stopping:
    def __init__(self):
        self.best, self.bad, self.stop = 1.0, 0, False

    def update(self, loss):
        self.bad += loss >= self.best
        self.stop = self.bad > 0


# ---- Flags and numbers ---------------------------------------------------------------------------------------------


@changes
def early_stopping():
    stopping = Stopping()
    return lambda x: x if stopping.stop else x * 2, lambda: stopping.update(2.0)


@changes
def counter_of_epochs():
    globals()["epoch"] = 0
    return lambda x: x * (2 if epoch < 1 else 5), lambda: globals().update(epoch=1)


@changes
def counter_in_a_closure():
    count = 0

    def weight():
        return 2.0 + count

    def tick():
        nonlocal count
        count += 1

    return lambda x: x * weight(), tick


@changes
def curriculum():
    lengths = collections.defaultdict(lambda: 2)
    return lambda x: x.repeat(lengths["now"]), lambda: lengths.update(now=5)


@changes
def list_of_losses():
    losses = [lambda x: x * 2]
    return lambda x: sum(loss(x) for loss in losses), lambda: losses.append(lambda x: x * 3)


@changes
def weights_of_losses():
    OPTIONS["loss"]["weights"] = [2.0, 1.0]
    return lambda x: x * OPTIONS["loss"]["weights"][0], lambda: OPTIONS["loss"]["weights"].reverse()


@changes
def choice_by_text():
    config = types.SimpleNamespace(loss="square")
    return lambda x: LOSSES[config.loss](x * 3), lambda: setattr(config, "loss", "double")


@changes
def member_of_an_enum():
    holder = types.SimpleNamespace(phase=Phase.WARM)
    return lambda x: x * holder.phase.value, lambda: setattr(holder, "phase", Phase.FULL)


@changes
def flags_of_an_enum():
    holder = types.SimpleNamespace(phase=Phase.WARM)
    return lambda x: x * (2 if holder.phase is Phase.WARM else 5), lambda: setattr(holder, "phase", Phase.FULL)


# ---- Configurations ------------------------------------------------------------------------------------------------


@changes
def dataclass_of_options():
    config = Config()
    return lambda x: x * config.scale, lambda: setattr(config, "scale", 5.0)


@changes
def dict_in_a_dataclass():
    config = Config(inner={"k": 2.0})
    return lambda x: x * config.inner["k"], lambda: config.inner.update(k=5.0)


@changes
def dataclass_as_a_dict():
    config = Config()
    return lambda x: x * dataclasses.asdict(config)["scale"], lambda: setattr(config, "scale", 5.0)


@changes
def frozen_dataclass_replaced():
    holder = [Frozen()]
    return lambda x: x * holder[0].scale, lambda: holder.__setitem__(0, dataclasses.replace(holder[0], scale=5.0))


@changes
def name_made_from_parts():
    config = types.SimpleNamespace(weight_a=2.0, which="a")
    return lambda x: x * getattr(config, "weight_" + config.which), lambda: setattr(config, "weight_a", 5.0)


@changes
def list_by_a_name_made_from_parts():
    config = types.SimpleNamespace(weights_a=[2.0], which="a")
    return lambda x: x * getattr(config, f"weights_{config.which}")[0], lambda: config.weights_a.insert(0, 5.0)


@changes
def global_behind_a_name_made_from_parts():
    class Trainer:
        which = "a"

        def loss_a(self, x):
            return x * (2 if epoch < 1 else 5)

        def step(self, x):
            return getattr(self, "loss_" + self.which)(x)

    globals()["epoch"] = 0
    return Trainer().step, lambda: globals().update(epoch=1)


@changes
def named_tuple_replaced():
    kind = collections.namedtuple("Rates", "first second")
    holder = types.SimpleNamespace(rates=kind(2.0, 3.0))
    return lambda x: x * holder.rates.first, lambda: setattr(holder, "rates", holder.rates._replace(first=5.0))


@changes
def chain_of_dicts():
    given, defaults = {}, {"k": 2.0}
    values = collections.ChainMap(given, defaults)
    return lambda x: x * values["k"], lambda: given.update(k=5.0)


@changes
def queue_of_weights():
    values = collections.deque([2.0], maxlen=1)
    return lambda x: x * values[0], lambda: values.append(5.0)


@changes
def set_of_frozen_names():
    frozen = {"a"}
    return lambda x: x * (2 if "a" in frozen else 5), frozen.clear


# ---- Functions and classes -----------------------------------------------------------------------------------------


@changes
def partial_with_other_options():
    loss = functools.partial(lambda x, weight: x * weight["k"], weight={"k": 2.0})
    return lambda x: loss(x), lambda: loss.keywords["weight"].update(k=5.0)


@changes
def attribute_of_a_function():
    def step(x):
        return x * step.scale

    step.scale = 2.0
    return step, lambda: setattr(step, "scale", 5.0)


@changes
def getter():
    config = types.SimpleNamespace(inner=types.SimpleNamespace(k=2.0))
    get = operator.attrgetter("inner.k")
    return lambda x: x * get(config), lambda: setattr(config.inner, "k", 5.0)


@changes
def decorated_method(patch):
    def twice(function):
        @functools.wraps(function)
        def call(*args):
            return function(*args) * twice.factor

        return call

    class Trainer:
        @twice
        def step(self, x):
            return x

    twice.factor = 2.0
    return Trainer().step, lambda: setattr(twice, "factor", 5.0)


@changes
def class_method_and_static_method():
    class Trainer:
        k = 2.0

        @classmethod
        def scale(cls):
            return cls.k * cls.more()

        @staticmethod
        def more():
            return OPTIONS["loss"]["weights"][-1]

        def step(self, x):
            return x * self.scale()

    return Trainer().step, lambda: setattr(Trainer, "k", 5.0)


@changes
def cached_property():
    class Trainer:
        base = 2.0

        @functools.cached_property
        def scale(self):
            return self.base

        def step(self, x):
            return x * self.scale

    trainer = Trainer()

    def change():
        trainer.base = 5.0
        del trainer.scale

    return trainer.step, change


@changes
def descriptor():
    class Option:
        def __get__(self, instance, owner):
            return instance.values["k"]

    class Trainer:
        k = Option()

        def __init__(self):
            self.values = {"k": 2.0}

    trainer = Trainer()
    return lambda x: x * trainer.k, lambda: trainer.values.update(k=5.0)


@changes
def variable_of_the_environment(patch):
    patch.setenv("NORCH_TEST_SCALE", "2")
    return lambda x: x * float(os.environ["NORCH_TEST_SCALE"]), lambda: patch.setenv("NORCH_TEST_SCALE", "5")


@changes
def proxy_of_options():
    class Proxy:
        def __init__(self, target):
            object.__setattr__(self, "target", target)

        def __getattribute__(self, name):
            return getattr(object.__getattribute__(self, "target"), name)

    config = Config()
    proxy = Proxy(config)
    return lambda x: x * proxy.scale, lambda: setattr(config, "scale", 5.0)


@changes
def slots_of_a_dataclass():
    @dataclasses.dataclass
    class Slotted:
        __slots__ = ("k",)
        k: float

    config = Slotted(2.0)
    return lambda x: x * config.k, lambda: setattr(config, "k", 5.0)


@changes
def partial_method():
    class Trainer:
        k = 2.0

        def scaled(self, x, power):
            return x * self.k**power

        step = functools.partialmethod(scaled, power=2)

    trainer = Trainer()
    return lambda x: trainer.step(x), lambda: setattr(trainer, "k", 5.0)


@changes
def context_manager_with_a_state():
    class Doubling:
        on = True

        def __enter__(self):
            return 2.0 if self.on else 5.0

        def __exit__(self, *error):
            pass

    doubling = Doubling()

    def step(x):
        with doubling as k:
            return x * k

    return step, lambda: setattr(doubling, "on", False)


@changes
def comprehension_over_a_nested_function():
    weights = {"a": [2.0]}

    def step(x):
        def total():
            return sum(w for w in weights["a"])

        return x * total()

    return step, lambda: weights["a"].append(3.0)


@changes
def operator_of_an_object():
    class Weights:
        def __getitem__(self, i):
            return parts[i]

    parts, weights = [2.0], Weights()
    return lambda x: x * weights[0], lambda: parts.insert(0, 5.0)


@changes
def object_that_is_called():
    class Loss:
        def __call__(self, x):
            return x * self.k

        k = 2.0

    loss = Loss()
    return lambda x: loss(x), lambda: setattr(Loss, "__call__", lambda self, x: x * 7)


# ---- What cannot be compared ---------------------------------------------------------------------------------------


@unseen
def value_shared_with_processes():
    value = multiprocessing.Value("d", 2.0)
    return lambda x: x * value.value, "an array (c_double)"


@unseen
def file_that_stops():
    return lambda x: x * (5 if os.path.exists("stop") else 2), "files"


@unseen
def environment_by_a_function():
    return lambda x: x * float(os.getenv("NORCH_TEST_SCALE", "2")), "the environment"


@unseen
def bytes_that_change():
    values = bytearray(b"\2")
    return lambda x: x * values[0], "an array (bytearray)"
