"""Several threads in one operation, operations in several threads, children after fork, and the end of the process."""

import math
import os
import subprocess
import sys

import pytest
from concurrently import in_threads

import norch


@pytest.fixture(autouse=True)
def restored():
    count = norch.get_num_threads()
    yield
    norch.set_num_threads(count)


def results():
    """Bytes of results of every kind of kernel that splits its work."""
    norch.manual_seed(3)
    x = norch.arange(700 * 300).float().reshape(700, 300).sin()
    y = x.T
    computed = [x + x.sum(axis=0), y + 1.0, y.contiguous(), x.exp(), x[:, ::2] * 2.0, x.softmax(1), x.mean()]
    computed += [x.sum(), x.sum(axis=1), x.sum(axis=0), x.max(axis=1)]
    narrow = x.reshape(70_000, 3)
    computed += [narrow.sum(axis=0), narrow.max(axis=0), x.argmax(0), x.argmax(1), x.argmin(1), norch.randn(100_000)]
    computed += [x @ y, y @ x, x.reshape(7, 100, 300) @ y, x[:40] @ x[:40].T]
    places = norch.arange(700) * 11 % 90  # each of them several times
    computed += [x.index_add(0, places, x), y.contiguous().T.index_add(0, places, x), x.index_copy(0, places, x)]
    computed += [x.index_reduce(0, places, x[:, :1].expand(700, 300), "amax")]
    return [tensor.reshape(-1).tolist() for tensor in computed]


def test_results_do_not_depend_on_the_number_of_threads():
    norch.set_num_threads(1)
    expected = results()
    for count in (2, 3, 8):
        norch.set_num_threads(count)
        assert results() == expected


def test_the_number_is_checked_and_remembered():
    norch.set_num_threads(3)
    assert norch.get_num_threads() == 3
    with pytest.raises(ValueError, match="expected a positive number, got 0"):
        norch.set_num_threads(0)


def test_the_environment_sets_the_number():
    environment = {**os.environ, "NORCH_NUM_THREADS": "5"}
    code = "import norch; print(norch.get_num_threads())"
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert result.stdout.split() == ["5"]


def test_python_threads_calling_at_once():
    norch.set_num_threads(2)
    x = norch.arange(300_000).float()
    expected, wrong = (x * 2.0).sum().item(), []

    def work(number):
        for _ in range(20):
            if (x * 2.0).sum().item() != expected:
                wrong.append(number)

    in_threads(4, work)
    assert not wrong


FORK = """
import os, sys, norch
norch.set_num_threads(3)
x = norch.arange(400_000).float()
expected = x.exp().sum().item(), x.sin().sum().item()
child = os.fork()
same = (x.exp().sum().item(), x.sin().sum().item()) == expected
if child == 0:
    os._exit(0 if same else 3)
status = os.waitpid(child, 0)[1]
sys.exit(0 if same and status == 0 else 1)
"""

EXIT_WHILE_WORKING = """
import threading, norch
norch.set_num_threads(3)
x = norch.arange(1_000_000).float()
def work():
    while True:
        x.sin()
threading.Thread(target=work, daemon=True).start()
x.sin()
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_computes_after_its_parent_used_threads():
    assert subprocess.run([sys.executable, "-c", FORK], timeout=120).returncode == 0


def test_the_process_ends_while_threads_work():
    result = subprocess.run([sys.executable, "-c", EXIT_WHILE_WORKING], timeout=120, capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout.split() == ["done"]


def test_denormals_stay_in_every_thread():
    norch.set_num_threads(4)
    tiny = norch.full((400_000,), 1e-40) * 0.5
    assert tiny.min().item() == pytest.approx(5e-41, rel=1e-3) and math.isclose(tiny.max().item(), tiny.min().item())
