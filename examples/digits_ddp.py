"""Handwritten digits, learnt by several processes: each has its part of every batch, and the gradients are averaged.

    python -m norch.distributed.run --nproc-per-node 4 examples/digits_ddp.py
    mpirun -n 4 python examples/digits_ddp.py

A process alone (python examples/digits_ddp.py) trains the same: the batch of all processes together has 64 images.
Several processes need `pip install ".[distributed]"`.
"""

from __future__ import annotations

import sys

from common import drawing, finish, load_classes, read_options, save_picture

import norch
import norch.distributed as dist
from norch import nn, optim
from norch.nn.parallel import DistributedDataParallel
from norch.utils.data import DataLoader, DistributedSampler

BATCH = 64  # images of all processes together


def train(model, loader, optimizer):
    """One epoch; returns the mean loss of all processes."""
    model.train()
    total = norch.zeros(2)
    for images, labels in loader:
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()  # when it returns, the gradients are the mean over all processes
        optimizer.step()
        total += norch.tensor([loss.item() * len(labels), len(labels)])
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


def test(model, dataset):
    """The share of images that the model names rightly."""
    model.eval()
    images, labels = dataset.tensors
    with norch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def main():
    options = read_options(__doc__, epochs=30, quick=8)
    if options.compile:
        sys.exit("--compile: what several processes send each other cannot be recorded")
    dist.init_process_group()
    rank, world = dist.get_rank(), dist.get_world_size()
    train_set, test_set = load_classes("digits", options, scale=16)
    sampler = DistributedSampler(train_set, seed=options.seed)
    loader = DataLoader(train_set, batch_size=max(1, BATCH // world), sampler=sampler)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, 10)).to(options.device)
    model = DistributedDataParallel(model)
    optimizer = optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)

    losses = []
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        losses.append(train(model, loader, optimizer))
        if rank == 0 and (epoch + 1) % max(1, options.epochs // 5) == 0:
            print(f"Epoch {epoch + 1}: loss {losses[-1]:.4f}, test accuracy {test(model.module, test_set):.2%}")

    if rank == 0:
        finish(options, model, f"Test accuracy: {test(model.module, test_set):.2%}")
        pyplot = drawing(options)
        if pyplot:
            figure, axes = pyplot.subplots(figsize=(4, 3))
            axes.plot(losses)
            axes.set(title=f"Loss, {world} processes", xlabel="epoch", yscale="log")
            save_picture(options, figure)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
