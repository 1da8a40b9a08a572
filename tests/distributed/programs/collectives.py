"""Every collective x dtype x layout, beside what plain Python computes from the inputs of all ranks."""

import itertools
import math
from functools import partial, reduce

import norch
import norch.distributed as dist

DTYPES = [
    norch.bool, norch.uint8, norch.int8, norch.int16, norch.int32, norch.int64,
    norch.float16, norch.bfloat16, norch.float32, norch.float64,
]  # fmt: skip
SHAPE = (3, 4)

LAYOUTS = {  # how a tensor of SHAPE lies in memory
    "contiguous": lambda dtype: norch.zeros(SHAPE, dtype=dtype),
    "transposed": lambda dtype: norch.zeros(SHAPE[::-1], dtype=dtype).T,
    "every second": lambda dtype: norch.zeros(2 * SHAPE[0], 2 * SHAPE[1], dtype=dtype)[::2, 1::2],
    "with an offset": lambda dtype: norch.zeros(SHAPE[0] + 2, *SHAPE[1:], dtype=dtype)[2:],
}

dist.init_process_group(timeout=60)
rank, world = dist.get_rank(), dist.get_world_size()


def values(of, dtype, shape=SHAPE):
    """Small integers, other ones for each rank: exact in every dtype and every order of sums."""
    count = math.prod(shape)
    numbers = [(of + 2) * (i % 3) % 4 + (1 if i == of else 0) for i in range(count)]
    return [bool(n % 2) for n in numbers] if dtype is norch.bool else numbers


def filled(layout, dtype, of=None):
    made = LAYOUTS[layout](dtype)
    return made.copy_(norch.tensor(values(rank if of is None else of, dtype), dtype=dtype).reshape(SHAPE))


def flat(x):
    return x.reshape(-1).tolist()


def same(got, expected, *what):
    assert flat(got) == expected, f"rank {rank} of {world}: {what}: {flat(got)}, expected {expected}"


OPS = {
    "SUM": lambda a, b: a + b, "PRODUCT": lambda a, b: a * b, "MIN": min, "MAX": max,
    "BAND": lambda a, b: a & b, "BOR": lambda a, b: a | b, "BXOR": lambda a, b: a ^ b,
}  # fmt: skip
BOOLEAN = {**OPS, "SUM": lambda a, b: a or b, "PRODUCT": lambda a, b: a and b}


def combined(op, dtype, rows):
    """What an op makes of the ranks' values, or None if it does not apply to the dtype."""
    if dtype.is_floating_point and op in ("BAND", "BOR", "BXOR") or not dtype.is_floating_point and op == "AVG":
        return None
    table = BOOLEAN if dtype is norch.bool else OPS
    result = [reduce(table["SUM" if op == "AVG" else op], column) for column in zip(*rows)]
    if op == "AVG":
        return norch.tensor([x / len(rows) for x in result], dtype=norch.float64).to(dtype).tolist()
    return [bool(x) for x in result] if dtype is norch.bool else result


def refused(call, kind, text):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"expected {kind.__name__} with {text!r}")


def finished(work, async_op):
    assert (work is not None) == async_op
    if work is not None:
        assert work.wait(timeout=30) is True and work.is_completed() and work.wait()


