"""A step that fails, or is interrupted, leaves all parameters and all state as they were."""

import inspect

import pytest

import norch
from norch import _C, nn, optim

RULES = sorted(
    name
    for name, kind in vars(optim).items()
    if inspect.isclass(kind)
    and issubclass(kind, optim.Optimizer)
    and name not in ("Optimizer", "LBFGS", "ZeroRedundancyOptimizer")
)
OPTIONS = {"SGD": {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}, "RMSprop": {"momentum": 0.9, "centered": True}}


def made(name, dtype=norch.float32):
    """An optimizer of two groups, with gradients."""
    norch.manual_seed(0)
    parameters = [nn.Parameter(norch.randn(2, 3).to(dtype)) for _ in range(3)]
    for parameter in parameters:
        parameter.grad = norch.randn(2, 3).to(dtype)
    groups = [{"params": parameters[:2]}, {"params": parameters[2:], "lr": 0.03}]
    return getattr(optim, name)(groups, **OPTIONS.get(name, {}))


def state_of(optimizer):
    values = [parameter.tolist() for parameter in optimizer.parameters]
    state = [
        {key: value.tolist() if isinstance(value, norch.Tensor) else value for key, value in state.items()}
        for state in map(optimizer.state.get, optimizer.parameters)
        if state
    ]
    return values, state


@pytest.mark.parametrize("steps_before", [0, 1])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, norch.float32) for name in RULES] + [(name, norch.float16) for name in ("SGD", "Adam", "RMSprop")],
    ids=str,
)
def test_every_allocation_of_a_step_fails_in_turn(name, dtype, steps_before):
    optimizer, undisturbed = made(name, dtype), made(name, dtype)
    for _ in range(steps_before):
        optimizer.step()
        undisturbed.step()
    undisturbed.step()
    before, failures = state_of(optimizer), 0
    while True:
        _C.fail_allocation(failures + 1)
        try:
            optimizer.step()
            break
        except MemoryError:
            failures += 1
            _C.fail_allocation(0)
            assert state_of(optimizer) == before
        finally:
            _C.fail_allocation(0)
    assert state_of(optimizer) == state_of(undisturbed)
    has_state = steps_before or name == "Adagrad"  # which makes it at the start
    assert failures or (dtype is norch.float32 and optimizer.fused and has_state)


def test_an_update_that_is_interrupted_undoes_the_others():
    class Slow(optim.SGD):
        interrupted = True

        def update(self, parameter, gradient, state, group):
            super().update(parameter, gradient, state, group)
            if self.interrupted and parameter is self.parameters[2]:
                raise KeyboardInterrupt

    parameters = [nn.Parameter([float(n)]) for n in range(3)]
    for parameter in parameters:
        parameter.grad = norch.ones(1)
    optimizer = Slow(parameters, lr=0.5, momentum=0.9)
    with pytest.raises(KeyboardInterrupt):
        optimizer.step()
    assert [p.item() for p in parameters] == [0.0, 1.0, 2.0] and not optimizer.state
    optimizer.interrupted = False
    optimizer.step()
    assert [p.item() for p in parameters] == [-0.5, 0.5, 1.5] and len(optimizer.state) == 3


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize("call", [1, 2, 4])
def test_lbfgs_returns_to_where_it_was_if_its_closure_fails(search, call):
    w = nn.Parameter([3.0, -2.0])
    optimizer = optim.LBFGS([w], lr=0.1, max_iter=2, line_search_fn=search)
    calls = []

    def closure():
        calls.append(w.tolist())
        if len(calls) == calls_that_fail:
            raise KeyboardInterrupt
        optimizer.zero_grad()
        loss = ((w - 1) ** 4).sum()
        loss.backward()
        return loss

    calls_that_fail = 0
    optimizer.step(closure)
    kept, state = w.tolist(), dict(optimizer.state[w])
    calls_that_fail = len(calls) + call
    with pytest.raises(KeyboardInterrupt):
        for _ in range(4):
            kept, state = w.tolist(), dict(optimizer.state[w])
            optimizer.step(closure)
    assert w.tolist() == kept and optimizer.state[w].keys() == state.keys()
    assert all(optimizer.state[w][key] is value for key, value in state.items())


def test_groups_are_checked_before_any_is_changed():
    first, second = nn.Parameter([1.0]), nn.Parameter([1.0])
    first.grad, second.grad = norch.ones(1), norch.ones(1)
    optimizer = optim.SGD([{"params": [first]}, {"params": [second]}], lr=0.5)
    second.data = norch.ones(1).double()
    with pytest.raises(RuntimeError, match="float64"):
        optimizer.step()
    assert first.item() == 1.0
