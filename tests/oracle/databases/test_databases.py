"""How much of torch's databases norch computes as torch does."""

from __future__ import annotations

from pathlib import Path

import differences
import module_database
import op_database
import optim_database
import pytest
import torch
from reports import Report

import norch

torch.set_num_threads(1)  # small work, which more threads would only wait for


@pytest.fixture(scope="module")
def operations() -> dict[str, Report]:
    return {name: op_database.report(op) for name, op in op_database.operations().items()}


@pytest.fixture(scope="module")
def modules() -> dict[str, Report]:
    return {name: module_database.report(info) for name, info in module_database.modules().items()}


@pytest.fixture(scope="module")
def optimizers() -> dict[str, Report]:
    return {name: optim_database.report(info) for name, info in optim_database.optimizers().items()}


def passing(reports: dict[str, Report]) -> list[str]:
    return [name for name, report in reports.items() if report.status == "passing"]


def test_operations_pass(operations):
    """Of the operations of the main namespace and of nn.functional, as many as norch is to have."""
    main = {name: report for name, report in operations.items() if "." not in name or name.startswith("nn.functional.")}
    assert len(passing(main)) >= 470 and len(passing(operations)) >= 590


def test_modules_pass(modules):
    assert len(passing(modules)) >= 111


def test_optimizers_pass(optimizers):
    assert len(passing(optimizers)) >= 14


def test_what_differs_is_in_the_table(operations, modules, optimizers):
    """Every failing check, and every missing name, is explained in differences.py."""
    found = differences.unexplained([*operations.values(), *modules.values(), *optimizers.values()])
    assert not found, "\n".join(found)


def test_what_is_in_the_table_differs(operations, modules, optimizers):
    """A row goes when its operations pass."""
    found = differences.outdated([*operations.values(), *modules.values(), *optimizers.values()])
    assert not found, "\n".join(found)


def test_the_docs_show_the_table():
    page = Path(__file__).resolve().parents[3] / "docs" / "differences.md"
    assert differences.table() in page.read_text()


def test_the_check_sees_what_is_wrong(monkeypatch):
    """A wrong value, shape and gradient in norch are each a failure."""
    right = norch.Tensor.sin
    wrong = {
        "function": lambda x: right(x) + 1e-3,
        "method": lambda x: right(x).reshape(-1, 1, 1),
        "gradient": lambda x: right(x.detach()) + 0 * x,
        "second derivative": lambda x: right(x).detach() + x * norch.cos(x).detach() - (x * norch.cos(x)).detach(),
    }
    for form, function in wrong.items():
        monkeypatch.setattr(norch, "sin", function)
        monkeypatch.setattr(norch.Tensor, "sin", function)
        failures = op_database.report(op_database.operations()["sin"]).failures
        assert form in {failure.form for failure in failures}, form
