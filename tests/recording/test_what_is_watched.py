"""Each kind of thing that a function may look at: after a change, a compiled call gives what the function gives."""

from __future__ import annotations

import random
import time

import everyday_rows  # noqa: F401 (registers rows)
import pytest
import training_rows  # noqa: F401
from compiled import shown
from watched_rows import CHANGES, UNSEEN

import norch


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen(name, monkeypatch):
    make = CHANGES[name]
    seen = []
    for compiled in (True, False):
        norch.manual_seed(1)
        with monkeypatch.context() as patch:
            function, change = make(patch) if make.__code__.co_argcount else make()
            called = norch.compile(function) if compiled else function
            found = [shown(called(norch.ones(2))) for _ in range(4)]
            assert not compiled or called.programs
            change()
            seen.append([*found, *[shown(called(norch.ones(2))) for _ in range(5)]])
    assert seen[0] == seen[1] and seen[0][3] != seen[0][4]


def test_arguments_that_are_equal():
    function = norch.compile(lambda x, k: x / k)
    for k in (0.0, 0.0, 0.0, 0.0, -0.0, -0.0):
        assert function(norch.ones(1), k).item() == (1 / norch.tensor(k)).item()


@pytest.mark.parametrize("name", UNSEEN)
def test_what_changes_unseen_is_not_recorded(name):
    function, why = UNSEEN[name]()
    compiled = norch.compile(function)
    compiled(norch.ones(2))
    with pytest.warns(UserWarning, match="cannot be replayed: it looks at") as caught:
        compiled(norch.ones(2))
    assert why in str(caught[0].message) and not compiled.programs


def test_what_changes_unseen_may_be_near():
    """A trainer may hold an iterator, and draw random numbers, in what the step does not call."""

    class Noise:
        def __getitem__(self, i):
            return random.random()

    class Trainer:
        def __init__(self):
            self.batches, self.random, self.noise, self.k = iter([1, 2]), random.Random(1), Noise(), 2.0

        def epoch(self):
            random.shuffle([1, 2])
            return [self.step(norch.ones(2)) for _ in self.batches], self.random.random(), time.time()

        def step(self, x):
            return x * self.k

    trainer = Trainer()
    step = norch.compile(trainer.step)
    for _ in range(4):
        step(norch.ones(2))
    trainer.k = 3.0
    assert step.programs and step(norch.ones(2)).tolist() == [3.0, 3.0]