for dtype, layout, async_op in itertools.product(DTYPES, LAYOUTS, (False, True)):
    everyone = [values(r, dtype) for r in range(world)]
    told = (str(dtype), layout, async_op)
    for op in (*OPS, "AVG"):
        expected = combined(op, dtype, everyone)
        x = filled(layout, dtype)
        if expected is None:
            refused(partial(dist.all_reduce, x, op), RuntimeError, op)
            continue
        close = op == "AVG" and world == 3  # a third is not exact: summed, then divided
        finished(dist.all_reduce(x, op if async_op else op.lower(), async_op=async_op), async_op)
        if close:
            assert max(abs(a - b) for a, b in zip(flat(x), expected)) < 0.02, (told, op)
        else:
            same(x, expected, "all_reduce", op, *told)
            assert x.stride() == LAYOUTS[layout](dtype).stride()
        for root in {0, world - 1}:
            x = filled(layout, dtype)
            finished(dist.reduce(x, root, op, async_op=async_op), async_op)
            if rank != root:
                same(x, values(rank, dtype), "reduce elsewhere", op, *told)
            elif not close:
                same(x, expected, "reduce", op, *told)
        if not close:
            part = LAYOUTS[layout](dtype)
            whole = norch.stack([filled(layout, dtype)] * world)
            finished(dist.reduce_scatter_tensor(part, whole, op, async_op=async_op), async_op)
            same(part, expected, "reduce_scatter_tensor", op, *told)
            part = LAYOUTS[layout](dtype)
            finished(dist.reduce_scatter(part, [filled(layout, dtype)] * world, op, async_op=async_op), async_op)
            same(part, expected, "reduce_scatter", op, *told)
    for root in range(world):
        x = filled(layout, dtype)
        finished(dist.broadcast(x, src=root, async_op=async_op), async_op)
        same(x, everyone[root], "broadcast", *told)
    every = [LAYOUTS[layout](dtype) for _ in range(world)]
    finished(dist.all_gather(every, filled(layout, dtype), async_op=async_op), async_op)
    for got, expected in zip(every, everyone):
        same(got, expected, "all_gather", *told)
    for shape in ([world, *SHAPE], [world * SHAPE[0], *SHAPE[1:]]):
        for place in (
            norch.zeros(shape, dtype=dtype),
            norch.zeros(shape[::-1], dtype=dtype).permute(*range(len(shape))[::-1]),
        ):
            finished(dist.all_gather_into_tensor(place, filled(layout, dtype), async_op=async_op), async_op)
            same(place, sum(everyone, []), "all_gather_into_tensor", shape, *told)
    for root in range(world):
        every = [LAYOUTS[layout](dtype) for _ in range(world)] if rank == root else None
        finished(dist.gather(filled(layout, dtype), every, dst=root, async_op=async_op), async_op)
        for got, expected in zip(every or (), everyone):
            same(got, expected, "gather", *told)
        x = LAYOUTS[layout](dtype)
        parts = [filled(layout, dtype, of=r) for r in range(world)] if rank == root else None
        finished(dist.scatter(x, parts, src=root, async_op=async_op), async_op)
        same(x, everyone[rank], "scatter", *told)
    rows = norch.stack([filled(layout, dtype, of=rank + r) for r in range(world)])  # part r goes to rank r
    got = norch.zeros(rows.shape, dtype=dtype)
    finished(dist.all_to_all_single(got, rows, async_op=async_op), async_op)
    same(got, sum((values(r + rank, dtype) for r in range(world)), []), "all_to_all_single", *told)
    places = [LAYOUTS[layout](dtype) for _ in range(world)]
    finished(dist.all_to_all(places, list(rows), async_op=async_op), async_op)
    for r, place in enumerate(places):
        same(place, values(r + rank, dtype), "all_to_all", *told)
    if world > 1:  # around the ring
        x, y = filled(layout, dtype), LAYOUTS[layout](dtype)
        works = [dist.isend(x, (rank + 1) % world, tag=3), dist.irecv(y, (rank - 1) % world, tag=3)]
        assert all(work.wait() for work in works)
        same(y, everyone[(rank - 1) % world], "isend, irecv", *told)
        if rank == 0:
            dist.send(x, 1)
        elif rank == 1:
            assert dist.recv(y) == 0
            same(y, everyone[0], "send, recv", *told)

# ---- Uneven parts, sizes 0 and many, 0-d tensors, groups, objects

sizes = [r + 1 for r in range(world)]  # rank r gets r + 1 rows of each
source = norch.tensor([[float(rank), float(r)] for r in range(world) for _ in range(r + 1)])
target = norch.zeros((rank + 1) * world, 2)
dist.all_to_all_single(target, source, [rank + 1] * world, sizes)
assert target.tolist() == [[r, rank] for r in range(world) for _ in range(rank + 1)]
for count in (0, 1, 100_003):
    x = norch.full((count,), 1.0)
    dist.all_reduce(x)
    assert x.tolist() == [float(world)] * count
x = norch.tensor(float(rank))
dist.all_reduce(x, op=dist.ReduceOp.MAX)
assert x.item() == world - 1 and x.shape == ()
leaf = norch.full((2,), float(rank), requires_grad=True)
dist.broadcast(leaf, world - 1)
assert leaf.tolist() == [world - 1.0] * 2 and leaf.is_leaf
y = leaf * leaf
dist.all_reduce(leaf)  # a write that backward must notice
if world > 1:
    refused(lambda: y.sum().backward(), RuntimeError, "modified by an in-place operation")

