"""The benchmarks run with norch alone, and time nothing that computes something else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import norch

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
PEERS = ("torch", "numpy", "magnetron")
SMALL = ("torch", "magnetron", "tinygrad", "micrograd")  # and PyNorch, which is no other module than norch


@pytest.fixture
def run_alone(tmp_path):
    """Runs a benchmark where none of norch's peers can be imported; returns what it printed."""
    for name in {*PEERS, *SMALL}:
        (tmp_path / f"{name}.py").write_text(f"raise ModuleNotFoundError('hidden ModuleNotFoundError', name='{name}')")

    def run(name, *options):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
        command = [sys.executable, str(BENCHMARKS / name), *options]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def benchmarks(monkeypatch):
    """The modules of the benchmarks: run, frameworks and rows."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    names = ("run", "frameworks", "rows", "steps")  # the table's three, and what they import
    yield [__import__(name) for name in names[:3]]
    for name in names:
        del sys.modules[name]


@pytest.fixture
def one_thread():
    """The benchmarks set the number of threads."""
    count = norch.get_num_threads()
    yield
    norch.set_num_threads(count)


# ---- The table -----------------------------------------------------------------------------------------------------


def test_norch_alone_has_a_table(run_alone, tmp_path):
    path = tmp_path / "results.json"
    output = run_alone("run.py", "--quick", "--threads", "1", "--only", "2x2|64x784|sin2", "--json", str(path))
    for name in PEERS:
        assert f"{name} is not compared: no module {name} (pip install {name})" in output
    rows = re.findall(r"^(sin2 step.*?|2x2.*?|64x784.*?)  +[\d.]+ (?:ns|us|ms) ", output, re.MULTILINE)
    assert rows == ["sin2 step, batch 1", "2x2 add", "2x2 add with graph", "64x784 @ 784x30"]
    (result,) = json.loads(path.read_text())
    assert [row["row"] for row in result["rows"]] == rows and list(result["versions"]) == ["norch"]
    assert all(row["seconds"]["norch"] > 0 and row["ratios"] == {} for row in result["rows"])


def test_every_number_of_threads_has_its_table(run_alone):
    output = run_alone("run.py", "--quick", "--only", "^2x2 add$|64x784", "--threads", "1", "2")
    assert re.findall(r"^\d thread|^2x2 add|^64x784", output, re.MULTILINE) == [
        *("1 thread", "2x2 add", "64x784"),
        *("2 thread", "64x784"),  # a sum of four numbers is no work for two
    ]


def test_whole_programs_are_timed_and_learn(run_alone, monkeypatch):
    output = run_alone("programs.py", "--quick", "--threads", "1", "--only", "sine|differential|Q learning")
    assert "torch is not compared" in output
    assert re.findall(r"^([a-zQ ,]+?)  +[\d.]+ (?:us|ms)$", output, re.MULTILINE) == [
        "sine, small network",
        "deep Q learning",
        "differential equation",
    ]
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    programs = __import__("program_steps").PROGRAMS
    norch.manual_seed(0)
    for name in ("graph convolutions", "decoder, GRU by word", "GPT"):
        _, step = programs[name](norch)
        first = step().item()
        for _ in range(10):
            last = step().item()
        assert last < first


def test_no_picture_without_matplotlib(run_alone, tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError")
    output = run_alone("run.py", "--quick", "--threads", "1", "--only", "2x2 add$", "--picture", "ratios.svg")
    assert "no picture: matplotlib is not installed" in output and not (tmp_path / "ratios.svg").exists()


def test_the_picture_has_a_panel_for_each_number_of_threads(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from picture import draw

    rows = [{"row": "exp", "ratios": {"torch": [2.5, 0.1]}, "aim": 4}, {"row": "pow", "ratios": {}, "aim": None}]
    results = [
        {"threads": n, "processor": "a processor", "versions": {"norch": "1", "torch": "2"}, "rows": rows}
        for n in (1, 2)
    ]
    for name in ("one.svg", "two.svg", "three.png"):
        draw(results, str(tmp_path / name))
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (tmp_path / "one.svg").read_text().count("<!-- exp -->") == 2
    assert (tmp_path / "three.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("value", ["x + 1", "x * float('nan')"])
def test_what_differs_is_not_timed(benchmarks, one_thread, value):
    run, frameworks, rows = benchmarks

    class Same(frameworks.Norch):
        name = "same"

    class Other(frameworks.Norch):
        name = "torch"

    row = rows.Row("exp", "x.exp()", {"x": rows.numbers(100)}, torch=f"({value}).exp()", floor=1, aim=2)
    result = run.measure_row(row, {"norch": Same(1), "same": Same(1), "torch": Other(1)}, run.Budget(True, 1))
    assert result["seconds"].keys() == {"norch", "same"} and result["wrong"].keys() == {"torch"}
    assert result["met"] == ""
    assert "differs by" in run.line(result, ["same", "torch"])


def test_the_rows_ask_for_something_possible(benchmarks):
    _, frameworks, rows = benchmarks
    assert len({row.name for row in rows.ROWS}) == len(rows.ROWS)
    assert all(0.5 < row.floor < row.aim for row in rows.ROWS if row.floor is not None)
    assert all({*row.against} <= {*frameworks.PEERS} and len(row.name) <= 36 for row in rows.ROWS)


@pytest.mark.parametrize(
    "ratios, met",
    [
        ([(2.0, 0.1)], "aim"),
        ([(1.5, 0.1)], "floor"),
        ([(1.4, 0.1)], "below"),
        ([(2.5, 0.1), (1.6, 0.0)], "floor"),  # the strongest peer counts
        ([(9.0, 0.5)], "noise"),
        ([], ""),
    ],
)
def test_aims_are_met_or_not(benchmarks, ratios, met):
    run, _, _ = benchmarks
    assert run.met(ratios, 1.5, 2) == met


# ---- What replays ---------------------------------------------------------------------------------------------------


def test_replays_alone_beside_eager_norch(run_alone):
    output = run_alone("replays.py", "--quick", "--only", "tensors ready|8x8|empty")
    for name in ("torch", "magnetron", "tinygrad"):
        assert f"{name} is not compared" in output or f"no module {name} " in output
    rows = re.findall(r"^(\S.+?)  +[\d.]+ (?:ns|us|ms) +([\d.]+) ", output, re.MULTILINE)
    assert [name for name, _ in rows] == ["sin2 step, tensors ready", "20 operations on 8x8", "empty, two inputs"]
    assert float(rows[0][1]) > 1 and "recording costs up to" in output
    assert re.search(r"us 4, 2.5: (aim|floor|below)$", output, re.MULTILINE)


@pytest.mark.parametrize(
    "goal, met", [(("", 3, 2), "aim"), (("", 2, 1), "floor"), (("", 1, 0.5), "below"), (("torch", 4, 8), "floor")]
)
def test_goals_are_met_or_not(benchmarks, goal, met):
    import replays

    assert replays.reached(replays.Goal(*goal), 2e-6, {"torch": (5.0, 0.1)}) == met
    del sys.modules["replays"], sys.modules["replay_steps"]


# ---- Small frameworks, each in an interpreter of its own ------------------------------------------------------------


def test_norch_alone_beside_small_frameworks(run_alone):
    output = run_alone("small.py", "--quick")
    for name in (*SMALL, "tinyjit", "pynorch"):
        assert re.search(rf"^{name} is not compared: (ModuleNotFound|Import)Error: .*\(in .+\)$", output, re.MULTILINE)
    assert len(re.findall(r"^norch +[\d.]+ [um]s +1\.00 ±0%$", output, re.MULTILINE)) == 2  # two steps
    outcomes = dict(re.findall(r"^(\S.+?)  +(\S+|\[4.0, 6.0\])$", output, re.MULTILINE))
    assert outcomes["x * x at 3, its derivative"] == "6" and outcomes["index 100 of two"] == "IndexError"
    assert outcomes["x[2, 2] * y[2], gradient of y"] == "[4.0, 6.0]"


@pytest.mark.parametrize(
    "changes, timed",
    [
        ([[0.5, -1.0], [2.0]], True),
        ([[0.5, -1.0], [2.0001]], True),
        ([[0.5, -1.001], [2.0]], False),
        ([[0.5, float("nan")], [2.0]], False),
        ([[0.5, -1.0]], False),
        ([[0.5], [2.0]], False),
    ],
)
def test_only_those_who_train_alike_are_timed(benchmarks, monkeypatch, changes, timed):
    import small

    monkeypatch.delitem(sys.modules, "small")

    class Stub:
        def __init__(self, name, changes):
            self.name, self.changes = name, changes

        def ask(self, **row):
            return {"changes": self.changes}

        def seconds(self, count):
            return 1e-3

    workers = [Stub("norch", [[0.5, -1.0], [2.0]]), Stub("other", changes)]
    _, (_, time, remark) = small.measure_row({"row": "sin2"}, workers, 2)
    assert (time == "1.00 ms") is timed and ("not timed: its parameters differ" in remark) is not timed


def test_a_small_framework_that_lacks_something_says_so(benchmarks, monkeypatch):
    import small_trials

    monkeypatch.delitem(sys.modules, "small_trials")
    outcomes = small_trials.outcomes("pynorch")  # its kit on norch
    assert outcomes["(2x)² at 3, 2x changed in place"] == "-" and outcomes["x * x at 3, its derivative"] == "6"
    assert outcomes["second derivative of x ** 3 at 3"] == "RuntimeError"  # its gradients carry no graph


# ---- Memory, time of import, breakdown -----------------------------------------------------------------------------


def bytes_of(text):
    value, unit = text.split()
    return float(value) * {"B": 1, "kB": 1e3, "MB": 1e6}[unit]


def test_memory_counts_what_a_step_holds(run_alone):
    output = run_alone("memory.py")
    for batch in (64, 1024):
        line = re.search(rf"^MLP 784-128-10 step, batch {batch} +([\d.]+ \w+) +([\d.]+ \w+)$", output, re.MULTILINE)
        tensors, system = map(bytes_of, line.groups())
        parameters = 4 * (784 * 128 + 128 + 128 * 10 + 10)
        held = 2 * parameters + batch * (4 * (784 + 2 * 128 + 10) + 8)  # with gradients, batch, hidden layer, logits
        assert 0.99 * held < tensors < 1.5 * held and system >= tensors
    assert re.search(r"^sin2 step, batch 1 +\d+ B +\d+ B$", output, re.MULTILINE)


def test_breakdown_accounts_for_every_call(run_alone):
    output = run_alone("breakdown.py", "--rounds", "50")
    phases = ["inputs", "forward", "loss", "zero_grad", "backward", "optimizer step", "letting go", "sum"]
    table = re.findall(r"^([a-z_ ]+?) +([\d.]+) +\d+% +(\d+) +([\d.]+) +(-?[\d.]+)$", output, re.MULTILINE)
    assert [row[0] for row in table] == phases
    *parts, total = [[float(value) for value in row[1:]] for row in table]
    assert all(abs(sum(column) - whole) < 0.5 for column, whole in zip(zip(*parts), total))
    functions = dict(re.findall(r"^(\w+) +(\d+) +[\d.]+$", output, re.MULTILINE))
    assert sum(map(int, functions.values())) == total[1]
    assert int(functions["sgd_step"]) == 1 and int(functions["call_within"]) == 1


def test_time_of_import(run_alone):
    output = run_alone("imports.py", "--rounds", "2")
    assert re.search(r"^import norch +[\d.]+ ms \(\d+ to \d+\),  1.00 times norch's$", output, re.MULTILINE)
    assert {line.split()[1] for line in output.splitlines() if line.endswith("not installed")} == {*PEERS}
