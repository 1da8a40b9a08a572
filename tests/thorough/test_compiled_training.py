"""A hundred compiled steps of every layer, loss, optimizer and schedule, beside eager; and nothing leaks over many."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from compiled import beside_eager

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recording"))
from test_layers_compiled import ROWS, forward, training  # noqa: E402
from test_training_compiled import SCHEDULED, SCHEDULES, SETTINGS, cases, program  # noqa: E402


@pytest.mark.parametrize("kind", [training, forward], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("code", ROWS)
def test_a_hundred_steps_of_a_layer(code, kind):
    beside_eager(lambda: kind(code), steps=100)


@pytest.mark.parametrize(("name", "options"), cases, ids=str)
def test_a_hundred_steps_of_an_optimizer(name, options):
    beside_eager(lambda: program(name, options), steps=100)


@pytest.mark.parametrize("name", SCHEDULED)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_hundred_steps_of_a_schedule(schedule, name):
    beside_eager(lambda: program(name, SETTINGS.get(name, {}), schedule), steps=100)
