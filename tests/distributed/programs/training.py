"""W ranks give what one process gives on the union of their batches. SPOIL names a fault to build in."""

import os
from contextlib import nullcontext

import norch
import norch.distributed as dist
from norch import nn
from norch.autograd import engine
from norch.nn.parallel import DistributedDataParallel
from norch.nn.parallel import distributed as wrapper
from norch.utils.checkpoint import checkpoint
from norch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group(timeout=60)
rank, world = dist.get_rank(), dist.get_world_size()
F = nn.functional

# ---- Faults to build in


def finished_after_its_first_use(starts):
    youngest = {}
    for node in engine._reached(starts):
        for target in node.edges:
            if target is not None and target.after:
                youngest[target] = node.age
    return {leaf: age - n / (len(youngest) + 1) for n, (leaf, age) in enumerate(youngest.items(), 1)}


plain_put = wrapper._Bucket.put
plain_sampler = DistributedSampler.__init__
SPOILS = {
    "": lambda: None,
    "no broadcast": lambda: setattr(DistributedDataParallel, "_from_first", lambda *_: None),
    "no mean": lambda: setattr(wrapper._Bucket, "put", lambda self, i, g, share: plain_put(self, i, g, 1.0)),
    "leaves finished too early": lambda: setattr(engine, "_turns", finished_after_its_first_use),
    "sums not given back": lambda: setattr(wrapper._Bucket, "finish", lambda self: self.work.wait() and None),
    "sums under no_sync": lambda: setattr(DistributedDataParallel, "no_sync", lambda self: nullcontext()),
    "equal samples": lambda: setattr(
        DistributedSampler,
        "__init__",
        lambda self, data, **o: plain_sampler(self, data, num_replicas=world, rank=0, **o),
    ),
    "unused parameters forgotten": lambda: setattr(wrapper.Schedule, "missing", lambda self: []),
    "buffers left alone": lambda: setattr(
        DistributedDataParallel, "broadcast_buffers", property(lambda s: False, lambda s, v: None)
    ),
}
SPOILS[os.environ.get("SPOIL", "")]()

sums = []
plain_all_reduce = dist.all_reduce


def counted(*args, **kwargs):
    sums.append(args)
    return plain_all_reduce(*args, **kwargs)


dist.all_reduce = counted


def ranges(model):
    """The greatest difference between ranks."""
    numbers = norch.cat([p.detach().double().flatten() for p in model.parameters()])
    least, most = numbers.clone(), numbers.clone()
    plain_all_reduce(least, "min")
    plain_all_reduce(most, "max")
    return (most - least).abs().max().item()


def difference(model, reference):
    return max((a - b).abs().max().item() for a, b in zip(model.parameters(), reference.parameters()))


def pair(make, dtype=norch.float32, **options):
    """The same model wrapped, each rank's from another seed, and alone as rank 0 has it."""
    norch.manual_seed(5)
    reference = make().to(dtype)
    norch.manual_seed(5 + rank)
    return DistributedDataParallel(make().to(dtype), **options), reference


norch.manual_seed(0)
samples, labels = norch.randn(24 * world, 20), norch.randint(0, 4, (24 * world,))

# ---- 50 steps of SGD


def mlp():
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 4))


for dtype, bound in ((norch.float32, 1e-6), (norch.float64, 1e-13)):
    model, reference = pair(mlp, dtype, bucket_cap_mb=0.001)
    ours, theirs = (norch.optim.SGD(m.parameters(), lr=0.05, momentum=0.9) for m in (model, reference))
    for _ in range(50):
        for m, o, part in ((model, ours, slice(24 * rank, 24 * rank + 24)), (reference, theirs, slice(None))):
            o.zero_grad()
            F.cross_entropy(m(samples.to(dtype)[part]), labels[part]).backward()
            o.step()
    assert difference(model.module, reference) <= bound, (dtype, difference(model.module, reference))
    assert ranges(model) == 0
    kept = model.module[0].weight.grad
    before = kept.clone()
    model(samples.to(dtype)[:3]).sum().backward()
    assert model.module[0].weight.grad is kept and not kept.equal(before)  # it grows, as in one process

# ---- Adam, accumulation, clipping; a layer used twice, one used by some ranks, one by none, one frozen


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.twice, self.last = nn.Linear(20, 32), nn.Linear(32, 32), nn.Linear(32, 4)
        self.sometimes, self.never, self.frozen = nn.Linear(32, 4), nn.Linear(32, 4), nn.Linear(4, 4)
        self.tied = nn.Linear(32, 32)
        self.tied.weight = self.twice.weight
        self.frozen.requires_grad_(False)

    def forward(self, x, detour=False):
        x = norch.tanh(self.twice(norch.tanh(self.tied(norch.tanh(self.twice(norch.tanh(self.first(x))))))))
        return self.frozen(self.last(x) + self.sometimes(x) if detour else self.last(x))


