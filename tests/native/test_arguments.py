"""Integers and flags that do not fit are refused where they are given: nothing is cut, nothing taken for true."""

from __future__ import annotations

import ast
import ctypes
from pathlib import Path

import pytest

import norch
import norch.nn.functional as F
from norch import _C, nn, optim
from norch.arguments import flag, flags, whole

HUGE = (2**63, 2**64 + 3, -(2**63) - 1)


def x():
    return norch.ones(2, 3)


TAKES_AN_INTEGER = {
    "ones": lambda n: norch.ones(n),
    "sum": lambda n: x().sum(n),
    "softmax": lambda n: x().softmax(n),
    "sort": lambda n: x().sort(n),
    "topk": lambda n: x().topk(n),
    "topk of dim": lambda n: x().topk(1, n),
    "kthvalue": lambda n: x().kthvalue(n),
    "cumsum": lambda n: x().cumsum(n),
    "transpose": lambda n: x().transpose(0, n),
    "unsqueeze": lambda n: x().unsqueeze(n),
    "as_strided": lambda n: x().as_strided([1], [1], n),
    "roll": lambda n: x().roll(n),
    "triu": lambda n: x().triu(n),
    "rot90": lambda n: x().rot90(n),
    "mvlgamma": lambda n: x().mvlgamma(n),
    "linspace": lambda n: norch.linspace(0, 1, n),
    "set_num_threads": norch.set_num_threads,
    "max_pool1d": lambda n: F.max_pool1d(norch.ones(1, 1, 8), n),
    "cat": lambda n: norch.cat([x(), x()], n),
    "tensor": lambda n: norch.tensor([n]),
    "fill_": lambda n: norch.ones(2).fill_(n),
}


@pytest.mark.parametrize("n", HUGE)
@pytest.mark.parametrize("name", TAKES_AN_INTEGER)
def test_an_integer_beyond_64_bits_is_refused(name, n, no_leak):
    threads = norch.get_num_threads()
    with pytest.raises(norch.RangeError, match="integers? |does not fit|into"):
        TAKES_AN_INTEGER[name](n)
    assert norch.get_num_threads() == threads


@pytest.mark.parametrize("n", [2**31, 2**32, 2**32 + 1])
def test_an_integer_beyond_32_bits_is_not_cut(n):
    with pytest.raises(norch.RangeError, match=str(n)):
        norch.set_num_threads(n)
    with pytest.raises(IndexError, match=str(n)):
        x().sort(n)
    with pytest.raises(RuntimeError, match="unknown device"):
        norch.ones(1, device=f"cuda:{n}")


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**64, 1.5, "a", None])
def test_the_prototypes_themselves_cut_nothing(value):
    refused = (ctypes.ArgumentError, OverflowError, TypeError)
    with pytest.raises(refused):
        _C.lib.set_num_threads(value)
    with pytest.raises(refused):
        _C.lib.philox_block(0, 0, -1 if isinstance(value, int) else value, None)


TAKES_A_FLAG = {
    "sum": lambda f: x().sum(0, keepdim=f),
    "sum by position": lambda f: x().sum(0, f),
    "max": lambda f: x().max(1, keepdim=f),
    "argmax": lambda f: x().argmax(1, f),
    "logsumexp": lambda f: x().logsumexp(1, f),
    "sort": lambda f: x().sort(descending=f),
    "topk": lambda f: x().topk(1, largest=f),
    "unique": lambda f: x().unique(sorted=f),
    "zeros": lambda f: norch.zeros(2, requires_grad=f),
    "tensor": lambda f: norch.tensor(1.0, pin_memory=f),
    "requires_grad_": lambda f: norch.ones(2).requires_grad_(f),
    "relu": lambda f: F.relu(x(), f),
    "leaky_relu": lambda f: F.leaky_relu(x(), inplace=f),
    "dropout": lambda f: F.dropout(x(), 0.5, f),
    "norch.dropout": lambda f: norch.dropout(x(), 0.5, f),
    "max_pool1d": lambda f: F.max_pool1d(norch.ones(1, 1, 8), 2, ceil_mode=f),
    "batch_norm": lambda f: F.batch_norm(x(), None, None, training=f),
    "median": lambda f: x().median(1, f),
    "hann_window": lambda f: norch.hann_window(4, f),
    "nn.LSTM": lambda f: nn.LSTM(2, 2, batch_first=f),
    "nn.Linear": lambda f: nn.Linear(2, 2, f),
    "SGD": lambda f: optim.SGD([nn.Parameter(norch.ones(1))], maximize=f),
}


