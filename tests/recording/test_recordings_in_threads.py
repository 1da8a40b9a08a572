"""Recordings of several threads at a time: what stands for `print` and others meanwhile goes with the last of them."""

from __future__ import annotations

import builtins
import io
import os
import threading

import pytest

import norch

PLACES = [(builtins, "print"), (builtins, "open"), (builtins, "input"), (io, "open"), (os, "stat"), (os, "getcwd")]


def there() -> list:
    return [getattr(module, name) for module, name in PLACES]


@pytest.fixture
def originals():
    """What is there, which a failure does not leave to other tests."""
    before = there()
    yield before
    for (module, name), function in zip(PLACES, before):
        setattr(module, name, function)


def test_recordings_that_overlap(originals, capsys):
    """A begins, B begins, A ends, B prints and ends: B's print is noticed, and everything is as it was."""
    steps, errors = {name: threading.Event() for name in ("A", "B", "A ended")}, []

    def first(x):
        steps["A"].set()
        assert steps["B"].wait(30)
        return x + 1

    def second(x):
        steps["B"].set()
        assert steps["A ended"].wait(30)
        print("second")
        return x + 2

    def record_first():
        compiled_first(norch.ones(2))
        steps["A ended"].set()

    def record_second():
        assert steps["A"].wait(30)
        try:
            compiled_second(norch.ones(2))
        except RuntimeError as error:
            errors.append(str(error))

    compiled_first, compiled_second = (norch.compile(f, fullgraph=True) for f in (first, second))
    for event in steps.values():  # the first calls, which are not recorded, wait for nobody
        event.set()
    compiled_first(norch.ones(2))
    compiled_second(norch.ones(2))
    for event in steps.values():
        event.clear()
    threads = [threading.Thread(target=record) for record in (record_first, record_second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(errors) == 1 and "something is printed" in errors[0], errors
    assert there() == originals
    assert capsys.readouterr().out == "second\n" * 2


@pytest.mark.filterwarnings("ignore:norch.compile")
def test_a_thread_that_records_nothing(originals, tmp_path, capsys):
    """It prints, opens and looks at files while another records."""
    begun, done, found = threading.Event(), threading.Event(), []

    def other():
        for _ in range(3):
            begun.wait(30)
            begun.clear()
            print("other")
            (tmp_path / "file").write_text("text")
            with open(tmp_path / "file") as file:
                found.append((file.read(), os.stat(tmp_path / "file").st_size, os.getcwd()))
            done.set()

    @norch.compile
    def recorded(x):
        begun.set()
        assert done.wait(30)
        done.clear()
        return x + 1

    thread = threading.Thread(target=other)
    thread.start()
    for _ in range(3):
        recorded(norch.ones(2))
    thread.join(60)
    assert found == [("text", 4, os.getcwd())] * 3 and there() == originals
    assert capsys.readouterr().out == "other\n" * 3


def test_what_was_there_is_called(originals, monkeypatch):
    """Another `print` than Python's prints in a recorded call, too, and is there afterwards."""
    said = []
    monkeypatch.setattr(builtins, "print", said.append)

    @norch.compile
    def speaking(x):
        print("a step")
        return x + 1

    with pytest.warns(UserWarning, match="something is printed"):
        for _ in range(4):
            speaking(norch.ones(2))
    assert said == ["a step"] * 4 and builtins.print == said.append


@pytest.mark.filterwarnings("ignore:norch.compile")
def test_what_is_put_there_meanwhile_stays(originals):
    """A function that another thread, or the function itself, puts in place of `print` while a recording runs."""

    def quiet(*values):
        pass

    @norch.compile
    def silencing(x):
        builtins.print = quiet
        return x + 1

    for _ in range(3):
        builtins.print = originals[0]
        silencing(norch.ones(2))
        assert builtins.print is quiet
