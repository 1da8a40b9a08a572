"""Fixtures for all tests, and the choice of cases by --pairwise."""

from __future__ import annotations

import collections
import gc
import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

import norch
from norch import _C
from norch.functions import generator

generator.default_generator.manual_seed(0)  # for what test files draw when they are imported

# "cuda" if there is a device, or if the library runs its kernels on the emulator (make CUDA=emu)
DEVICES = ["cpu", "cuda"] if _C.lib.device_count() > 0 else ["cpu"]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    """Each device that this machine and this build can compute on."""
    return request.param


# Files whose tests do not name devices: they run once for each device, and create all tensors there.
ON_EACH_DEVICE = {
    *("test_activations", "test_attention", "test_autograd", "test_fused", "test_gradient_hooks", "test_hooks"),
    *("test_init", "test_layers", "test_layers_compiled", "test_loss", "test_nn", "test_optim", "test_recurrent"),
    *("test_results", "test_training_compiled", "test_what_takes_effect"),
}


@pytest.fixture(autouse=True)
def unseeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins as a program does: layers draw as in the article until it calls `manual_seed`.

    But it draws the same numbers in each run.
    """
    random.seed(0)
    generator.default_generator.manual_seed(0)
    monkeypatch.setattr(generator, "_seeded", False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pairwise", action="store_true", help="run only as many cases as all pairs of values need")


@pytest.hookimpl(trylast=True)  # after -k
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --pairwise, leaves out the cases of a test if other cases already combine each two of their values."""
    if not config.getoption("pairwise"):
        return
    tests: dict[str, list] = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = {item for name, cases in tests.items() for item in pairwise(cases, random.Random(name))}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


# Kernels compute with none of these: what converts them is the same for every operation. So one stands for all.
NARROW = {"int8", "int16", "float16", "bfloat16"}


def pairwise(cases: list[pytest.Item], rng: random.Random) -> Iterator[pytest.Item]:
    """The cases of a test, in a seeded random order, that combine two values for the first time."""
    seen: set = set()
    for item in rng.sample(cases, len(cases)):
        values = item.callspec.params.items() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
        values = [(name, "narrow" if str(value) in NARROW else repr(value)) for name, value in values]
        pairs = set(itertools.combinations(values, 2))
        if len(values) < 2 or not pairs <= seen:
            yield item
        seen |= pairs


def pytest_collection_finish() -> None:
    """Excludes modules and collected tests from the many garbage collections that tests start."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Lets Python free at its end what was excluded: otherwise leak checks would report it."""
    gc.unfreeze()


def pytest_unconfigure() -> None:
    """Frees what Python still knows, such as the parameters of tests: leak checks look for what nobody knows."""
    for value in gc.get_objects():
        if issubclass(type(value), norch.Tensor):
            vars(value).clear()
            value._edge = value._ptr = None


SHOWN_REASONS = 8


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says why tests were skipped: a line for each reason, the most frequent first."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = collections.Counter(report.longrepr[2].replace("Skipped: ", "", 1) for report in skipped)
    if reasons:
        terminalreporter.section("skipped, and why", sep="-")
    shown = reasons.most_common(SHOWN_REASONS)
    others = len(skipped) - sum(count for _, count in shown)
    for reason, count in [*shown, *([("others: pytest -rs names them", others)] if others else [])]:
        terminalreporter.line(f"{count:5}  {reason}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs the tests of those files once more if there is a second device."""
    if metafunc.module.__name__ in ON_EACH_DEVICE and "device" not in metafunc.fixturenames and len(DEVICES) > 1:
        metafunc.parametrize("default_device", DEVICES, indirect=True)


@pytest.fixture(autouse=True)
def default_device(request: pytest.FixtureRequest) -> Iterator[None]:
    """The device that norch's functions use if a call names none."""
    chosen = getattr(request, "param", "cpu")
    if chosen == "cpu":
        yield
        return
    norch.set_default_device(chosen)
    yield
    norch.set_default_device("cpu")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """A random generator for this test alone: the same numbers in every run, whichever tests run with it."""
    return random.Random(request.node.name)


@pytest.fixture
def no_leak() -> Iterator[None]:
    """Fails the test if it leaves bytes or tensors alive."""

    def alive() -> list[int]:
        norch.nn.functional.resampling._table.cache_clear()  # which norch keeps for later calls
        return [_C.live_tensors(), *map(_C.lib.memory_allocated, range(1 + _C.lib.device_count()))]

    def grown() -> list[int]:
        return [now - then for now, then in zip(alive(), before) if now > then]

    before = alive()
    yield
    if grown():
        gc.collect()  # the traceback of an expected exception may be a cycle
    assert not grown(), "the test left memory allocated"
