"""Makes sin2.html: sin(x)^2 being learnt in the page, from the weights that norch draws for the article's seed.

The page trains in JavaScript, by the formulas of norch's Linear, Sigmoid, MSELoss and SGD; tests/thorough/test_pages.py
compares its losses with norch's.
"""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

from frame import page

import norch

HIDDEN = [1, 2, 3, 5, 7, 10, 16, 24, 32]

_path = Path(__file__).parents[2] / "sin2.py"
_spec = importlib.util.spec_from_file_location("sin2_example", _path)
example = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(example)


def model(hidden: int, spread: bool) -> norch.nn.Module:
    """The example's model as its main makes it."""
    random.seed(1)
    if hidden > 10:
        norch.manual_seed(1)
    made = example.MyModel(hidden)
    if spread:
        made.spread()
    return made


def start(hidden: int, spread: bool) -> list[list[float]]:
    """The parameters of a fresh model: weight and bias of the first layer, of the second."""
    return [[float(f"{value:.9g}") for value in p.flatten().tolist()] for p in model(hidden, spread).parameters()]


def draw() -> str:
    data = {
        "x": [round(x, 9) for x in example.X_VALUES],
        "y": [round(y, 9) for y in example.Y_VALUES],
        "starts": {hidden: {way: start(hidden, way == "spread") for way in ("drawn", "spread")} for hidden in HIDDEN},
    }
    return page("sin2", "A network learns sin²", data)
