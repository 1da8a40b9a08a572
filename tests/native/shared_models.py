"""Models, leaves, generators and loaders that several threads of Python share: each function raises if one is wrong.

    python tests/native/shared_models.py [seconds]

test_shared_models.py runs each once, and all of them in a Python without its global lock if one is installed.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from typing import Any, Callable

import norch
from norch import nn, optim
from norch.utils.data import DataLoader, TensorDataset

THREADS, ROUNDS = 4, 8


def in_threads(work: Callable[[int], Any], threads: int = THREADS) -> list[Any]:
    """What `work(number)` gives in each of several threads that start at the same moment; raises what one raised."""
    results: list[Any] = [None] * threads
    errors: list[BaseException] = []
    start = threading.Barrier(threads)

    def run(number: int) -> None:
        try:
            start.wait()
            results[number] = work(number)
        except BaseException as error:
            errors.append(error)

    running = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(timeout=300)
    assert not any(thread.is_alive() for thread in running), "a thread hangs"
    if errors:
        raise errors[0]
    return results


class Attending(nn.Module):
    """Attention, then an LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.attention, self.lstm = nn.MultiheadAttention(8, 2, batch_first=True), nn.LSTM(8, 6, batch_first=True)

    def forward(self, x: norch.Tensor) -> norch.Tensor:
        x = x.reshape(-1, 4, 8)
        return self.lstm(self.attention(x, x, x)[0])[0].sum(dim=(1, 2))


def models() -> list[nn.Module]:
    dense = nn.Sequential(nn.Linear(32, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 1))
    images = nn.Sequential(nn.Unflatten(1, (2, 4, 4)), nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten())
    return [dense, images, Attending()]


def one_model_computes_the_same_in_each() -> None:
    for model in models():
        model.eval()
        x = norch.randn(100, 32)
        expected = model(x).tolist()

        def work(number: int, model: nn.Module = model, x: norch.Tensor = x, expected: Any = expected) -> None:
            for _ in range(ROUNDS):
                with norch.set_grad_enabled(number % 2 == 0):
                    result = model(x)
                assert result.tolist() == expected and result.requires_grad == (number % 2 == 0)

        in_threads(work)


def gradients_of_shared_leaves_lose_nothing() -> None:
    """Large leaves, whose sums take long, and small ones; the numbers are whole, so that their order does not count."""
    for size in (3, 300_000):
        leaf = norch.zeros(size, requires_grad=True)

        def work(number: int, leaf: norch.Tensor = leaf) -> None:
            for _ in range(ROUNDS):
                (leaf * float(number + 1)).sum().backward()

        in_threads(work)
        assert leaf.grad.eq(ROUNDS * sum(range(1, THREADS + 1))).all().item(), leaf.grad


def gradients_of_a_shared_model_lose_nothing() -> None:
    for model in models():
        model.eval()
        x = norch.randn(8, 32)
        model(x).sum().backward()
        expected = [parameter.grad.clone() for parameter in model.parameters()]
        model.zero_grad()
        in_threads(lambda number, model=model, x=x: [model(x).sum().backward() for _ in range(ROUNDS)])
        for parameter, once in zip(model.parameters(), expected):
            difference = (parameter.grad - once * float(THREADS * ROUNDS)).abs().max().item()
            assert difference <= 1e-4 * max(1.0, once.abs().max().item() * THREADS * ROUNDS), difference


def one_graph_is_walked_by_several() -> None:
    leaf = norch.ones(1000, requires_grad=True)
    middle = leaf * 2.0
    loss = (middle * middle).sum()
    in_threads(lambda number: [loss.backward(retain_graph=True) for _ in range(ROUNDS)])
    assert leaf.grad.eq(8.0 * THREADS * ROUNDS).all().item() and middle.grad.eq(4.0 * THREADS * ROUNDS).all().item()


def optimizers_with_a_lock_take_every_step() -> None:
    for kind in (optim.SGD, optim.Adam, optim.RMSprop):
        weight, lock = nn.Parameter(norch.zeros(1000)), threading.Lock()
        optimizer = kind([weight], lr=0.5)

        def work(number: int, weight: Any = weight, lock: Any = lock, optimizer: Any = optimizer) -> None:
            for _ in range(ROUNDS):
                with lock:
                    optimizer.zero_grad()
                    (weight * 2.0).sum().backward()
                    optimizer.step()

        in_threads(work)
        alone = nn.Parameter(norch.zeros(1000))
        optimizer = kind([alone], lr=0.5)
        for _ in range(THREADS * ROUNDS):
            optimizer.zero_grad()
            (alone * 2.0).sum().backward()
            optimizer.step()
        assert weight.equal(alone)