# ---- Calls that come again: they are prepared once, and run in C

for count in (5, 200_000):
    x, part, whole = norch.empty(count), norch.empty(count), norch.empty(world, count)
    for turn in range(6):
        async_op = turn % 2 == 1
        finished(dist.all_reduce(x.fill_(rank + turn), async_op=async_op), async_op)
        assert x.unique().tolist() == [sum(r + turn for r in range(world))]
        finished(dist.broadcast(x.fill_(rank + turn), src=world - 1, async_op=async_op), async_op)
        assert x.unique().tolist() == [world - 1 + turn]
        finished(dist.all_gather_into_tensor(whole, part.fill_(rank + turn), async_op=async_op), async_op)
        assert whole[:, 0].tolist() == whole[:, -1].tolist() == [r + turn for r in range(world)]
        finished(dist.all_gather_into_tensor(whole, whole[rank].fill_(rank - turn), async_op=async_op), async_op)
        assert whole[:, 0].tolist() == whole[:, -1].tolist() == [r - turn for r in range(world)]
        finished(dist.reduce_scatter_tensor(part, whole.fill_(rank * turn), "max", async_op=async_op), async_op)
        assert part.unique().tolist() == [(world - 1) * turn]
assert world == 1 or len(dist.group.WORLD.known) >= 10
x = norch.ones(2, requires_grad=True)
for _ in range(2):
    y = x * x
    dist.all_reduce(x)
    if world > 1:
        refused(lambda y=y: y.sum().backward(), RuntimeError, "modified by an in-place operation")

works = [
    dist.all_reduce(norch.full((50,), float(i)), async_op=True) for i in range(20)
]  # nobody else holds the tensors
assert all(work.wait() for work in reversed(works))
everyone = [None] * world
dist.all_gather_object(everyone, {"rank": rank, "text": "x" * rank})
assert everyone == [{"rank": r, "text": "x" * r} for r in range(world)]
settings = [rank, {"lr": rank}]
dist.broadcast_object_list(settings, src=world - 1)
assert settings == [world - 1, {"lr": world - 1}]
dist.barrier()
dist.monitored_barrier(timeout=30)
assert dist.barrier(async_op=True).wait()

odd = dist.new_group([r for r in range(world) if r % 2])
even = dist.new_group([r for r in range(world) if r % 2 == 0], timeout=30)
mine, ranks = (odd, [r for r in range(world) if r % 2]) if rank % 2 else (even, [r for r in range(world) if r % 2 == 0])
assert dist.get_rank(mine) == ranks.index(rank) and dist.get_world_size(mine) == len(ranks)
assert dist.get_process_group_ranks(mine) == ranks and dist.get_rank(odd if rank % 2 == 0 else even) == -1
x = norch.tensor([float(rank)])
dist.all_reduce(x, group=mine)
assert x.item() == sum(ranks)
assert dist.all_reduce(x, group=odd if rank % 2 == 0 else even) is None and x.item() == sum(ranks)  # not a member
dist.broadcast(x, src=ranks[-1], group=mine)
refused(lambda: dist.broadcast(x, src=world, group=mine), ValueError, "not one of")

# ---- What is refused

refused(lambda: dist.all_reduce(norch.zeros(3).expand(2, 3)), RuntimeError, "share one place")
refused(lambda: dist.all_reduce(x, "mean"), ValueError, "ReduceOp")
refused(lambda: dist.all_reduce([1.0]), TypeError, "Tensor")
refused(lambda: dist.all_gather([norch.zeros(1)] * (world + 1), norch.zeros(1)), ValueError, "one for each rank")
refused(lambda: dist.all_gather([norch.zeros(2)] * world, norch.zeros(1)), ValueError, "shape [1]")
refused(lambda: dist.all_gather_into_tensor(norch.zeros(world + 1), norch.zeros(1)), ValueError, "parts")
refused(lambda: dist.reduce_scatter_tensor(norch.zeros(1), norch.zeros(world + 1)), ValueError, "parts")
refused(lambda: dist.init_process_group(), RuntimeError, "twice")
refused(lambda: dist.send(x, rank), ValueError, "this rank")

dist.destroy_process_group()
assert not dist.is_initialized()
refused(dist.get_rank, ValueError, "init_process_group")
dist.init_process_group("mpi", timeout=60, rank=rank, world_size=world)  # again, in the same process
dist.all_reduce(x)
print("collectives: all right", flush=True)
