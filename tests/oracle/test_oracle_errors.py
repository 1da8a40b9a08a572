"""The types of exceptions against torch's: erroneous calls of all parts of both libraries (errors/*_calls.py)."""

from __future__ import annotations

from pathlib import Path

import erroneous
import exceptions
import pytest
import torch

import norch

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def outcomes():
    """What each call raises in torch and in norch."""
    return {call: (erroneous.error_of(call, torch), erroneous.error_of(call, norch)) for call in erroneous.CALLS}


def test_there_are_many_calls():
    assert len(erroneous.CALLS) >= 1600 and len(set(erroneous.CALLS)) == len(erroneous.CALLS)


def test_torch_refuses_each_call(outcomes):
    """And not because the call is misspelled."""
    wrong = [
        call for call, (theirs, _) in outcomes.items() if theirs is None or isinstance(theirs, (NameError, SyntaxError))
    ]
    assert not wrong, "\n".join(wrong)


def test_norch_raises_the_same_types_or_the_table_says_why(outcomes):
    found = []
    for call, (theirs, ours) in outcomes.items():
        if not exceptions.alike(theirs, ours) and exceptions.row_of(call, theirs, ours) is None:
            found.append(f"{call}\n    torch: {theirs!r}\n    norch: {ours!r}")
    assert not found, "\n".join(found)


def test_what_the_table_says_is_so(outcomes):
    """A row goes when no call needs it any more."""
    used = {exceptions.row_of(call, *both) for call, both in outcomes.items() if not exceptions.alike(*both)}
    assert [row.when for row in exceptions.DEPARTURES if row not in used] == []


def test_messages_say_more_than_ctypes_does(outcomes):
    """No exception that escapes by accident: of ctypes, of Python's attributes, or without a message."""
    accidents = ("ArgumentError", "UnboundLocalError")
    found = []
    for call, (_, ours) in outcomes.items():
        if ours is not None and (type(ours).__name__ in accidents or not str(ours)):
            found.append(f"{call}: {ours!r}")
        if isinstance(ours, AttributeError) and "' object has no attribute '_ptr'" in str(ours):
            found.append(f"{call}: {ours!r}")
    assert not found, "\n".join(found)


def test_the_docs_show_the_table():
    page = Path(__file__).resolve().parents[2] / "docs" / "departures.md"
    assert exceptions.table() in page.read_text()