def a_shared_generator_gives_no_number_twice() -> None:
    generator, alone = norch.Generator().manual_seed(5), norch.Generator().manual_seed(5)
    drawn = in_threads(lambda number: [tuple(norch.rand(4, generator=generator).tolist()) for _ in range(50)])
    expected = {tuple(norch.rand(4, generator=alone).tolist()) for _ in range(50 * THREADS)}
    assert {draw for draws in drawn for draw in draws} == expected


def loaders_share_a_data_set() -> None:
    data = TensorDataset(norch.arange(400).float(), norch.arange(400))
    shared = DataLoader(data, batch_size=7, shuffle=True)

    def work(number: int) -> float:
        return sum(batch.sum().item() for batch, _ in (shared if number % 2 else DataLoader(data, batch_size=9)))

    for _ in range(2):
        assert in_threads(work) == [sum(range(400))] * THREADS


def modes_are_each_thread_s_own() -> None:
    x = norch.ones(2, requires_grad=True)

    def work(number: int) -> None:
        for _ in range(50):
            with norch.set_grad_enabled(number % 2 == 0), norch.autocast("cpu", enabled=number % 3 == 0):
                assert (x * 2.0).requires_grad == (number % 2 == 0)
                assert (norch.ones(2, 2) @ norch.ones(2, 2)).dtype is (norch.float32 if number % 3 else norch.bfloat16)
            assert (x * 2.0).requires_grad

    in_threads(work)


def errors_reach_the_thread_that_made_them() -> None:
    def work(number: int) -> None:
        for _ in range(100):
            try:
                norch.ones(number + 2, 3) @ norch.ones(number + 7, 2)
            except ValueError as error:
                assert f"{number + 7}" in str(error), error
            else:
                raise AssertionError("no error")

    in_threads(work)


def storages_views_and_writes() -> None:
    """Each thread writes to its own row of one tensor, through views, and all ask for the one storage."""
    whole = norch.zeros(THREADS, 1000)

    def work(number: int) -> Any:
        for _ in range(50):
            whole[number].add_(1.0)
            whole.T[:, number] += 1.0
        return whole.untyped_storage()

    storages = in_threads(work)
    assert whole.eq(100.0).all().item() and all(storage is storages[0] for storage in storages)


def tensors_are_dropped_in_other_threads_than_they_were_made_in() -> None:
    before, pool, lock = norch.memory_allocated(), [], threading.Lock()

    def work(number: int) -> None:
        rng = random.Random(number)
        for _ in range(200):
            made = norch.ones(rng.choice([1, 30, 5000]), requires_grad=True) * 2.0
            with lock:
                pool.append(made)
                taken = pool.pop(rng.randrange(len(pool))) if len(pool) > 20 else None
            if taken is not None:
                taken.sum().backward()

    in_threads(work)
    pool.clear()
    assert norch.memory_allocated() <= before


ATTACKS = [
    one_model_computes_the_same_in_each,
    gradients_of_shared_leaves_lose_nothing,
    gradients_of_a_shared_model_lose_nothing,
    one_graph_is_walked_by_several,
    optimizers_with_a_lock_take_every_step,
    a_shared_generator_gives_no_number_twice,
    loaders_share_a_data_set,
    modes_are_each_thread_s_own,
    errors_reach_the_thread_that_made_them,
    storages_views_and_writes,
    tensors_are_dropped_in_other_threads_than_they_were_made_in,
]


def main() -> None:
    end, rounds = time.monotonic() + float(sys.argv[1] if len(sys.argv) > 1 else 0), 0
    while rounds == 0 or time.monotonic() < end:
        for attack in ATTACKS:
            attack()
        rounds += 1
    lock = "with" if getattr(sys, "_is_gil_enabled", lambda: True)() else "without"
    print(f"shared models: {rounds} rounds of {len(ATTACKS)} attacks in {THREADS} threads held, {lock} the global lock")


if __name__ == "__main__":
    main()
