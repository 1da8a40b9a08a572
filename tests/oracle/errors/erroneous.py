"""Runs a call that is to fail with norch or with torch, from text: the same names mean the same in both libraries."""

from __future__ import annotations

import functools
import importlib
import tempfile
import warnings
from typing import Any

from layer_calls import LAYER_CALLS
from learning_calls import LEARNING_CALLS
from making_calls import MAKING_CALLS
from shape_calls import SHAPE_CALLS
from tensor_calls import TENSOR_CALLS

_LINES = (TENSOR_CALLS + SHAPE_CALLS + MAKING_CALLS + LAYER_CALLS + LEARNING_CALLS).splitlines()
CALLS = [line for line in _LINES if line and not line.startswith("# ")]


def names(lib: Any) -> dict[str, Any]:
    """What a call may use: the library and its modules, and small tensors of each kind."""
    module = functools.partial(importlib.import_module, package=lib.__name__)
    parameters = {name: lib.nn.Parameter(lib.ones(2)) for name in "pq"}
    return {
        "lib": lib,
        "nn": lib.nn,
        "F": lib.nn.functional,
        "R": module(".nn.utils.rnn"),
        "U": module(".nn.utils"),
        "prune": module(".nn.utils.prune"),
        "optim": lib.optim,
        "S": lib.optim.lr_scheduler,
        "data": module(".utils.data"),
        "D": module(".distributions"),
        "x": lib.ones(2, 3),  # float32
        "d": lib.ones(2, 3).double(),
        "n": lib.tensor([0, 1]),  # int64
        "b": lib.tensor([True, False]),
        "s": lib.tensor(1.5),
        "e": lib.ones(0),
        "leaf": lib.ones(2, 3, requires_grad=True),
        **parameters,
        "custom": functools.partial(custom, lib),
        "module": lambda init: type("M", (lib.nn.Module,), {"__init__": init})(),
        "sgd": lib.optim.SGD([parameters["p"]], lr=0.1),
    }


def custom(lib: Any, forward: Any, backward: Any = None) -> Any:
    """A custom operation."""
    methods = {"forward": staticmethod(forward)} | ({"backward": staticmethod(backward)} if backward else {})
    return type("Bad", (lib.autograd.Function,), methods)


def error_of(call: str, lib: Any) -> BaseException | None:
    """What the call raises; None if it raises nothing."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scope = {**names(lib), "folder": folder}
        try:
            exec(call, scope)
        except Exception as error:
            return error
    return None
