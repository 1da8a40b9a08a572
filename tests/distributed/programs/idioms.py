"""What scripts written for torch.distributed do around a training: messages in a ring, objects, processes by spawn."""

from datetime import timedelta

import norch
import norch.distributed as dist
import norch.distributed.nn
import norch.multiprocessing as mp


def ring(rank, world):
    sent, got = norch.full((3,), float(rank)), norch.empty(3)
    after, before = (rank + 1) % world, (rank - 1) % world
    messages = [dist.P2POp(dist.isend, sent, after), dist.P2POp(dist.irecv, got, before)]
    for work in dist.batch_isend_irecv(messages):
        work.wait()
    assert got.tolist() == [before] * 3


def objects(rank, world):
    mine = [None]
    dist.scatter_object_list(mine, [{"part": i} for i in range(world)] if rank == 1 else None, src=1)
    assert mine == [{"part": rank}]
    if rank == 0:
        dist.send_object_list(["a", norch.ones(2)], dst=world - 1)
    elif rank == world - 1:
        got = [None, None]
        assert dist.recv_object_list(got, src=0) == 0
        assert got[0] == "a" and got[1].tolist() == [1, 1]
    every = [None] * world if rank == 0 else None
    dist.gather_object(rank * 10, every, dst=0)
    assert every == (None if rank else [10 * i for i in range(world)])


def gradients(rank, world):
    """Beside one process that computes the losses of all ranks: each rank's is weighted by another number."""
    start = [norch.arange(3, dtype=norch.float64) + i for i in range(world)]
    alone = [x.clone().requires_grad_() for x in start]
    weights = [norch.arange(3, dtype=norch.float64) * (i + 1) - 1 for i in range(world)]

    def compare(everywhere, here):
        expected = norch.autograd.grad(
            sum((w * everywhere(alone)[i] ** 3).sum() for i, w in enumerate(weights)), alone, materialize_grads=True
        )[rank]
        x = start[rank].clone().requires_grad_()
        (weights[rank] * here(x) ** 3).sum().backward()
        assert norch.allclose(x.grad, expected), (rank, x.grad, expected)

    compare(lambda xs: [sum(xs)] * world, dist.nn.all_reduce)
    compare(lambda xs: [sum(xs) / world] * world, lambda x: dist.nn.functional.all_reduce(x, dist.ReduceOp.AVG))
    compare(lambda xs: [xs[1]] * world, lambda x: dist.nn.broadcast(x, 1))
    compare(lambda xs: [norch.cat(xs)[::world]] * world, lambda x: norch.cat(dist.nn.all_gather(x))[::world])
    compare(
        lambda xs: [sum(x * (i + j) for j, x in enumerate(xs)) / world for i in range(world)],
        lambda x: dist.nn.reduce_scatter(
            norch.empty_like(x), [x * (i + rank) for i in range(world)], dist.ReduceOp.AVG
        ),
    )


def train(rank, world, of):
    assert of == "an argument" and dist.get_node_local_rank() == rank
    dist.init_process_group("gloo", rank=rank, world_size=world, timeout=timedelta(seconds=60))
    ring(rank, world)
    objects(rank, world)
    gradients(rank, world)
    dist.destroy_process_group()
    print("all right")


if __name__ == "__main__":
    ranks = int(norch.distributed.mpi.launched_size())
    mp.spawn(train, args=(ranks, "an argument"), nprocs=ranks, join=True)