model, reference = pair(Net, bucket_cap_mb=0.004)
ours, theirs = (norch.optim.Adam(m.parameters(), lr=0.01) for m in (model, reference))
for _ in range(20):
    ours.zero_grad()
    theirs.zero_grad()
    mine = list(range(rank, 24 * world, world))
    with model.no_sync():
        sums.clear()
        (F.cross_entropy(model(samples[mine[:12]], rank % 2 == 0), labels[mine[:12]]) / 2).backward()
        assert not sums, "no_sync summed"  # the values would be right nevertheless
    (F.cross_entropy(model(samples[mine[12:]], rank % 2 == 0), labels[mine[12:]]) / 2).backward()
    total = 0
    for r in range(world):
        part = list(range(r, 24 * world, world))
        total = total + F.cross_entropy(reference(samples[part], r % 2 == 0), labels[part]) / world
    total.backward()
    norm, expected = (nn.utils.clip_grad_norm_(m.parameters(), 0.5).item() for m in (model, reference))
    assert abs(norm - expected) < 1e-5, (norm, expected)
    ours.step()
    theirs.step()
assert difference(model.module, reference) <= 1e-5, difference(model.module, reference)
assert ranges(model) == 0
assert model.module.never.weight.grad is None and model.module.sometimes.weight.grad is not None

# ---- The sampler with a loader: an epoch has every sample once

data = TensorDataset(norch.arange(10 * world))
sampler = DistributedSampler(data, seed=3)
seen = norch.cat([batch for (batch,) in DataLoader(data, batch_size=4, sampler=sampler)])
everybody = norch.zeros(10 * world, dtype=norch.int64)
dist.all_gather_into_tensor(everybody, seen)
assert sorted(everybody.tolist()) == list(range(10 * world))
sampler.set_epoch(1)
assert list(sampler) != seen.tolist()

# ---- Buffers are rank 0's; SyncBatchNorm is as one process on the union batch


def with_norm():
    return nn.Sequential(nn.Linear(20, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))


model, _ = pair(with_norm)
for step in range(3):
    model(samples[24 * rank + step : 24 * rank + step + 8]).sum().backward()
model(samples[24 * rank : 24 * rank + 8])
means = [norch.zeros(8) for _ in range(world)]
alone = model.module[1].running_mean
norch.manual_seed(1)
model.module[1].momentum = 0.0  # so that the forward only broadcasts
model(samples[24 * rank : 24 * rank + 8])
dist.all_gather(means, alone)
assert all(mean.equal(means[0]) for mean in means), "buffers differ"

# ---- One forward belongs to each backward; a parameter in two checkpoints

if world > 1:
    model, _ = pair(mlp)
    loss = model(samples[:4]).sum()
    loss.backward(retain_graph=True)
    for again in (loss, model.module(samples[:4]).sum()):
        try:
            again.backward()
        except RuntimeError as error:
            assert "without a forward" in str(error), error
        else:
            raise AssertionError("a second backward was not refused")

    class Checkpointed(nn.Module):
        def __init__(self, times, reentrant):
            super().__init__()
            self.times, self.reentrant = times, reentrant
            self.inner, self.outer = nn.Linear(20, 20), nn.Linear(20, 4)

        def forward(self, x):
            x = x.clone().requires_grad_()
            for _ in range(self.times):
                x = checkpoint(self.inner, x, use_reentrant=self.reentrant).tanh()
            return self.outer(x)

    for times, reentrant in [(1, True), (1, False), (2, False)]:
        model, reference = pair(lambda: Checkpointed(times, reentrant), bucket_cap_mb=0.001)  # noqa: B023
        model(samples[24 * rank : 24 * rank + 24]).mean().backward()
        reference(samples).mean().backward()
        for p, q in zip(model.parameters(), reference.parameters()):
            assert (p.grad - q.grad).abs().max().item() < 1e-7
    model, _ = pair(lambda: Checkpointed(2, True))
    try:
        model(samples[:4]).sum().backward()
    except RuntimeError as error:
        assert "inner" in str(error) and "twice" in str(error), error
    else:
        raise AssertionError("a parameter in two reentrant checkpoints was not refused")

    try:
        DistributedDataParallel(nn.Linear(4, 4 + rank // (world - 1)))
    except RuntimeError as error:
        assert f"rank {world - 1} has another model" in str(error) and "weight [5, 4]" in str(error), error
    else:
        raise AssertionError("another model was not noticed")

    # ---- Random numbers differ by rank, and come again

    drawn = []
    for _ in range(2):
        norch.manual_seed(3)
        model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.5)))
        with norch.no_grad():
            model.module[0].weight.fill_(1.0)
        every = [norch.zeros(1, 64) for _ in range(world)]
        dist.all_gather(every, (model(norch.ones(1, 4)) != 0).float())
        assert not any(every[r].equal(every[0]) for r in range(1, world))
        drawn.append(norch.cat(every))
    assert drawn[0].equal(drawn[1])

# ---- Names in checkpoints

model, reference = pair(mlp)
assert list(model.state_dict()) == list(reference.state_dict())
model.load_state_dict(reference.state_dict())
model.load_state_dict({f"module.{name}": value for name, value in reference.state_dict().items()})
reference.load_state_dict(model.state_dict())
print("training: all right", flush=True)
