"""Types for editors: the stubs are up to date, and norch's names are the public API."""

from __future__ import annotations

import copy
import pickle
import types

import pytest
import stubs

import norch


@pytest.mark.parametrize("path, text", stubs.stubs().items(), ids=lambda value: getattr(value, "name", ""))
def test_the_stubs_are_up_to_date(path, text):
    assert path.read_text(encoding="utf-8") == text, "run `PYTHONPATH=. python tools/stubs.py`"


def test_dir_shows_the_public_api_alone():
    shown = set(dir(norch)) - {"__config__", "__doc__", "__version__"}
    modules = {name for name in shown if isinstance(getattr(norch, name), types.ModuleType)}
    assert modules >= {"autograd", "backends", "cuda", "nn", "optim", "special", "random", "utils"}
    assert not [name for name in shown if name.startswith("_")]


def test_every_public_name_is_listed():
    """What norch/__init__.py imports is public, but modules."""
    found = {name for name, value in vars(norch).items() if not isinstance(value, types.ModuleType)}
    assert {name for name in found if not name.startswith("_")} - {"TYPE_CHECKING", "annotations"} <= set(norch.__all__)
    assert len(norch.__all__) == len(set(norch.__all__))


def test_a_tensor_has_its_public_name():
    for value, name in ((norch.ones(1), "Tensor"), (norch.Size([1]), "Size"), (norch.device("cpu"), "device")):
        assert str(type(value)) == f"<class 'norch.{name}'>"


def test_a_shape_error_has_its_public_name():
    assert f"{norch.ShapeError.__module__}.{norch.ShapeError.__qualname__}" == "norch.ShapeError"


def test_kinds_are_of_the_package_and_pickled_by_their_names():
    for cls, name in ((norch.dtype, "dtype"), (norch.layout, "layout"), (norch.memory_format, "memory_format")):
        assert repr(cls) == f"<class 'norch.{name}'>"
    for kind in (norch.bool, norch.float32, norch.bfloat16, norch.complex64, norch.strided, norch.channels_last):
        assert pickle.loads(pickle.dumps(kind)) is kind is copy.deepcopy(kind)
