"""The rows of benchmarks/wide.py cover the tables of operations and run, and its report names what got slower."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cases import CASES
from operations import BINARY, REDUCTIONS, UNARY

import norch
from norch import nn

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
NORCH = SimpleNamespace(name="norch", modules={}, take=lambda x: x)
WITHOUT_ROW = {  # classes of norch.nn that compute nothing, or what another row computes
    *("Module", "ModuleDict", "ModuleList", "Parameter", "ParameterDict", "ParameterList", "Sequential", "Identity"),
    *("UninitializedBuffer", "UninitializedParameter", "DataParallel", "RNNBase", "Flatten", "Unflatten"),
    "SyncBatchNorm",  # over several processes: benchmarks of their own
    *("Transformer", "TransformerEncoder", "TransformerDecoder"),  # of the layers that have rows
    *("UpsamplingNearest2d", "UpsamplingBilinear2d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"),  # functions
    *("TripletMarginWithDistanceLoss", "LinearCrossEntropyLoss"),
}


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules wide and wide_rows."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    names = ("run", "wide", "wide_rows", "wide_operations", "wide_layers", "picture")
    yield SimpleNamespace(**{name: __import__(name) for name in names})
    for name in names:
        sys.modules.pop(name, None)


def test_every_operation_of_the_tables_has_rows(wide):
    names = {row.name for row in [*UNARY, *BINARY, *CASES]} | {
        f"{row.name}({dim})" for row in REDUCTIONS for dim in "01"
    }
    assert names - wide.wide_rows.covered() == {"scale_and_shift"}  # of BatchNorm(...).eval(), which has a row


def any_dimension(name: str) -> str:
    """Dropout2d stands for Dropout1d."""
    return re.sub(r"\dd$", "", name)


def test_every_layer_has_a_row(wide):
    classes = {name for name, value in vars(nn).items() if isinstance(value, type) and issubclass(value, nn.Module)}
    classes = {name for name in classes - WITHOUT_ROW if not name.startswith("Lazy")}
    rows = {row.name.partition("(")[0] for row in wide.wide_rows.ROWS}
    assert {any_dimension(name) for name in classes} - {any_dimension(name) for name in rows} == set()


def test_no_two_rows_have_one_place(wide):
    places = [(row.line, row.column) for row in wide.wide_rows.ROWS]
    assert len(places) == len(set(places))


def test_every_small_row_runs(wide):
    for row in wide.wide_rows.ROWS:
        if row.large or row.column.startswith("100x100"):
            continue
        try:
            exec(row.code, row.setup(NORCH))
        except Exception as error:
            raise AssertionError(f"{row.line}, {row.column}: {row.code}") from error
    norch.empty_cache()


def test_what_lost_a_fifth_is_named(wide, capsys):
    recorded = {"joins cat": {"8x8": 1.0, "100x100": 2.0}, "joins stack": {"8x8": 1.0}}
    wide.wide.report({"joins cat": {"8x8": 0.79, "100x100": 1.7}, "joins new": {"8x8": 0.1}}, recorded)
    printed = capsys.readouterr().out
    assert "lost 20% or more against the record: 1 of 2 recorded rows\n  1.00 -> 0.79  joins cat, 8x8\n" in printed
    assert "  0.10  joins new, 8x8\n  0.79  joins cat, 8x8\n" in printed


def test_a_record_keeps_the_rows_that_were_not_measured(wide, tmp_path):
    path = str(tmp_path / "record.json")
    wide.wide.write(path, {"joins cat": {"8x8": 1.234, "100x100": 2.0}})
    wide.wide.write(path, {"joins cat": {"8x8": 1.5}, "joins stack": {"8x8": 3.0}})
    assert wide.wide.read(path) == {"joins cat": {"8x8": 1.5, "100x100": 2.0}, "joins stack": {"8x8": 3.0}}


def test_a_record_is_of_one_kind_of_processor(wide, monkeypatch):
    fields = {"vendor_id": "GenuineIntel", "cpu family": "6", "model": "207"}
    monkeypatch.setattr(wide.wide, "of_processor", fields.get)
    assert Path(wide.wide.record_of_this_processor()).name == "GenuineIntel-6-207.json"


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("wide_records/*")), ids=lambda path: path.stem)
def test_the_records_name_rows_that_exist(wide, path):
    places = {(row.line, column) for row in wide.wide_rows.ROWS for column in (row.column, f"{row.column}, 2 threads")}
    recorded = json.loads(path.read_text())
    assert {(line, column) for line, columns in recorded.items() for column in columns} - places == set()
