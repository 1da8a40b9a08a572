"""SyncBatchNorm, ZeroRedundancyOptimizer and checkpoints on W ranks, beside one process."""

import os
import random
import sys
from pathlib import Path

import norch
import norch.distributed as dist
from norch import nn
from norch.distributed.checkpoint import load_checkpoint, save_checkpoint
from norch.nn.parallel import DistributedDataParallel

dist.init_process_group(timeout=60)
rank, world = dist.get_rank(), dist.get_world_size()
F = nn.functional
norch.manual_seed(0)
samples, labels = norch.randn(24 * world, 3, 6), norch.randint(0, 4, (24 * world,))

# ---- SyncBatchNorm: as one process on the union of batches of different sizes


def with_norm():
    return nn.Sequential(
        nn.Conv1d(3, 8, 3), nn.BatchNorm1d(8), nn.ReLU(), nn.Flatten(), nn.Linear(32, 4), nn.BatchNorm1d(4)
    )


ends = [0]
for r in range(world):  # uneven parts: 24 +- 1 samples
    ends.append(ends[-1] + 24 + (0 if world == 1 else 1 if r == 0 else -1 if r == 1 else 0))
for dtype, bound in ((norch.float32, 2e-5), (norch.float64, 1e-12)):
    for momentum in (0.1, None):
        norch.manual_seed(5)
        reference = with_norm().to(dtype)
        norch.manual_seed(5)
        model = nn.SyncBatchNorm.convert_sync_batchnorm(with_norm().to(dtype))
        assert [type(m).__name__ for m in model].count("SyncBatchNorm") == 2
        for m in (*model, *reference):
            if hasattr(m, "momentum"):
                m.momentum = momentum
        model = DistributedDataParallel(model, bucket_cap_mb=0.0005)
        ours, theirs = (norch.optim.SGD(m.parameters(), lr=0.1) for m in (model, reference))
        for _ in range(20):
            part = slice(ends[rank], ends[rank + 1])
            ours.zero_grad(), theirs.zero_grad()
            # a sum divided by what all ranks have: the mean of gradients over W ranks is the union batch's
            (
                F.cross_entropy(model(samples.to(dtype)[part]), labels[part], reduction="sum") * world / ends[-1]
            ).backward()
            F.cross_entropy(reference(samples.to(dtype)), labels).backward()
            ours.step(), theirs.step()
        pairs = zip(model.module.state_dict().items(), reference.state_dict().items())
        worst = {a: (x - y).abs().max().item() for (a, x), (b, y) in pairs}
        assert max(worst.values()) <= bound, (dtype, worst)
        model.eval(), reference.eval()
        assert (model(samples.to(dtype)[:2]) - reference(samples.to(dtype)[:2])).abs().max().item() < 100 * bound

# ---- ZeRO: as the optimizer itself, with a part of its state


def mlp():
    return nn.Sequential(nn.Linear(18, 50), nn.ReLU(), nn.Linear(50, 30), nn.Tanh(), nn.Linear(30, 4))


flat = samples.reshape(-1, 18)
mine = slice(24 * rank, 24 * rank + 24)
for kind, settings in ((norch.optim.Adam, {"lr": 0.01}), (norch.optim.SGD, {"lr": 0.1, "momentum": 0.9})):
    models = []
    for _ in range(2):
        norch.manual_seed(2)
        models.append(DistributedDataParallel(mlp()))
    plain = kind(models[0].parameters(), **settings)
    zero = norch.optim.ZeroRedundancyOptimizer(models[1].parameters(), kind, **settings)
    schedules = [norch.optim.lr_scheduler.StepLR(o, 10, 0.5) for o in (plain, zero)]
    for _ in range(30):
        for model, optimizer, schedule in zip(models, (plain, zero), schedules):
            optimizer.zero_grad()
            F.cross_entropy(model(flat[mine]), labels[mine]).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            schedule.step()
    assert max((a - b).abs().max().item() for a, b in zip(models[0].parameters(), models[1].parameters())) <= 1e-5
    held = sum(t.numel() for values in zero.state.values() for t in values.values())
    whole = sum(t.numel() for values in plain.state.values() for t in values.values())
    if world > 1:
        assert held < whole * (0.75 if world == 2 else 0.6), (held, whole)
        if rank == 0:
            try:
                zero.state_dict()
            except RuntimeError as error:
                assert "consolidate" in str(error)
            else:
                raise AssertionError("a part was given as the whole")
    zero.consolidate_state_dict(to=world - 1)
    if rank == world - 1:
        a, b = plain.state_dict(), zero.state_dict()
        assert a["state"].keys() == b["state"].keys() and a["param_groups"][0].keys() == b["param_groups"][0].keys()
        for number, values in a["state"].items():
            for name, value in values.items():
                assert (value - b["state"][number][name]).abs().max().item() < 1e-5
        kind(mlp().parameters(), **settings).load_state_dict(b)  # a process alone goes on from it

# ---- A run that is killed goes on from its checkpoint, in the same or another number of ranks

path, begin, end, kill_at = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
use_zero, dropout = sys.argv[5] == "zero", float(sys.argv[6])
norch.manual_seed(4)
random.seed(rank)
net = nn.Sequential(nn.Linear(18, 50), nn.ReLU(), nn.Dropout(dropout), nn.Linear(50, 4)).double()
model = DistributedDataParallel(net)
optimizer = (
    norch.optim.ZeroRedundancyOptimizer(model.parameters(), norch.optim.Adam, lr=0.01)
    if use_zero
    else norch.optim.Adam(model.parameters(), lr=0.01)
)
losses = []
if begin:
    rest = load_checkpoint(path, model=model, optimizer=optimizer)
    assert rest["step"] == begin, rest
    losses = rest["losses"]
norch_data = norch.Generator().manual_seed(11)
data = norch.randn(48, 18, generator=norch_data).double()
target = data[:, :4].argmax(1)
per_rank = 48 // world
for step in range(begin, end):
    if step == kill_at:
        os._exit(0) if rank == 0 else None
    part = slice(per_rank * rank, per_rank * rank + per_rank)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(data[part]), target[part])
    loss.backward()
    optimizer.step()
    mean = loss.detach()
    dist.all_reduce(mean, "avg")
    losses.append(mean.item())
    save_checkpoint(path, model=model, optimizer=optimizer, step=step + 1, losses=losses)
if rank == 0:
    print("losses:", " ".join(x.hex() for x in losses), flush=True)
try:  # what rank 0 cannot write, no rank takes for written
    save_checkpoint(path.parent / "no such folder" / "file", model=model)
except RuntimeError as error:
    assert "rank 0" in str(error) or world == 1, error
except OSError:
    assert world == 1
else:
    raise AssertionError("nothing was written, and nobody said so")
print("state: all right", flush=True)
