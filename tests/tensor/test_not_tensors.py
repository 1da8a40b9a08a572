"""What is no tensor, where one belongs, raises TypeError or another error on purpose: never one of Python's attributes.

The functions are found by walking the package. Each is called with something else in the place of each tensor of its
signature; the other arguments are of the types that the signature says.
"""

from __future__ import annotations

import ctypes
import inspect
import warnings
from typing import Any

import pytest

import norch
from norch import nn

F = nn.functional
NAMESPACES = {
    "norch": norch,
    "nn.functional": F,
    "nn.init": nn.init,
    "nn.utils": nn.utils,
    "nn.utils.rnn": nn.utils.rnn,
    "linalg": norch.linalg,
    "special": norch.special,
    "sparse": norch.sparse,
    "Tensor": norch.Tensor,
    "nn": nn,
}
NO_TENSORS = (3, "a", [1.0], object())
ACCIDENTS = (AttributeError, ctypes.ArgumentError, UnboundLocalError, NameError)
WITH_FILES = {"load", "save", "from_file"}  # these open what they are given, a number too


def functions(space: Any) -> dict[str, Any]:
    """The public functions of a namespace; of nn the layers; of Tensor the methods."""
    listed = getattr(space, "__all__", None) or [name for name in dir(space) if not name.startswith("_")]
    found = {name: getattr(space, name, None) for name in listed if name not in WITH_FILES}
    if space is nn:
        return {name: value for name, value in found.items() if inspect.isclass(value) and issubclass(value, nn.Module)}
    return {name: value for name, value in found.items() if inspect.isfunction(value)}


CASES = {f"{space}.{name}": function for space in NAMESPACES for name, function in functions(NAMESPACES[space]).items()}


def takes_tensor(parameter: inspect.Parameter) -> bool:
    return "Tensor" in str(parameter.annotation) and parameter.name != "self"


def fitting(parameter: inspect.Parameter) -> Any:
    """An argument of the type that the signature names."""
    kind = str(parameter.annotation)
    if "Tensor" in kind or "Operand" in kind:
        return norch.ones(2, 3)
    return "sum" if "str" in kind else 0.5 if "float" in kind else True if "bool" in kind else 1


def accidents(function: Any) -> list[str]:
    """What calls of a function raise that they should not."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    arguments = {p.name: fitting(p) for p in needed}
    found = []
    for parameter in filter(takes_tensor, parameters):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        for wrong in NO_TENSORS:
            found += accident_of(function, {**arguments, parameter.name: wrong}, parameter.name)
    return found


def accident_of(function: Any, arguments: dict[str, Any], name: str) -> list[str]:
    try:
        function(**arguments)
    except ACCIDENTS as error:
        if "norch does not have" not in str(error):
            return [f"{name}={arguments[name]!r}: {type(error).__name__}: {error}"]
    except Exception:  # on purpose
        pass
    return []


def layer_accidents(kind: Any) -> list[str]:
    """The same of a layer's call."""
    for sizes in ((), (3,), (4, 2), (3, 3, 1), (3, 3, 3)):
        try:
            layer = kind(*sizes)
        except Exception:  # it takes others
            continue
        return accidents(layer.forward) + [found for wrong in NO_TENSORS for found in called(layer, wrong)]
    return []


def called(layer: Any, wrong: Any) -> list[str]:
    try:
        layer(wrong)
    except ACCIDENTS as error:
        return [f"{wrong!r}: {error}"]
    except Exception:  # on purpose
        pass
    return []


@pytest.mark.parametrize("name", CASES)
def test_what_is_no_tensor_is_refused(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = (layer_accidents if inspect.isclass(CASES[name]) else accidents)(CASES[name])
    assert not found, "\n".join(found)


def test_the_walk_finds_the_package():
    assert len(CASES) > 900 and {"Tensor.bmm", "Tensor.dot", "nn.init.xavier_uniform_", "nn.Linear"} < set(CASES)


def test_the_walk_finds_an_accident():
    def planted(x: norch.Tensor) -> Any:
        return x.shape

    assert len(accidents(planted)) == len(NO_TENSORS)


@pytest.mark.parametrize(
    "call",
    [
        lambda: norch.ones(2, 2, 2).bmm("a"),
        lambda: norch.ones(3).dot(3),
        lambda: nn.init.xavier_uniform_(3),
        lambda: norch.optim.lr_scheduler.SequentialLR(3),
        lambda: norch.transpose(3, 0, 1),
        lambda: norch.split(3, 1),
        lambda: F.linear(norch.ones(2, 3), norch.ones(2, 3), 3),
        lambda: nn.utils.spectral_norm(3),
        lambda: norch.zeros(2, out=3),
    ],
)
def test_the_error_says_what_was_expected(call):
    with pytest.raises(TypeError, match="expected a |missing"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: norch.hann_window(2, device=True),
        lambda: norch.fft.fftfreq(2, device=True),
        lambda: norch.ones(2).cuda(True),
        lambda: norch.nn.Linear(2, 2).cuda(True),
        lambda: norch.device("cuda", 1.5),
        lambda: norch.device("cuda", True),
        lambda: norch.nn.functional.group_norm(norch.ones(2, 4), 2.0),
        lambda: norch.nn.functional.group_norm(norch.ones(1, 0), 2**64),
    ],
)
def test_what_is_no_device_and_no_number_is_refused(call):
    with pytest.raises((TypeError, OverflowError, ValueError)):
        call()


def test_the_memory_of_a_long_vander_is_asked_for_at_once():
    for call in (norch.vander, lambda x, n: norch.linalg.vander(x, N=n)):
        with pytest.raises(MemoryError):
            call(norch.ones(2), 2**50)
