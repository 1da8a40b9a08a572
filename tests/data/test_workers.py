"""Workers of a DataLoader: the same batches in the same order, seeds, and that they end."""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from workers import Calls, no_stray_process  # noqa: F401 (a fixture)

import norch
from norch.utils.data import DataLoader, IterableDataset, TensorDataset, get_worker_info, transport

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")

ROOT = Path(__file__).resolve().parents[2]


class Counting(IterableDataset):
    """0, 1, 2, ..., shared out among the workers."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = get_worker_info()
        return iter(range(self.count)[info.id :: info.num_workers] if info else range(self.count))


def lists(batches):
    """Batches with tensors as (dtype, shape, list)."""
    if isinstance(batches, norch.Tensor):
        return str(batches.dtype), list(batches.shape), batches.tolist()
    if isinstance(batches, (list, tuple)):
        return [lists(batch) for batch in batches]
    return {key: lists(value) for key, value in batches.items()} if isinstance(batches, dict) else batches


def kinds(index):
    """One of everything that a batch may hold."""
    return {
        "tensor": norch.full((2, 3), float(index)),
        "double": norch.tensor([index], dtype=norch.float64),
        "bytes": norch.tensor([index % 256], dtype=norch.uint8),
        "mask": norch.tensor([index % 2 == 0]),
        "empty": norch.zeros(0, 2),
        "name": f"sample {index}",
        "pair": (index, index / 2),
    }


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"drop_last": True},
        {"shuffle": True},
        {"prefetch_factor": 1},
        {"prefetch_factor": 20},
        {"batch_size": None},
        {"collate_fn": list},
        {"persistent_workers": True},
    ],
    ids=repr,
)
def test_batches_are_those_without_workers(options, workers):
    options = {"batch_size": 4, **options}
    plain = {key: value for key, value in options.items() if key not in ("prefetch_factor", "persistent_workers")}
    for dataset in (Calls(22, kinds), TensorDataset(norch.randn(22, 3), norch.arange(22))):
        norch.manual_seed(3)
        expected = [lists(list(DataLoader(dataset, **plain))) for _ in range(2)]
        norch.manual_seed(3)
        loader = DataLoader(dataset, num_workers=workers, **options)
        assert [lists(list(loader)) for _ in range(2)] == expected or options.get("shuffle")
        if options.get("shuffle"):
            norch.manual_seed(3)
            assert lists(list(DataLoader(dataset, num_workers=workers, **options))) == expected[0]
        assert len(loader) == len(expected[0])
        del loader


def test_order_is_kept_where_workers_are_not_equally_fast():
    def slow_first(index):
        time.sleep(0.05 if index % 4 == 0 else 0)
        return index

    batches = [batch.item() for batch in DataLoader(Calls(12, slow_first), num_workers=4)]
    assert batches == list(range(12))


def eventually(condition):
    """Wait until it holds."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_workers_run_beside_each_other(tmp_path):
    """Each sample waits for the three others of its kind, which other workers make at the same time."""

    def meeting(index):
        (tmp_path / str(index)).touch()
        eventually(lambda: len(list(tmp_path.iterdir())) >= 4 * (index // 4 + 1))
        return os.getpid()

    pids = {batch.item() for batch in DataLoader(Calls(8, meeting), num_workers=4)}
    assert len(pids) == 4 and os.getpid() not in pids


def test_prefetching_goes_as_far_as_it_says(tmp_path):
    def noted(index):
        (tmp_path / str(index)).touch()
        return index

    batches = iter(DataLoader(Calls(50, noted), num_workers=2, prefetch_factor=3))
    next(batches)
    eventually(lambda: len(list(tmp_path.iterdir())) >= 7)
    time.sleep(0.1)
    assert sorted(int(path.name) for path in tmp_path.iterdir()) == list(range(7))  # 2 x 3 ahead of the one taken


def test_large_batches_and_many_tensors():
    batches = list(DataLoader(Calls(4, lambda i: [norch.full((1000, 500), float(i))] * 3), num_workers=2))
    assert [batch[2].shape for batch in batches] == [[1, 1000, 500]] * 4
    assert [batch[1].max().item() for batch in batches] == [0.0, 1.0, 2.0, 3.0]
    batches[0][0].add_(1.0)  # a tensor like any other
    assert batches[0][0].sum().item() == 500000.0 and batches[0][1].sum().item() == 0.0


def test_a_batch_may_require_gradients():
    def leaf(index):
        return norch.ones(2, requires_grad=True)

    batch = next(iter(DataLoader(Calls(1, leaf), batch_size=None, num_workers=1)))
    assert batch.requires_grad and batch.is_leaf


# ---- Streams ---------------------------------------------------------------------------------------------------------


def test_streams_are_shared_out():
    loader = DataLoader(Counting(11), batch_size=2, num_workers=3)
    for _ in range(2):
        batches = [batch.tolist() for batch in loader]
        assert sorted(sum(batches, [])) == list(range(11)) and batches[:3] == [[0, 3], [1, 4], [2, 5]]
    assert sorted(len(b) for b in DataLoader(Counting(11), batch_size=2, num_workers=3, drop_last=True)) == [2] * 5
    persistent = DataLoader(Counting(5), batch_size=None, num_workers=2, persistent_workers=True)
    assert [list(persistent) for _ in range(3)] == [[0, 1, 2, 3, 4]] * 3


# ---- Seeds -----------------------------------------------------------------------------------------------------------


def drawn(index):
    return norch.rand(1), random.random(), get_worker_info().seed, get_worker_info().id


def test_every_worker_and_epoch_has_a_seed_of_its_own():
    def run(seed):
        norch.manual_seed(seed)
        loader = DataLoader(Calls(4, drawn), num_workers=2)
        return [lists(list(loader)) for _ in range(2)]

    first = run(1)
    assert first == run(1) != run(2)
    for place in range(2):
        values = [batch[place][2][0] if place else batch[place][2][0][0] for epoch in first for batch in epoch]
        assert len(set(values)) == 8
    assert [batch[3][2] for batch in first[0]] == [[0], [1], [0], [1]]
    seeds = [batch[2][2][0] for batch in first[0]]
    assert seeds[1] == seeds[0] + 1 and seeds[2] == seeds[0]


def test_a_generator_governs_the_workers_too():
    def run():
        generator = norch.Generator().manual_seed(4)
        return lists(list(DataLoader(Calls(4, drawn), num_workers=2, shuffle=True, generator=generator)))

    norch.manual_seed(0)
    first = run()
    assert first == run()


def test_workers_are_prepared_once_and_know_themselves(tmp_path):
    dataset = Calls(4, lambda i: (get_worker_info().id, get_worker_info().num_workers, get_worker_info().dataset.mark))

    def prepare(worker):
        get_worker_info().dataset.mark = worker * 10
        (tmp_path / f"{worker}-{os.getpid()}").touch()

    loader = DataLoader(dataset, num_workers=2, worker_init_fn=prepare, persistent_workers=True)
    for _ in range(3):
        assert [[part.item() for part in batch] for batch in loader] == [[0, 2, 0], [1, 2, 10]] * 2
    assert len(list(tmp_path.iterdir())) == 2
    assert not hasattr(dataset, "mark") and get_worker_info() is None


def test_persistent_workers_stay_and_forget_an_abandoned_epoch():
    loader = DataLoader(Calls(6, lambda i: (i, os.getpid())), num_workers=2, persistent_workers=True)
    first = [(i.item(), pid.item()) for i, pid in loader]
    for i, pid in loader:
        assert (i.item(), pid.item()) == first[0]
        break
    assert [(i.item(), pid.item()) for i, pid in loader] == first
    assert len(multiprocessing.active_children()) == 2


def test_persistent_workers_are_replaced_after_a_death(tmp_path):
    """Whoever made the loader hears of it once; the next epoch has workers again."""

    def fetch(index):
        if index == 3 and not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os._exit(1)
        return index

    loader = DataLoader(Calls(6, fetch), num_workers=2, persistent_workers=True)
    with pytest.raises(RuntimeError, match="exit status 1"):
        list(loader)
    for _ in range(2):
        assert [batch.item() for batch in loader] == list(range(6))
    for _ in loader:
        break
    (tmp_path / "died").unlink()
    with pytest.raises(RuntimeError, match="exit status 1"):
        list(loader)
    assert [batch.item() for batch in loader] == list(range(6))


def test_an_interrupt_loses_no_batch_and_no_order():
    def interrupt(*_):
        raise KeyboardInterrupt

    batches = iter(DataLoader(Calls(6, lambda i: time.sleep(0.5 if i == 2 else 0) or i), num_workers=2))
    found = [next(batches).item(), next(batches).item()]
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            while True:
                found.append(next(batches).item())
    finally:
        signal.signal(signal.SIGALRM, before)
    assert found + [batch.item() for batch in batches] == list(range(6))


# ---- The end ---------------------------------------------------------------------------------------------------------


def test_workers_end_with_the_epoch_and_with_an_abandoned_iteration():
    loader = DataLoader(Calls(20, lambda i: i), num_workers=2)
    for _ in loader:
        assert len(multiprocessing.active_children()) == 2
    assert multiprocessing.active_children() == []
    start = time.monotonic()
    for _ in loader:
        break
    assert multiprocessing.active_children() == []
    batches = iter(DataLoader(Calls(4, lambda i: time.sleep(60)), num_workers=2))
    time.sleep(0.2)
    del batches  # in the middle of a sample
    assert multiprocessing.active_children() == [] and time.monotonic() - start < 10


def test_a_worker_told_to_leave_closes_what_it_has_open(tmp_path):
    def fetch(index):
        try:
            (tmp_path / "open").touch()
            time.sleep(60)
        finally:
            (tmp_path / "closed").touch()

    batches = iter(DataLoader(Calls(1, fetch), num_workers=1))
    eventually((tmp_path / "open").exists)
    del batches
    assert (tmp_path / "closed").exists()


def test_an_exception_in_the_loop_ends_the_workers():
    def loop():
        for _ in DataLoader(Calls(20, lambda i: i), num_workers=2):
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        loop()
    gc.collect()
    assert multiprocessing.active_children() == []


def test_two_loaders_at_once():
    pairs = zip(*[DataLoader(Calls(6, lambda i, s=s: i * s), num_workers=2) for s in (1, 10)])
    assert [(a.item(), b.item()) for a, b in pairs] == [(i, 10 * i) for i in range(6)]


def test_threads_of_the_parent_still_work_afterwards():
    """norch's pool of threads is used before, in, and after the fork."""
    big = norch.ones(1000, 1000)
    before = (big @ big).sum().item()
    results = list(DataLoader(Calls(2, lambda i: (big @ big).sum()), num_workers=2, batch_size=None))
    assert [result.item() for result in results] == [before] * 2 and (big @ big).sum().item() == before


def test_nothing_leaks(no_leak):
    for batch in DataLoader(Calls(10, kinds), batch_size=3, num_workers=2):
        assert batch["tensor"].shape[1:] == [2, 3]
    next(iter(DataLoader(Calls(10, kinds), batch_size=3, num_workers=2)))


SCRIPT = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start with it ignored
from norch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 100
    def __getitem__(self, index):
        os.write(1, b"worker %d\\n" % os.getpid())
        time.sleep({sleep})
        return index

batches = iter(DataLoader(Slow(), num_workers=2))
{then}
"""


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    "sleep, then, how, shown",
    [
        (0.01, "next(batches); sys.exit(0)", None, ""),
        (60, "time.sleep(1); sys.exit(0)", None, ""),
        (0.01, "[None for _ in batches]", signal.SIGINT, "KeyboardInterrupt"),
        (60, "next(batches)", signal.SIGINT, "KeyboardInterrupt"),
        (0.01, "time.sleep(60)", signal.SIGKILL, ""),
    ],
)
def test_no_process_outlives_the_script(sleep, then, how, shown):
    script = SCRIPT.format(sleep=sleep, then=then)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    run = subprocess.Popen([sys.executable, "-c", script], env=environment, start_new_session=True, **pipes)
    try:
        pids = set()
        while len(pids) < 2:
            line = run.stdout.readline()
            assert line, run.stderr.read()
            pids.add(int(line.split()[1]))
        if how == signal.SIGINT:
            os.killpg(run.pid, how)  # as Ctrl-C does: the whole group
        elif how is not None:
            run.send_signal(how)
        deadline = time.monotonic() + 20
        while any(map(alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(alive, pids))
        _, errors = run.communicate(timeout=20)
    finally:
        run.kill()
        run.communicate()
    assert errors.count("Traceback") == (1 if shown else 0) and shown in errors


def test_a_file_that_gives_and_takes_a_part_at_a_time(monkeypatch):
    """As the system may: reads and writes of a worker's batch go on where they stopped."""

    class Reluctant(io.FileIO):
        def write(self, data):
            return super().write(bytes(data[:7]))

        def readinto(self, memory):
            return super().readinto(memoryview(memory)[:7])

    ours, theirs = socket.socketpair()
    monkeypatch.setattr(transport, "_memory_file", lambda: Reluctant(os.memfd_create("test"), "w+b"))
    monkeypatch.setattr(os, "fdopen", lambda file, mode, buffering: Reluctant(file, mode))
    with ours, theirs:
        transport.send(ours, {"x": norch.arange(100), "text": "long" * 10})
        received = transport.receive(theirs)
    assert received["x"].tolist() == list(range(100)) and received["text"] == "long" * 10
