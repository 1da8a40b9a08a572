"""A fused kernel that refuses its operands gives way to the formula; one that fails says so."""

import pytest

import norch
import norch.nn.functional as F
from norch._C import fail_allocation
from norch.nn.functional.fused import fused_or

X, W, Y = norch.ones(4, 3), norch.ones(2, 3), norch.zeros(4, 3)
CALLS = {"linear": lambda: F.linear(X, W), "mse_loss": lambda: F.mse_loss(X, Y)}


@pytest.mark.parametrize("name", CALLS)
def test_a_failed_allocation_is_a_memory_error(name):
    fail_allocation(1)
    try:
        with pytest.raises(MemoryError):
            CALLS[name]()
    finally:
        fail_allocation(0)
    CALLS[name]()


def test_refused_operands_go_to_the_formula():
    assert F.linear(X.long(), W.long()).tolist() == [[3, 3]] * 4
    assert F.mse_loss(X.long(), Y.long(), reduction="sum").item() == 12


def test_the_formulas_error_stands_alone():
    with pytest.raises(norch.ShapeError, match=r"linear: input has shape \[4, 3\], expected \[..., 2\]") as caught:
        F.linear(X, W.T)
    assert caught.value.__context__ is None


def fails(*_):
    raise RuntimeError("the device failed")


def test_a_failure_is_not_a_refusal():
    with pytest.raises(RuntimeError, match="the device failed"):
        fused_or(fails, F.mse_loss, X, Y)
    assert fused_or(fails, F.mse_loss, X, Y.double()).item() == 1.0
