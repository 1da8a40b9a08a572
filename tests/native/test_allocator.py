"""The cache of freed memory: what it keeps, how it is bounded, and that the counters stay right."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

import norch
from norch import _C

MEGABYTE = 1 << 20


@pytest.fixture(autouse=True)
def roomy_cache():
    _C.lib.set_cache_limit(256 * MEGABYTE)
    yield
    _C.lib.set_cache_limit(256 * MEGABYTE)


def test_the_address_is_aligned():
    tensors = [norch.empty((n,)) for n in (1, 3, 17, 1000, 70_001)]
    assert all(tensor.data_ptr() % 64 == 0 for tensor in tensors)


def test_live_bytes_do_not_count_the_cache():
    norch.empty_cache()
    live, reserved = norch.memory_allocated(), norch.memory_reserved()
    x = norch.zeros((MEGABYTE,))
    assert norch.memory_allocated() == live + 4 * MEGABYTE
    assert norch.memory_reserved() >= reserved + 4 * MEGABYTE
    del x
    assert norch.memory_allocated() == live


def test_emptying_gives_the_cache_back():
    norch.empty_cache()
    reserved = norch.memory_reserved()
    x = norch.zeros((MEGABYTE,))
    del x
    norch.empty_cache()
    assert norch.memory_reserved() == reserved


def test_the_cache_is_bounded():
    _C.lib.set_cache_limit(MEGABYTE)
    reserved = norch.memory_reserved()
    tensors = [norch.empty((n * 1000,)) for n in range(1, 100)]
    assert norch.memory_reserved() - reserved > 10 * MEGABYTE
    del tensors
    assert norch.memory_reserved() - reserved <= MEGABYTE


def test_memory_that_was_given_back_is_not_shared_by_two_tensors():
    for size in (1, 100, 5000):
        del_me = norch.zeros((size,))
        del del_me
        first, second = norch.zeros((size,)), norch.ones((size,))
        assert first.sum().item() == 0 and second.sum().item() == size


def test_threads_allocate_and_free_at_once():
    live = norch.memory_allocated()
    wrong = []

    def work(number):
        for i in range(300):
            x = norch.full((1 + i * 7 % 500,), float(number))
            if x.sum().item() != number * x.numel:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and norch.memory_allocated() == live


def test_more_than_the_machine_has_is_a_memory_error():
    with pytest.raises(MemoryError, match="could not allocate"):
        norch.empty((1 << 50,))


# ---- Where tensors lie -----------------------------------------------------------------------------------------------

MAP_32BIT, MAP_NORESERVE = 0x40, 0x4000  # of Linux on x86-64
IN_A_FULL_PROCESS = f"""
import mmap, threading
import norch
from norch import _C

def take_all_low_memory():
    kept, size = [], 1 << 30
    while size >= 1 << 20:
        try:
            kept.append(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | {MAP_32BIT} | {MAP_NORESERVE}, 0))
        except OSError:
            size //= 2
    return kept

was_low = norch.ones(1)._ptr < 2**31
kept = take_all_low_memory()
x = norch.ones(3, requires_grad=True)
made = []
def make():
    made.extend([x * (i % 8) for i in range(4000)])
workers = [threading.Thread(target=make) for _ in range(3)]
for worker in workers: worker.start()
for worker in workers: worker.join()
norch.stack(made).sum().backward()
assert x.grad.tolist() == [3 * 500 * sum(range(8))] * 3, x.grad
print(was_low, any(y._ptr >= 2**31 for y in made), _C.lib.add_tensor.argtypes is None)
"""


def low_bytes():
    """How much of the process's memory lies below 2^31."""
    spans = [line.split()[0].split("-") for line in Path("/proc/self/maps").read_text().splitlines()]
    return sum(int(end, 16) - int(start, 16) for start, end in spans if int(end, 16) <= 2**31)


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux where memory is")
def test_emptying_gives_back_the_memory_of_many_tensors_descriptions():
    norch.empty_cache()
    before = low_bytes()
    tensors = [norch.ones(1) for _ in range(20_000)]
    is_low = tensors[0]._ptr < 2**31  # not where the processor or a sanitizer has no such memory
    assert low_bytes() - before >= is_low * 20_000 * 256
    del tensors
    norch.empty_cache()
    assert low_bytes() - before <= 3 * MEGABYTE  # what the blocks lie in that this thread keeps


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for low memory")
def test_tensors_work_where_no_low_memory_is_left():
    run = subprocess.run(
        [sys.executable, "-c", IN_A_FULL_PROCESS], capture_output=True, text=True, cwd=Path(norch.__file__).parents[1]
    )
    assert run.returncode == 0, run.stderr
    was_low, some_are_high, plain = run.stdout.split()
    assert was_low == "True" or plain == "False"  # elsewhere addresses are always converted
    assert some_are_high == "True" and plain == "False"
