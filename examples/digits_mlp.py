"""Handwritten digits by a network of two layers, on scikit-learn's 1,797 images of 8x8.

    python examples/digits_mlp.py

98.3% of the test images are named rightly after 2 s on 2 cores; the same in torch: 98.1%.
"""

from __future__ import annotations

from common import compiled, drawing, finish, load_classes, read_options, save_picture

import norch
from norch import nn, optim
from norch.utils.data import DataLoader


def training_step(model, optimizer):
    """The function that learns from a batch and returns its loss."""

    def step(images, labels):
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def train(step, model, loader, scheduler):
    """One epoch; returns the mean loss."""
    model.train()
    total = 0.0
    for images, labels in loader:
        loss = step(images, labels)
        scheduler.step()
        total += loss.item() * len(labels)
    return total / len(loader.dataset)


def test(model, dataset):
    """The share of images that the model names rightly, and its guesses."""
    model.eval()
    images, labels = dataset.tensors
    with norch.no_grad():
        guesses = model(images).argmax(1)
    return (guesses == labels).float().mean().item(), guesses


def draw(pyplot, options, dataset, guesses, losses):
    """The loss of each epoch, and the test images that were named wrongly."""
    images, labels = (tensor.cpu() for tensor in dataset.tensors)
    wrong = (guesses.cpu() != labels).nonzero().flatten().tolist()
    figure, axes = pyplot.subplots(1, 6, figsize=(12, 2.4))
    axes[0].plot(losses)
    axes[0].set(title="Loss", xlabel="epoch", yscale="log")
    for axis in axes[1:]:
        axis.axis("off")
    for axis, i in zip(axes[1:], wrong):
        axis.imshow(images[i].reshape(8, 8).tolist(), cmap="gray_r")
        axis.set_title(f"{int(labels[i])}, not {int(guesses[i])}")
    save_picture(options, figure)


def main():
    options = read_options(__doc__, epochs=40, quick=6)
    train_set, test_set = load_classes("digits", options, scale=16)
    loader = DataLoader(train_set, batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, 10)).to(options.device)
    optimizer = optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, epochs=options.epochs, steps_per_epoch=len(loader))
    step = compiled(training_step(model, optimizer), options)

    losses = []
    for epoch in range(options.epochs):
        losses.append(train(step, model, loader, scheduler))
        if (epoch + 1) % max(1, options.epochs // 5) == 0:
            print(f"Epoch {epoch + 1}: loss {losses[-1]:.4f}, test accuracy {test(model, test_set)[0]:.2%}")

    accuracy, guesses = test(model, test_set)
    finish(options, model, f"Test accuracy: {accuracy:.2%}")
    pyplot = drawing(options)
    if pyplot:
        draw(pyplot, options, test_set, guesses, losses)


if __name__ == "__main__":
    main()