@pytest.mark.parametrize("value", ["a", "False", "", 2, 0.0, [], norch.float32])
@pytest.mark.parametrize("name", TAKES_A_FLAG)
def test_a_flag_is_a_bool(name, value):
    with pytest.raises(TypeError, match="expected True or False, got"):
        TAKES_A_FLAG[name](value)


@pytest.mark.parametrize("name", TAKES_A_FLAG)
def test_bools_are_taken(name):
    for value in (True, False):
        if name == "batch_norm" and not value:
            continue  # which needs statistics then
        TAKES_A_FLAG[name](value)


def test_constructors_take_what_scripts_give_for_bools():
    assert nn.Linear(2, 2, bias=None).bias is None and nn.Linear(2, 2, 1).bias is not None


def test_flags_are_found_by_default_and_by_annotation():
    @flags
    def function(x: int, mode: bool, *, strict: bool | None = None, deep=False, count: int = 0) -> tuple:
        return x, mode, strict, deep, count

    assert function(1, True, strict=None, deep=True, count=5) == (1, True, None, True, 5)
    for wrong in ({"mode": 1}, {"mode": None}, {"strict": 0, "mode": True}, {"deep": "a", "mode": True}):
        with pytest.raises(TypeError, match=r"function: (mode|strict|deep): expected True or False"):
            function(1, **wrong)


def test_one_flag_and_one_integer():
    assert flag(True, "f") is True and whole(3, "f") == 3
    with pytest.raises(TypeError, match="f: expected True or False, got 1"):
        flag(1, "f")
    for wrong in (True, 1.0, "a", (1,), None):
        with pytest.raises(TypeError, match="f: expected"):
            whole(wrong, "f")
    with pytest.raises(norch.RangeError, match=r"f: expected an integer in \[0, 4\], got 5"):
        whole(5, "f", 0, 5)


ENDLESS, DEEP = [], [1]
ENDLESS.append(ENDLESS)
for _ in range(3000):
    DEEP = [DEEP]
NEEDS_OTHERS = {
    "ones": lambda value: norch.ones(2, device=value) if isinstance(value, list) else norch.ones(value),
    "device": lambda value: norch.ones(2, device=value),
    "axis": lambda value: x().sum(dim=1, axis=value),
    "to": lambda value: x().to(norch.float32, norch.float64, value),
    "reduction": lambda value: F.mse_loss(x(), x(), reduction=value),
    "kernel_size": lambda value: F.max_pool2d(x()[None], value),
    "an optimizer": lambda value: optim.LBFGS([x()], line_search_fn=value),
    "a module": lambda value: nn.Module().register_buffer("weight", value),
    "the name of a module": lambda value: nn.Module().set_submodule(value, value),
    "einsum": lambda value: norch.einsum("ij->k", value),
    "an address": lambda value: _C.lib.exp_tensor([value]),
    "an integer in C": lambda value: _C.lib.select_tensor(x()._ptr, 0, value),
}


@pytest.mark.parametrize("name", NEEDS_OTHERS)
def test_a_message_is_short_whatever_was_given(name):
    for value in (ENDLESS, DEEP, "a" * 10_000, list(range(10_000)), 10**5000):
        with pytest.raises((TypeError, ValueError, RuntimeError, AttributeError)) as caught:
            NEEDS_OTHERS[name](value)
        assert len(str(caught.value)) < 1000 and "recursion" not in str(caught.value)


OWN = {"self", "support", "constraint", "label", "start.decode()", "kind", "order", "path", "__name__", "name"}


def test_messages_show_what_was_given_by_shown():
    for path in Path(norch.__file__).parent.rglob("*.py"):
        raised = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Raise)]
        parts = [part for node in raised for part in ast.walk(node) if isinstance(part, ast.FormattedValue)]
        whole = {ast.unparse(part.value) for part in parts if part.conversion == ord("r")}
        assert whole <= OWN, f"{path} prints {whole - OWN} in full, however long or deep they are"


@pytest.mark.parametrize("data", [[True, []], [True, "a"], [True, None], ["a"], [object()], [True, [[]]]])
def test_a_bool_is_made_of_numbers_alone(data):
    for options in ({}, {"dtype": norch.bool}):
        with pytest.raises((TypeError, ValueError), match="expected (a )?numbers?|ragged"):
            norch.tensor(data, **options)
    assert norch.tensor([0.5, 0.0, float("nan"), 2], dtype=norch.bool).tolist() == [True, False, True, True]
