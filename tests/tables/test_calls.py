"""What operations cost in calls of C and functions of Python never grows (tools/calls.py writes the table)."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import calls  # noqa: E402


def recorded():
    """Each operation of the table -> how many calls of C, and of Python."""
    lines = calls.RECORD.read_text().splitlines()[1:]
    return {line[12:53].strip(): (int(line[:2]), int(line[2:10])) for line in lines}


def test_no_operation_takes_more_calls_than_recorded():
    run = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "calls.py"), "--json"],
        check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, timeout=300,
    )  # fmt: skip
    counted, limits = json.loads(run.stdout), recorded()
    assert counted.keys() == limits.keys(), "run tools/calls.py: the rows differ from those of the table"
    more = {
        row: (c, python, limits[row])
        for row, (c, python) in counted.items()
        if c > limits[row][0] or python > limits[row][1]
    }
    assert not more, f"more calls (of C, of Python, recorded) than in {calls.RECORD.name}: {more}"


def test_what_is_composed_says_why():
    assert {row for row, (c, _) in recorded().items() if c > 1} == calls.composed().keys()
