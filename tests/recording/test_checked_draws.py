"""Draws that look at what they are given, multinomial and distributions, replay, and a replay looks again."""

from __future__ import annotations

import pytest
from compiled import World, beside_eager

import norch
from norch import distributions

DRAWS = {
    "multinomial": lambda x: norch.multinomial(x, 2),
    "multinomial with replacement": lambda x: norch.multinomial(x, 5, replacement=True),
    "bernoulli": lambda x: distributions.Bernoulli(probs=x).sample(),
    "categorical": lambda x: distributions.Categorical(probs=x).sample(),
    "normal": lambda x: distributions.Normal(x, x).rsample(),
    "log_prob": lambda x: distributions.Exponential(2.0).log_prob(x),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_they_replay(draw):
    function, warned = beside_eager(lambda: World(draw, lambda i: (norch.rand(2, 3),)))
    assert not warned and len(function.programs) == 1
    for wrong in (norch.tensor([[-1.0, 1.0, 3.0]] * 2), norch.full((2, 3), float("nan"))):
        errors = []
        for call in (draw, function):
            with pytest.raises((ValueError, RuntimeError)) as error:
                call(wrong)
            errors.append(error.type)
        assert errors[0] is errors[1]
    assert function(norch.rand(2, 3)) is not None


def test_too_few_indices():
    function = norch.compile(lambda x: norch.multinomial(x, 2))
    for _ in range(4):
        function(norch.ones(3))
    for weights in (norch.tensor([0.0, 1.0, 0.0]), norch.zeros(3)):
        with pytest.raises(RuntimeError, match=f"cannot draw 2 of {int(weights.sum())} indices of positive weight"):
            function(weights)
