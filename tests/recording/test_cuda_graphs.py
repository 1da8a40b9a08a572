"""Compiled functions on a CUDA device: their steps become CUDA graphs, and do what eager does.

The layers, optimizers and schedules of the other files run on the device too (tests/conftest.py). Here is what graphs
add: other memory in each call, what may not be part of a graph, and what a graph holds.
"""

from __future__ import annotations

import gc

import pytest
from compiled import World, beside_eager, state_of

import norch
from norch import _C, nn, optim
from norch.nn import functional as F

pytestmark = pytest.mark.skipif(not norch.cuda.is_available(), reason="no CUDA device, and no emulator in this build")
EMULATED = norch.cuda.is_available() and norch.cuda.get_device_name() == "CUDA emulator"
needs_emulator = pytest.mark.skipif(not EMULATED, reason="not built with CUDA=emu")


def count(name):
    return _C._library.emulator_calls(name.encode())


def calls_in(work):
    """How often a piece of work launched kernels, graphs, and made graphs and memory."""
    names = ("launch", "cudaGraphLaunch", "cudaGraphInstantiate", "cudaMalloc")
    before = [count(name) for name in names]
    work()
    return [count(name) - n for name, n in zip(names, before)]


def mlp(*layers):
    return nn.Sequential(nn.Linear(6, 8), *layers, nn.Linear(8, 3)).to("cuda")


def batch():
    return norch.randn(5, 6).to("cuda"), norch.randint(0, 3, (5,)).to("cuda")


def training(model, optimizer):
    def step(x, y):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def sgd_world(*layers):
    model = mlp(nn.Tanh(), *layers)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return World(training(model, optimizer), lambda i: batch(), lambda: state_of(model, optimizer))


@needs_emulator
def test_a_step_becomes_one_graph():
    norch.manual_seed(0)
    step = norch.compile(sgd_world().step)
    batches = [batch() for _ in range(12)]
    for given in batches[:4]:
        step(*given)
    assert calls_in(lambda: step(*batches[4]))[1:3] == [0, 1]
    for given in batches[5:]:
        launches, graphs, made, memory = calls_in(lambda given=given: step(*given))
        assert (graphs, made) == (1, 0) and launches > 10 and memory <= 1  # that of the result


def test_arguments_that_overlap():
    """A graph copies each of them, whole."""

    def arguments(i):
        x = norch.arange(12.0, device="cuda") * i
        return x[:6], x[3:9]

    compiled, _ = beside_eager(lambda: World(lambda x, y: (x + y, x * y, y[1:]), arguments))
    assert len(compiled.programs) == 1


@needs_emulator
@pytest.mark.parametrize("kind, parts", [("dropout", 2), ("adam", 1)])
def test_what_changes_in_each_call_runs_between_graphs(kind, parts):
    """Random numbers, and the steps of Adam, whose count the host reads."""

    def make():
        model = mlp(nn.Tanh(), *[nn.Dropout(0.3)] * (kind == "dropout"), nn.Tanh())
        optimizer = (optim.Adam if kind == "adam" else optim.SGD)(model.parameters(), lr=0.1)
        return World(training(model, optimizer), lambda i: batch(), lambda: state_of(model, optimizer))

    before = count("cudaGraphLaunch")
    function, warned = beside_eager(make)
    assert not warned and len(function.programs) == 1
    assert count("cudaGraphLaunch") - before >= 7 * parts


@needs_emulator
def test_a_new_rate_makes_a_new_graph_when_it_stays():
    world = sgd_world()
    step = norch.compile(world.step)
    for _ in range(6):
        step(*batch())
    optimizer = step.programs[0].recorder.steps[0]

    def graphs_in_a_step():
        return calls_in(lambda: step(*batch()))[1:3]

    optimizer.param_groups[0]["lr"] = 0.01
    assert [graphs_in_a_step() for _ in range(3)] == [[0, 0], [0, 1], [1, 0]]
    for k in range(3):  # a rate for each step
        optimizer.param_groups[0]["lr"] = 0.01 / (k + 2)
        assert graphs_in_a_step() == [0, 0]


def test_a_rate_that_changes_now_and_then():
    def make():
        model = mlp(nn.Tanh())
        optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        scheduler = optim.lr_scheduler.StepLR(optimizer, 5, 0.5)
        step, look = training(model, optimizer), lambda: state_of(model, optimizer)
        return World(step, lambda i: batch(), look, after=lambda i, loss: scheduler.step())

    beside_eager(make, steps=24)


def test_gradients_that_somebody_keeps():
    def make():
        model, kept = mlp(nn.Tanh()), []
        optimizer = optim.SGD(model.parameters(), lr=0.1)

        def after(i, loss):
            if i in (7, 8, 11):
                kept.extend(p.grad for p in model.parameters())

        def look():
            return state_of(model, optimizer), [x.tolist() for x in kept]

        return World(training(model, optimizer), lambda i: batch(), look, after=after)

    beside_eager(make, steps=16)


def test_gradients_that_add_up():
    def make():
        model = mlp(nn.Tanh())

        def step(x, y):
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            return loss

        def after(i, loss):
            if i % 3 == 2:
                model.zero_grad()

        return World(step, lambda i: batch(), lambda: state_of(model), after=after)

    beside_eager(make, steps=20)


