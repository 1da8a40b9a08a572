"""The cache of freed memory: what it keeps, how it is bounded, and that the counters stay right."""

import gc

import pytest
from concurrently import in_threads

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
    gc.collect()  # what other tests left would be freed in between
    live = norch.memory_allocated()
    wrong = []

    def work(number):
        for i in range(300):
            x = norch.full((1 + i * 7 % 500,), float(number))
            if x.sum().item() != number * x.numel:
                wrong.append(number)

    in_threads(4, work)
    assert not wrong and norch.memory_allocated() == live


def test_more_than_the_machine_has_is_a_memory_error():
    with pytest.raises(MemoryError, match="could not allocate"):
        norch.empty((1 << 50,))


def test_emptying_gives_back_the_structs_of_many_tensors():
    gc.collect()  # what other tests left would be freed in between
    norch.empty_cache()
    before = norch.memory_reserved()
    tensors = [norch.ones(1) for _ in range(20_000)]
    assert norch.memory_reserved() - before >= 20_000 * 256
    del tensors
    norch.empty_cache()
    assert norch.memory_reserved() == before


def test_attention_takes_memory_that_is_linear_in_the_length():
    """A step at 4096 positions: a matrix of scores would have 64 MB."""
    x = norch.randn(1, 4096, 8, requires_grad=True)
    norch.empty_cache()
    before = norch.memory_reserved()
    norch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).sum().backward()
    assert norch.memory_reserved() - before < 4 * MEGABYTE