@pytest.mark.parametrize("order", ["forward backward", "two forwards", "no backward"])
def test_a_compiled_module(order):
    """Its backward is a graph too; a call whose predecessor still waits for its backward works in other memory."""

    def make():
        model = mlp(nn.Tanh(), nn.Linear(8, 8), nn.Sigmoid())
        waiting = []

        def after(i, y):
            waiting.append((y * y).sum())
            if order == "two forwards" and i > 8 and i % 2:
                return
            for loss in reversed(waiting):
                if order != "no backward" or i % 3 == 2:
                    loss.backward()
            waiting.clear()

        return World(model, lambda i: batch()[:1], lambda: state_of(model), after=after)

    function, warned = beside_eager(make, steps=16)
    assert not warned and len(function.programs) == 1


def test_arguments_that_are_written_and_views():
    def step(x, y, z):
        x.mul_(0.5)
        x += y.sum(0)
        return (x * z).tanh(), z.sum(1)

    def arguments(i):
        whole = norch.randn(8, 4).to("cuda")
        given[:] = [norch.randn(4).to("cuda"), whole[::2], norch.randn(4, 1).to("cuda").expand(4, 4)]
        return tuple(given)

    given = []
    function, warned = beside_eager(lambda: World(step, arguments, lambda: [x.tolist() for x in given]))
    assert not warned and len(function.programs) == 1


@pytest.mark.parametrize("cut", [lambda x: (x[:4], x[2:6]), lambda x: (x[::2], x[1::2]), lambda x: (x[:4], x[:4])])
def test_arguments_that_share_memory_and_are_written(cut):
    def step(x, y):
        x.add_(1)
        y.mul_(2)
        return x + y

    def arguments(i):
        wholes[:] = [norch.randn(8).to("cuda")]
        return cut(wholes[0])

    wholes = []
    beside_eager(lambda: World(step, arguments, lambda: wholes[0].tolist()))


def test_memory_of_others_stays_theirs():
    """Kernels that work in memory of their own: it belongs to the graph until the program ends."""
    others = []

    def step(x):
        y = x.sort(1)[0].sum(0)
        return F.conv2d(x.reshape(1, 1, 40, 50), weight).sum() + y.cumsum(0).sum() + x.sum()

    def after(i, result):
        others.append(norch.full((40, 50), float(i)).to("cuda"))
        others.append(others[-1].sum())
        norch.cuda.empty_cache()

    weight = norch.randn(2, 1, 3, 3).to("cuda")
    world = World(step, lambda i: (norch.randn(40, 50).to("cuda"),), after=after)
    function, warned = beside_eager(lambda: world)
    assert not warned and len(function.programs) == 1
    for i, whole in enumerate(others[::2]):
        assert whole.tolist() == [[float(i % 12)] * 50] * 40


def test_an_index_out_of_range_is_found():
    table = norch.randn(5, 3).to("cuda")

    @norch.compile
    def look_up(places):
        return (F.embedding(places, table) * 2).tanh()

    good = norch.tensor([0, 4]).to("cuda")
    expected = look_up(good).tolist()
    for _ in range(5):
        look_up(good)
    for _ in range(2):
        with pytest.raises(IndexError, match="7"):
            look_up(norch.tensor([1, 7]).to("cuda")).tolist()
        assert look_up(good).tolist() == expected


@needs_emulator
def test_a_failing_launch_leaves_all_usable():
    norch.manual_seed(0)
    step = norch.compile(lambda x: (x * 2).exp().sum(1).tanh())
    x = norch.randn(3, 4).to("cuda")
    expected = (x * 2).exp().sum(1).tanh().tolist()
    for _ in range(8):  # while it runs plainly, is recorded, rehearsed, launched
        _C._library.emulator_fail_launch(_C.ctypes.c_int64(2))
        with pytest.raises(RuntimeError, match="LaunchOutOfResources"):
            step(x)
        _C._library.emulator_fail_launch(_C.ctypes.c_int64(0))
        assert step(x).tolist() == expected


@needs_emulator
def test_too_little_memory_for_a_graph_is_no_error_of_the_call():
    x = norch.randn(40, 50).to("cuda")

    def function(x):
        return x.sort(1)[0].cumsum(0).sum() + x.sum()

    expected, failed = function(x).tolist(), 0
    for countdown in range(1, 40, 2):
        step = norch.compile(function)
        for _ in range(4):
            step(x)
        _C.lib.fail_allocation(countdown)
        for _ in range(4):
            try:
                assert step(x).tolist() == expected
            except MemoryError:
                failed += 1
        _C.lib.fail_allocation(0)
    assert failed


@needs_emulator
def test_nothing_is_left():
    def alive():
        gc.collect()
        norch.cuda.empty_cache()
        emulated = _C._library.emulator_graphs(), _C._library.emulator_allocations()
        return (*emulated, _C.live_tensors(), norch.cuda.memory_allocated())

    def use():
        world = sgd_world(nn.Dropout(0.2))
        step, model = norch.compile(world.step), norch.compile(mlp(nn.Tanh()))
        for _ in range(8):
            step(*batch())
            model(batch()[0]).sum().backward()

    use()
    before = alive()
    use()
    assert alive() == before
